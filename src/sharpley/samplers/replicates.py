"""Samples of orderings in independent groups, from which standard errors are estimated.

The variance of a mean can be estimated only from independent parts. With group means m_g of weight W_g, the mean is
m = Σ_g W_g m_g, and its variance is estimated by Σ_g W_g² (m_g − m)² / (1 − Σ_g W_g²) (``coalitions.moments``). Single
orderings (monte-carlo) and antithetic pairs (antithetic) are such parts. Longer dependent runs, whether blocks
(orthogonal) or whole sequences (sobol, herding, sbq), would be too few. Their orderings are drawn in turn from
``REPLICATES`` independent samplers instead; a group consists of the orderings of one of these samplers or, if its
sequence is made of independent blocks, of one such block.

Five replicates are the documented compromise. Each has only a fifth of the orderings, which costs accuracy with methods
that converge faster than n^(−1/2). With fewer replicates, confidence intervals become much wider: the 97.5% quantile of
Student's t is 2.8 for five groups, 4.3 for three and 12.7 for two.

Orderings are drawn in *steps* of one ordering, or of one antithetic pair if the sampler produces pairs, so that a pair
is never split.

Designs are made for their number of orderings: a fifth of all that are expected, so that five independent designs make
up the whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.samplers.base import Sampler

REPLICATES = 5  # independent samplers; see the compromise above


class GroupedOrderings(NamedTuple):
    """Weighted orderings in independent groups."""

    orderings: Orderings
    """The sample, (n, d)."""
    weights: Floats
    """Quadrature weights, (n,), that sum to 1."""
    groups: NDArray[np.int64]
    """Number of the independent group to which each ordering belongs, (n,), counted from 0."""


class GroupedSource:
    """A source of steps of orderings, from one sampler or from independent copies of it in turn.

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
        self.step = sampler.step
        alone = self.sampler.unit is not None and self.sampler.unit <= self.step
        self._streams = [self.sampler] if alone else self.sampler.spawn(replicates)
        self._steps_taken = 0

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
            The first n orderings returned by ``take``.
        streams : (n,) int
            The sampler that each ordering comes from, as returned by ``take``.
        """
        n, unit = len(orderings), self.sampler.unit
        weights = np.full(n, 1.0 / n)
        groups = np.zeros(n, dtype=np.int64)
        for index in range(len(self._streams)):
            mine = np.flatnonzero(streams == index)
            if unit is None and len(mine):
                weights[mine] = len(mine) / n * self.sampler.weights(orderings[mine])
                if not np.isclose(weights[mine].sum(), len(mine) / n):
                    total = weights[mine].sum() * n / len(mine)
                    raise ValueError(
                        f"the weights of {self.sampler!r} sum to {total:.4g}, but must sum to 1; use normalize=True"
                    )
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
