"""Shapley values from orderings: the mean marginal contribution along walks from the empty to the full coalition.

Along the ordering σ player σ_k enters at step k and contributes v({σ_1 … σ_k}) − v({σ_1 … σ_{k−1}}) (the
paper's Equation 2). A walk passes d+1 coalitions, two of which are the same for all. Each walk's
contributions add up to v(N) − v(∅), and so does every weighted mean with weights that sum to 1.
"""

from __future__ import annotations

from math import comb
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats, Orderings
from sharpley.coalitions.moments import Moments, group_totals, group_weights, grouped_moments
from sharpley.coalitions.store import EMPTY, FULL, CoalitionStore
from sharpley.estimators.base import FREE_WORK, Estimator

STEPS_AT_ONCE = 32
NEVER_TWICE = 10**12  # coalitions of one size: from here on no walk meets another's by chance
ELEMENTS_AT_ONCE = 2**22  # contributions held at once: 32 MB


class Grouped(Protocol):
    """Weighted orderings in independent groups."""

    @property
    def orderings(self) -> Orderings:
        """(n, d)."""

    @property
    def weights(self) -> Floats:
        """(n,), summing to 1."""

    @property
    def groups(self) -> NDArray[np.int64]:
        """(n,)."""


class OrderingSource(Protocol):
    """Steps of one or two orderings that belong together, from one or more independent streams."""

    @property
    def step(self) -> int:
        """Orderings in a step."""

    def prepare(self, expected: int | None) -> None:
        """Get ready for so many orderings; None if they may be fewer."""

    def take(self, count: int) -> tuple[Orderings, NDArray[np.int64]]:
        """Return the next steps, (count, step, d), and the streams they come from."""

    def label(self, orderings: Orderings, streams: NDArray[np.int64]) -> Grouped:
        """Weights and groups of the orderings taken so far."""


@final
class PermutationEstimator(Estimator):
    """Mean marginal contributions along orderings from a source.

    The walks are taken in the source's order until the next step would exceed the budget. Whether it does
    depends only on how coalitions overlap, which does not change when players are relabelled; so stopping
    there biases nothing.

    Parameters
    ----------
    d : int
    source : OrderingSource
    """

    def __init__(self, d: int, source: OrderingSource) -> None:
        super().__init__(d)
        self._source = source
        self._pending: list[tuple[Orderings, int]] = []
        self._orderings: list[Orderings] = []
        self._streams: list[int] = []
        self._walks: list[NDArray[np.int64]] = []

    def _cost(self, steps: int) -> int:
        """Evaluations that pay for so many steps even if no coalition repeats."""
        return min(2 + steps * self._source.step * (self.d - 1), 2**self.d)

    @property
    def minimum(self) -> int:
        """Two independent steps."""
        return self._cost(2)

    @property
    def first_checkpoint(self) -> int:
        """Ten steps."""
        return self._cost(10)

    def prepare(self, max_evals: int, *, may_stop: bool) -> None:
        """Tell the source how many orderings to expect."""
        self._source.prepare(None if may_stop else orderings_within(max_evals, self.d))

    def extend(self, store: CoalitionStore, budget: int, values: Floats | None) -> bool:
        """Walk on, step by step, as far as the budget goes."""
        before = len(self._streams)
        most = max(2, FREE_WORK * budget // (self._source.step * (self.d - 1)))
        while len(self._streams) < most:
            orderings, stream = self._next_step()
            positions = store.add_within(_between(orderings), budget)
            if positions is None:
                self._pending.append((orderings, stream))
                break
            self._orderings.append(orderings)
            self._streams.append(stream)
            self._walks.append(_whole_walks(positions, len(orderings)))
        return len(self._streams) > before

    def _next_step(self) -> tuple[Orderings, int]:
        if not self._pending:
            steps, streams = self._source.take(STEPS_AT_ONCE)
            self._pending = list(zip(steps, streams.tolist(), strict=True))[::-1]
        return self._pending.pop()

    def estimate(self, values: Floats) -> Moments:
        """Mean contributions, and their variance between groups."""
        orderings = np.concatenate(self._orderings)
        streams = np.repeat(self._streams, self._source.step)
        return walk_moments(values, np.concatenate(self._walks), self._source.label(orderings, streams))


def orderings_within(budget: int, d: int) -> int:
    """Random orderings whose coalitions are expected to number ``budget``; at small d many of them coincide.

    A size class of c coalitions has c (1 − (1 − 1/c)ⁿ) of them on n independent walks.
    """
    classes = np.array([float(min(comb(d, size), NEVER_TWICE)) for size in range(1, d)])

    def expected(n: int) -> float:
        return 2.0 - float((classes * np.expm1(n * np.log1p(-1.0 / classes))).sum())

    low, high = 1, FREE_WORK * budget // (d - 1) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if expected(middle) <= budget else (low, middle)
    return low


def _between(orderings: Orderings) -> Coalitions:
    """The coalitions strictly between ∅ and N that walks pass through: (n, d) -> (n·(d−1), d)."""
    n, d = orderings.shape
    ranks = np.argsort(orderings, axis=1)
    return (ranks[:, None, :] < np.arange(1, d)[None, :, None]).reshape(n * (d - 1), d)


def _whole_walks(positions: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Positions of all d+1 coalitions of n walks, (n, d+1)."""
    ends = np.full((n, 1), EMPTY), np.full((n, 1), FULL)
    return np.concatenate([ends[0], positions.reshape(n, -1), ends[1]], axis=1)


def add_walks(store: CoalitionStore, orderings: Orderings) -> NDArray[np.int64]:
    """Register all coalitions that orderings pass through and return their positions, (n, d+1)."""
    return _whole_walks(store.add(_between(orderings)), len(orderings))


def walk_moments(values: Floats, walks: NDArray[np.int64], sample: Grouped) -> Moments:
    """Weighted mean contributions of players along walks.

    Parameters
    ----------
    values : (r, m, k) float
        Values of coalitions for each row.
    walks : (n, d+1) int
        Positions of the coalitions along each walk.
    sample : Grouped
    """
    n, d = sample.orderings.shape
    totals = group_weights(sample.weights, sample.groups)
    players = np.argsort(sample.orderings, axis=1)[:, None, :, None]  # where along its walk each player enters
    at_once = max(1, ELEMENTS_AT_ONCE // (n * d * values.shape[2]))
    parts = []
    for start in range(0, len(values), at_once):
        steps = np.diff(np.moveaxis(values[start : start + at_once], 0, 1)[walks], axis=1)  # (n, d, rows, k)
        contributions = np.take_along_axis(np.moveaxis(steps, 2, 1), players, axis=2)
        weighted = sample.weights[:, None, None, None] * contributions
        parts.append(grouped_moments(group_totals(weighted, sample.groups), totals))
    return Moments(*(np.concatenate(part) for part in zip(*parts, strict=True)))
