"""Samples of orderings for estimates: one sample, or independent copies of it, and what is independent in them.

An estimate uses *one* sample, as published. Its standard error comes from independent groups of orderings where the
sample has enough of them: single orderings (monte-carlo), antithetic pairs (antithetic), or at least ten blocks
(orthogonal). With group means m_g of weight W_g, the mean is m = Σ_g W_g m_g, and its variance is estimated by
Σ_g W_g² (m_g − m)² / (1 − Σ_g W_g²) (``coalitions.moments``). All other samples are dependent throughout, and
``permutations.one_sample`` judges their error by kernel models.

A sampler with ``replicates=k`` is copied k times instead, and the copies are groups. That needs no model of the
function, but each copy has only a k-th of the orderings, which costs accuracy with methods that converge faster than
n^(−1/2): the squared error of five copies is 1.2 to 3 times as large. With fewer copies, intervals become much wider:
the 97.5% quantile of Student's t is 2.8 for five groups, 4.3 for three and 12.7 for two.

Orderings are drawn in *steps* of one ordering, or of one antithetic pair if the sampler produces pairs, so that a pair
is never split. Samplers that make a sample for its number of orderings draw it at once (``GroupedSource.sample``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.samplers.base import Sampler

LEAST_BLOCKS = 10  # whose spread is a better error bar than a kernel model; see docs/results/one_sample.md


class GroupedOrderings(NamedTuple):
    """Weighted orderings, in independent groups or not."""

    orderings: Orderings
    """The sample, (n, d)."""
    weights: Floats
    """Quadrature weights, (n,), that sum to 1."""
    groups: NDArray[np.int64] | None
    """Number of the independent group to which each ordering belongs, (n,), counted from 0; None for one sample."""


class GroupedSource:
    """A source of steps of orderings, from one sampler or from its replicates in turn.

    Parameters
    ----------
    sampler : Sampler
        One that has not been drawn from.
    expected : int or None
        Orderings that will be taken; None if work may stop anywhere.
    """

    def __init__(self, sampler: Sampler, expected: int | None) -> None:
        self.sampler = sampler.as_sequence() if expected is None else sampler
        self.step = self.sampler.step
        self._streams = [self.sampler] if sampler.replicates is None else self.sampler.spawn(sampler.replicates)
        self._steps_taken = 0

    def sample(self, n: int) -> tuple[Orderings, NDArray[np.int64]] | None:
        """Return a sample of at most n orderings that is to be used as a whole, and the stream of each; or None.

        Samplers of sequences have no such sample: their steps can be taken one by one.
        """
        counts = [self.sampler.whole(len(range(i, n, len(self._streams)))) for i in range(len(self._streams))]
        if None in counts:
            return None
        # From the start each time, so that a smaller sample has the same relabelling as the larger one before it.
        parts = [
            stream.reset().random(count)
            for stream, count in zip(self._streams, counts, strict=True)
            if count is not None
        ]
        return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])

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
        """Return weights and groups of the first n orderings.

        Parameters
        ----------
        orderings : (n, d) int
            The first n orderings returned by ``take``, or a whole sample.
        streams : (n,) int
            The sampler that each ordering comes from.
        """
        n, unit = len(orderings), self.sampler.unit
        weights = np.full(n, 1.0 / n)
        blocks = np.zeros(n, dtype=np.int64)
        for index in range(len(self._streams)):
            mine = np.flatnonzero(streams == index)
            if unit is not None:
                blocks[mine] = np.arange(len(mine)) // unit
            elif len(mine):
                weights[mine] = len(mine) / n * self._weights(orderings[mine])
        groups = np.unique(streams + len(self._streams) * blocks, return_inverse=True)[1].reshape(-1)
        is_grouped = len(self._streams) > 1 or (
            unit is not None and (unit <= self.step or blocks[-1] + 1 >= LEAST_BLOCKS)
        )
        return GroupedOrderings(orderings, weights, groups if is_grouped else None)

    def _weights(self, orderings: Orderings) -> Floats:
        weights = self.sampler.weights(orderings)
        if not np.isclose(weights.sum(), 1.0):
            raise ValueError(
                f"the weights of {self.sampler!r} sum to {weights.sum():.4g}, but must sum to 1; use normalize=True"
            )
        return weights


def draw_sample(sampler: Sampler, n: int) -> GroupedOrderings:
    """Draw n orderings, by one sampler or by its replicates, with their weights and groups."""
    source = GroupedSource(sampler, n)
    if sampler.replicates is None:
        return source.label(sampler.random(n), np.zeros(n, dtype=np.int64))
    steps, streams = source.take(-(-n // source.step))
    return source.label(steps.reshape(-1, sampler.d)[:n], np.repeat(streams, source.step)[:n])
