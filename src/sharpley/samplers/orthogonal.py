"""Orthogonal spherical codes: blocks of orderings at right angles (the paper's Algorithm 3).

A random orthonormal basis of ℝ^{d−1}, uniform over all of them, gives d−1 points of 𝕊^{d−2} that are as far apart as
they can be, and their negatives as many again. Each single point is uniform on the sphere, so the nearest
ordering is uniform over permutations; the negative of a point gives the reversed ordering.
"""

from __future__ import annotations

from typing import final

import numpy as np

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import with_reverses
from sharpley.permutations.sphere import nearest_orderings
from sharpley.samplers.base import BlockSampler

MAX_ELEMENTS = 2**22  # of the matrix that is orthogonalised at once: 32 MB


@final
class Orthogonal(BlockSampler):
    """Blocks of 2(d−1) orderings from random orthonormal bases, each point followed by its negative.

    Parameters
    ----------
    d : int
        Number of players.
    rng : int, Generator, SeedSequence or None

    Notes
    -----
    Beyond d = 2,049 a block would not fit into 32 MB; it then holds 2⌊2²² / (d−1)⌋ orderings, orthogonal
    within the block.

    Any number of orderings may be drawn; a block that is not used up is a smaller set of orthogonal points.

    Examples
    --------
    >>> Orthogonal(4, rng=0).random(2)
    array([[3, 1, 0, 2],
           [2, 0, 1, 3]])
    """

    step = 2

    @property
    def n_directions(self) -> int:
        """Orthogonal directions in a block."""
        return max(1, min(self.d - 1, MAX_ELEMENTS // max(1, self.d - 1)))

    @property
    def block_size(self) -> int:
        """Orderings in a block: each direction and its negative."""
        return 2 * self.n_directions

    @property
    def unit(self) -> int:  # type: ignore[override]
        """Blocks are independent of each other."""
        return self.block_size

    def _blocks(self, count: int) -> Orderings:
        orderings = np.empty((count, self.block_size, self.d), dtype=np.int64)
        for block in orderings:
            directions = random_directions(self._rng, self.n_directions, self.d - 1)
            block[:] = with_reverses(nearest_orderings(directions))  # argsort of −x̃ is the reverse of argsort of x̃
        return orderings.reshape(-1, self.d)


def random_directions(rng: np.random.Generator, k: int, dimension: int) -> Floats:
    """K orthonormal vectors, uniform over all such sets: (k, dimension).

    Gram–Schmidt on Gaussian vectors, computed as a QR decomposition. LAPACK's signs depend on the data: without making
    the diagonal of R positive, single vectors would not be uniform.
    """
    if dimension == 0:  # d = 1: one ordering, no sphere
        return np.empty((k, 0))
    q, r = np.linalg.qr(rng.standard_normal((k, dimension)).T)
    return np.asarray((q * np.copysign(1.0, np.diagonal(r))).T)
