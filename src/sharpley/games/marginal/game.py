"""The prediction of a model for a row as a game: absent features take their values from background rows.

v(S) is the mean over background rows b of the model's prediction at (x_S, b_{N∖S}). This is the definition of the
paper, of interventional TreeSHAP, and of shap's Permutation, Exact and Kernel explainers. v(N) is the prediction for
the row itself, a single prediction; v(∅) is the mean prediction for the background, the same for all rows.

A feature that has the same value in the row and in a background row cannot matter in that draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import ClosedForm, DrawFacts, Evaluate, Games, checked_names
from sharpley.games.marginal.background import as_background
from sharpley.games.marginal.containers import as_table, column_names_of
from sharpley.games.marginal.known import KnownBackground
from sharpley.games.marginal.mixers import make_mixer
from sharpley.games.marginal.mixing import Mix
from sharpley.games.marginal.model import CallTime, ModelFunction, reaches_torch
from sharpley.games.marginal.outputs import Output
from sharpley.games.marginal.players import Players, make_players
from sharpley.games.values import describe
from sharpley.indices import Index

# Measured by sharpley_experiments.studies.overhead: with these, calls are large enough for models with a high cost per
# call, and the rows of a call still fit into the processor's cache.
MAX_ROWS_PER_CALL = 2**15
MAX_ELEMENTS_PER_CALL = 2**21  # rows × columns


@final
class MarginalGame(Games):
    """The games of explaining a model at rows X, given background rows; each background row is a draw.

    The value of a coalition is the mean prediction for the background rows, with the features of the coalition replaced
    by those of the row to explain.

    Parameters
    ----------
    model : callable, or object with ``predict_proba``, ``decision_function`` or ``predict``
        Maps rows to predictions, (n,) or (n, k) for k outputs. Of an object, the first of these methods that it has is
        called; models of torch, Keras, XGBoost and ONNX are called in their own way.
    background : Background, or (rows, columns) array, DataFrame or sparse matrix
        Rows that absent features take their values from.
    rows : (n_rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
        Rows to explain, usually of the same type as the background; a single row may have one dimension.
    groups : mapping of str to list of columns, optional
        Columns, by name or position, that form a single player, by its name.
    batch_size : int, optional
        Maximum number of rows in one model call. By default up to 32,768, fewer with many columns.
    names : sequence of d str, optional
        Names of the players. By default, those of the columns and groups.
    output : str, int, or list of these, optional
        Outputs to explain, by name or position, or "all". By default all, but for a binary classifier its second class.
    output_names : sequence of str, optional
        Names of all outputs. By default, those that the model has: classes, or columns of a frame that it returns.
    known : KnownBackground, optional
        What is known of this background from other games with the same model.

    Examples
    --------
    A model of two features, one background row and one row to explain:

    >>> game = MarginalGame(lambda X: X[:, 0] * X[:, 1], [[1.0, 1.0]], [[2.0, 3.0]])
    >>> game([[False, False], [True, False], [False, True], [True, True]])
    array([1., 2., 3., 6.])

    Several rows are several games, which ``sharpley.estimate`` accepts:

    >>> import sharpley
    >>> games = MarginalGame(lambda X: X[:, 0] * X[:, 1], [[1.0, 1.0]], [[2.0, 3.0], [5.0, 1.0]])
    >>> sharpley.estimate(games).values
    array([[2., 3.],
           [4., 0.]])
    """

    draws_are_known = True

    def __init__(
        self,
        model: Any,
        background: Any,
        rows: Any,
        *,
        groups: Mapping[str, Any] | None = None,
        batch_size: int | None = None,
        names: Sequence[str] | None = None,
        output: Output | None = None,
        output_names: Sequence[str] | None = None,
        known: KnownBackground | None = None,
    ) -> None:
        self._known = KnownBackground() if known is None else known
        self._of_background: Floats | None = None
        self.background_predictions = 0  # those that were made for this game
        self._given, self._model = model, ModelFunction(model, output, output_names)
        chosen = as_background(background)
        self.rows = as_table(rows, chosen.rows)
        self._mixer = make_mixer(self.rows, chosen.rows)
        self._mixer.may_reuse &= not reaches_torch(self._model.call)
        if self._mixer.n_rows == 0:
            raise ValueError("X must have at least one row, got none")
        self.draw_weights = self._weights = chosen.weights_of(self._mixer.n_background)
        column_names = self._mixer.names or column_names_of(rows)
        self.players: Players = make_players(self._mixer.n_columns, column_names, groups)
        self.player_names = self.players.names if names is None else checked_names(names, self.players.d)
        self.d, self.n_rows, self.n_draws = self.players.d, self._mixer.n_rows, self._mixer.n_background
        self.draws_per_call = default_batch_size(self._mixer.n_columns) if batch_size is None else batch_size
        self.draws_per_call = check_count("batch_size", self.draws_per_call, minimum=1)

    @property
    def output_names(self) -> list[str] | None:
        """Names of the outputs that are explained; None if they have none, or not before the first evaluation."""
        return self._model.output_names

    def varying(self) -> Coalitions:
        """Return which players can matter in which rows, (n_rows, d): those that differ from any background row."""
        return self.players.any_column(self._mixer.varying())

    def endpoints(self) -> Floats:
        """Return the values of ∅ and N for every row, (n_rows, 2, k).

        They cost one prediction for each row to explain and, once, one for each background row.
        """
        empty = self._weights @ self._empty()
        full = self._predict_rows()
        return np.stack([np.broadcast_to(empty, full.shape), full], axis=1)

    def _predict_rows(self) -> Floats:
        return self._predict("X", self._mixer.fresh_rows, np.arange(self.n_rows))

    @property
    def endpoint_draws(self) -> int:
        """Number of predictions that the values of ∅ and N of one row cost."""
        return self.n_draws + 1

    @property
    def model_time(self) -> CallTime:
        """How often the model was called in this process, and how long it took."""
        return self._model.time

    def predict_background(self) -> None:
        """Predict all background rows, unless this has been done; games with the same ``known`` share the result."""
        self._empty()

    def _empty(self) -> Floats:
        """Return the predictions for all background rows, (n_draws, k)."""
        if self._of_background is None:
            self._of_background = self._known.predictions(self.n_draws, self._predict_background, self._model.name)
        return self._of_background

    def _predict_background(self, which: NDArray[np.int64]) -> Floats:
        """Return the predictions for some background rows, and count them."""
        self.background_predictions += len(which)
        return self._predict("the background", self._mixer.fresh_background, which)

    def _predict(self, what: str, take: Callable[[Any], Any], which: NDArray[np.int64]) -> Floats:
        """Return the predictions for background rows or rows of X, (n, k), in calls of bounded size."""
        parts = []
        for start in range(0, len(which), self.draws_per_call):
            part = which[start : start + self.draws_per_call]
            parts.append(self._model(take(part), len(part), partial(_describe_part, what, part)))
        output = np.concatenate(parts)
        bad = np.flatnonzero(~np.isfinite(output).all(axis=1))
        if len(bad):
            first = bad[0]
            raise ValueError(
                f"{self._model.name} must return finite numbers, but returned {output[first]} "
                f"for row {which[first]} of {what}"
            )
        return output

    def differing(self, rows: NDArray[np.int64], draws: NDArray[np.int64]) -> Coalitions:
        """Return which players of rows differ from single background rows, (p,) and (p,) -> (p, d)."""
        return self.players.any_column(self._mixer.differing(rows, draws))

    def draw_facts(self) -> DrawFacts:
        """Return the predictions for all background rows, and their values as numbers."""
        numbers, empty = self._mixer.numbers(), self._empty()
        if numbers is None:  # sparse matrices have too many columns
            none = np.empty((self.n_draws, 0)), np.empty((self.n_rows, 0))
            return DrawFacts(empty, *none, np.zeros(0, bool), np.zeros(0, np.int64), self._known.kept)
        return DrawFacts(
            empty, numbers.background, numbers.rows, numbers.is_category, self.players.of_column, self._known.kept
        )

    def closed_form(self, index: Index, *, method: str | None = None, n_threads: int = 1) -> ClosedForm | None:
        """Return exact values of a sum of trees ("trees") or of a linear model ("linear"), over all background rows."""
        from sharpley.games.marginal.closed_form import Asked, solve

        def positions() -> NDArray[np.int64] | None:
            return self._model.positions

        called = self._checked_draws, self._predict_rows, positions
        asked = Asked(self._given, self._mixer, self.players, self._weights, *called)
        return solve(asked, self._known, self._model, index, method=method, n_threads=n_threads)

    def _checked_draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        return np.asarray(self._draws(rows, coalitions, draws))

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        """Return the predictions for rows mixed with single background rows, (p, k)."""
        mixed = self._mixer.mix_single(rows, self.players.column_masks(coalitions), draws)
        return self._finite(self._model(mixed, len(rows), partial(_describe_mixed, rows, coalitions)), rows, coalitions)

    def evaluator(self) -> Evaluate:
        """Return a function that evaluates the games, with its own memory for mixed rows."""
        mix = self._mixer.mixing()
        # A single part, unless the background has more rows than a batch.
        starts = range(0, self.n_draws, self.draws_per_call)
        parts = [slice(start, min(self.n_draws, start + self.draws_per_call)) for start in starts]

        def values(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None = None) -> Floats:
            nonlocal mix
            if draws is not None:
                return self._evaluate(rows, coalitions, draws)
            try:
                outputs = self._mixed_outputs(mix, rows, coalitions, parts)
            except Exception:
                if not self._mixer.may_reuse:
                    raise
                # The model may want to write to its input: once more, with new memory, from now on in every call.
                self._mixer.may_reuse = False
                mix = self._mixer.mixing()
                outputs = self._mixed_outputs(mix, rows, coalitions, parts)
            return self._finite(np.einsum("b,pbk->pk", self._weights, outputs), rows, coalitions)

        return values

    def _mixed_outputs(self, mix: Mix, rows: NDArray[np.int64], coalitions: Coalitions, parts: list[slice]) -> Floats:
        """Return the predictions for each of p rows, by its coalition, mixed with each background row, (p, b, k)."""
        masks = self.players.column_masks(coalitions)
        outputs = []
        for part in parts:
            size = part.stop - part.start
            output = self._model(mix(rows, masks, part), len(rows) * size, partial(_describe_mixed, rows, coalitions))
            outputs.append(output.reshape(len(rows), size, -1))
        return np.concatenate(outputs, axis=1) if len(outputs) > 1 else outputs[0]

    def _finite(self, values: Floats, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Return values (p, k) if all are finite; otherwise the error names the first row and coalition."""
        if not np.isfinite(values).all():
            first = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise ValueError(
                f"{self._model.name} must return finite numbers, but returned NaN or infinity "
                f"for row {rows[first]} of X with {describe(coalitions[first])}"
            )
        return values


def default_batch_size(n_columns: int) -> int:
    """Return the default maximum number of rows in one model call."""
    return max(1, min(MAX_ROWS_PER_CALL, MAX_ELEMENTS_PER_CALL // max(1, n_columns)))


def _describe_part(what: str, part: NDArray[np.int64]) -> str:
    return f"rows {part[0]}..{part[-1]} of {what}"


def _describe_mixed(rows: NDArray[np.int64], coalitions: Coalitions) -> str:
    present = np.unique(rows)
    which = f"row {present[0]}" if len(present) == 1 else f"rows {present[0]}..{present[-1]}"
    return f"background rows mixed with {which} of X, starting with {describe(coalitions[0])}"
