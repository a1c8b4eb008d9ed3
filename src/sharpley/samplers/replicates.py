"""Orderings in independent groups, so that a standard error can be had.

The variance of a sample mean can be estimated only from independent parts. Some samplers have them built in:
single orderings (monte-carlo), pairs (antithetic), blocks (orthogonal), told by ``Sampler.unit``. If there are at
least ``REPLICATES`` of these, one sequence is drawn and they are the groups. Otherwise (long sequences of
dependent orderings, or too few blocks) the n orderings are shared out over ``REPLICATES`` independent samplers.

Five replicates are the documented compromise: each has only a fifth of the orderings, which costs accuracy with methods
that converge faster than n^−1/2, but with fewer the interval explodes (the 97.5% quantile of Student's t is 2.8
for five groups, 4.3 for three and 12.7 for two).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Floats, Orderings
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


def draw_groups(sampler: Sampler, n: int, *, replicates: int = REPLICATES) -> GroupedOrderings:
    """Draw n orderings in at least ``replicates`` independent groups, as far as n allows."""
    if sampler.unit is not None and -(-n // sampler.unit) >= replicates:
        orderings = sampler.random(n)
        return GroupedOrderings(orderings, sampler.weights(orderings), np.arange(n) // sampler.unit)
    sizes = _shares(n, replicates, even=sampler.unit is not None)
    drawn = [child.random(size) for child, size in zip(sampler.spawn(len(sizes)), sizes, strict=True)]
    weights = [size / n * sampler.weights(part) for part, size in zip(drawn, sizes, strict=True)]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return GroupedOrderings(np.concatenate(drawn), np.concatenate(weights), groups)


def _shares(n: int, parts: int, *, even: bool) -> list[int]:
    """Share n out over at most ``parts``, as evenly as can be; ``even`` keeps pairs together."""
    step = 2 if even else 1
    parts = max(1, min(parts, n // step))
    sizes = [step * len(share) for share in np.array_split(np.arange(n // step), parts)]
    sizes[-1] += n % step
    return sizes
