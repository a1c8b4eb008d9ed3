"""The unbiased form of "gp": the process as a cross-fitted control variate on antithetic pairs of orderings.

An ordering σ and its reverse pass through d − 1 pairs, each a coalition and its complement, and the mean contribution
of the player i that joins S is v_odd(S ∪ i) − v_odd(S): again, only the odd part matters. Let m be any odd game with
known Shapley values φ(m). The mean contributions along the walks, for the game v − m, have expectation φ(v) − φ(m) for
every m that does not depend on these walks. The orderings come in independent groups. Groups are assigned to two folds,
a Gaussian process is conditioned on each fold, and its posterior mean serves as m for the other fold. The better the
fit, the smaller the variance of v − m.

m(z) − z·φ(m)/2 has Shapley values 0, so it is subtracted from the values, and contributions are averaged as usual.

The number of orderings depends only on the budget, not on how many coalitions they share: conditional on the number of
shared coalitions, the folds would no longer be independent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.gp.data import normalised
from sharpley.estimators.gp.fitting import learn_from_pilots, posteriors
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.pairs.base import pair_data
from sharpley.estimators.walks import MakeSource, OrderingSource, add_walks, unseen_along, walk_moments

MIN_STEPS = 4  # antithetic pairs of orderings, two in each fold


def least_budget(d: int) -> int:
    """Return the number of evaluations for four antithetic pairs of orderings, at most 2^d."""
    return min(2 + MIN_STEPS * 2 * (d - 1), 2**d)


@final
class CrossFittedEstimator(CoalitionEstimator):
    """Average contributions along antithetic pairs of orderings, with a Gaussian process as control variate.

    The process is cross-fitted: the orderings are divided into two folds, and on each fold the control variate is the
    process conditioned on the other. So the estimate is unbiased.

    Parameters
    ----------
    d : int
        Number of players.
    make_source : callable
        Creates the source of orderings, whose steps are antithetic pairs, once the budget is known.
    settings : GPSettings, optional
        Settings of the Gaussian process.

    Examples
    --------
    The method "gp-unbiased" is this estimator with orthogonal orderings:

    >>> import sharpley
    >>> game = sharpley.games.Airport(tuple(range(1, 13)))
    >>> found = sharpley.shapley_values(game, method="gp-unbiased", max_evals=200, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 4 * found.standard_errors.max())
    True
    """

    def __init__(self, d: int, make_source: MakeSource, *, settings: GPSettings = DEFAULT_SETTINGS) -> None:
        super().__init__(d)
        self._make_source, self._settings = make_source, settings
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
        """Average the contributions to the residuals of the other fold's fit.

        The variance is estimated from the spread between groups. The residuals of a player who was never seen to change
        anything vary as well, by chance, so what may not have been seen is estimated from the values themselves.
        """
        if self._source is None:
            raise ValueError("no orderings were drawn: call choose before estimate")
        orderings, walks, values = np.concatenate(self._orderings), np.concatenate(self._walks), self.values
        sample = self._source.label(orderings, np.concatenate(self._streams))
        assert sample.groups is not None, "folds need independent groups"
        folds = sample.groups % 2
        pairs = walked_pairs(orderings, walks)
        of_other_fold = [np.isin(pairs.walk, np.flatnonzero(folds == fold)) for fold in (1, 0)]
        residuals = [values - _control(values, pairs, seen, self._settings) for seen in of_other_fold]
        offsets = values.shape[1] * folds[:, None]
        found = walk_moments(np.concatenate(residuals, axis=1), walks + offsets, sample)
        least = unseen_along(values, walks, orderings)
        return found._replace(variances=np.maximum(found.variances, least))


class WalkedPairs(NamedTuple):
    """Pairs along antithetic orderings; a pair is listed once for each walk through its smaller coalition."""

    signs: Floats
    """The smaller coalition of each pair as ±1, (n, d)."""
    positions: NDArray[np.int64]
    """Positions in the store of that coalition and of its complement, (n, 2)."""
    walk: NDArray[np.int64]
    """Index of an ordering that passes through that coalition, (n,)."""


def walked_pairs(orderings: Orderings, walks: NDArray[np.int64]) -> WalkedPairs:
    """Return the pairs along orderings (n, d), each followed by its reverse, with the given walks (n, d+1)."""
    n, d = orderings.shape
    ranks = np.argsort(orderings, axis=1)
    partner = np.arange(n) ^ 1
    sizes = np.arange(1, d // 2 + 1)
    signs = np.where(ranks[:, None, :] < sizes[:, None], 1.0, -1.0)
    positions = np.stack([walks[:, sizes], walks[partner][:, d - sizes]], axis=2)
    return WalkedPairs(signs.reshape(-1, d), positions.reshape(-1, 2), np.repeat(np.arange(n), len(sizes)))


def _control(values: Floats, pairs: WalkedPairs, seen: NDArray[np.bool_], settings: GPSettings) -> Floats:
    """Return games (r, m, k) with Shapley values 0 that approximate the odd part of ``values``.

    They are fitted to the pairs marked in ``seen``, (n,) bool.
    """
    distinct = np.flatnonzero(seen)[_first_of_each(pairs.positions[seen])][: settings.most_pairs]
    unit, magnitudes = normalised(pair_data(values, pairs.signs[distinct], pairs.positions[distinct]))
    every = _first_of_each(pairs.positions)
    signs = np.concatenate([pairs.signs[every], np.ones((1, unit.d))])
    positions = np.concatenate([pairs.positions[every], [[FULL, EMPTY]]])
    columns = np.zeros((values.shape[1], unit.odd.shape[1]))
    # The Shapley values must be those of the predictions, so there is no averaging over hyperparameters.
    single = replace(settings, halved_pairs=0)
    for games, found in posteriors(unit, learn_from_pilots(unit, single), single):
        odd = (found.predict(signs) - signs @ found.values / 2.0) * magnitudes[games]
        columns[positions[:, :1], games] = odd
        columns[positions[:, 1:], games] = -odd
    r, m, k = values.shape
    return np.moveaxis(columns.reshape(m, r, k), 0, 1)


def _first_of_each(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of the first occurrence of each pair, in order.

    In the middle class, a pair may be represented by either of its coalitions.
    """
    _, first = np.unique(np.sort(positions, axis=1), axis=0, return_index=True)
    return np.sort(first)
