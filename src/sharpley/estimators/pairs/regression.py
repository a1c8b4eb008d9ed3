"""Weighted least squares on pairs: KernelSHAP's regression, on balanced pairs, with size effects.

v_odd is fitted by z·b plus an effect γ_k of each size k, which changes sign with z. The size effects are nuisance
parameters with Shapley value 0; in voting and airport games they account for most of what is not linear. With c_k = 2
(1 if 2k = d) and m_k chosen pairs in class k, a pair has weight w = c_k / (k (d−k) m_k). So each class counts as in the
population of all coalitions, for which the solution is the Shapley value: φ = 2b subject to Σb = δ.

Standard errors are those of the sandwich estimator with squared residuals divided by 1 − leverage (HC2). Pairs are
drawn without repetition, so the contribution of a class to the variance is multiplied by the share of its pairs that
was not drawn (finite population correction): a class all of whose pairs were drawn contributes nothing.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments, mean_steps
from sharpley.estimators.pairs.balance import balanced_weights
from sharpley.estimators.pairs.base import PairedEstimator, by_game
from sharpley.estimators.pairs.choosing import pairs_per_class, quotas
from sharpley.permutations.sphere import hyperplane_basis
from sharpley.statistics.unseen import ROUNDING

OPERATIONS_PER_CHOICE = 20.0  # multiples of pairs² · d: comparing each candidate with the pairs chosen before
SPARE_PAIRS = 4  # pairs in excess of the number of coefficients, from which variances are estimated
SINGULAR_VALUE_TOLERANCE = 1e-10  # singular values below this multiple of the largest count as 0
LEVERAGE_TOLERANCE = 1e-8  # a pair whose 1 − leverage is at most this determines a coefficient by itself


@final
class RegressionEstimator(PairedEstimator):
    """Weighted least squares on pairs, with size effects: takes only milliseconds, even for many rows.

    Parameters
    ----------
    d : int
        Number of players.
    is_balanced : bool, default False
        Whether to use weights with which the estimate is unbiased, if at least four pairs of every class are chosen.
        The mean squared error of a single estimate is up to 5% larger, but that of a mean of many has no limit.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport(tuple(range(1, 13)))
    >>> found = sharpley.shapley_values(game, method=RegressionEstimator, max_evals=200, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 4 * found.standard_errors.max())
    True
    """

    def __init__(self, d: int, *, is_balanced: bool = False, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._is_balanced = is_balanced

    @property
    def _fewest_pairs(self) -> int:
        return fewest_pairs(self.d)

    def _next_pairs(self, wanted: int, budget: Budget) -> Coalitions:
        return self._chooser.extend(quotas(self.d, wanted))

    def estimate(self) -> Moments:
        """Fit the regression to all games."""
        data = self._data()
        fit = PairRegression(data.signs, is_balanced=self._is_balanced).fit(data.odd, data.delta)
        phi, variances = by_game(fit.values, self.values), by_game(fit.variances, self.values)
        return Moments(phi, variances, np.full_like(phi, fit.degrees_of_freedom))


def fewest_pairs(d: int) -> int:
    """Return the number of pairs that determine all coefficients and, with ``SPARE_PAIRS`` more, their variances."""
    return min(d - 1 + (d - 1) // 2 + SPARE_PAIRS, int(pairs_per_class(d).sum()))


def work(d: int, budget: int) -> float:
    """Return the approximate number of floating-point operations of choosing pairs and of the regression on them."""
    pairs = budget / 2.0
    return OPERATIONS_PER_CHOICE * pairs**2 * d / max(1, d // 2) + 2.0 * pairs * d**2


class LeastSquares(NamedTuple):
    """Shapley values by regression; each column is a game."""

    values: Floats
    """Shapley values, (d, g)."""
    variances: Floats
    """Variances of ``values``, (d, g)."""
    degrees_of_freedom: float
    """Degrees of freedom behind ``variances``."""
    held_out_errors: Floats
    """Weighted squared error at each pair of the fit without it, (n, g); 0 if it determines a coefficient by itself."""
    squared_sensitivity: Floats
    """Variances of ``values`` for each unit of squared error at each pair, (d, n), shares not drawn included."""

    def of(self, games: NDArray[np.int64]) -> LeastSquares:
        """Return the fit to some of the games."""
        return self._replace(
            values=self.values[:, games],
            variances=self.variances[:, games],
            held_out_errors=self.held_out_errors[:, games],
        )


def class_weights(sizes: NDArray[np.int64], d: int) -> Floats:
    """Return the weights w = c_k / (k (d−k) m_k) of pairs with the given sizes k (n,), scaled so that mean(1/w) = 1."""
    present = np.bincount(sizes, minlength=d // 2 + 1)[sizes]
    inverse = inverse_weights(sizes, present, d)
    return np.asarray(inverse.mean() / inverse)


def inverse_weights(sizes: NDArray[np.int64], present: NDArray[np.int64], d: int) -> Floats:
    """Return 1/w = k (d−k) m_k / c_k of pairs with sizes k (n,), where m_k (n,) is given by ``present``."""
    return np.asarray(sizes * (d - sizes) * present / np.where(2 * sizes == d, 1.0, 2.0))


class PairRegression:
    """The fit v_odd ≈ z·b + γ_size subject to Σb = δ; everything that depends only on the pairs is computed once.

    Parameters
    ----------
    signs : (n, d) float
        The smaller coalition of each pair, ±1.
    n_settled : int, default 0
        Number of pairs, the first ones, that were chosen for another purpose. They represent only themselves, and the
        pairs drawn after them represent all others of their class.
    is_balanced : bool, default False
        Whether to use weights with which the estimate is unbiased, if there are enough pairs.
    """

    def __init__(self, signs: Floats, n_settled: int = 0, *, is_balanced: bool = False) -> None:
        n, d = signs.shape
        sizes = (signs > 0).sum(axis=1)
        weights, unseen = _weights_and_unseen(sizes, d, n_settled)
        self._d = d
        self._mean_signs = signs.sum(axis=1) / d
        # b = δ/d + directions @ c satisfies the constraint for every c.
        self._directions = hyperplane_basis(d).T
        linear = signs @ self._directions
        size_effects = (sizes[:, None] == np.unique(sizes[2 * sizes != d])).astype(np.float64)
        if is_balanced:
            weights = balanced_weights(weights, linear, size_effects, sizes, d)
        self._root_weights = np.sqrt(weights)[:, None]
        design = np.concatenate([linear, size_effects], axis=1)
        left_vectors, singular, right_vectors = np.linalg.svd(self._root_weights * design, full_matrices=False)
        kept = singular > SINGULAR_VALUE_TOLERANCE * singular[0]
        self._range = left_vectors[:, kept]
        # From weighted odd values to c.
        self._to_coefficients = ((right_vectors[kept].T / singular[kept]) @ self._range.T)[: d - 1]
        self._one_minus_leverage = 1.0 - (self._range**2).sum(axis=1)
        self._squared_sensitivity = (2.0 * self._directions @ self._to_coefficients) ** 2 * unseen
        self._degrees_of_freedom = float(max(1, n - kept.sum()))

    def fit(self, odd: Floats, delta: Floats) -> LeastSquares:
        """Return the Shapley values φ = 2b, with variances, of games with odd values (n, g) at the pairs and δ (g,)."""
        weighted = self._root_weights * (odd - np.outer(self._mean_signs, delta))
        coefficients = _times_each(self._to_coefficients, weighted)
        residuals = weighted - _times_each(self._range, _times_each(self._range.T, weighted))
        overdetermined = self._one_minus_leverage > LEVERAGE_TOLERANCE
        one_minus_leverage = np.where(overdetermined, self._one_minus_leverage, 1.0)[:, None]
        squares = overdetermined[:, None] * residuals**2 / one_minus_leverage
        unseen = _unseen_squares(weighted, squares, self._root_weights**2, odd)
        variances = _times_each(self._squared_sensitivity, squares + unseen)
        values = 2.0 * (delta / self._d + _times_each(self._directions, coefficients))
        of_errors = self._squared_sensitivity * self._root_weights[:, 0] ** 2
        return LeastSquares(values, variances, self._degrees_of_freedom, squares / one_minus_leverage, of_errors)


def _unseen_squares(weighted: Floats, squares: Floats, weights: Floats, odd: Floats) -> Floats:
    """Return what is added to squared errors (n, g) because none, or few, were seen that exceed rounding, (n, g).

    A game that was linear at all n pairs may yet differ at others: with probability 1 / (n + 2) at the next one, by the
    size of a typical value, with a weight of 1/n. A game with few distinct values, such as a vote, differs by a step
    from one of them to the next. What is added decreases with the square of the number of errors seen.
    """
    n = len(weighted)
    typical = (weighted**2).mean(axis=0)
    seen = (squares > ROUNDING**2 * typical).sum(axis=0)
    return np.asarray(np.maximum(typical / n, weights * mean_steps(odd) ** 2) / ((n + 2.0) * (seen + 1.0) ** 2))


def _weights_and_unseen(sizes: NDArray[np.int64], d: int, n_settled: int) -> tuple[Floats, Floats]:
    """Return weights of pairs, and the share of the pairs that each represents that was not drawn; 0 for settled ones.

    With N_k pairs in class k, s_k of them settled and m_k drawn after them, a settled pair has 1/N_k of the weight of
    its class, and one drawn later (N_k − s_k) / (N_k m_k).
    """
    if n_settled == 0:
        unseen = 1.0 - np.bincount(sizes, minlength=d // 2 + 1)[1:] / pairs_per_class(d)
        return class_weights(sizes, d), np.asarray(unseen[sizes - 1])
    total = pairs_per_class(d)[sizes - 1]
    settled = np.bincount(sizes[:n_settled], minlength=d // 2 + 1)[sizes]
    drawn = np.bincount(sizes[n_settled:], minlength=d // 2 + 1)[sizes]
    later = np.arange(len(sizes)) >= n_settled
    not_settled = np.maximum(total - settled, 0.0)
    share = np.where(later, not_settled / (total * np.maximum(drawn, 1)), 1.0 / total)
    share = np.where(~later & (drawn == 0), 1.0 / settled.clip(1), share)  # only settled pairs represent the class
    weights = share / inverse_weights(sizes, np.ones_like(sizes), d)
    unseen = np.where(later, 1.0 - drawn / np.maximum(not_settled, 1.0), 0.0)
    return np.asarray(weights / weights.mean()), np.asarray(np.clip(unseen, 0.0, 1.0))


def _times_each(matrix: Floats, columns: Floats) -> Floats:
    """Multiply the matrix by each column separately: a game's result must not depend on the others, to the last bit."""
    return np.stack([matrix @ column for column in np.ascontiguousarray(columns.T)], axis=1)
