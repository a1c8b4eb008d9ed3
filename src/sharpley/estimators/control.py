"""The control variate: subtract a fitted game whose index is known, and sample the rest.

Let m be any game with known Shapley values φ(m). The game m(z) − z·φ(m)/2 has Shapley values 0, so it can be subtracted
from v without changing what is estimated; the better m fits, the less is left to sample. If m is fitted to the sample
itself, the estimate is biased. So the sample is *cross-fitted*: its independent groups are assigned to two folds, and
each fold is rid of the game that was fitted to the other one. The estimate is then unbiased, whatever the fit is.

``CrossFittedEstimator`` does so for antithetic pairs of orderings. The method "gp-unbiased" fits the Gaussian process:
the coalitions along an ordering and its reverse come with their complements, which its kernel makes use of.

The number of orderings depends only on the budget, not on how many coalitions they share: conditional on the number of
shared coalitions, the folds would no longer be independent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats, Orderings
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.walks import MakeSource, OrderingSource, add_walks, unseen_along, walk_moments

MIN_STEPS = 4  # antithetic pairs of orderings, two in each fold


class Fitted(NamedTuple):
    """Fitted games, each of which is a column."""

    values: Floats
    """Their values at coalitions, (m, g)."""
    shapley: Floats
    """Their Shapley values, (d, g)."""


Fit: TypeAlias = Callable[[Coalitions, Floats, Coalitions], Fitted]
"""``fit(coalitions (n, d), values (n, g), everywhere (m, d))``: fits games, and predicts them everywhere."""


def without_fit(values: Floats, coalitions: Coalitions, fitted: Fitted) -> Floats:
    """Return games (m, g) minus fitted games, whose Shapley values are added again as a linear game.

    Examples
    --------
    A fit that is right everywhere leaves a linear game, whose Shapley values any sample gives exactly:

    >>> coalitions = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool)
    >>> product = np.array([[0.0], [0.0], [0.0], [4.0]])
    >>> without_fit(product, coalitions, Fitted(product, np.array([[2.0], [2.0]]))).ravel()
    array([-2.,  0.,  0.,  2.])
    """
    return np.asarray(values - fitted.values + np.where(coalitions, 0.5, -0.5) @ fitted.shapley)


def least_budget(d: int) -> int:
    """Return the number of evaluations for four antithetic pairs of orderings, at most 2^d."""
    return min(2 + MIN_STEPS * 2 * (d - 1), 2**d)


@final
class CrossFittedEstimator(CoalitionEstimator):
    """Average contributions along antithetic pairs of orderings, with a cross-fitted control variate.

    Parameters
    ----------
    d : int
        Number of players.
    make_source : callable
        Creates the source of orderings, whose steps are antithetic pairs, once the budget is known.
    fit : callable
        Fits games to one fold, whose coalitions are ∅, N and others, each followed by its complement.

    Examples
    --------
    The method "gp-unbiased" is this estimator with orthogonal orderings and the Gaussian process:

    >>> import sharpley
    >>> game = sharpley.games.Airport(tuple(range(1, 13)))
    >>> found = sharpley.shapley_values(game, method="gp-unbiased", max_evals=200, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 4 * found.standard_errors.max())
    True
    """

    def __init__(self, d: int, make_source: MakeSource, fit: Fit) -> None:
        super().__init__(d)
        self._make_source, self._fit = make_source, fit
        self._source: OrderingSource | None = None
        self._orderings: list[Orderings] = []
        self._streams: list[NDArray[np.int64]] = []
        self._walks: list[NDArray[np.int64]] = []
        self._n_steps = 0

    @property
    def least_budget(self) -> int:
        """Number of evaluations for four antithetic pairs of orderings, at most 2^d."""
        return least_budget(self.d)

    def _steps_within(self, budget: int) -> int:
        """Number of steps that the budget pays for if no coalition repeats."""
        return max(MIN_STEPS, (budget - 2) // (2 * (self.d - 1)))

    def _choose(self, budget: Budget) -> bool:
        """Add as many antithetic pairs of orderings as the budget pays for if no coalition repeats."""
        if self._source is None:
            self._source = self._make_source(None if budget.may_stop else 2 * self._steps_within(budget.most))
        wanted = self._steps_within(budget.now) - self._n_steps
        if wanted <= 0:
            return False
        steps, streams = self._source.take(wanted)
        orderings = steps.reshape(-1, self.d)
        self._orderings.append(orderings)
        self._streams.append(np.repeat(streams, 2))
        self._walks.append(add_walks(self.store, orderings))
        self._n_steps += wanted
        return True

    def estimate(self) -> Moments:
        """Average the contributions to what the other fold's fit leaves.

        The variance is estimated from the spread between groups. The residuals of a player who was never seen to change
        anything vary as well, by chance, so what may not have been seen is estimated from the values themselves.
        """
        if self._source is None:
            raise ValueError("no orderings were drawn: call choose before estimate")
        orderings, walks, values = np.concatenate(self._orderings), np.concatenate(self._walks), self.values
        sample = self._source.label(orderings, np.concatenate(self._streams))
        folds = sample.groups % 2
        residuals = np.concatenate([self._residuals(walks[folds != fold]) for fold in (0, 1)], axis=1)
        found = walk_moments(residuals, walks + values.shape[1] * folds[:, None], sample)
        least = unseen_along(values, walks, orderings)
        return found._replace(variances=np.maximum(found.variances, least))

    def _residuals(self, seen: NDArray[np.int64]) -> Floats:
        """Return what is left of all values (r, m, k) without the games fitted along the walks seen (n, d + 1)."""
        r, m, k = self.values.shape
        columns = np.moveaxis(self.values, 1, 0).reshape(m, -1)
        coalitions = self.store.since(0)[:m]
        # The reverse of a walk, its neighbour, passes through the complements.
        pairs = np.stack([seen[::2], seen[1::2, ::-1]], axis=2)[:, 1:-1].reshape(-1, 2)
        _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
        positions = np.concatenate([[EMPTY, FULL], pairs[np.sort(first)].ravel()])
        left = without_fit(columns, coalitions, self._fit(coalitions[positions], columns[positions], coalitions))
        return np.moveaxis(left.reshape(m, r, k), 0, 1)
