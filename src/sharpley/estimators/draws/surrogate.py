"""A surrogate: a tree regressor that learns the model from the predictions along walks, which were paid for anyway.

The Shapley values of a sum of trees over *all* draws have a closed form, so that the walks only have to estimate what
the surrogate misses. With y_b the contributions of a player along the walks in draw b, g_b those of the surrogate along
the same walks, and γ_b the surrogate's exact Shapley value in draw b, the estimate is

    mean over all b of γ_b + what the survey regression estimates as the mean over all b of y_b − g_b.

A surrogate that has seen a draw would be too close to it. So all draws are divided into two halves at random (folds),
in which draws are visited independently. The surrogate for one half is fitted to the walks in the other. It is then
fixed, as far as the draws that are visited in its own half are concerned, and y_b − g_b is an unbiased estimate of what
it misses in draw b. So the estimate is unbiased as without surrogates, however bad they are.

Each row has surrogates of its own, so that its values do not depend on the rows that are explained with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.estimators.draws.coding import Codes, make_codes
from sharpley.estimators.draws.walks import Walks
from sharpley.games.base import DrawFacts
from sharpley.games.trees.closed_form import coded, sums_of_leaves, tree_values
from sharpley.games.trees.forest import Forest
from sharpley.games.trees.regressors import check_regressor, read_regressor

FOLDS = 2
MAX_CELLS = 2**24  # rows × columns that a surrogate is fitted to; a random part of the walks if there are more
ROWS_AT_ONCE = 2**16  # composites whose surrogate values are computed together
BACKGROUND_SHARE = 4  # one known value v_b(∅) for every so many values along walks
LEAST_BACKGROUND = 64
TRIAL_ROWS = 64
TREES, LEAVES, DEPTH = 100, 31, 6  # of the surrogate that "auto" fits


class Regressor(Protocol):
    """A regressor with the interface of scikit-learn, which ``sklearn.base.clone`` can copy."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803 (scikit-learn's name)
        """Fit the regressor."""

    def predict(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's name)
        """Return predictions."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """Return the parameters."""


SurrogateChoice: TypeAlias = Literal["auto"] | Regressor | None
"""What ``surrogate=`` accepts."""


def check_surrogate(surrogate: Any) -> None:
    """Raise an error unless a surrogate is "auto" or a tree regressor whose trees can be read."""
    if isinstance(surrogate, str):
        if surrogate == "auto":
            return
        raise ValueError(f"unknown surrogate {surrogate!r}; choose 'auto', None, or a tree regressor")
    if isinstance(surrogate, type):
        raise TypeError(f"surrogate must be a regressor, not a class: {surrogate.__name__}() instead of it")
    check_regressor(surrogate)


def default_surrogate() -> Any:
    """Return the regressor that "auto" fits."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=TREES, max_leaf_nodes=LEAVES, max_depth=DEPTH, min_samples_leaf=10, early_stopping=False
    )


class Explained(NamedTuple):
    """What the surrogates of one row explain."""

    contributions: Floats
    """Their contributions along the walks, (n, d, k)."""
    values: Floats
    """Their mean Shapley values over all draws, (d, k)."""


@dataclass(frozen=True)
class Surrogates:
    """Surrogates of single rows.

    Parameters
    ----------
    regressor : Regressor
        Copied for every fit.
    facts : DrawFacts
        What is known of all draws.
    weights : (n_draws,) float
        Weights of the draws.
    seed : (4,) int
        Seed of the folds and, unless it has one, of the regressor.
    """

    regressor: Any
    facts: DrawFacts
    weights: Floats
    seed: NDArray[np.uint32]

    @property
    def codes(self) -> Codes:
        """Codes of all draws."""
        return make_codes(self.facts)

    def try_out(self) -> None:
        """Fit the regressor to a few draws; an error is raised before any walk if it cannot be fitted or read."""
        table = np.ascontiguousarray(self.codes.columns[:, :TRIAL_ROWS].T)
        self._fit(table, self.facts.empty[:TRIAL_ROWS, 0])

    @cached_property
    def folds(self) -> NDArray[np.int64]:
        """The fold of each draw, (n_draws,)."""
        return np.random.default_rng(self.seed).permutation(len(self.weights)) % FOLDS

    def explain(self, row: int, walks: Walks, values: Floats) -> Explained:
        """Fit surrogates to the values (evaluations, k) along the walks of one row, and explain them."""
        rng = np.random.default_rng(self.seed)
        draws, (_, n, d), k = walks.steps.draws, walks.differing.shape, values.shape[1]
        code = self.codes.of_row(self.facts, row)
        asked = _Composites(walks, code, self)
        found = Explained(np.zeros((n, d, k)), np.zeros((d, k)))
        for fold, output in product(range(FOLDS), range(k)):
            forest = self._learn(asked, fold, values[:, output], self.facts.empty[:, output], rng)
            mine = self.folds == fold
            found.contributions[mine[draws], :, output] = asked.contributions(forest, mine[draws])
            found.values[:, output] += self._shapley_values(forest, code, mine, d)
        return found

    def _shapley_values(self, forest: Forest, code: NDArray[np.float32], mine: NDArray[np.bool_], d: int) -> Floats:
        """Return the part that some of the draws have in the mean Shapley values of a surrogate, (d,)."""
        background = coded(forest, self.codes.columns[:, mine].T)
        values, _ = tree_values(
            forest, background, self.weights[mine], coded(forest, code[None]), self.facts.players, d
        )
        return values[0, :, 0]

    def _learn(
        self,
        asked: _Composites,
        fold: int,
        values: Floats,
        empty: Floats,
        rng: np.random.Generator,
    ) -> Forest:
        """Fit a regressor to the walks in all folds but one, and to some of the known values of ∅."""
        most = max(TRIAL_ROWS, MAX_CELLS // max(1, len(self.codes.columns)))
        seen = _some(np.flatnonzero(self.folds[asked.draws] != fold), most, rng)
        known = _some(np.arange(len(empty)), max(LEAST_BACKGROUND, len(seen) // BACKGROUND_SHARE), rng)
        table = np.concatenate([asked.table(seen), self.codes.columns[:, known].T])
        return self._fit(table, np.concatenate([values[seen], empty[known]]))

    def _fit(self, table: NDArray[np.float32], values: Floats) -> Forest:
        from sklearn.base import clone

        model = clone(self.regressor)
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=int(self.seed[0] % 2**31))
        try:
            model.fit(table, values)
        except Exception as error:
            error.add_note(f"while fitting the surrogate {self.regressor!r} to {table.shape[0]} rows of codes")
            raise
        return read_regressor(model, table)


class _Composites:
    """The inputs that the values along the walks of one row belong to: its codes, mixed with those of the draws."""

    def __init__(self, walks: Walks, code: NDArray[np.float32], surrogates: Surrogates) -> None:
        self._walks, self._code = walks, code
        self._columns, self._players = surrogates.codes.columns, surrogates.facts.players
        _, self._coalitions, draws = walks.ask(np.arange(len(walks)))
        self.draws = np.asarray(draws)

    def table(self, which: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the codes of some of the composites, (m, q)."""
        return self._mix(self._coalitions[which], self.draws[which])

    def _mix(self, coalitions: Coalitions, draws: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.where(coalitions[:, self._players], self._code, self._columns[:, draws].T)

    def contributions(self, forest: Forest, mine: NDArray[np.bool_]) -> Floats:
        """Return the contributions of a surrogate along the walks of some of the steps, (steps, d)."""
        some = self._walks.some_steps(mine)
        _, coalitions, asked = some.ask(np.arange(len(some)))
        draws = np.asarray(asked)
        parts = [
            sums_of_leaves(forest, self._mix(coalitions[i : i + ROWS_AT_ONCE], draws[i : i + ROWS_AT_ONCE]))
            for i in range(0, len(draws), ROWS_AT_ONCE)
        ]
        values = np.concatenate(parts) if parts else np.empty((0, 1))
        empty = sums_of_leaves(forest, np.ascontiguousarray(self._columns[:, some.steps.draws].T))
        full = sums_of_leaves(forest, self._code[None])
        return some.contributions(values, empty, full)[0, :, :, 0]


def _some(numbers: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return all numbers, or ``most`` of them at random."""
    return numbers if len(numbers) <= most else np.sort(rng.choice(numbers, most, replace=False))
