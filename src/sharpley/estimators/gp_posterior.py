"""Bayesian quadrature over coalitions: a Gaussian process on the odd part of games.

This is the paper's Bayesian quadrature, moved from orderings to coalitions. Shapley values are linear in v,
so a Gaussian process on v gives them a posterior mean and covariance in closed form. Write the kernel as K₀ +
(τ²/d) z·t, where the linear part is free (τ² → ∞) and K₀ is the rest plus noise. With Z the coalitions seen,
y their odd values, A₀ the Shapley values of K₀'s columns and M = Z'K₀⁻¹Z + (d/τ²) I,

    β = M⁻¹ Z'K₀⁻¹ y,   φ = A₀ K₀⁻¹ (y − Zβ) + 2β,
    Cov φ = P₀ − A₀ K₀⁻¹ A₀' + R M⁻¹ R',   R = 2I − A₀ K₀⁻¹ Z.

The noise is a multiple of the inverse weights of the regression, which is therefore a limit of this
estimator: whatever the hyperparameters, it is consistent. The full coalition is an exact datum, so that
values add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Floats
from sharpley.estimators.gp_fit import JITTER, NEARLY_FREE
from sharpley.estimators.odd_kernel import (
    FixedParts,
    Scales,
    fixed_parts,
    prior_covariance,
    shapley_of_interactions,
    shapley_of_linear_by_size,
    sinh_part,
)
from sharpley.estimators.paired import PairData
from sharpley.estimators.regression import LeastSquares, class_weights

FREE = 1e10  # τ² where there are pairs enough to determine the linear part
AT_ONCE = 1000  # coalitions, so that many are predicted in little memory
CHECKED = 150  # pairs that are left out, one by one, to see how well they are predicted
CAUTION, SHARE = 1.25, 1 / 3  # with less of them intervals of voting games become too narrow, with more others too wide


def with_full_coalition(data: PairData) -> tuple[Floats, Floats, Floats]:
    """Coalitions, odd values and inverse weights of all pairs and, last, of the full coalition, which has no noise."""
    signs = np.concatenate([data.signs, np.ones((1, data.d))])
    noise = np.append(1.0 / class_weights(data.sizes, data.d), 0.0)
    return signs, np.concatenate([data.odd, data.delta[None]]), noise


class Posterior(NamedTuple):
    """What is known of the Shapley values after seeing the data, with games as columns."""

    values: Floats
    """(d, g)."""
    variances: Floats
    """(d, g)."""
    signs: Floats
    """(n, d)."""
    alpha: Floats
    """(n, g), to predict with."""
    slopes: Floats
    """(d, g): β."""
    scales: Scales

    def predict(self, signs: Floats) -> Floats:
        """Odd values at further coalitions, (m, g)."""
        parts = [signs[start : start + AT_ONCE] for start in range(0, len(signs), AT_ONCE)]
        odd = [kernel(part, self.signs, self.scales) @ self.alpha for part in parts]
        return np.concatenate(odd) + signs @ self.slopes


class Conditioner:
    """Pairs of coalitions to condition on; what does not depend on hyperparameters is computed once for all games.

    Parameters
    ----------
    data : PairData
        Scaled to unit size.
    linear : LeastSquares
        The regression's fit to the same data.
    """

    def __init__(self, data: PairData, linear: LeastSquares) -> None:
        self._signs, self._odd, self._noise = with_full_coalition(data)
        self._delta, self._linear = data.delta, linear
        self._fixed = fixed_parts(self._signs, self._signs)
        n = len(data.signs)
        self._checked = np.unique(np.linspace(0, n - 1, min(n, CHECKED)).round().astype(np.int64))

    def posterior(self, games: NDArray[np.int64], scales: Scales) -> Posterior:
        """Condition the chosen games on their values."""
        from scipy.linalg import cho_factor, cho_solve

        signs, values = self._signs, self._odd[:, games]
        n, d = signs.shape
        tau2 = FREE if n > 1.5 * d else NEARLY_FREE
        gram = kernel(signs, signs, scales, self._fixed)
        gram[np.diag_indices(n)] += scales.noise * self._noise + JITTER
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        shapley = shapley_of_kernel(signs, scales)

        columns = [values, signs, shapley.T, np.eye(n)[:, self._checked]]
        solved = cho_solve(factor, np.concatenate(columns, axis=1), check_finite=False)
        ends = np.cumsum([part.shape[1] for part in columns])[:-1]
        of_values, of_signs, of_shapley, of_checked = np.split(solved, ends, axis=1)
        information = signs.T @ of_signs + d / tau2 * np.eye(d)
        inverse_information = np.linalg.pinv(information, hermitian=True)
        slopes = inverse_information @ (of_signs.T @ values)
        alpha = of_values - of_signs @ slopes
        phi = shapley @ alpha + 2.0 * slopes
        # Next to nothing, as the full coalition was seen:
        missing = (2.0 * self._delta[games] - phi.sum(axis=0)) / d
        phi += missing
        slopes += missing / 2.0

        remainder = 2.0 * np.eye(d) - shapley @ of_signs
        covariance = (
            prior_covariance(scales, 0.0) - shapley @ of_shapley + remainder @ inverse_information @ remainder.T
        )
        slope_part = of_signs[self._checked]
        precisions = np.diagonal(of_checked[self._checked]) - ((slope_part @ inverse_information) * slope_part).sum(1)
        misfit = np.minimum(_misfit(values, alpha, d), _misfit_left_out(alpha[self._checked], precisions))
        said = np.outer(np.maximum(np.diagonal(covariance), 0.0), misfit)
        shown = self._shown_variances(games, alpha[self._checked], precisions)
        variances = np.maximum(said, shown) + SHARE * np.minimum(said, shown)
        return Posterior(phi, variances, signs, alpha, slopes, scales)

    def _shown_variances(self, games: NDArray[np.int64], alpha: Floats, precisions: Floats) -> Floats:
        """Variances of the regression, scaled by how much better the process predicts pairs that were left out, (d, g).

        A pair that is left out is missed by α / precision. Where the process has nothing to hold on to, as in a
        voting game of which few decisive coalitions were seen, it interpolates and feels sure; then it
        predicts hardly better than the regression, and may be hardly surer.
        """
        checked = self._checked
        of_regression = self._linear.left_out[np.ix_(checked, games)]
        used = (of_regression > 0) & (precisions[:, None] > 0)
        errors = (alpha / np.where(precisions > 0, precisions, 1.0)[:, None]) ** 2 / self._noise[checked, None]
        total = np.where(used, of_regression, 0.0).sum(axis=0)
        share = np.where(used, errors, 0.0).sum(axis=0) / np.where(total > 0, total, 1.0)
        return self._linear.variances[:, games] * np.minimum(share, 1.0) ** CAUTION


def _misfit(values: Floats, alpha: Floats, d: int) -> Floats:
    """How much larger or smaller than assumed the values of each game are, (g,): 1 if the prior's size is right."""
    # Rounding may leave −1e-17 where a game is linear and nothing is left to explain.
    return np.maximum((values * alpha).sum(axis=0), 0.0) / max(1, len(values) - d)


def _misfit_left_out(alpha: Floats, precisions: Floats) -> Floats:
    """The same by pairs that were left out, which are missed by α / precision with variance 1 / precision, (g,).

    The likelihood judges the prior by all that it says. Of smooth games, such as an airport's, the process knows far
    more than it thinks once many pairs were seen, and this shows it.
    """
    used = precisions > 0
    return (
        np.asarray((alpha[used] ** 2 / precisions[used, None]).mean(axis=0)) if used.any() else np.ones(alpha.shape[1])
    )


def kernel(z: Floats, t: Floats, scales: Scales, fixed: FixedParts | None = None) -> Floats:
    """K₀ without noise, (n, m); ``fixed`` are its fixed parts if they are known already."""
    fixed = fixed_parts(z, t) if fixed is None else fixed
    gram = sinh_part(z, t, scales.players)
    gram *= scales.interactions
    gram += scales.sizes * fixed.sizes
    gram += scales.linear_by_size * fixed.linear_by_size
    return gram


def shapley_of_kernel(z: Floats, scales: Scales) -> Floats:
    """A₀: Shapley values of K₀'s columns at coalitions (n, d), (d, n)."""
    interactions = scales.interactions * shapley_of_interactions(z, scales.players)
    return interactions + scales.linear_by_size * shapley_of_linear_by_size(z)
