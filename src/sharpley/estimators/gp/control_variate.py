"""The unbiased mode of "gp": the process as a control variate on pairs of orderings, fitted on the other half of them.

An ordering σ and its reverse pass through d − 1 complementary pairs of coalitions, and the mean contribution of the
player that joins S is v_odd(S ∪ i) − v_odd(S): again the odd part alone matters. So let m be any odd game with known
Shapley values φ(m). The walks of v − m have the mean φ(v) − φ(m), whatever m is, as long as m does not depend on
these walks. The orderings come in independent groups; groups are dealt into two folds, a Gaussian process is
conditioned on each, and its posterior mean serves as m for the other fold. The better m, the less is left to vary.

m(z) − z·φ(m)/2 has Shapley values 0, so it is subtracted from the values and contributions are averaged as ever.

The number of orderings depends on the budget alone, not on how many coalitions they happen to share: given
that, the folds would no longer be independent.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import EMPTY, FULL, CoalitionStore
from sharpley.estimators.base import Budget, Estimator
from sharpley.estimators.gp.data import unit_sized
from sharpley.estimators.gp.fitting import learn_from_pilots, posteriors
from sharpley.estimators.gp.settings import DEFAULT, GPSettings
from sharpley.estimators.pairs.base import pair_data
from sharpley.estimators.walks import MakeSource, OrderingSource, add_walks, walk_moments

FEWEST_STEPS = 4  # two in each fold


def least_budget(d: int) -> int:
    """Four antithetic pairs of orderings, or all coalitions."""
    return min(2 + FEWEST_STEPS * 2 * (d - 1), 2**d)


@final
class CrossFittedEstimator(Estimator):
    """Mean contributions along pairs of orderings, with a cross-fitted Gaussian process as control variate.

    Parameters
    ----------
    d : int
    make_source : callable
        Makes the source of orderings, whose steps are antithetic pairs, when the budget is known.
    settings : GPSettings, optional
    """

    def __init__(self, d: int, make_source: MakeSource, *, settings: GPSettings = DEFAULT) -> None:
        super().__init__(d)
        self._make_source, self._settings = make_source, settings
        self._source: OrderingSource | None = None
        self._orderings: list[Orderings] = []
        self._streams: list[NDArray[np.int64]] = []
        self._walks: list[NDArray[np.int64]] = []
        self._n_steps = 0

    @property
    def least_budget(self) -> int:
        """Four antithetic pairs of orderings, or all coalitions."""
        return least_budget(self.d)

    def _steps_within(self, budget: int) -> int:
        """Steps that the budget pays for even if no coalition repeats."""
        return max(FEWEST_STEPS, (budget - 2) // (2 * (self.d - 1)))

    def choose(self, store: CoalitionStore, budget: Budget, learnt: Any = None) -> bool:
        """Walk as many antithetic pairs of orderings as the budget pays for."""
        if self._source is None:
            self._source = self._make_source(None if budget.may_stop else 2 * self._steps_within(budget.most))
        wanted = self._steps_within(budget.now) - self._n_steps
        if wanted <= 0:
            return False
        steps, streams = self._source.take(wanted)
        orderings = steps.reshape(-1, self.d)
        self._orderings.append(orderings)
        self._streams.append(np.repeat(streams, 2))
        self._walks.append(add_walks(store, orderings))
        self._n_steps += wanted
        return True

    def estimate(self, values: Floats, learnt: Any = None) -> Moments:
        """Contributions to what the fit on the other fold leaves of the values, and their spread between groups."""
        if self._source is None:
            raise ValueError("no orderings were drawn: call choose before estimate")
        orderings, walks = np.concatenate(self._orderings), np.concatenate(self._walks)
        sample = self._source.label(orderings, np.concatenate(self._streams))
        folds = sample.groups % 2
        pairs = walked_pairs(orderings, walks)
        of_fold = [np.isin(pairs.walk, np.flatnonzero(folds == fold)) for fold in (1, 0)]
        remainders = [values - _control(values, pairs, seen, self._settings) for seen in of_fold]
        offsets = values.shape[1] * folds[:, None]
        return walk_moments(np.concatenate(remainders, axis=1), walks + offsets, sample)


class WalkedPairs(NamedTuple):
    """Complementary pairs of coalitions that pairs of orderings pass through; a pair is listed once for each walk."""

    signs: Floats
    """(n, d), ±1: the smaller member."""
    positions: NDArray[np.int64]
    """(n, 2) of the member and its complement in the store."""
    walk: NDArray[np.int64]
    """(n,): index of an ordering that passes the member."""


def walked_pairs(orderings: Orderings, walks: NDArray[np.int64]) -> WalkedPairs:
    """Pairs along orderings (n, d), each followed by its reverse, with walks (n, d+1)."""
    n, d = orderings.shape
    ranks = np.argsort(orderings, axis=1)
    partner = np.arange(n) ^ 1
    sizes = np.arange(1, d // 2 + 1)
    signs = np.where(ranks[:, None, :] < sizes[:, None], 1.0, -1.0)
    positions = np.stack([walks[:, sizes], walks[partner][:, d - sizes]], axis=2)
    return WalkedPairs(signs.reshape(-1, d), positions.reshape(-1, 2), np.repeat(np.arange(n), len(sizes)))


def _control(values: Floats, pairs: WalkedPairs, seen: NDArray[np.bool_], settings: GPSettings) -> Floats:
    """A game with Shapley values 0 that is like the odd part of ``values`` (r, m, k), learnt from some of the pairs."""
    distinct = np.flatnonzero(seen)[_first_of_each(pairs.positions[seen])][: settings.most_pairs]
    unit, magnitudes = unit_sized(pair_data(values, pairs.signs[distinct], pairs.positions[distinct]))
    every = _first_of_each(pairs.positions)
    signs = np.concatenate([pairs.signs[every], np.ones((1, unit.d))])
    positions = np.concatenate([pairs.positions[every], [[FULL, EMPTY]]])
    columns = np.zeros((values.shape[1], unit.odd.shape[1]))
    for games, found in posteriors(unit, learn_from_pilots(unit, settings), settings):
        odd = (found.predict(signs) - signs @ found.values / 2.0) * magnitudes[games]
        columns[positions[:, :1], games] = odd
        columns[positions[:, 1:], games] = -odd
    r, m, k = values.shape
    return np.moveaxis(columns.reshape(m, r, k), 0, 1)


def _first_of_each(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices of the first occurrence of each pair, in order; a pair of halves may be named by either."""
    _, first = np.unique(np.sort(positions, axis=1), axis=0, return_index=True)
    return np.sort(first)
