"""Sobol' points mapped to permutations over the sphere (the paper's Algorithm 4).

A scrambled Sobol' sequence in [0, 1)^{d−2} becomes the polar angles of points on 𝕊^{d−2} by inverse CDFs, and
these the nearest orderings. Scrambling makes each point uniform, hence each ordering; without it the first
point is a pole, and ties in its coordinates would be broken by index.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from sharpley._support.typing import RNG, Floats, Orderings
from sharpley.permutations.sphere import nearest_orderings, polar_to_cartesian, uniform_to_polar
from sharpley.samplers.base import Sampler

MAX_DIMENSION = 21_201  # of the direction numbers in scipy.stats.qmc.Sobol
CHUNK_ELEMENTS = 2**20  # bounds the working memory of the map


@final
class Sobol(Sampler):
    """Orderings from one scrambled Sobol' sequence on the sphere.

    Parameters
    ----------
    d : int
        Number of players, at most 21,203: the sphere has d−2 angles.
    rng : int, Generator, SeedSequence or None
        Draws the scrambling.

    Notes
    -----
    The balance of a Sobol' sequence is best at powers of two, but any n will do: nothing is dropped or rounded.

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
                f"a Sobol' sequence has at most {MAX_DIMENSION:,} dimensions, so d is at most "
                f"{MAX_DIMENSION + 2:,}, got {self.d:,}; use method 'orthogonal' or 'antithetic'"
            )

    def _restart(self) -> None:
        self._engine: Any = None

    def _random(self, n: int) -> Orderings:
        rows = max(1, CHUNK_ELEMENTS // self.d)
        orderings = np.empty((n, self.d), dtype=np.int64)
        for start in range(0, n, rows):
            chunk = orderings[start : start + rows]
            chunk[:] = nearest_orderings(self._sphere_points(self._uniforms(len(chunk))))
        return orderings

    def _uniforms(self, n: int) -> Floats:
        """Return the next n points of the sequence, (n, max(1, d−2))."""
        if self._engine is not None:
            return np.asarray(self._engine.random(n))
        from scipy.stats import qmc

        # Seeded by a draw: scipy would spawn from a Generator, which restoring its state does not undo.
        seed = self._rng.integers(2**32, size=4)
        self._engine = qmc.Sobol(max(1, self.d - 2), scramble=True, rng=np.random.default_rng(seed))
        # Starting with one point avoids scipy's warning about n that are not powers of two.
        return np.concatenate([self._engine.random(1), self._engine.random(n - 1)])

    def _sphere_points(self, uniforms: Floats) -> Floats:
        """Map uniform numbers to 𝕊^{d−2}: (n, ·) -> (n, d−1)."""
        if self.d == 1:
            return uniforms[:, :0]
        if self.d == 2:  # the sphere is {−1, 1} and has no angle
            return np.where(uniforms < 0.5, -1.0, 1.0)
        return polar_to_cartesian(uniform_to_polar(uniforms))
