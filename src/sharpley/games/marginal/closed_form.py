"""Exact values without sampling, for models that are sums of trees, or linear.

A model is recognised by its class, its trees or coefficients are read, and then compared with its own predictions for
rows that are mixed from the rows to explain and from background rows, as coalitions mix them. So the trees, the columns
behind every player and the output that is explained are all checked, up to a constant. A model that fails this check
is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.games.base import ClosedForm
from sharpley.games.marginal.calls import margin_options
from sharpley.games.marginal.known import KnownBackground
from sharpley.games.marginal.linear import LinearModel, read_linear
from sharpley.games.marginal.mixing import Mixer
from sharpley.games.marginal.model import ModelFunction, say_once
from sharpley.games.marginal.players import Players
from sharpley.games.marginal.tables import UNKNOWN, NotExactError, look_into, owners_of
from sharpley.games.trees.closed_form import (
    MAX_PATH_PLAYERS,
    TABLE_PLAYERS,
    Coded,
    Kept,
    players_on_paths,
    sums_of_leaves,
    tree_values,
)
from sharpley.games.trees.forest import Forest
from sharpley.games.trees.readers import UnreadableTreesError, reader_of
from sharpley.indices import SHAPLEY, Index, SizeWeights

CHECKED = 32  # background rows, and as many mixed rows, whose predictions are compared with the closed form
OF_RANGE, OF_SIZE = 1e-4, 4e-6  # tolerance: shares of the range and of the largest of these predictions
MOST_WALKS = 2**19  # background rows × deep trees beyond which "auto" samples: about 1.6 s for a row

Predict: TypeAlias = Callable[[NDArray[np.int64], Coalitions, NDArray[np.int64]], Floats]
"""Predictions for mixed rows: numbers of rows (p,), coalitions (p, d), numbers of background rows (p,) -> (p, k)."""


class Asked(NamedTuple):
    """Games that are to be solved exactly."""

    model: Any
    mixer: Mixer
    players: Players
    weights: Floats
    """Weights of the background rows."""
    predict: Predict
    predict_rows: Callable[[], Floats]
    """Predictions for all rows to explain, (n_rows, k)."""
    positions: Callable[[], NDArray[np.int64] | None]
    """The explained outputs among all of the model's, after its first prediction; None for all."""


def solve(
    asked: Asked, known: KnownBackground, called: ModelFunction, index: Index, *, method: str | None, n_threads: int
) -> ClosedForm | None:
    """Return exact values, or None if there are none; if a method was asked for, the error has the reason.

    A model that was found exact is kept in ``known``. If it fails the comparison later, it is read again, since it may
    have been fitted again. A model that was not exact is not looked at again.
    """
    if index.order != 1 or isinstance(index.measure, SizeWeights):  # which has no nodes for many players
        if method is not None:
            raise ValueError(f"method {method!r} has no closed form of index {index.name!r}; use 'exact'")
        return None
    if method is None and isinstance(known.exact, NotExactError):
        return None
    try:
        return _solved(asked, known, index, method, n_threads)
    except NotExactError as reason:
        if method is not None:
            raise ValueError(f"method {method!r} cannot explain {called.name} of this model: {reason}") from reason
        known.exact = reason
        _say_why(asked.model, called, reason)
        return None


def _solved(asked: Asked, known: KnownBackground, index: Index, method: str | None, n_threads: int) -> ClosedForm:
    """Return exact values by the model that was kept, or by one that is read now."""
    kept, is_forced = known.exact, method is not None
    if isinstance(kept, ExactModel) and method in (None, kept.method):
        with suppress(NotExactError):  # it was fitted again
            return kept.values(asked, index, n_threads=n_threads, is_forced=is_forced)
    found = ExactModel(asked)
    if method not in (None, found.method):
        raise NotExactError(f"it is solved by method {found.method!r}")
    values = found.values(asked, index, n_threads=n_threads, is_forced=is_forced)
    known.exact = found
    return values


def _say_why(model: Any, called: ModelFunction, reason: Exception) -> None:
    """Tell users of tree ensembles once why their values are estimated, and what would be exact."""
    if reader_of(look_into(model).model) is None:
        return
    kind = type(model).__name__
    if not called.is_margin and margin_options(model) is not None:
        say_once(
            f"{called.name} of {kind} is not a sum of trees, so its values are estimated; output='margin' explains the "
            "margin (such as log-odds) exactly"
        )
    else:
        say_once(f"the values of {kind} are estimated, not computed from its trees: {reason}")


class ExactModel:
    """A model whose values have a closed form, with what was computed from its background.

    Parameters
    ----------
    asked : Asked
        Games of the model, with the background that all further games have, too.
    """

    def __init__(self, asked: Asked) -> None:
        seen = look_into(asked.model)
        self._numbers, self._is_plain = seen.numbers, seen.is_plain
        self._form = _read(seen.model)
        self.method = "linear" if isinstance(self._form, LinearModel) else "trees"
        self._constant: Floats | None = None
        self._tolerance = 0.0
        self._owners: NDArray[np.int64] | None = None
        self._background: Coded | None = None
        self._table: Floats | None = None
        self._kept: Kept = {}

    def values(self, asked: Asked, index: Index, *, n_threads: int, is_forced: bool) -> ClosedForm:
        """Return exact values, after a comparison with the model's predictions."""
        owners = self._find_owners(asked)
        constant = self._checked_constant(asked, owners)
        if isinstance(self._form, LinearModel):
            tables = self._all_rows(asked), self._all_background(asked)
            values, base = self._form.values(*tables, asked.weights, owners, asked.players.d, index)
        else:
            values, base = self._of_trees(self._form, asked, owners, index, n_threads, is_forced)
        base = base + constant
        if index.name == SHAPLEY.name:
            full = asked.predict_rows()
            self._compare(full, base + values.sum(axis=1))
        return ClosedForm(self.method, values, base, 1)

    def _of_trees(
        self, forest: Forest, asked: Asked, owners: NDArray[np.int64], index: Index, n_threads: int, is_forced: bool
    ) -> tuple[Floats, Floats]:
        on_paths = players_on_paths(forest, owners)
        if on_paths.max(initial=0) > MAX_PATH_PLAYERS:
            raise NotExactError(
                f"a path of a tree has {on_paths.max()} features, and exact values exist for at most "
                f"{MAX_PATH_PLAYERS}; limit max_depth to {MAX_PATH_PLAYERS}, or group columns"
            )
        n, deep = len(asked.weights), int((on_paths > TABLE_PLAYERS).sum())
        if deep * n > MOST_WALKS and not is_forced:
            raise NotExactError(
                f"{deep} of its {len(forest.trees)} trees have more than {TABLE_PLAYERS} features on a path, which "
                f"takes long with {n} background rows; method='trees' computes exact values nevertheless"
            )
        if self._background is None:
            self._background = Coded(forest, self._blocks(asked.mixer.fresh_background), n)
        rows = Coded(forest, self._blocks(asked.mixer.fresh_rows), asked.mixer.n_rows)
        given = self._background, asked.weights, rows, owners, asked.players.d
        return tree_values(forest, *given, index=index, n_threads=n_threads, kept=self._kept)

    def _blocks(self, take: Callable[[NDArray[np.int64]], Any]) -> Callable[[int, int], Floats]:
        return lambda start, stop: self._numbers(take(np.arange(start, stop)))

    def _all_rows(self, asked: Asked) -> Floats:
        return self._blocks(asked.mixer.fresh_rows)(0, asked.mixer.n_rows)

    def _all_background(self, asked: Asked) -> Floats:
        if self._table is None:
            self._table = self._blocks(asked.mixer.fresh_background)(0, asked.mixer.n_background)
        return self._table

    def _find_owners(self, asked: Asked) -> NDArray[np.int64]:
        """Return the player of each column that the model sees; those of a pipeline depend on what varies in rows."""
        if self._is_plain:
            return asked.players.of_column
        rows, background = self._all_rows(asked), self._all_background(asked)
        owners = self._owners
        if owners is None or (rows[:, owners == UNKNOWN] != background[0, owners == UNKNOWN]).any():
            found = owners_of(self._numbers, asked.mixer, asked.players, background, rows)
            if found is None:
                raise NotExactError("a step of its pipeline combines several columns")
            owners = self._owners = found
            self._kept.clear()
        return np.maximum(owners, 0)  # a column that never varies has no part in any value

    def _checked_constant(self, asked: Asked, owners: NDArray[np.int64]) -> Floats:
        """Compare the form with the model's predictions for background rows and for mixed rows; return the constant."""
        rng, n = np.random.default_rng(0), 2 * CHECKED
        draws, rows = (rng.integers(size, size=n) for size in (asked.mixer.n_background, asked.mixer.n_rows))
        coalitions = rng.random((n, asked.players.d)) < rng.random((n, 1))
        coalitions[:CHECKED] = False  # the constant then depends on the background alone
        predictions = asked.predict(rows, coalitions, draws)
        of_rows = self._numbers(asked.mixer.fresh_rows(rows))
        of_background = self._numbers(asked.mixer.fresh_background(draws))
        if not of_rows.shape[1] == of_background.shape[1] == len(owners):
            raise NotExactError(f"it sees {of_rows.shape[1]} columns of rows, but {len(owners)} were expected")
        if self._constant is None:
            self._form = _select(self._form, asked.positions(), predictions.shape[1])
        sums = _sums(self._form, np.where(coalitions[:, owners], of_rows, of_background))
        known = (predictions - sums)[:CHECKED].mean(axis=0) if self._constant is None else self._constant
        self._compare(predictions, sums + known)
        if self._constant is None:  # a single row whose prediction is about 0 would have no tolerance
            self._tolerance = _tolerance(predictions[:CHECKED])
        self._constant = known
        return known

    def _compare(self, predictions: Floats, ours: Floats) -> None:
        """Raise an error if predictions differ by more than the tolerance: of these, or of all that were compared."""
        most = float(np.abs(predictions - ours).max())
        if not most <= max(self._tolerance, _tolerance(ours)):
            raise NotExactError(f"its predictions and the {_WHAT[self.method]} differ by up to {most:.3g}")


def _tolerance(outputs: Floats) -> float:
    return OF_RANGE * float(np.ptp(outputs, axis=0).max()) + OF_SIZE * float(np.abs(outputs).max())


_WHAT = {"trees": "sums of its trees", "linear": "sums by its coefficients"}


def _read(model: Any) -> Forest | LinearModel:
    reader = reader_of(model)
    try:
        form = read_linear(model) if reader is None else reader(model)
    except UnreadableTreesError as error:
        raise NotExactError(str(error)) from error
    except (AttributeError, KeyError, IndexError) as error:  # a version of the library that stores them otherwise
        raise NotExactError(f"its {'coefficients' if reader is None else 'trees'} cannot be read: {error!r}") from error
    if form is None:
        raise NotExactError("it is neither a known tree ensemble nor a linear model")
    return form


def _sums(form: Forest | LinearModel, table: Floats) -> Floats:
    return form.sums(table) if isinstance(form, LinearModel) else sums_of_leaves(form, table)


def _select(form: Forest | LinearModel, positions: NDArray[np.int64] | None, k: int) -> Forest | LinearModel:
    """Return the form of the k outputs that are explained."""
    if form.n_outputs != k and positions is not None and positions.max() < form.n_outputs:
        form = form.select(positions)
    if form.n_outputs != k:
        raise NotExactError(f"it has {form.n_outputs} outputs as a sum, and {k} are explained")
    return form
