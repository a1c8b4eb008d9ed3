"""Orthogonal spherical codes: blocks of orderings from orthogonal points on the sphere (the paper's Algorithm 3).

Let x_1, …, x_{d−1} be a random orthonormal basis of ℝ^{d−1}, uniformly (Haar) distributed. The 2(d−1) points ±x_i of
𝕊^{d−2} are as far apart as possible: x_iᵀx_j = 0 for i ≠ j. They are mapped to the nearest orderings argsort(Ûᵀx_i)
(``permutations.sphere``); the negative of a point yields the reversed ordering. Each point by itself is uniform on the
sphere, so each ordering is uniform (the paper's Theorem 1), and the mean over blocks (Equation 14) is unbiased. Its
variance is 1/n² times the sum of all covariances within blocks, which negative correlations make small.
"""

from __future__ import annotations

from typing import final

import numpy as np

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import with_reverses
from sharpley.permutations.sphere import nearest_orderings
from sharpley.samplers.base import BlockSampler

MAX_MATRIX_ELEMENTS = 2**22  # of the matrix that is orthogonalised at once: 32 MB


@final
class Orthogonal(BlockSampler):
    """Blocks of 2(d−1) orderings from random orthonormal bases, each ordering followed by its reverse.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    replicates : int, optional
        Number of independent copies that an estimate uses; see ``Sampler``.
    rng : int, Generator, SeedSequence or None
        Passed to ``np.random.default_rng``.

    Notes
    -----
    If d > 2,049, a basis would not fit into 32 MB. A block then has 2⌊2²² / (d−1)⌋ orderings, from points that are
    orthogonal within the block.

    Any number of orderings may be drawn; part of a block is a smaller set of orthogonal points.

    Examples
    --------
    >>> Orthogonal(4, rng=0).random(2)
    array([[3, 1, 0, 2],
           [2, 0, 1, 3]])
    """

    step = 2

    @property
    def n_directions(self) -> int:
        """Number of orthogonal directions in a block."""
        return max(1, min(self.d - 1, MAX_MATRIX_ELEMENTS // max(1, self.d - 1)))

    @property
    def block_size(self) -> int:
        """Number of orderings in a block, two for each direction."""
        return 2 * self.n_directions

    @property
    def unit(self) -> int:  # type: ignore[override]
        """Length of the independent runs: blocks are independent of each other."""
        return self.block_size

    def _blocks(self, count: int) -> Orderings:
        orderings = np.empty((count, self.block_size, self.d), dtype=np.int64)
        for block in orderings:
            directions = random_directions(self._rng, self.n_directions, self.d - 1)
            block[:] = with_reverses(nearest_orderings(directions))  # argsort of −x̃ is the reverse of argsort of x̃
        return orderings.reshape(-1, self.d)


def random_directions(rng: np.random.Generator, k: int, dimension: int) -> Floats:
    """Draw k orthonormal vectors, uniformly distributed over all such sets: (k, dimension).

    The vectors are those of Gram–Schmidt on Gaussian vectors, computed by a QR decomposition. LAPACK's signs depend on
    the data: unless the diagonal of R is made positive, a single vector is not uniform on the sphere.
    """
    if dimension == 0:  # d = 1: there is one ordering and no sphere
        return np.empty((k, 0))
    q, r = np.linalg.qr(rng.standard_normal((k, dimension)).T)
    return np.asarray((q * np.copysign(1.0, np.diagonal(r))).T)
