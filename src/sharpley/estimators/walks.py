"""Shapley values from orderings: mean contributions along walks from the empty to the full coalition.

Along the ordering σ, player σ_k enters at rank k and contributes v({σ_1 … σ_k}) − v({σ_1 … σ_{k−1}}) (the paper's
Equation 2). A walk passes through d+1 coalitions; the first and the last are the same for all walks. The contributions
along a walk add up to v(N) − v(∅), and so does every weighted mean of them with weights that sum to 1.

Walks come in *steps*: a step is one ordering, or an antithetic pair of orderings, which is never split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import comb
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats, Orderings
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import (
    Moments,
    group_totals,
    group_weights,
    grouped_moments,
    joined,
)
from sharpley.coalitions.store import EMPTY, FULL, CoalitionStore, coalition_keys
from sharpley.estimators.base import SAMPLED_PER_EVALUATION, CoalitionEstimator
from sharpley.permutations.one_sample import one_sample_errors, predecessor_candidates
from sharpley.statistics.unseen import unseen_variances

STEPS_PER_REQUEST = 32  # steps requested from the source at a time
MAX_COUNTED_COALITIONS = 10**12  # of one size: among more than this many, random walks practically never coincide
MAX_CONTRIBUTIONS_AT_ONCE = 2**22  # held in memory: 32 MB


class OrderingGroups(Protocol):
    """Weighted orderings, in independent groups or not."""

    @property
    def orderings(self) -> Orderings:
        """The orderings, (n, d)."""

    @property
    def weights(self) -> Floats:
        """Weights of the orderings, (n,), summing to 1."""

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Group of each ordering, (n,); None if they are one sample, in which nothing is independent."""


class OrderingSource(Protocol):
    """Steps of one ordering, or of an antithetic pair, from one or more independent streams; or whole samples."""

    def sample(self, n: int) -> tuple[Orderings, NDArray[np.int64]] | None:
        """Return a sample of at most n orderings that is to be used as a whole, and streams; None for sequences."""

    def take(self, count: int) -> tuple[Orderings, NDArray[np.int64]]:
        """Return the next steps, (count, step, d), and the stream of each, (count,)."""

    def label(self, orderings: Orderings, streams: NDArray[np.int64]) -> OrderingGroups:
        """Return the orderings taken so far, (n, d), with their weights and groups."""


MakeSource: TypeAlias = Callable[[int | None], OrderingSource]
"""Creates a source for an expected number of orderings; None if the run may stop at any time."""


def least_budget(d: int, step: int) -> int:
    """Return the number of evaluations for two independent steps of ``step`` orderings."""
    return _cost(2, d, step)


def _cost(steps: int, d: int, step: int) -> int:
    """Return the number of evaluations for a number of steps if no coalition repeats."""
    return min(2 + steps * step * (d - 1), 2**d)


@final
class PermutationEstimator(CoalitionEstimator):
    """Average marginal contributions along the orderings of a source.

    Steps are taken from the source in order until the next one would exceed the budget. A sample that is made for its
    number of orderings, such as a design, is made again for fewer orderings until the budget pays for all of it.
    Whether a budget is exceeded depends only on how coalitions overlap, which does not change when the players are
    relabelled; so stopping there causes no bias.

    Parameters
    ----------
    d : int
        Number of players.
    step : int
        Number of orderings in a step of the source: 2 for antithetic pairs, which are never split.
    make_source : callable
        Creates the source of orderings once the budget is known.

    Examples
    --------
    This is the estimator of every method that is a sampler, such as "antithetic":

    >>> from functools import partial
    >>> import sharpley
    >>> from sharpley.samplers.replicates import GroupedSource
    >>> sampler = sharpley.Antithetic(3, rng=0)
    >>> estimator = PermutationEstimator(3, step=2, make_source=partial(GroupedSource, sampler))
    >>> estimator.least_budget
    8
    >>> sharpley.shapley_values(lambda S: S @ [1.0, 2.0, 4.0], 3, method="antithetic", max_evals=8, rng=0).values
    array([1., 2., 4.])
    """

    def __init__(self, d: int, step: int, make_source: MakeSource) -> None:
        super().__init__(d)
        self._step, self._make_source = step, make_source
        self._source: OrderingSource | None = None
        self._pending: list[tuple[Orderings, int]] = []
        self._orderings: list[Orderings] = []
        self._streams: list[NDArray[np.int64]] = []
        self._is_whole = False
        self._walks: list[NDArray[np.int64]] = []

    @property
    def least_budget(self) -> int:
        """Number of evaluations for two independent steps."""
        return least_budget(self.d, self._step)

    def first_checkpoint(self, most: int) -> int:
        """Return the number of evaluations for ten steps."""
        return _cost(10, self.d, self._step)

    def _choose(self, budget: Budget) -> bool:
        """Add steps as long as the budget pays for them."""
        if self._source is None:
            expected = None if budget.may_stop else orderings_within(budget.most, self.d)
            self._source = self._make_source(expected)
            if expected is not None and self._add_whole_sample(self._source, expected, budget.now):
                return True
        if self._is_whole:
            return False
        before = len(self._streams)
        most = max(2, SAMPLED_PER_EVALUATION * budget.now // (self._step * (self.d - 1)))
        while len(self._streams) < most:
            orderings, stream = self._next_step(self._source)
            positions = self.store.add_within(coalitions_between(orderings), budget.now)
            if positions is None:
                self._pending.append((orderings, stream))
                break
            self._add(orderings, np.array([stream]), positions)
        return len(self._streams) > before

    def _add(self, orderings: Orderings, streams: NDArray[np.int64], positions: NDArray[np.int64]) -> None:
        self._orderings.append(orderings)
        self._streams.append(np.repeat(streams, len(orderings) // len(streams)))
        self._walks.append(_whole_walks(positions, len(orderings)))

    def _add_whole_sample(self, source: OrderingSource, n: int, limit: int) -> bool:
        """Add the largest whole sample of at most n orderings that the budget pays for, if the source makes such."""
        while (sample := source.sample(n)) is not None:
            coalitions = coalitions_between(sample[0])
            positions = self.store.add_within(coalitions, limit)
            if positions is not None:
                self._add(*sample, positions)
                self._is_whole = True
                return True
            excess = len(self.store) + len(set(coalition_keys(coalitions))) - limit
            n = len(sample[0]) - max(1, excess // (self.d - 1))
        return False

    def _next_step(self, source: OrderingSource) -> tuple[Orderings, int]:
        if not self._pending:
            steps, streams = source.take(STEPS_PER_REQUEST)
            self._pending = list(zip(steps, streams.tolist(), strict=True))[::-1]
        return self._pending.pop()

    def estimate(self) -> Moments:
        """Average the contributions; the variance comes from the spread between groups, or from kernel models."""
        if self._source is None:
            raise ValueError("no orderings were drawn: call choose before estimate")
        sample = self._source.label(np.concatenate(self._orderings), np.concatenate(self._streams))
        return walk_moments(self.values, np.concatenate(self._walks), sample)


@final
class GivenOrderings(CoalitionEstimator):
    """Average marginal contributions along orderings that are given.

    Parameters
    ----------
    d : int
        Number of players.
    sample : OrderingGroups
        The orderings, with their weights and groups.
    """

    def __init__(self, d: int, sample: OrderingGroups) -> None:
        super().__init__(d)
        self._sample = sample
        self._walks: NDArray[np.int64] | None = None

    @property
    def least_budget(self) -> int:
        """Number of evaluations if no coalition repeats."""
        return _cost(len(self._sample.orderings), self.d, 1)

    def _choose(self, budget: Budget) -> bool:
        """Register all coalitions along the orderings, in the first call."""
        if self._walks is not None:
            return False
        self._walks = add_walks(self.store, self._sample.orderings)
        return True

    def estimate(self) -> Moments:
        """Average the contributions; the variance is estimated from the spread between groups."""
        assert self._walks is not None, "choose comes first"
        return walk_moments(self.values, self._walks, self._sample)


def orderings_within(budget: int, d: int) -> int:
    """Return the number of random orderings with an expected ``budget`` distinct coalitions; at small d, many coincide.

    Of c coalitions of one size, n independent walks pass through c (1 − (1 − 1/c)ⁿ) distinct ones on average.
    """
    of_each_size = np.array([float(min(comb(d, size), MAX_COUNTED_COALITIONS)) for size in range(1, d)])

    def expected(n: int) -> float:
        return 2.0 - float((of_each_size * np.expm1(n * np.log1p(-1.0 / of_each_size))).sum())

    low, high = 1, SAMPLED_PER_EVALUATION * budget // (d - 1) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if expected(middle) <= budget else (low, middle)
    return low


def coalitions_between(orderings: Orderings) -> Coalitions:
    """Return the coalitions strictly between ∅ and N that walks pass through: (n, d) -> (n·(d−1), d)."""
    n, d = orderings.shape
    ranks = np.argsort(orderings, axis=1)
    return (ranks[:, None, :] < np.arange(1, d)[None, :, None]).reshape(n * (d - 1), d)


def _whole_walks(positions: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the positions of all d+1 coalitions of n walks, (n, d+1)."""
    ends = np.full((n, 1), EMPTY), np.full((n, 1), FULL)
    return np.concatenate([ends[0], positions.reshape(n, -1), ends[1]], axis=1)


def add_walks(store: CoalitionStore, orderings: Orderings) -> NDArray[np.int64]:
    """Register all coalitions that walks along orderings (n, d) pass through; return their positions, (n, d+1)."""
    return _whole_walks(store.add(coalitions_between(orderings)), len(orderings))


def contributions_along(values: Floats, orderings: Orderings) -> Floats:
    """Return the contributions of all players along walks.

    Parameters
    ----------
    values : (..., n, d+1) float
        Values of the coalitions along each walk, from ∅ to N.
    orderings : (n, d) int
        Players in the order in which they enter.

    Returns
    -------
    (..., n, d) float
        Contribution of each player along each walk.
    """
    ranks = np.argsort(orderings, axis=1)
    steps = np.diff(values, axis=-1)
    return np.take_along_axis(steps, ranks.reshape(*[1] * (steps.ndim - 2), *ranks.shape), axis=-1)


def walk_moments(values: Floats, walks: NDArray[np.int64], sample: OrderingGroups) -> Moments:
    """Return weighted mean contributions of players along walks, with their variances.

    The variances come from the spread between groups, or from kernel models if there are no groups.

    Parameters
    ----------
    values : (r, m, k) float
        Values of coalitions for each row.
    walks : (n, d+1) int
        Positions of the coalitions along each walk.
    sample : OrderingGroups
        The n orderings of the walks, with their weights and groups.

    Returns
    -------
    Moments
        Arrays of shape (r, d, k).
    """
    parts = []
    for contributions in _contributions(values, walks, sample.orderings):
        found = _dependent_moments if sample.groups is None else _grouped_moments
        moments = found(contributions, sample)
        parts.append(moments._replace(variances=np.maximum(moments.variances, unseen_variances(contributions))))
    return joined(parts)


def _grouped_moments(contributions: Floats, sample: OrderingGroups) -> Moments:
    """Return moments (r, d, k) of contributions (n, r, d, k), with variances from the spread between groups."""
    assert sample.groups is not None
    weighted = sample.weights[:, None, None, None] * contributions
    return grouped_moments(group_totals(weighted, sample.groups), group_weights(sample.weights, sample.groups))


def _dependent_moments(contributions: Floats, sample: OrderingGroups) -> Moments:
    """Return the moments of a single dependent sample, with variances from kernel models."""
    n, r, d, k = contributions.shape
    # Summed one after the other: the order must not depend on the number of rows.
    means = (sample.weights[:, None, None, None] * contributions).sum(axis=0)
    ranks = np.argsort(sample.orderings, axis=1)
    by_game = np.moveaxis(contributions, 2, 3).reshape(n, r * k, d)
    kernels = [partial(predecessor_candidates, ranks, player) for player in range(d)]
    found = one_sample_errors(by_game, sample.weights, kernels)
    return Moments(means, *(np.moveaxis(part.reshape(r, k, d), 1, 2) for part in found))


def unseen_along(values: Floats, walks: NDArray[np.int64], orderings: Orderings) -> Floats:
    """Return the least variance of mean contributions along walks, for what may not have been seen, (r, d, k)."""
    return np.concatenate([unseen_variances(some) for some in _contributions(values, walks, orderings)])


def _contributions(values: Floats, walks: NDArray[np.int64], orderings: Orderings) -> Iterator[Floats]:
    """Yield the contributions of players along walks, (n, rows, d, k), in blocks of rows that fit into memory."""
    n, d = orderings.shape
    at_once = max(1, MAX_CONTRIBUTIONS_AT_ONCE // (n * d * values.shape[2]))
    for start in range(0, len(values), at_once):
        along = np.moveaxis(values[start : start + at_once], 1, 2)[:, :, walks]  # (rows, k, n, d+1)
        by_player = contributions_along(along, orderings)
        yield np.ascontiguousarray(np.moveaxis(by_player, (2, 3), (0, 2)))
