"""Independent orderings, and independent pairs of an ordering and its reverse.

The plain estimator of a mean over permutations (the paper's Equation 3) has variance σ²/n. Taking each
ordering together with its reverse gives (σ²/n)(1 + ρ), ρ being the correlation within a pair. For Shapley
values of models ρ is usually well below 0: games whose interactions have order at most 2 are then estimated
without error. It is not always so: in voting games ρ > 0, and pairs do worse than independent orderings.
"""

from __future__ import annotations

from typing import final

from sharpley._support.typing import Orderings
from sharpley.permutations.orderings import with_reverses
from sharpley.samplers.base import BlockSampler, Sampler, random_orderings


@final
class MonteCarlo(Sampler):
    """Independent uniform orderings.

    Examples
    --------
    >>> MonteCarlo(5, rng=0).random(2)
    array([[2, 4, 3, 0, 1],
           [4, 1, 2, 0, 3]])
    """

    unit = 1

    def _random(self, n: int) -> Orderings:
        return random_orderings(self._rng, n, self.d)


@final
class Antithetic(BlockSampler):
    """Uniform orderings, each followed by its reverse (not by its inverse).

    Examples
    --------
    >>> Antithetic(5, rng=0).random(2)
    array([[2, 4, 3, 0, 1],
           [1, 0, 3, 4, 2]])
    """

    unit = 2
    step = 2
    block_size = 2

    def _blocks(self, count: int) -> Orderings:
        return with_reverses(random_orderings(self._rng, count, self.d))
