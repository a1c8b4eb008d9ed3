"""Shapley values from orderings: mean contributions along walks from the empty to the full coalition.

Along the ordering σ, player σ_k enters at rank k and contributes v({σ_1 … σ_k}) − v({σ_1 … σ_{k−1}}) (the paper's
Equation 2). A walk passes through d+1 coalitions; the first and the last are the same for all walks. The contributions
along a walk add up to v(N) − v(∅), and so does every weighted mean of them with weights that sum to 1.

Walks come in *steps*: a step is one ordering, or an antithetic pair of orderings, which is never split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from sharpley.coalitions.store import EMPTY, FULL, CoalitionStore
from sharpley.estimators.base import SAMPLED_PER_EVALUATION, CoalitionEstimator
from sharpley.statistics.unseen import unseen_variances

STEPS_PER_REQUEST = 32  # steps requested from the source at a time
MAX_COUNTED_COALITIONS = 10**12  # of one size: among more than this many, random walks practically never coincide
MAX_CONTRIBUTIONS_AT_ONCE = 2**22  # held in memory: 32 MB


class OrderingGroups(Protocol):
    """Weighted orderings in independent groups."""

    @property
    def orderings(self) -> Orderings:
        """The orderings, (n, d)."""

    @property
    def weights(self) -> Floats:
        """Weights of the orderings, (n,), summing to 1."""

    @property
    def groups(self) -> NDArray[np.int64]:
        """Group of each ordering, (n,)."""


class OrderingSource(Protocol):
    """Steps of one ordering, or of an antithetic pair, from one or more independent streams."""

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

    Steps are taken from the source in order until the next one would exceed the budget. Whether it would depends only
    on how coalitions overlap, which does not change when the players are relabelled; so stopping there causes no bias.

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
        self._streams: list[int] = []
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
            self._source = self._make_source(None if budget.may_stop else orderings_within(budget.most, self.d))
        before = len(self._streams)
        most = max(2, SAMPLED_PER_EVALUATION * budget.now // (self._step * (self.d - 1)))
        while len(self._streams) < most:
            orderings, stream = self._next_step(self._source)
            positions = self.store.add_within(coalitions_between(orderings), budget.now)
            if positions is None:
                self._pending.append((orderings, stream))
                break
            self._orderings.append(orderings)
            self._streams.append(stream)
            self._walks.append(_whole_walks(positions, len(orderings)))
        return len(self._streams) > before

    def _next_step(self, source: OrderingSource) -> tuple[Orderings, int]:
        if not self._pending:
            steps, streams = source.take(STEPS_PER_REQUEST)
            self._pending = list(zip(steps, streams.tolist(), strict=True))[::-1]
        return self._pending.pop()

    def estimate(self) -> Moments:
        """Average the contributions; the variance is estimated from the spread between groups."""
        if self._source is None:
            raise ValueError("no orderings were drawn: call choose before estimate")
        orderings = np.concatenate(self._orderings)
        streams = np.repeat(self._streams, self._step)
        return walk_moments(self.values, np.concatenate(self._walks), self._source.label(orderings, streams))


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
    """Return weighted mean contributions of players along walks, with variances from the spread between groups.

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
    totals = group_weights(sample.weights, sample.groups)
    parts = []
    for contributions in _contributions(values, walks, sample.orderings):
        weighted = sample.weights[:, None, None, None] * contributions
        found = grouped_moments(group_totals(weighted, sample.groups), totals)
        parts.append(found._replace(variances=np.maximum(found.variances, unseen_variances(contributions))))
    return joined(parts)


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
