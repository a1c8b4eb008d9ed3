"""A model and a row as a game: features outside the coalition take the values of background rows.

v(S) is the mean prediction over background rows b of the model at (x_S, b_{N∖S}): the paper's definition, and
that of interventional TreeSHAP and of shap's Permutation, Exact and Kernel explainers. v(N) is the prediction
for the row itself, one model row; v(∅) is the mean prediction of the background, the same for all rows.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._checks import check_count
from sharpley._typing import ArrayLike, Coalitions, Floats
from sharpley.games.background import Background, as_background
from sharpley.games.base import PairEvaluator, describe
from sharpley.games.model import ModelFunction, call_model, model_function
from sharpley.games.players import Players, make_players
from sharpley.games.tables import make_mixer

# Found by measuring (benchmarks/test_explainer.py): calls are then large enough for models with a costly call, and the
# table still fits the processor's cache.
MAX_ROWS = 2**15
MAX_ELEMENTS = 2**21


@final
class MarginalGame:
    """The games of explaining a model at rows X against a background.

    Parameters
    ----------
    model : callable, or object with ``predict_proba``, ``decision_function`` or ``predict``
    background : table of rows, or Background
    rows : table
        Rows to explain: arrays, pandas or polars frames, or scipy sparse matrices, like the background.
    groups : mapping of str to list of columns, optional
        Columns that play as one player.
    batch_size : int, optional
        Rows in one model call at most. By default up to 32,768, fewer with many columns.

    Examples
    --------
    >>> game = MarginalGame(lambda table: table.sum(axis=1), [[0.0, 0.0]], [[1.0, 2.0]])
    >>> game([[False, False], [True, False], [True, True]])
    array([0., 1., 3.])
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        rows: Any,
        *,
        groups: dict[str, Any] | None = None,
        batch_size: int | None = None,
    ) -> None:
        self._function: ModelFunction = model_function(model)
        chosen: Background = as_background(background)
        self._mixer = make_mixer(rows, chosen.rows)
        if self._mixer.n_rows == 0:
            raise ValueError("X must have at least one row, got none")
        self._weights = chosen.weights_of(self._mixer.n_background)
        n_columns = rows.shape[1] if hasattr(rows, "shape") else np.shape(rows)[1]
        self.players: Players = make_players(n_columns, self._mixer.names, groups)
        self.d, self.n_rows = self.players.d, self._mixer.n_rows
        self.batch_size = default_batch_size(n_columns) if batch_size is None else batch_size
        self.batch_size = check_count("batch_size", self.batch_size, minimum=1)
        self.pairs_per_call = max(1, self.batch_size // self._mixer.n_background)
        self.is_scalar = True

    def __call__(self, coalitions: ArrayLike) -> Floats:
        """Values of coalitions (m, d): (m,) or (m, k) for one row, else with an axis of rows in front."""
        masks = np.asarray(coalitions, dtype=bool)
        if masks.ndim != 2 or masks.shape[1] != self.d:
            raise ValueError(f"coalitions must have shape (m, {self.d}), got {masks.shape}")
        self._checked("the background", self._mixer.n_background)  # also tells whether the output is scalar
        which = np.repeat(np.arange(self.n_rows), len(masks))
        evaluate, tiled = self.evaluator(), np.tile(masks, (self.n_rows, 1))
        step = self.pairs_per_call
        parts = [evaluate(which[i : i + step], tiled[i : i + step]) for i in range(0, len(which), step)]
        values = np.concatenate(parts).reshape(self.n_rows, len(masks), -1)
        if self.is_scalar:
            values = values[..., 0]
        return np.asarray(values[0] if self.n_rows == 1 else values)

    def varying(self) -> Coalitions:
        """Which players can matter in which rows, (n_rows, d): those with a column unlike some background row's."""
        return self.players.any_column(self._mixer.varying())

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition for every row, (n_rows, 2, k)."""
        empty = self._weights @ self._checked("the background", self._mixer.n_background)
        full = self._checked("X", self.n_rows)
        return np.stack([np.broadcast_to(empty, full.shape), full], axis=1)

    def _checked(self, what: str, n: int) -> Floats:
        """Predictions for the whole background, or for all rows of X, in calls of bounded size."""
        parts = []
        for start in range(0, n, self.batch_size):
            part = slice(start, min(n, start + self.batch_size))
            table = self._mixer.fresh_rows(part) if what == "X" else self._mixer.fresh_background(part)
            parts.append(self._call(table, part.stop - start, lambda part=part: _describe_part(what, part)))
            if what != "X":
                self._mixer.note_changes(table, part)
        output = np.concatenate(parts)
        bad = np.flatnonzero(~np.isfinite(output).all(axis=1))
        if len(bad):
            raise ValueError(f"{self._function.name} returned {output[bad[0]]} for row {bad[0]} of {what}")
        return output

    def _call(self, table: Any, n: int, what: Any) -> Floats:
        function = self._function

        def note_shape(argument: Any) -> Any:
            raw = function.call(argument)
            self.is_scalar = np.ndim(raw) == 1
            return raw

        return call_model(function._replace(call=note_shape), table, n, what)

    def evaluator(self) -> PairEvaluator:
        """A function from (row, coalition) pairs to mean predictions, with memory of its own."""
        mix, size = self._mixer.mixing(), self._mixer.n_background

        def values(rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
            masks = self.players.column_masks(coalitions)
            outputs = []
            for start in range(0, size, self.batch_size):  # one part, unless the background is larger than a batch
                part = slice(start, min(size, start + self.batch_size))
                table = mix(rows, masks, part)
                n = len(rows) * (part.stop - part.start)
                output = self._call(table, n, lambda: _describe_pairs(rows, coalitions))
                outputs.append(output.reshape(len(rows), part.stop - part.start, -1))
            return self._mean(np.concatenate(outputs, axis=1) if len(outputs) > 1 else outputs[0], rows, coalitions)

        return values

    def _mean(self, outputs: Floats, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Weighted mean over the background, (p, b, k) -> (p, k); what is not finite is named."""
        values = np.einsum("b,pbk->pk", self._weights, outputs)
        if not np.isfinite(values).all():
            pair = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise ValueError(
                f"{self._function.name} returned NaN or infinity for row {rows[pair]} of X "
                f"with {describe(coalitions[pair])}"
            )
        return values


def default_batch_size(n_columns: int) -> int:
    """Rows in one model call."""
    return max(1, min(MAX_ROWS, MAX_ELEMENTS // max(1, n_columns)))


def _describe_part(what: str, part: slice) -> str:
    return f"rows {part.start}..{part.stop - 1} of {what}"


def _describe_pairs(rows: NDArray[np.int64], coalitions: Coalitions) -> str:
    present = np.unique(rows)
    which = f"row {present[0]}" if len(present) == 1 else f"rows {present[0]}..{present[-1]}"
    return f"background rows mixed with {which} of X, from {describe(coalitions[0])} on"
