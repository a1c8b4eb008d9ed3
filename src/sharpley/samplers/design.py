"""Permutation designs: random samples of orderings that minimise the Mallows discrepancy directly.

With equal weights, the squared discrepancy of n orderings (the paper's Equation 8) is

    D² = 1/n² Σ_ij K(σ_i, σ_j) − E[K],   K(σ, σ') = exp(−λ n_dis(σ, σ') / C(d, 2)).

A design is a set of orderings at a local minimum of this sum. Designs are not in the paper. ``minimise`` finds them,
and a random relabelling of the players (``relabelling``) turns them into samples of which each ordering is uniform.
"""

from __future__ import annotations

from typing import final

import numpy as np

from sharpley._support.typing import RNG, Orderings
from sharpley.permutations.kernels import Mallows, SummableKernel
from sharpley.samplers.base import Sampler
from sharpley.samplers.herding import KernelHerding
from sharpley.samplers.minimise import MIN_UNPAIRED_FRACTION, counted_design, design, largest_design, nested_design
from sharpley.samplers.relabelling import RelabelledSequence, random_labels


@final
class PermutationDesign(Sampler):
    """Orderings that are spread as evenly as possible, relabelled at random.

    Every call of ``random(n)`` returns a design that was made for n orderings, with a relabelling of its own. Hence
    **designs of different n are not nested**, and two calls return two independent samples, which together are less
    even than one design of their total number of orderings. With ``nested=True`` calls continue one sequence, as with
    other samplers; the first n orderings of the sequence are less even than a design of n orderings.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    scale : float, default 4.0
        Scale λ of the Mallows kernel whose discrepancy is minimised.
    kernel : SummableKernel, optional
        Kernel whose discrepancy is minimised instead: ``Adjacency()`` for functions of neighbours such as the length of
        a tour, ``Hamming()`` for functions of positions, or ``Spearman()``.
    paired : bool, default False
        Whether each ordering is followed by its reverse.
    nested : bool, default False
        Whether calls continue one sequence, which is chosen greedily.
    replicates : int, optional
        Number of independent designs that an estimate uses; see ``Sampler``.
    rng : int, Generator, SeedSequence or None
        Seed of the relabelling, passed to ``np.random.default_rng``; the design itself does not depend on it.

    Notes
    -----
    Designs are computed once and stored in the user's cache folder (``sharpley cache``). Finding one takes about 0.2 s
    for 1,000 orderings of 10 players and 6 s for 200 players. Samples of more than 11,180 orderings of 10 players, or
    2,500 orderings of 200 players, are made of blocks, each of which is a design with a relabelling of its own. Nested
    sequences take O(n² d) time.

    Examples
    --------
    >>> PermutationDesign(5, rng=0).random(2)
    array([[0, 4, 3, 1, 2],
           [2, 1, 3, 4, 0]])
    """

    step = 2  # designs of fewer than d/2 orderings consist of antithetic pairs, whether or not ``paired``

    def __init__(
        self,
        d: int,
        *,
        scale: float = 4.0,
        kernel: SummableKernel | None = None,
        paired: bool = False,
        nested: bool = False,
        replicates: int | None = None,
        rng: RNG = None,
    ) -> None:
        self.scale = float(Mallows(scale).scale)
        self.paired, self.nested, self.kernel = bool(paired), bool(nested), kernel
        if kernel is not None and not isinstance(kernel, SummableKernel):
            raise TypeError(
                f"kernel must be Adjacency(), Hamming() or Spearman(), got {kernel!r}; for Mallows, set scale"
            )
        if kernel is not None and (paired or nested):
            raise ValueError(f"a design for {kernel} is neither paired nor nested; use KernelHerding for a sequence")
        super().__init__(d, replicates=replicates, rng=rng)

    def as_sequence(self) -> Sampler:
        """Return a nested sampler of antithetic pairs; these were the better nested sets on every model we tried."""
        if self.nested:
            return self
        if self.kernel is not None:
            return KernelHerding(self.d, kernel=self.kernel, replicates=self.replicates, rng=self._rng)
        settings = {"scale": self.scale, "replicates": self.replicates, "rng": self._rng}
        return PermutationDesign(self.d, paired=True, nested=True, **settings)  # type: ignore[arg-type]

    def whole(self, n: int) -> int | None:
        """Return n, or n − 1 if the design consists of antithetic pairs; None if the design is nested."""
        if self.nested:
            return None
        is_paired = self.paired or (n < MIN_UNPAIRED_FRACTION * self.d and self.kernel is None)
        return n - n % 2 if is_paired and n > 1 else n

    def _restart(self) -> None:
        if self.nested:
            self._sequence = RelabelledSequence(self._rng, self.d, self._fixed)

    def _fixed(self, length: int) -> Orderings:
        return nested_design(self.d, length, self.scale, self.paired)

    def _random(self, n: int) -> Orderings:
        if self.nested:
            return self._sequence.take(n)
        if self.kernel is not None:
            return np.asarray(random_labels(self._rng, self.d)[counted_design(self.kernel, self.d, n)])
        largest = largest_even(self.d)
        counts = [largest] * (n // largest) + ([n % largest] if n % largest else [])
        return np.concatenate([_relabelled(self._rng, self.d, count, self.scale, self.paired) for count in counts])

    def __repr__(self) -> str:
        if self.kernel is not None:
            return f"PermutationDesign(d={self.d}, kernel={self.kernel})"
        return f"PermutationDesign(d={self.d}, scale={self.scale:g}, paired={self.paired}, nested={self.nested})"


def largest_even(d: int) -> int:
    """Return the largest even number of orderings in one design; an even number does not split antithetic pairs."""
    return max(2, largest_design(d) // 2 * 2)


def _relabelled(rng: np.random.Generator, d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Return a design of n ≤ ``largest_even(d)`` orderings with a new relabelling, (n, d).

    If ``paired`` and n is odd, the last ordering is without its reverse.
    """
    fixed = design(d, n + n % 2 if paired else n, scale, paired)
    return np.asarray(random_labels(rng, d)[fixed[:n]])
