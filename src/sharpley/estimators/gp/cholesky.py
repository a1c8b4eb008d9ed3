"""Whitening by a Cholesky factor.

With a covariance K = LL', the whitened columns of X are L⁻¹X, and X'K⁻¹Y is the inner product of whitened X and Y.

Dropping the last rows of whitened columns holds out the last data, since the first rows and columns of L are the
Cholesky factor of the covariance of the first data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats


class Factor(NamedTuple):
    """The Cholesky factor L of a covariance."""

    lower: Floats
    """L, (n, n), in column-major order as LAPACK expects it."""

    @classmethod
    def of(cls, covariance: Floats) -> Factor:
        """Factorise a covariance (n, n), which is overwritten."""
        from scipy.linalg import cholesky

        # The transpose of a symmetric matrix in row-major order is the same matrix in column-major order.
        return cls(cholesky(covariance.T, lower=True, overwrite_a=True, check_finite=False))

    def first(self, n: int) -> Factor:
        """Return the factor of the covariance of the first n data."""
        return Factor(np.asfortranarray(self.lower[:n, :n]))

    def last_units(self, n: int) -> Floats:
        """Return the last n unit vectors, whitened, without their first rows, which are 0: (n, n)."""
        return Factor(np.asfortranarray(self.lower[-n:, -n:])).whiten(np.eye(n))

    def whiten(self, columns: Floats) -> Floats:
        """Return L⁻¹X."""
        return self._solve(columns, transposed=False)

    def unwhiten(self, white: Floats) -> Floats:
        """Return K⁻¹X, given L⁻¹X."""
        return self._solve(white, transposed=True)

    def _solve(self, columns: Floats, *, transposed: bool) -> Floats:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.lower, columns, lower=True, trans=int(transposed), check_finite=False))
