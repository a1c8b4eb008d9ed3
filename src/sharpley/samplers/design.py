"""Permutation designs: sets of orderings that really minimise the Mallows discrepancy, as random samples."""

from __future__ import annotations

from typing import final

import numpy as np

from sharpley._support.typing import RNG, Orderings
from sharpley.permutations.kernels import Mallows
from sharpley.samplers.base import BlockSampler, Sampler
from sharpley.samplers.minimise import design, largest_design, nested_design
from sharpley.samplers.relabelling import RelabelledSequence, random_labels


@final
class PermutationDesign(Sampler):
    """Orderings as evenly spread as can be found, relabelled at random.

    Every call of ``random(n)`` gives a design made for n, with a relabelling of its own. So **designs of
    different n are not nested**, and two calls are two independent samples, which together are less even than
    one design of their joint size. With ``nested=True`` calls continue one sequence, as with other samplers,
    of which every first part is less even than a design.

    Parameters
    ----------
    d : int
        Number of players.
    scale : float, default 4.0
        Of the Mallows kernel whose discrepancy is minimised.
    paired : bool, default False
        Whether each ordering is followed by its reverse.
    nested : bool, default False
        Whether calls continue one sequence, chosen greedily.
    rng : int, Generator, SeedSequence or None
        Relabels; the design itself does not depend on it.

    Notes
    -----
    Designs are computed once and kept in the user's cache folder (``sharpley cache``): about 0.2 s for 1,000
    orderings of 10 players, 6 s for 200 players. Beyond 11,180 orderings of 10 players, or 2,500 of 200, they
    come in blocks, each a design relabelled for itself. Nested sequences take O(n² d) time.

    Examples
    --------
    >>> PermutationDesign(5, rng=0).random(2)
    array([[0, 4, 3, 1, 2],
           [2, 1, 3, 4, 0]])
    """

    step = 2  # below d/2 orderings designs are pairs, whether or not ``paired``

    def __init__(
        self, d: int, *, scale: float = 4.0, paired: bool = False, nested: bool = False, rng: RNG = None
    ) -> None:
        self.scale = float(Mallows(scale).scale)
        self.paired, self.nested = bool(paired), bool(nested)
        super().__init__(d, rng=rng)

    def for_groups(self, size: int | None) -> Sampler:
        """Designs of equal size one after the other or, if no size is known, a nested sequence of pairs."""
        if self.nested:
            return self
        if size is None:  # in pairs, which are the better nested sets on every model tried
            return PermutationDesign(self.d, scale=self.scale, paired=True, nested=True, rng=self._rng)
        return DesignBlocks(self.d, size, scale=self.scale, paired=self.paired, rng=self._rng)

    def _restart(self) -> None:
        if self.nested:
            self._sequence = RelabelledSequence(self._rng, self.d, self._fixed)

    def _fixed(self, size: int) -> Orderings:
        return nested_design(self.d, size, self.scale, self.paired)

    def _random(self, n: int) -> Orderings:
        if self.nested:
            return self._sequence.take(n)
        largest = largest_even(self.d)
        sizes = [largest] * (n // largest) + ([n % largest] if n % largest else [])
        return np.concatenate([_relabelled(self._rng, self.d, size, self.scale, self.paired) for size in sizes])

    def __repr__(self) -> str:
        return f"PermutationDesign(d={self.d}, scale={self.scale:g}, paired={self.paired}, nested={self.nested})"


@final
class DesignBlocks(BlockSampler):
    """Independent designs of equal size, as one sequence.

    Parameters
    ----------
    d : int
    size : int
        Orderings in each design, rounded down to an even number; at least 2, an ordering and its reverse.
    scale : float
    paired : bool
    rng : int, Generator, SeedSequence or None
    """

    step = 2

    def __init__(self, d: int, size: int, *, scale: float = 4.0, paired: bool = False, rng: RNG = None) -> None:
        self.scale, self.paired = scale, paired
        self._size = min(max(2, size // 2 * 2), largest_even(d))
        super().__init__(d, rng=rng)

    @property
    def block_size(self) -> int:
        """Orderings in a design."""
        return self._size

    @property
    def unit(self) -> int:  # type: ignore[override]
        """Designs are independent of each other."""
        return self._size

    def _blocks(self, count: int) -> Orderings:
        designs = [_relabelled(self._rng, self.d, self._size, self.scale, self.paired) for _ in range(count)]
        return np.concatenate(designs)

    def __repr__(self) -> str:
        return f"DesignBlocks(d={self.d}, size={self._size}, scale={self.scale:g}, paired={self.paired})"


def largest_even(d: int) -> int:
    """Orderings in one design at most, so that pairs are whole."""
    return max(2, largest_design(d) // 2 * 2)


def _relabelled(rng: np.random.Generator, d: int, n: int, scale: float, paired: bool) -> Orderings:
    """A design of n ≤ ``largest_even(d)`` orderings, freshly relabelled; if n is odd, the last pair is halved."""
    fixed = design(d, n + n % 2 if paired else n, scale, paired)
    return np.asarray(random_labels(rng, d)[fixed[:n]])
