"""Orderings in independent groups, so that a standard error can be had.

The variance of a mean can be estimated only from independent parts. Single orderings (monte-carlo) and pairs
(antithetic) are such parts. Longer dependent runs, blocks (orthogonal) or whole sequences (sobol, herding,
sbq), are too few: their orderings are taken in turn from ``REPLICATES`` samplers that are independent of each
other. A group is then what one of these samplers has drawn or, where its sequence falls into independent
blocks, one such block.

Five replicates are the documented compromise. Each has only a fifth of the orderings, which costs accuracy
with methods that converge faster than n^−1/2. With fewer, intervals explode: the 97.5% quantile of Student's
t is 2.8 for five groups, 4.3 for three and 12.7 for two.

Orderings come in *steps* of one, or of a pair where the sampler pairs them, so that pairs are never split.

Designs are made for their number of orderings: a fifth of all that are expected, so that five independent designs make
up the whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.samplers.base import Sampler

REPLICATES = 5


class GroupedOrderings(NamedTuple):
    """Weighted orderings in independent groups."""

    orderings: Orderings
    """(n, d)."""
    weights: Floats
    """(n,), quadrature weights that sum to 1."""
    groups: NDArray[np.int64]
    """(n,), which independent group an ordering belongs to, counted from 0."""


class GroupedSource:
    """Steps of orderings from one sampler or, in turn, from independent copies of it.

    Parameters
    ----------
    sampler : Sampler
        One that has not been drawn from.
    expected : int or None
        Orderings that will be taken, which some samplers need to know; None if work may stop anywhere.
    replicates : int
        Copies to take in turn if the sampler's independent runs are longer than a step.
    """

    def __init__(self, sampler: Sampler, expected: int | None, *, replicates: int = REPLICATES) -> None:
        size = None if expected is None else max(1, expected // replicates)
        self.sampler = sampler.for_groups(size)
        alone = self.sampler.unit is not None and self.sampler.unit <= self.step
        self._streams = [self.sampler] if alone else self.sampler.spawn(replicates)
        self._steps_taken = 0

    @property
    def step(self) -> int:
        """Orderings in a step."""
        return self.sampler.step

    def take(self, count: int) -> tuple[Orderings, NDArray[np.int64]]:
        """Return the next ``count`` steps, (count, step, d), and the streams they come from, (count,)."""
        turns = (self._steps_taken + np.arange(count)) % len(self._streams)
        steps = np.empty((count, self.step, self.sampler.d), dtype=np.int64)
        for index, stream in enumerate(self._streams):
            mine = turns == index
            steps[mine] = stream.random(self.step * int(mine.sum())).reshape(-1, self.step, self.sampler.d)
        self._steps_taken += count
        return steps, turns

    def label(self, orderings: Orderings, streams: NDArray[np.int64]) -> GroupedOrderings:
        """Weights and groups of the first n orderings taken, each with the stream that it came from."""
        n, unit = len(orderings), self.sampler.unit
        weights = np.full(n, 1.0 / n)
        groups = np.zeros(n, dtype=np.int64)
        for index in range(len(self._streams)):
            mine = np.flatnonzero(streams == index)
            if unit is None and len(mine):
                weights[mine] = len(mine) / n * self.sampler.weights(orderings[mine])
                if not np.isclose(weights[mine].sum(), len(mine) / n):
                    raise ValueError(f"the weights of {self.sampler!r} must sum to 1; use normalize=True")
            block = 0 if unit is None else np.arange(len(mine)) // unit
            groups[mine] = index + len(self._streams) * block
        return GroupedOrderings(orderings, weights, np.unique(groups, return_inverse=True)[1].reshape(-1))


def draw_groups(sampler: Sampler, n: int) -> GroupedOrderings:
    """Draw n orderings in independent groups."""
    whole_steps = REPLICATES * sampler.step
    source = GroupedSource(sampler, -(-n // whole_steps) * whole_steps)
    steps, streams = source.take(-(-n // source.step))
    orderings = steps.reshape(-1, sampler.d)[:n]
    return source.label(orderings, np.repeat(streams, source.step)[:n])
