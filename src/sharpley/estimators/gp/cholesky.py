"""Whitening: with a covariance K = LL', whitened columns of X are L⁻¹X, and X'K⁻¹Y is the inner product of two such.

Cutting off their last rows leaves out the last data, as if these had not been seen: the first rows and columns of L are
the factor of what is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats


class Factor(NamedTuple):
    """The Cholesky factor of a covariance."""

    lower: Floats
    """(n, n): L, columns first, as LAPACK wants it."""

    @classmethod
    def of(cls, covariance: Floats) -> Factor:
        """Factor a covariance, which is used up."""
        from scipy.linalg import cholesky

        # The transpose of a symmetric matrix is itself, columns first.
        return cls(cholesky(covariance.T, lower=True, overwrite_a=True, check_finite=False))

    def first(self, n: int) -> Factor:
        """Of the first data alone."""
        return Factor(np.asfortranarray(self.lower[:n, :n]))

    def last_units(self, n: int) -> Floats:
        """The last unit vectors, whitened, but for their first rows, which are 0: (n, n)."""
        return Factor(np.asfortranarray(self.lower[-n:, -n:])).whiten(np.eye(n))

    def whiten(self, columns: Floats) -> Floats:
        """L⁻¹X."""
        return self._solve(columns, transposed=False)

    def unwhiten(self, white: Floats) -> Floats:
        """K⁻¹X, from L⁻¹X."""
        return self._solve(white, transposed=True)

    def _solve(self, columns: Floats, *, transposed: bool) -> Floats:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.lower, columns, lower=True, trans=int(transposed), check_finite=False))
