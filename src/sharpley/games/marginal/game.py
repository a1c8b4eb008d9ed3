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
from sharpley.games.base import Evaluate, Games
from sharpley.games.marginal.background import as_background
from sharpley.games.marginal.mixers import make_mixer
from sharpley.games.marginal.mixing import Mix
from sharpley.games.marginal.model import as_model_function, wants_to_write
from sharpley.games.marginal.players import Players, make_players
from sharpley.games.values import describe

# Measured by sharpley_experiments.studies.overhead: calls are then large enough for models whose calls are costly, and
# the rows of a call still fit the processor's cache.
MAX_ROWS = 2**15
MAX_ELEMENTS = 2**21


@final
class MarginalGame(Games):
    """The games of explaining a model at rows X, given background rows; each background row is a draw.

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
        self._model = as_model_function(model, n_outputs)
        chosen = as_background(background)
        self._mixer = make_mixer(rows, chosen.rows)
        if self._mixer.n_rows == 0:
            raise ValueError("X must have at least one row, got none")
        self.draw_weights = self._weights = chosen.weights_of(self._mixer.n_background)
        self.players: Players = make_players(self._mixer.n_columns, self._mixer.names, groups)
        self.player_names = self.players.names
        self.d, self.n_rows, self.n_draws = self.players.d, self._mixer.n_rows, self._mixer.n_background
        self.draws_per_call = default_batch_size(self._mixer.n_columns) if batch_size is None else batch_size
        self.draws_per_call = check_count("batch_size", self.draws_per_call, minimum=1)

    def varying(self) -> Coalitions:
        """Which players can matter in which rows, (n_rows, d): those with a column unlike some background row's."""
        return self.players.any_column(self._mixer.varying())

    def endpoints(self) -> Floats:
        """Values of ∅ and N for every row, (n_rows, 2, k): one prediction for each background row and each row."""
        of_background = self._predict("the background", self._mixer.fresh_background, self.n_draws)
        full = self._predict("X", self._mixer.fresh_rows, self.n_rows)
        return np.stack([np.broadcast_to(self._weights @ of_background, full.shape), full], axis=1)

    def _predict(self, what: str, take: Callable[[slice], Any], n: int) -> Floats:
        """Predictions for n rows of one kind, in calls of bounded size."""
        parts = []
        for start in range(0, n, self.draws_per_call):
            part = slice(start, min(n, start + self.draws_per_call))
            parts.append(self._model(take(part), part.stop - start, partial(_describe_part, what, part)))
        output = np.concatenate(parts)
        bad = np.flatnonzero(~np.isfinite(output).all(axis=1))
        if len(bad):
            raise ValueError(f"{self._model.name} returned {output[bad[0]]} for row {bad[0]} of {what}")
        return output

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        """Predictions at single background rows, (p, k)."""
        table = self._mixer.mix_single(rows, self.players.column_masks(coalitions), draws)
        return self._finite(self._model(table, len(rows), partial(_describe_mixed, rows, coalitions)), rows, coalitions)

    def evaluator(self) -> Evaluate:
        """A function that mixes rows with the whole background in memory of its own."""
        mix = self._mixer.mixing()
        # One part, unless the background is larger than a batch.
        starts = range(0, self.n_draws, self.draws_per_call)
        parts = [slice(start, min(self.n_draws, start + self.draws_per_call)) for start in starts]

        def values(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None = None) -> Floats:
            nonlocal mix
            if draws is not None:
                return self._evaluate(rows, coalitions, draws)
            try:
                outputs = self._mixed_outputs(mix, rows, coalitions, parts)
            except Exception as error:
                if not (self._mixer.may_reuse and wants_to_write(error)):
                    raise
                self._mixer.may_reuse = False  # the model writes to its input: fresh memory from now on
                mix = self._mixer.mixing()
                outputs = self._mixed_outputs(mix, rows, coalitions, parts)
            return self._finite(np.einsum("b,pbk->pk", self._weights, outputs), rows, coalitions)

        return values

    def _mixed_outputs(self, mix: Mix, rows: NDArray[np.int64], coalitions: Coalitions, parts: list[slice]) -> Floats:
        """Predictions for every background row mixed with each row and coalition, (p, b, k)."""
        masks = self.players.column_masks(coalitions)
        outputs = []
        for part in parts:
            size = part.stop - part.start
            output = self._model(mix(rows, masks, part), len(rows) * size, partial(_describe_mixed, rows, coalitions))
            outputs.append(output.reshape(len(rows), size, -1))
        return np.concatenate(outputs, axis=1) if len(outputs) > 1 else outputs[0]

    def _finite(self, values: Floats, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Return values (p, k) if all are finite; the error names the first row and coalition where one is not."""
        if not np.isfinite(values).all():
            first = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise ValueError(
                f"{self._model.name} returned NaN or infinity for row {rows[first]} of X "
                f"with {describe(coalitions[first])}"
            )
        return values


def default_batch_size(n_columns: int) -> int:
    """Rows in one model call."""
    return max(1, min(MAX_ROWS, MAX_ELEMENTS // max(1, n_columns)))


def _describe_part(what: str, part: slice) -> str:
    return f"rows {part.start}..{part.stop - 1} of {what}"


def _describe_mixed(rows: NDArray[np.int64], coalitions: Coalitions) -> str:
    present = np.unique(rows)
    which = f"row {present[0]}" if len(present) == 1 else f"rows {present[0]}..{present[-1]}"
    return f"background rows mixed with {which} of X, from {describe(coalitions[0])} on"
