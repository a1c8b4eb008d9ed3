"""A model and a row as a game: features outside the coalition take the values of background rows.

v(S) is the mean prediction over background rows b of the model at (x_S, b_{N∖S}): the paper's definition, and
that of interventional TreeSHAP and of shap's Permutation, Exact and Kernel explainers. v(N) is the prediction
for the row itself, one model row; v(∅) is the mean prediction of the background, the same for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import describe
from sharpley.games.marginal.background import as_background
from sharpley.games.marginal.mixing import Mix, make_mixer
from sharpley.games.marginal.model import ModelFunction, wants_to_write
from sharpley.games.marginal.players import Players, make_players
from sharpley.protocols import PairEvaluator

# Found by measuring (sharpley_experiments.studies.overhead): calls are then large enough for models with a costly
# call, and the table still fits the processor's cache.
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
    n_outputs : int, optional
        Outputs that the model must have; by default as many as it has.

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
        groups: Mapping[str, Any] | None = None,
        batch_size: int | None = None,
        n_outputs: int | None = None,
    ) -> None:
        self._model = ModelFunction(model, n_outputs)
        chosen = as_background(background)
        self._mixer = make_mixer(rows, chosen.rows)
        if self._mixer.n_rows == 0:
            raise ValueError("X must have at least one row, got none")
        self._weights = chosen.weights_of(self._mixer.n_background)
        self.players: Players = make_players(self._mixer.n_columns, self._mixer.names, groups)
        self.d, self.n_rows = self.players.d, self._mixer.n_rows
        self.batch_size = default_batch_size(self._mixer.n_columns) if batch_size is None else batch_size
        self.batch_size = check_count("batch_size", self.batch_size, minimum=1)
        self.pairs_per_call = max(1, self.batch_size // self._mixer.n_background)

    @property
    def predictions_per_value(self) -> int:
        """Background rows, which the model predicts for one value of a coalition."""
        return self._mixer.n_background

    @property
    def is_scalar(self) -> bool:
        """Whether the model has one output; known after it was called."""
        return self._model.is_scalar

    def __call__(self, coalitions: ArrayLike) -> Floats:
        """Values of coalitions (m, d): (m,) or (m, k) for one row, else with an axis of rows in front."""
        masks = np.asarray(coalitions, dtype=bool)
        if masks.ndim != 2 or masks.shape[1] != self.d:
            raise ValueError(f"coalitions must have shape (m, {self.d}), got {masks.shape}")
        which = np.repeat(np.arange(self.n_rows), len(masks))
        evaluate, tiled = self.evaluator(), np.tile(masks, (self.n_rows, 1))
        step = self.pairs_per_call
        parts = [evaluate(which[i : i + step], tiled[i : i + step]) for i in range(0, len(which), step)]
        values = np.concatenate(parts) if parts else np.empty((0, 1))
        values = values.reshape(self.n_rows, len(masks), *([] if self.is_scalar else [-1]))
        return np.asarray(values[0] if self.n_rows == 1 else values)

    def varying(self) -> Coalitions:
        """Which players can matter in which rows, (n_rows, d): those with a column unlike some background row's."""
        return self.players.any_column(self._mixer.varying())

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition for every row, (n_rows, 2, k)."""
        of_background = self._predict("the background", self._mixer.fresh_background, self._mixer.n_background)
        full = self._predict("X", self._mixer.fresh_rows, self.n_rows)
        return np.stack([np.broadcast_to(self._weights @ of_background, full.shape), full], axis=1)

    def _predict(self, what: str, take: Callable[[slice], Any], n: int) -> Floats:
        """Predictions for a whole table, in calls of bounded size."""
        parts = []
        for start in range(0, n, self.batch_size):
            part = slice(start, min(n, start + self.batch_size))
            parts.append(self._model(take(part), part.stop - start, partial(_describe_part, what, part)))
        output = np.concatenate(parts)
        bad = np.flatnonzero(~np.isfinite(output).all(axis=1))
        if len(bad):
            raise ValueError(f"{self._model.name} returned {output[bad[0]]} for row {bad[0]} of {what}")
        return output

    def evaluator(self) -> PairEvaluator:
        """A function from (row, coalition) pairs to mean predictions, with memory of its own."""
        mix, size = self._mixer.mixing(), self._mixer.n_background
        # One part, unless the background is larger than a batch.
        parts = [slice(i, min(size, i + self.batch_size)) for i in range(0, size, self.batch_size)]

        def values(rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
            nonlocal mix
            try:
                outputs = self._mixed_outputs(mix, rows, coalitions, parts)
            except Exception as error:
                if not (self._mixer.may_reuse and wants_to_write(error)):
                    raise
                self._mixer.may_reuse = False  # the model writes to its input: fresh memory from now on
                mix = self._mixer.mixing()
                outputs = self._mixed_outputs(mix, rows, coalitions, parts)
            return self._mean(outputs, rows, coalitions)

        return values

    def _mixed_outputs(self, mix: Mix, rows: NDArray[np.int64], coalitions: Coalitions, parts: list[slice]) -> Floats:
        """Predictions for all background rows mixed with each pair, (p, b, k)."""
        masks = self.players.column_masks(coalitions)
        outputs = []
        for part in parts:
            size = part.stop - part.start
            output = self._model(mix(rows, masks, part), len(rows) * size, partial(_describe_pairs, rows, coalitions))
            outputs.append(output.reshape(len(rows), size, -1))
        return np.concatenate(outputs, axis=1) if len(outputs) > 1 else outputs[0]

    def _mean(self, outputs: Floats, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Weighted mean over the background, (p, b, k) -> (p, k); what is not finite is named."""
        values = np.einsum("b,pbk->pk", self._weights, outputs)
        if not np.isfinite(values).all():
            pair = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise ValueError(
                f"{self._model.name} returned NaN or infinity for row {rows[pair]} of X "
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
