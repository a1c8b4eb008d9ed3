"""Bayesian quadrature over coalitions: a Gaussian process on the odd part of games.

This is the paper's Bayesian quadrature, moved from orderings to coalitions. Shapley values are linear in v,
so a Gaussian process on v gives them a posterior mean and covariance in closed form. Write the kernel as K₀ +
(τ²/d) z·t, where the linear part is free (τ² → ∞) and K₀ is the rest plus noise. With Z the coalitions seen,
y their odd values, A₀ the Shapley values of K₀'s columns and M = Z'K₀⁻¹Z + (d/τ²) I,

    β = M⁻¹ Z'K₀⁻¹ y,   φ = A₀ K₀⁻¹ (y − Zβ) + 2β,
    Cov φ = P₀ − A₀ K₀⁻¹ A₀' + R M⁻¹ R',   R = 2I − A₀ K₀⁻¹ Z.

The noise is a multiple of the inverse weights of the regression, which is therefore a limit of this
estimator: whatever the hyperparameters, it is consistent. The full coalition is an exact datum, so that
values add up. Interactions that stand out (``triples``) are further features beside Z's columns, with a prior
variance and Shapley values of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.cholesky import Factor
from sharpley.estimators.gp.kernel import Scales, fixed_parts, kernel, prior_covariance, shapley_of_kernel
from sharpley.estimators.gp.learning import JITTER, NEARLY_FREE
from sharpley.estimators.gp.triples import NONE, Triples, outstanding
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import LeastSquares, class_weights

FREE = 1e10  # τ² where there are pairs enough to determine the linear part
AT_ONCE = 1000  # coalitions, so that many are predicted in little memory
CHECKED = 150  # pairs that are left out, one by one, to see how well they are predicted
LEFT_FOR_EACH_PLAYER = 2  # pairs that are not left out, if interactions are to be chosen by them
BETTER = 0.85  # of the squared error on left-out pairs, if a game is to have interactions that stand out
CAUTION, SHARE = 1.25, 1 / 3  # with less of them intervals of voting games become too narrow, with more others too wide


def with_full_coalition(data: PairData) -> tuple[Floats, Floats, Floats]:
    """Coalitions, odd values and inverse weights of all pairs and, last, of the full coalition, which has no noise."""
    signs = np.concatenate([data.signs, np.ones((1, data.d))])
    noise = np.append(1.0 / class_weights(data.sizes, data.d), 0.0)
    return signs, np.concatenate([data.odd, data.delta[None]]), noise


def are_enough_for_triples(n_pairs: int, d: int) -> bool:
    """Whether so many pairs are left that interactions can be chosen by them, when some are kept to judge by."""
    return n_pairs + 1 - min(n_pairs, CHECKED) >= LEFT_FOR_EACH_PLAYER * d


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
    """(d, g): β of the players."""
    triples: Triples
    """Interactions that stand out."""
    coefficients: Floats
    """(k, g): β of these."""
    missed: Floats
    """(g,): mean squared error, weighted, on pairs that were left out."""
    scales: Scales

    def predict(self, signs: Floats) -> Floats:
        """Odd values at further coalitions, (m, g)."""
        return np.concatenate([self._predict(signs[i : i + AT_ONCE]) for i in range(0, len(signs), AT_ONCE)])

    def _predict(self, signs: Floats) -> Floats:
        odd = kernel(signs, self.signs, self.scales) @ self.alpha
        return np.asarray(odd + signs @ self.slopes + self.triples.at(signs) @ self.coefficients)

    def of(self, games: NDArray[np.bool_]) -> Posterior:
        """Some of the games."""
        return self._replace(
            values=self.values[:, games],
            variances=self.variances[:, games],
            alpha=self.alpha[:, games],
            slopes=self.slopes[:, games],
            coefficients=self.coefficients[:, games],
            missed=self.missed[games],
        )


class _Seen(NamedTuple):
    """What was seen, whitened by K₀."""

    factor: Factor
    values: Floats
    """(n, g)."""
    signs: Floats
    """(n, d): Z."""
    shapley: Floats
    """(n, d): A₀'."""
    checked: Floats
    """(c, c): the unit vectors of pairs that are left out, which are last; their first rows are 0."""
    covariance: Floats
    """(d, d): P₀ − A₀ K₀⁻¹ A₀', that of the Shapley values if the linear part were known."""

    def of(self, game: int) -> _Seen:
        return self._replace(values=self.values[:, game : game + 1])


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
        n = len(data.signs)
        self._checked = np.unique(np.linspace(0, n - 1, min(n, CHECKED)).round().astype(np.int64))
        # Last: to leave them all out, rows of what was whitened are cut off.
        order = np.append(np.setdiff1d(np.arange(n + 1), self._checked), self._checked)
        self._signs, self._odd, self._noise = (each[order] for each in with_full_coalition(data))
        self._delta, self._linear = data.delta, linear
        self._fixed = fixed_parts(self._signs, self._signs)
        # As many as the players are needed to know the linear part.
        self._tau2 = FREE if n + 1 > 1.5 * data.d else NEARLY_FREE

    def posteriors(self, games: NDArray[np.int64], scales: Scales) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
        """Condition games on their values, each with the interactions that stand out in it, if that predicts better.

        The pairs that are left out to judge by have no part in choosing interactions.
        """
        seen = self._see(games, scales)
        together = self._condition(games, scales, seen, NONE)
        plain = np.ones(len(games), dtype=bool)
        for i, triples in enumerate(self._outstanding(seen, scales)):
            if len(triples.members) > 0:
                own = games[i : i + 1]
                found = self._condition(own, scales, seen.of(i), triples)
                if found.missed[0] < BETTER * together.missed[i]:
                    plain[i] = False
                    yield own, found
        if plain.any():
            yield games[plain], together.of(plain)

    def posterior(self, games: NDArray[np.int64], scales: Scales) -> Posterior:
        """Condition games on their values, all by the kernel alone."""
        return self._condition(games, scales, self._see(games, scales), NONE)

    def _see(self, games: NDArray[np.int64], scales: Scales) -> _Seen:
        signs, (n, d) = self._signs, self._signs.shape
        gram = kernel(signs, signs, scales, self._fixed)
        gram[np.diag_indices(n)] += scales.noise * self._noise + JITTER
        factor = Factor.of(gram)
        columns = np.concatenate([self._odd[:, games], signs, shapley_of_kernel(signs, scales).T], axis=1)
        values, of_signs, shapley = np.split(factor.whiten(columns), [len(games), -d], axis=1)
        covariance = prior_covariance(scales, 0.0) - shapley.T @ shapley
        return _Seen(factor, values, of_signs, shapley, factor.last_units(len(self._checked)), covariance)

    def _outstanding(self, seen: _Seen, scales: Scales) -> Iterator[Triples]:
        """Interactions of each game that pairs which are not left out show to stand out."""
        d = self._signs.shape[1]
        n = len(self._signs) - len(self._checked)
        if not are_enough_for_triples(len(self._signs) - 1, d):
            return
        factor, linear = seen.factor.first(n), seen.signs[:n]
        inverse = np.linalg.pinv(linear.T @ linear, hermitian=True)

        def project(columns: Floats) -> Floats:
            return np.asarray(columns - linear @ (inverse @ (linear.T @ columns)))

        for left in project(seen.values[:n]).T:
            yield outstanding(
                self._signs[:n],
                left,
                scales.players,
                degrees_of_freedom=n - d,
                whiten=lambda columns: project(factor.whiten(columns)),
                unwhiten=factor.unwhiten,
            )

    def _condition(self, games: NDArray[np.int64], scales: Scales, seen: _Seen, triples: Triples) -> Posterior:
        d = self._signs.shape[1]
        features, of_features = seen.signs, 2.0 * np.eye(d)
        prior_precisions = np.full(d, d / self._tau2)
        if len(triples.members) > 0:
            features = np.concatenate([features, seen.factor.whiten(triples.at(self._signs))], axis=1)
            of_features = np.concatenate([of_features, triples.shapley(d)], axis=1)
            prior_precisions = np.append(prior_precisions, 1.0 / triples.variances)
        information = features.T @ features + np.diag(prior_precisions)
        inverse_information = np.linalg.pinv(information, hermitian=True)
        coefficients = inverse_information @ (features.T @ seen.values)
        residuals = seen.values - features @ coefficients
        phi = seen.shapley.T @ residuals + of_features @ coefficients
        # Next to nothing, as the full coalition was seen:
        missing = (2.0 * self._delta[games] - phi.sum(axis=0)) / d

        remainder = of_features - seen.shapley.T @ features
        covariance = seen.covariance + remainder @ inverse_information @ remainder.T
        last = len(residuals) - len(self._checked)
        at_checked = seen.checked.T @ features[last:]
        precisions = (seen.checked**2).sum(axis=0) - ((at_checked @ inverse_information) * at_checked).sum(axis=1)
        alpha_checked = seen.checked.T @ residuals[last:]
        by_likelihood = _misfit((seen.values * residuals).sum(axis=0), len(residuals) - d)
        misfit = np.minimum(by_likelihood, _misfit_left_out(alpha_checked, precisions))
        said = np.outer(np.maximum(np.diagonal(covariance), 0.0), misfit)
        missed, share = self._missed(games, alpha_checked, precisions)
        shown = self._linear.variances[:, games] * share**CAUTION
        return Posterior(
            values=phi + missing,
            variances=np.maximum(said, shown) + SHARE * np.minimum(said, shown),
            signs=self._signs,
            alpha=seen.factor.unwhiten(residuals),
            slopes=coefficients[:d] + missing / 2.0,
            triples=triples,
            coefficients=coefficients[d:],
            missed=missed,
            scales=scales,
        )

    def _missed(self, games: NDArray[np.int64], alpha: Floats, precisions: Floats) -> tuple[Floats, Floats]:
        """Mean squared error on pairs that were left out, and its share of what the regression makes there: (g,) each.

        A pair that is left out is missed by α / precision. Where the process has nothing to hold on to, as in a
        voting game of which few decisive coalitions were seen, it interpolates and feels sure; then it
        predicts hardly better than the regression, and may be hardly surer.
        """
        of_regression = self._linear.left_out[np.ix_(self._checked, games)]
        noise = self._noise[len(self._noise) - len(self._checked) :]
        used = (of_regression > 0) & (precisions[:, None] > 0)
        errors = (alpha / np.where(precisions > 0, precisions, 1.0)[:, None]) ** 2 / noise[:, None]
        missed, total = (np.where(used, each, 0.0).mean(axis=0) for each in (errors, of_regression))
        return missed, np.minimum(missed / np.where(total > 0, total, 1.0), 1.0)


def _misfit(squares: Floats, degrees_of_freedom: int) -> Floats:
    """How much larger or smaller than assumed the values of each game are, (g,): 1 if the prior's size is right."""
    # Rounding may leave −1e-17 where a game is linear and nothing is left to explain.
    return np.maximum(squares, 0.0) / max(1, degrees_of_freedom)


def _misfit_left_out(alpha: Floats, precisions: Floats) -> Floats:
    """The same by pairs that were left out, which are missed by α / precision with variance 1 / precision, (g,).

    The likelihood judges the prior by all that it says. Of smooth games, such as an airport's, the process knows far
    more than it thinks once many pairs were seen, and this shows it.
    """
    used = precisions > 0
    return (
        np.asarray((alpha[used] ** 2 / precisions[used, None]).mean(axis=0)) if used.any() else np.ones(alpha.shape[1])
    )
