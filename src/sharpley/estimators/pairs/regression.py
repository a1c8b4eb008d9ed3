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

from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.estimators.pairs.base import PairedEstimator, as_games, evaluations_of
from sharpley.estimators.pairs.choosing import class_sizes, quotas
from sharpley.permutations.sphere import hyperplane_basis

SPARE_PAIRS = 4  # beyond the number of coefficients
SAME = 1e-10  # singular values below this share of the largest are 0
WHOLE_LEVERAGE = 1e-8  # 1 − leverage of a pair that has a coefficient to itself


@final
class RegressionEstimator(PairedEstimator):
    """Paired weighted least squares with effects of size: the cheap tier, milliseconds for many rows."""

    @property
    def _fewest_pairs(self) -> int:
        return fewest_pairs(self.d)

    def _choose(self, wanted: int, learnt: Any) -> Coalitions:
        return self._chooser.extend(quotas(self.d, wanted))

    def estimate(self, values: Floats, learnt: Any = None) -> Moments:
        """Fit all games at once."""
        data = self._data(values)
        fit = PairRegression(data.signs).fit(data.odd, data.delta)
        phi, variances = as_games(fit.values, values), as_games(fit.variances, values)
        return Moments(phi, variances, np.full_like(phi, fit.degrees_of_freedom))


def fewest_pairs(d: int) -> int:
    """Pairs that determine all coefficients, with a few to spare for the variances."""
    return min(d - 1 + (d - 1) // 2 + SPARE_PAIRS, int(class_sizes(d).sum()))


def least_budget(d: int) -> int:
    """Smallest budget of the regression for games of d players."""
    return evaluations_of(fewest_pairs(d), d)


class LeastSquares(NamedTuple):
    """Shapley values by regression, with games as columns."""

    values: Floats
    """(d, g)."""
    variances: Floats
    """(d, g)."""
    degrees_of_freedom: float
    held_out_errors: Floats
    """(n, g): weighted squared error at each pair of the fit without it; 0 where it has a coefficient to itself."""


def class_weights(sizes: NDArray[np.int64], d: int) -> Floats:
    """Weights w = c_k / (k (d−k) m_k) of pairs with the given sizes, scaled to a mean of 1/w of 1."""
    present = np.bincount(sizes, minlength=d // 2 + 1)[sizes]
    inverse = inverse_weights(sizes, present, d)
    return np.asarray(inverse.mean() / inverse)


def inverse_weights(sizes: NDArray[np.int64], present: NDArray[np.int64], d: int) -> Floats:
    """1/w = k (d−k) m_k / c_k of pairs of the given sizes k, of which ``present`` are there."""
    return np.asarray(sizes * (d - sizes) * present / np.where(2 * sizes == d, 1.0, 2.0))


class PairRegression:
    """The fit v_odd ≈ z·b + γ_size under Σb = δ to given pairs; what does not depend on values is computed once.

    Parameters
    ----------
    signs : (n, d) float
        The smaller members, ±1.
    n_settled : int, default 0
        So many of them, the first, were chosen for another purpose. They stand for themselves only, and what was drawn
        after them for all others of their class.
    """

    def __init__(self, signs: Floats, n_settled: int = 0) -> None:
        n, d = signs.shape
        sizes = (signs > 0).sum(axis=1)
        weights, unseen = _strata(sizes, d, n_settled)
        self._d = d
        self._root_weights = np.sqrt(weights)[:, None]
        self._size_excess = signs.sum(axis=1) / d
        # b = δ/d + directions @ c satisfies the constraint for every c.
        self._directions = hyperplane_basis(d).T
        classes = np.unique(sizes[2 * sizes != d])
        design = np.concatenate([signs @ self._directions, (sizes[:, None] == classes).astype(np.float64)], axis=1)
        left, singular, right = np.linalg.svd(self._root_weights * design, full_matrices=False)
        kept = singular > SAME * singular[0]
        self._left = left[:, kept]
        self._to_coefficients = ((right[kept].T / singular[kept]) @ self._left.T)[: d - 1]  # of the weighted target
        self._spare = 1.0 - (self._left**2).sum(axis=1)
        self._unseen = unseen
        self._freedom = float(max(1, n - kept.sum()))

    def fit(self, odd: Floats, delta: Floats) -> LeastSquares:
        """Shapley values φ = 2b, with their variances, of games with values (n, g) at the pairs and (g,) at N."""
        weighted = self._root_weights * (odd - np.outer(self._size_excess, delta))
        coefficients = _of_each(self._to_coefficients, weighted)
        residuals = weighted - _of_each(self._left, _of_each(self._left.T, weighted))
        determined = self._spare > WHOLE_LEVERAGE
        spare = np.where(determined, self._spare, 1.0)[:, None]
        squares = determined[:, None] * residuals**2 / spare
        sensitivity = 2.0 * self._directions @ self._to_coefficients
        variances = _of_each(sensitivity**2, self._unseen[:, None] * squares)
        values = 2.0 * (delta / self._d + _of_each(self._directions, coefficients))
        return LeastSquares(values, variances, self._freedom, squares / spare)


def _strata(sizes: NDArray[np.int64], d: int, n_settled: int) -> tuple[Floats, Floats]:
    """Weights of pairs, and the share of what each stands for that was not drawn; 0 for settled ones.

    With N_k pairs in class k, s_k of them settled and m_k drawn after them, a settled pair has 1/N_k of its
    class's weight, and one drawn later (N_k − s_k) / (N_k m_k).
    """
    if n_settled == 0:
        unseen = 1.0 - np.bincount(sizes, minlength=d // 2 + 1)[1:] / class_sizes(d)
        return class_weights(sizes, d), np.asarray(unseen[sizes - 1])
    total = class_sizes(d)[sizes - 1]
    settled = np.bincount(sizes[:n_settled], minlength=d // 2 + 1)[sizes]
    drawn = np.bincount(sizes[n_settled:], minlength=d // 2 + 1)[sizes]
    later = np.arange(len(sizes)) >= n_settled
    left = np.maximum(total - settled, 0.0)
    share = np.where(later, left / (total * np.maximum(drawn, 1)), 1.0 / total)
    share = np.where(~later & (drawn == 0), 1.0 / settled.clip(1), share)  # nobody else stands for the class
    weights = share / inverse_weights(sizes, np.ones_like(sizes), d)
    unseen = np.where(later, 1.0 - drawn / np.maximum(left, 1.0), 0.0)
    return np.asarray(weights / weights.mean()), np.asarray(np.clip(unseen, 0.0, 1.0))


def _of_each(matrix: Floats, columns: Floats) -> Floats:
    """The matrix times each column by itself: a game's result does not depend on the other games, to the last bit."""
    return np.stack([matrix @ column for column in np.ascontiguousarray(columns.T)], axis=1)
