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
from sharpley.estimators.gp.data import with_full_coalition
from sharpley.estimators.gp.kernel import Scales, fixed_parts, kernel, prior_covariance, shapley_of_kernel
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.settings import DEFAULT, GPSettings
from sharpley.estimators.gp.triples import NONE, Triples, outstanding
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import LeastSquares

PREDICTED_AT_ONCE = 1000  # coalitions, to bound memory


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
    held_out_error: Floats
    """(g,): weighted mean squared error on held-out pairs."""
    scales: Scales

    def predict(self, signs: Floats) -> Floats:
        """Odd values at further coalitions, (m, g)."""
        return np.concatenate(
            [self._predict(signs[i : i + PREDICTED_AT_ONCE]) for i in range(0, len(signs), PREDICTED_AT_ONCE)]
        )

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
            held_out_error=self.held_out_error[games],
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
    held_out: Floats
    """(c, c): the unit vectors of held-out pairs, which are last; their first rows are 0."""
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
    settings : GPSettings
    """

    def __init__(self, data: PairData, linear: LeastSquares, settings: GPSettings = DEFAULT) -> None:
        n = len(data.signs)
        self._settings = settings
        count = min(n, settings.held_out_pairs)
        self._held_out = np.unique(np.linspace(0, n - 1, count).round().astype(np.int64))
        # They come last: to hold all of them out, the last rows of what was whitened are cut off.
        order = np.append(np.setdiff1d(np.arange(n + 1), self._held_out), self._held_out)
        self._signs, self._odd, self._noise = (each[order] for each in with_full_coalition(data))
        self._delta, self._linear = data.delta, linear
        self._fixed = fixed_parts(self._signs, self._signs)
        # At least as many pairs as players are needed to determine the linear part.
        self._tau2 = settings.free_variance if n + 1 > 1.5 * data.d else settings.learning_variance

    def posteriors(self, games: NDArray[np.int64], scales: Scales) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
        """Condition games on their values, each with the interactions that stand out in it, if that predicts better.

        Held-out pairs, which judge the interactions, take no part in choosing them.
        """
        seen = self._see(games, scales)
        together = self._condition(games, scales, seen, NONE)
        plain = np.ones(len(games), dtype=bool)
        for i, triples in enumerate(self._outstanding(seen, scales)):
            if len(triples.members) > 0:
                own = games[i : i + 1]
                found = self._condition(own, scales, seen.of(i), triples)
                if found.held_out_error[0] < self._settings.triple_improvement * together.held_out_error[i]:
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
        return _Seen(factor, values, of_signs, shapley, factor.last_units(len(self._held_out)), covariance)

    def _outstanding(self, seen: _Seen, scales: Scales) -> Iterator[Triples]:
        """Interactions of each game that stand out, chosen by the pairs that are not held out."""
        d = self._signs.shape[1]
        n = len(self._signs) - len(self._held_out)
        if not self._settings.can_choose_triples(len(self._signs) - 1, d):
            return
        factor, linear = seen.factor.first(n), seen.signs[:n]
        inverse = np.linalg.pinv(linear.T @ linear, hermitian=True)

        def project(columns: Floats) -> Floats:
            return np.asarray(columns - linear @ (inverse @ (linear.T @ columns)))

        for residuals in project(seen.values[:n]).T:
            yield outstanding(
                self._signs[:n],
                residuals,
                scales.players,
                degrees_of_freedom=n - d,
                whiten=lambda columns: project(factor.whiten(columns)),
                unwhiten=factor.unwhiten,
                settings=self._settings,
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
        last = len(residuals) - len(self._held_out)
        at_held_out = seen.held_out.T @ features[last:]
        precisions = (seen.held_out**2).sum(axis=0) - ((at_held_out @ inverse_information) * at_held_out).sum(axis=1)
        alpha = seen.held_out.T @ residuals[last:]
        by_likelihood = _misfit((seen.values * residuals).sum(axis=0), len(residuals) - d)
        misfit = np.minimum(by_likelihood, _misfit_held_out(alpha, precisions))
        by_posterior = np.outer(np.maximum(np.diagonal(covariance), 0.0), misfit)
        held_out_error, share = self._held_out_error(games, alpha, precisions)
        by_held_out = self._linear.variances[:, games] * share**self._settings.held_out_power
        larger, smaller = np.maximum(by_posterior, by_held_out), np.minimum(by_posterior, by_held_out)
        return Posterior(
            values=phi + missing,
            variances=larger + self._settings.smaller_share * smaller,
            signs=self._signs,
            alpha=seen.factor.unwhiten(residuals),
            slopes=coefficients[:d] + missing / 2.0,
            triples=triples,
            coefficients=coefficients[d:],
            held_out_error=held_out_error,
            scales=scales,
        )

    def _held_out_error(self, games: NDArray[np.int64], alpha: Floats, precisions: Floats) -> tuple[Floats, Floats]:
        """Mean squared error on held-out pairs, and its share of the regression's error there: (g,) each.

        The error at a held-out pair is α / precision. Where the process has seen nothing of what matters, as in a
        voting game of which few decisive coalitions were seen, it interpolates and is overconfident; then it predicts
        hardly better than the regression, and may be hardly surer.
        """
        of_regression = self._linear.held_out_errors[np.ix_(self._held_out, games)]
        noise = self._noise[len(self._noise) - len(self._held_out) :]
        used = (of_regression > 0) & (precisions[:, None] > 0)
        errors = (alpha / np.where(precisions > 0, precisions, 1.0)[:, None]) ** 2 / noise[:, None]
        mine, total = (np.where(used, each, 0.0).mean(axis=0) for each in (errors, of_regression))
        return mine, np.minimum(mine / np.where(total > 0, total, 1.0), 1.0)


def _misfit(squares: Floats, degrees_of_freedom: int) -> Floats:
    """Factor by which the variance of each game exceeds the prior's, (g,)."""
    # Rounding may leave −1e-17 where a game is linear and nothing is left to explain.
    return np.maximum(squares, 0.0) / max(1, degrees_of_freedom)


def _misfit_held_out(alpha: Floats, precisions: Floats) -> Floats:
    """The same by held-out pairs, whose errors are α / precision with variance 1 / precision, (g,).

    The likelihood judges the prior as a whole. Of smooth games, such as an airport's, the process knows far more than
    its variance says once it has seen many pairs, and held-out pairs show it.
    """
    used = precisions > 0
    return (
        np.asarray((alpha[used] ** 2 / precisions[used, None]).mean(axis=0)) if used.any() else np.ones(alpha.shape[1])
    )
