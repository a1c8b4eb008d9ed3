"""Weighted least squares on paired coalitions: KernelSHAP's regression, balanced, and with effects of size.

v_odd is fitted by z·b plus an effect γ_k of each size k, which changes sign with z: a nuisance with Shapley
value 0, and most of what a voting or airport game is beside its linear part. With c_k = 2 (1 if 2k = d) and
m_k pairs of class k among those chosen, a pair has weight w = c_k / (k (d−k) m_k), so that each class counts
as in the population of all coalitions, where the solution is the Shapley value: φ = 2b under Σb = δ.

The standard errors are the sandwich estimate with squared residuals divided by 1 − leverage (HC2). Pairs are drawn
without repetition, so the share of a class that was not drawn multiplies its part of the variance: a class
that was drawn whole adds nothing.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Floats
from sharpley.estimators.paired import PairData, PairedEstimator, as_games, spread_evenly
from sharpley.estimators.pairs import class_sizes
from sharpley.statistics import Moments

SPARE_PAIRS = 4  # beyond the number of coefficients
SAME = 1e-10  # singular values below this share of the largest are 0
WHOLE_LEVERAGE = 1e-8  # 1 − leverage of a pair that has a coefficient to itself


@final
class RegressionEstimator(PairedEstimator):
    """Paired weighted least squares with effects of size: the cheap tier, milliseconds for many rows."""

    @property
    def _fewest_pairs(self) -> int:
        return min(self.d - 1 + (self.d - 1) // 2 + SPARE_PAIRS, int(class_sizes(self.d).sum()))

    def _quotas(self, n_pairs: int) -> NDArray[np.int64]:
        return spread_evenly(self.d, n_pairs)

    def estimate(self, values: Floats) -> Moments:
        """Fit all games at once."""
        fit = least_squares(self._data(values))
        phi, variances = as_games(fit.values, values), as_games(fit.variances, values)
        return Moments(phi, variances, np.full_like(phi, fit.degrees_of_freedom))


class LeastSquares(NamedTuple):
    """Shapley values by regression, with games as columns."""

    values: Floats
    """(d, g)."""
    variances: Floats
    """(d, g)."""
    degrees_of_freedom: float


def class_weights(sizes: NDArray[np.int64], d: int) -> Floats:
    """Weights w = c_k / (k (d−k) m_k) of pairs with the given sizes, scaled to a mean of 1/w of 1."""
    present = np.bincount(sizes, minlength=d // 2 + 1)[sizes]
    inverse = sizes * (d - sizes) * present / np.where(2 * sizes == d, 1.0, 2.0)
    return np.asarray(inverse.mean() / inverse)


def least_squares(data: PairData) -> LeastSquares:
    """Fit v_odd ≈ z·b + γ_size under Σb = δ, and return φ = 2b with its variance."""
    d, sizes = data.d, data.sizes
    weights = class_weights(sizes, d)
    directions = sum_free_basis(d)
    # b = δ/d + directions @ c satisfies the constraint for every c.
    classes = np.unique(sizes[2 * sizes != d])
    design = np.concatenate([data.signs @ directions, (sizes[:, None] == classes).astype(np.float64)], axis=1)
    target = data.odd - np.outer(data.signs.sum(axis=1) / d, data.delta)
    root = np.sqrt(weights)[:, None]
    left, singular, right = np.linalg.svd(root * design, full_matrices=False)
    kept = singular > SAME * singular[0]
    left, singular, right = left[:, kept], singular[kept], right[kept]
    to_coefficients = (right.T / singular) @ left.T  # of the weighted target
    weighted = root * target
    coefficients = _of_each(to_coefficients, weighted)
    residuals = weighted - _of_each(left, _of_each(left.T, weighted))
    spare = 1.0 - (left**2).sum(axis=1)
    unseen = 1.0 - np.bincount(sizes, minlength=d // 2 + 1)[1:] / class_sizes(d)
    factor = np.where(spare > WHOLE_LEVERAGE, unseen[sizes - 1] / np.maximum(spare, WHOLE_LEVERAGE), 0.0)
    sensitivity = 2.0 * directions @ to_coefficients[: d - 1]
    variances = _of_each(sensitivity**2, factor[:, None] * residuals**2)
    values = 2.0 * (data.delta / d + _of_each(directions, coefficients[: d - 1]))
    return LeastSquares(values, variances, float(max(1, len(sizes) - kept.sum())))


def _of_each(matrix: Floats, columns: Floats) -> Floats:
    """The matrix times each column by itself: a game's result does not depend on the other games, to the last bit."""
    return np.stack([matrix @ column for column in np.ascontiguousarray(columns.T)], axis=1)


def sum_free_basis(d: int) -> Floats:
    """An orthonormal basis of the vectors that sum to 0, (d, d−1): Helmert's."""
    rows = np.tril(np.ones((d, d)), -1)[1:] - np.diag(np.arange(1.0, d), 1)[: d - 1]
    return np.asarray((rows / np.linalg.norm(rows, axis=1, keepdims=True)).T)
