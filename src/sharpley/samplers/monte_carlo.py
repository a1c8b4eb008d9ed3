"""Independent orderings, and independent antithetic pairs of an ordering and its reverse.

The plain estimator of a mean over orderings, 1/n Σ_i f(σ_i) with independent uniform σ_i (the paper's Equation 3), has
variance σ²/n, where σ² = Var f(σ_i). With antithetic pairs, each ordering together with its reverse, the variance is
(σ²/n)(1 + ρ), where ρ is the correlation of f within a pair (the paper's Equation 4, which prints σ for σ²). For
Shapley values of models, ρ is usually well below 0; if all interactions of a game have order at most 2, then ρ = −1 and
the estimate is exact. This is not always so: in voting games ρ > 0, and antithetic pairs do worse than independent
orderings.
"""

from __future__ import annotations

from typing import final

from sharpley._support.typing import Orderings
from sharpley.permutations.orderings import with_reverses
from sharpley.samplers.base import BlockSampler, Sampler, random_orderings


@final
class MonteCarlo(Sampler):
    """Independent uniform orderings.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    replicates : int, optional
        Number of independent copies that an estimate uses; see ``Sampler``.
    rng : int, Generator, SeedSequence or None
        Passed to ``np.random.default_rng``.

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
    """Antithetic pairs: independent uniform orderings, each followed by its reverse (not by its inverse).

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    replicates : int, optional
        Number of independent copies that an estimate uses; see ``Sampler``.
    rng : int, Generator, SeedSequence or None
        Passed to ``np.random.default_rng``.

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
