"""Data whitened by the covariance K₀ of the process, and the fit of features to them.

With features Z, such as the players' signs, of prior precisions D, the fit is ridge regression on whitened data:
M = Z'K₀⁻¹Z + D and β = M⁻¹ Z'K₀⁻¹ y. Then K⁻¹y with K = K₀ + Z D⁻¹ Z' is K₀⁻¹ (y − Zβ), the precision of a held-out
value given all others is the diagonal entry of K⁻¹, and the error at it is the ratio of the two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.cholesky import Factor


class Whitened(NamedTuple):
    """The data, whitened by K₀."""

    factor: Factor
    """Cholesky factor of K₀."""
    values: Floats
    """y, (n, g)."""
    signs: Floats
    """Z, (n, d)."""
    shapley: Floats
    """A₀', (n, d)."""
    held_out: Floats
    """The unit vectors of the held-out pairs, without their first rows, which are 0: (c, c)."""
    covariance: Floats
    """P₀ − A₀ K₀⁻¹ A₀', the covariance of the Shapley values if the linear part were known, (d, d)."""

    def of(self, games: NDArray[np.bool_] | list[int]) -> Whitened:
        """Return the data of some of the games."""
        return self._replace(values=self.values[:, games])


class FeatureFit(NamedTuple):
    """The fit of features to whitened data."""

    information: Floats
    """M, (k, k)."""
    inverse_information: Floats
    """M⁻¹, (k, k)."""
    coefficients: Floats
    """β, (k, g)."""
    residuals: Floats
    """Whitened y − Zβ, (n, g)."""
    alpha: Floats
    """K⁻¹y at the held-out pairs, (c, g)."""
    precisions: Floats
    """Diagonal entries of K⁻¹ at the held-out pairs, (c,)."""


def fit_features(whitened: Whitened, features: Floats, prior_precisions: Floats) -> FeatureFit:
    """Fit whitened features (n, k) with prior precisions (k,) to the values of all games."""
    information = features.T @ features + np.diag(prior_precisions)
    inverse_information: Floats = np.asarray(np.linalg.pinv(information, hermitian=True), dtype=np.float64)
    coefficients = inverse_information @ (features.T @ whitened.values)
    residuals = whitened.values - features @ coefficients
    held_out = whitened.held_out
    last = len(residuals) - len(held_out)
    at_held_out = held_out.T @ features[last:]
    precisions = (held_out**2).sum(axis=0) - ((at_held_out @ inverse_information) * at_held_out).sum(axis=1)
    return FeatureFit(
        information, inverse_information, coefficients, residuals, held_out.T @ residuals[last:], precisions
    )


def log_evidence(whitened: Whitened, fit: FeatureFit, n_features: int) -> Floats:
    """Return −½ (n − k) ln y'Py − ½ ln |K₀| − ½ ln |M| of each game for k features, (g,)."""
    squares = np.maximum((whitened.values * fit.residuals).sum(axis=0), np.finfo(float).tiny)  # y'Py
    degrees_of_freedom = max(1, len(fit.residuals) - n_features)
    half_determinants = np.log(np.diagonal(whitened.factor.lower)).sum() + np.linalg.slogdet(fit.information)[1] / 2.0
    return np.asarray(-0.5 * degrees_of_freedom * np.log(squares) - half_determinants)
