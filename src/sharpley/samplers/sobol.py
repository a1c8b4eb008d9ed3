"""Orderings from Sobol' points on the sphere (the paper's Algorithm 4).

A scrambled Sobol' sequence u in [0, 1)^{d−2} is mapped to polar angles φ_j = F_j⁻¹(u_j), these to points x on 𝕊^{d−2},
and these to the nearest orderings argsort(Ûᵀx) (``permutations.sphere``). F_j is the CDF of the density ∝ sin^{d−2−j} φ
on [0, π] for j < d−2; the last angle is 2π u_{d−2}. Scrambling makes each point uniform on the sphere, hence each
ordering uniform (the paper's Theorem 1). Without it the first point is a pole, and ties between its coordinates would
be broken by index.

The angles are used in the order in which Algorithm 4 prints them; the authors' early code has the reverse
order. The sample therefore depends on how the players are labelled, and neither order is better on all data.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from sharpley._support.typing import RNG, Floats, Orderings
from sharpley.permutations.sphere import nearest_orderings, polar_to_cartesian, uniform_to_polar
from sharpley.samplers.base import Sampler

MAX_DIMENSION = 21_201  # of scipy.stats.qmc.Sobol, which has direction numbers for no more
MAX_CHUNK_ELEMENTS = 2**20  # coordinates of the points that are mapped at once; bounds the working memory


@final
class Sobol(Sampler):
    """Orderings from one scrambled Sobol' sequence on the sphere.

    Parameters
    ----------
    d : int
        Number of players, from 1 to 21,203; the Sobol' sequence has d−2 dimensions, one for each polar angle.
    rng : int, Generator, SeedSequence or None
        Seed of the scrambling, passed to ``np.random.default_rng``.

    Notes
    -----
    A Sobol' sequence is balanced best when n is a power of two, but n may be any number: no point is skipped and n is
    not rounded.

    Examples
    --------
    >>> Sobol(4, rng=0).random(2)
    array([[1, 3, 2, 0],
           [2, 0, 1, 3]])
    """

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        if self.d - 2 > MAX_DIMENSION:
            raise ValueError(
                f"a Sobol' sequence has at most {MAX_DIMENSION:,} dimensions, so d must be at most "
                f"{MAX_DIMENSION + 2:,}, got {self.d:,}; use method 'orthogonal' or 'antithetic'"
            )

    def _restart(self) -> None:
        self._engine: Any = None

    def _random(self, n: int) -> Orderings:
        rows = max(1, MAX_CHUNK_ELEMENTS // self.d)
        orderings = np.empty((n, self.d), dtype=np.int64)
        for start in range(0, n, rows):
            chunk = orderings[start : start + rows]
            chunk[:] = nearest_orderings(self._sphere_points(self._uniforms(len(chunk))))
        return orderings

    def _uniforms(self, n: int) -> Floats:
        """Return the next n points of the Sobol' sequence, (n, max(1, d−2))."""
        if self._engine is not None:
            return np.asarray(self._engine.random(n))
        from scipy.stats import qmc

        # Given a Generator, scipy would spawn from it, which restoring the Generator's state does not undo.
        seed = self._rng.integers(2**32, size=4)
        self._engine = qmc.Sobol(max(1, self.d - 2), scramble=True, rng=np.random.default_rng(seed))
        # Drawing one point first avoids scipy's warning about n that are not powers of two.
        return np.concatenate([self._engine.random(1), self._engine.random(n - 1)])

    def _sphere_points(self, uniforms: Floats) -> Floats:
        """Map uniform numbers to 𝕊^{d−2}: (n, ·) -> (n, d−1)."""
        if self.d == 1:
            return uniforms[:, :0]
        if self.d == 2:  # the sphere is {−1, 1} and has no angle
            return np.where(uniforms < 0.5, -1.0, 1.0)
        return polar_to_cartesian(uniform_to_polar(uniforms))
