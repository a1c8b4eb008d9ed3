"""Bayesian quadrature over coalitions: the posterior of a Gaussian process on the odd part of games.

This is the paper's Bayesian quadrature, applied to coalitions instead of orderings. Shapley values are linear in v, so
their posterior mean and covariance under a Gaussian process on v have closed forms. Write the kernel as
K₀ + (τ²/d) z·t, where the linear part has a practically flat prior (τ² → ∞) and K₀ is the rest plus noise. Let Z be the
coalitions seen, y their odd values, A₀ the Shapley values of K₀'s columns, P₀ the prior covariance of the Shapley
values without the linear part, and M = Z'K₀⁻¹Z + (d/τ²) I. Then

    β = M⁻¹ Z'K₀⁻¹ y,   φ = A₀ K₀⁻¹ (y − Zβ) + 2β,
    Cov φ = P₀ − A₀ K₀⁻¹ A₀' + R M⁻¹ R',   R = 2I − A₀ K₀⁻¹ Z.

The noise is a multiple of the inverse weights of the regression, so the regression is a limiting case of this
estimator, which is consistent whatever the hyperparameters. The full coalition is observed without noise, so that the
values add up to v(N) − v(∅). Outstanding interactions (``triples``) are features in addition to the columns of Z, each
with its own prior variance and Shapley values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.averaging import (
    Conditional,
    are_rough,
    average,
    degrees_of_freedom,
    halves_of,
    least_share,
    with_regression,
)
from sharpley.estimators.gp.bank import Suitability
from sharpley.estimators.gp.cholesky import Factor
from sharpley.estimators.gp.data import with_full_coalition
from sharpley.estimators.gp.kernel import Scales, fixed_parts, kernel, prior_covariance, shapley_of_kernel
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.gp.triples import NO_TRIPLES, Triples, outstanding
from sharpley.estimators.gp.whitened import FeatureFit, Whitened, fit_features, log_evidence
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import LeastSquares

MAX_PREDICTED_AT_ONCE = 1000  # coalitions; it bounds memory

LearnHalves: TypeAlias = Callable[[NDArray[np.int64]], list[Scales]]
"""Learns hyperparameters of games, without each of the halves of the pairs."""


class WhitenedSet(NamedTuple):
    """A set of hyperparameters, and data whitened by the covariance that it implies."""

    scales: Scales
    whitened: Whitened


class Posterior(NamedTuple):
    """The posterior of games, each of which is a column, and of their Shapley values."""

    values: Floats
    """Posterior means of the Shapley values, (d, g)."""
    variances: Floats
    """Variances of the Shapley values, (d, g)."""
    degrees_of_freedom: Floats
    """Degrees of freedom behind ``variances``, (g,)."""
    signs: Floats
    """Coalitions that the process is conditioned on, (n, d)."""
    alpha: Floats
    """K₀⁻¹ (y − Zβ), (n, g), from which odd values are predicted."""
    slopes: Floats
    """β of the players, (d, g)."""
    triples: Triples
    """Outstanding interactions."""
    coefficients: Floats
    """β of the outstanding interactions, (k, g)."""
    held_out_error: Floats
    """Weighted mean squared error on held-out pairs, (g,)."""
    scales: Scales
    """Hyperparameters."""

    def predict(self, signs: Floats) -> Floats:
        """Return the posterior means of the odd values at coalitions (m, d): (m, g)."""
        starts = range(0, len(signs), MAX_PREDICTED_AT_ONCE)
        return np.concatenate([self._predict(signs[start : start + MAX_PREDICTED_AT_ONCE]) for start in starts])

    def _predict(self, signs: Floats) -> Floats:
        odd = kernel(signs, self.signs, self.scales) @ self.alpha
        return np.asarray(odd + signs @ self.slopes + self.triples.at(signs) @ self.coefficients)

    def of(self, games: NDArray[np.bool_]) -> Posterior:
        """Return the posterior of some of the games."""
        return self._replace(
            values=self.values[:, games],
            variances=self.variances[:, games],
            degrees_of_freedom=self.degrees_of_freedom[games],
            alpha=self.alpha[:, games],
            slopes=self.slopes[:, games],
            coefficients=self.coefficients[:, games],
            held_out_error=self.held_out_error[games],
        )


class Conditioner:
    """Condition games on pairs; everything that depends only on the pairs is computed once.

    Parameters
    ----------
    data : PairData
        Normalised games.
    linear : LeastSquares
        The regression's fit to the same data.
    settings : GPSettings, optional
    """

    def __init__(self, data: PairData, linear: LeastSquares, settings: GPSettings = DEFAULT_SETTINGS) -> None:
        n = len(data.signs)
        self._settings = settings
        count = min(n, settings.held_out_pairs)
        self._held_out = np.unique(np.linspace(0, n - 1, count).round().astype(np.int64))
        # Held-out pairs come last: dropping the last rows of the whitened data holds all of them out.
        order = np.append(np.setdiff1d(np.arange(n + 1), self._held_out), self._held_out)
        self._signs, self._odd, self._noise = (each[order] for each in with_full_coalition(data))
        self._delta, self._linear = data.delta, linear
        self._half_of_held_out = halves_of(n)[self._held_out]
        self._fixed = fixed_parts(self._signs, self._signs)
        # At least as many pairs as players are needed to determine the linear part.
        is_determined = n + 1 > settings.free_pairs_per_player * data.d
        tau2 = settings.free_variance if is_determined else settings.learning_variance
        self._prior_precisions = np.full(data.d, data.d / tau2)

    @property
    def d(self) -> int:
        """Number of players."""
        return self._signs.shape[1]

    def posteriors(
        self, games: NDArray[np.int64], scales: Scales, learn_halves: LearnHalves = lambda games: []
    ) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
        """Condition games on their values, each with its outstanding interactions if it is then predicted better.

        The held-out pairs, on which predictions are compared, are not used to choose the interactions.

        Parameters
        ----------
        games : (g,) int
            Games to condition.
        scales : Scales
            Hyperparameters learnt from all pairs.
        learn_halves : callable, optional
            Learns hyperparameters of rough games without each of the halves of the pairs (see ``averaging``).

        Yields
        ------
        (n,) int
            Games that are predicted in the same way.
        Posterior
            Their posterior.
        """
        whitened = self._whiten(games, scales)
        found = self._condition(games, scales, whitened, NO_TRIPLES)
        rough = are_rough(self._odd[:, games], found.squared_errors)
        if not rough.all():
            yield from self._chosen(games[~rough], [WhitenedSet(scales, whitened.of(~rough))])
        if rough.any():
            halves = [WhitenedSet(each, self._whiten(games[rough], each)) for each in learn_halves(games[rough])]
            yield from self._chosen(games[rough], [WhitenedSet(scales, whitened.of(rough)), *halves])

    def _chosen(
        self, games: NDArray[np.int64], sets: Sequence[WhitenedSet]
    ) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
        """Yield the posteriors of games, averaged over sets of hyperparameters, with or without interactions."""
        together = self._average(games, [self._condition(games, *each, NO_TRIPLES) for each in sets])
        plain = np.ones(len(games), dtype=bool)
        for i, triples in enumerate(self._outstanding(sets[0])):
            if len(triples.members) > 0:
                own = games[i : i + 1]
                of_own = [self._condition(own, each.scales, each.whitened.of([i]), triples) for each in sets]
                found = self._average(own, of_own)
                if found.held_out_error[0] < self._settings.triple_improvement * together.held_out_error[i]:
                    plain[i] = False
                    yield own, found
        if plain.any():
            yield games[plain], together.of(plain)

    def posterior(self, games: NDArray[np.int64], scales: Scales) -> Posterior:
        """Condition games on their values, all without outstanding interactions."""
        return self._average(games, [self._condition(games, scales, self._whiten(games, scales), NO_TRIPLES)])

    def suitability(self, scales: Scales) -> Suitability:
        """Return how well hyperparameters suit each of the games, without outstanding interactions."""
        everyone = np.arange(self._odd.shape[1])
        whitened = self._whiten(everyone, scales)
        fit = fit_features(whitened, whitened.signs, self._prior_precisions)
        evidence = log_evidence(whitened, fit, self._signs.shape[1])
        return Suitability(evidence, self._weighted_mean(_squared_errors(fit)))

    def _whiten(self, games: NDArray[np.int64], scales: Scales) -> Whitened:
        signs, (n, d) = self._signs, self._signs.shape
        gram = kernel(signs, signs, scales, self._fixed)
        gram[np.diag_indices(n)] += scales.noise * self._noise + JITTER
        factor = Factor.of(gram)
        columns = np.concatenate([self._odd[:, games], signs, shapley_of_kernel(signs, scales).T], axis=1)
        values, of_signs, shapley = np.split(factor.whiten(columns), [len(games), -d], axis=1)
        covariance = prior_covariance(scales, 0.0) - shapley.T @ shapley
        return Whitened(factor, values, of_signs, shapley, factor.last_units(len(self._held_out)), covariance)

    def _outstanding(self, of: WhitenedSet) -> Iterator[Triples]:
        """Yield the outstanding interactions of each game, chosen on the pairs that are not held out."""
        scales, whitened = of
        d = self._signs.shape[1]
        n = len(self._signs) - len(self._held_out)
        if not self._settings.can_choose_triples(len(self._signs) - 1, d):
            return
        factor, linear = whitened.factor.first(n), whitened.signs[:n]
        inverse = np.linalg.pinv(linear.T @ linear, hermitian=True)

        def project(columns: Floats) -> Floats:
            return np.asarray(columns - linear @ (inverse @ (linear.T @ columns)))

        for residuals in project(whitened.values[:n]).T:
            yield outstanding(
                self._signs[:n],
                residuals,
                scales.players,
                degrees_of_freedom=n - d,
                whiten=lambda columns: project(factor.whiten(columns)),
                unwhiten=factor.unwhiten,
                settings=self._settings,
            )

    def _condition(self, games: NDArray[np.int64], scales: Scales, whitened: Whitened, triples: Triples) -> Conditional:
        """Condition games on their values, with one set of hyperparameters."""
        d = self._signs.shape[1]
        features, of_features = whitened.signs, 2.0 * np.eye(d)
        prior_precisions = self._prior_precisions
        if len(triples.members) > 0:
            features = np.concatenate([features, whitened.factor.whiten(triples.at(self._signs))], axis=1)
            of_features = np.concatenate([of_features, triples.shapley(d)], axis=1)
            prior_precisions = np.append(prior_precisions, 1.0 / triples.variances)
        fit = fit_features(whitened, features, prior_precisions)
        coefficients, residuals = fit.coefficients, fit.residuals
        phi = whitened.shapley.T @ residuals + of_features @ coefficients
        # Almost 0, since the full coalition is observed without noise.
        missing = (2.0 * self._delta[games] - phi.sum(axis=0)) / d

        sensitivity = of_features - whitened.shapley.T @ features  # R
        covariance = whitened.covariance + sensitivity @ fit.inverse_information @ sensitivity.T
        by_likelihood = _misfit((whitened.values * residuals).sum(axis=0), len(residuals) - d)
        misfit = np.minimum(by_likelihood, _misfit_held_out(fit.alpha, fit.precisions))
        return Conditional(
            values=phi + missing,
            variances=np.outer(np.maximum(np.diagonal(covariance), 0.0), misfit),
            squared_errors=_squared_errors(fit),
            alpha=whitened.factor.unwhiten(residuals),
            slopes=coefficients[:d] + missing / 2.0,
            triples=triples,
            coefficients=coefficients[d:],
            scales=scales,
        )

    def _average(self, games: NDArray[np.int64], sets: Sequence[Conditional]) -> Posterior:
        """Average the posteriors with several sets of hyperparameters, and add what held-out pairs say of the error."""
        first, n_pairs = sets[0], len(self._signs) - 1
        values, by_posterior, errors = average(sets, self._half_of_held_out, self._variances_from)
        by_held_out = self._variances_from(errors)
        larger, smaller = np.maximum(by_posterior, by_held_out), np.minimum(by_posterior, by_held_out)
        linear = self._linear.of(games)
        least = least_share(linear.held_out_errors) * linear.variances
        variances = np.maximum(larger + self._settings.smaller_share * smaller, least)
        if len(sets) > 1:
            values, variances = with_regression(values, variances, linear)
        return Posterior(
            values=values,
            variances=variances,
            degrees_of_freedom=degrees_of_freedom(errors, n_pairs, max(1, n_pairs - len(values))),
            signs=self._signs,
            alpha=first.alpha,
            slopes=first.slopes,
            triples=first.triples,
            coefficients=first.coefficients,
            held_out_error=self._weighted_mean(first.squared_errors),
            scales=first.scales,
        )

    def _variances_from(self, squared_errors: Floats) -> Floats:
        """Return variances (d, g) of Shapley values from squared errors (c, g) at held-out pairs.

        A regression on these errors would estimate how far the Shapley values are off. Its variance, by the sandwich
        estimator as for the regression itself, is of the order of the squared error of the process, which is smaller
        by a factor that depends little on the game.
        """
        n = len(self._noise) - 1.0
        of_errors = self._linear.squared_sensitivity[:, self._held_out] * (n / max(1, len(self._held_out)))
        # With few pairs for each player, the regression's variance is larger still, compared with that of the process.
        share = self._settings.held_out_share * np.sqrt(min(1.0, self._linear.degrees_of_freedom / n))
        return np.asarray(share * (of_errors @ squared_errors))

    def _weighted_mean(self, squared_errors: Floats) -> Floats:
        """Return the weighted mean of squared errors (c, g) at held-out pairs, (g,)."""
        noise = self._noise[len(self._noise) - len(self._held_out) :]
        return np.asarray((squared_errors / noise[:, None]).mean(axis=0))


def _squared_errors(fit: FeatureFit) -> Floats:
    """Return the squared errors at held-out pairs, α / precision each, (c, g); 0 where the precision is 0."""
    known = (fit.precisions > 0)[:, None]
    return np.where(known, fit.alpha / np.where(known, fit.precisions[:, None], 1.0), 0.0) ** 2


def _misfit(squares: Floats, degrees_of_freedom: int) -> Floats:
    """Return the factor by which the variance of each game exceeds the prior's, according to the likelihood, (g,)."""
    # Rounding may give −1e-17 where a game is linear and its residuals are 0.
    return np.maximum(squares, 0.0) / max(1, degrees_of_freedom)


def _misfit_held_out(alpha: Floats, precisions: Floats) -> Floats:
    """Return the same factor according to held-out pairs, whose errors are α / precision with variance 1 / precision.

    The likelihood assesses the prior as a whole. Once many pairs have been seen of a smooth game, such as an airport
    game, the predictions are far more accurate than the variances state, and the errors on held-out pairs show it.
    """
    used = precisions > 0
    return (
        np.asarray((alpha[used] ** 2 / precisions[used, None]).mean(axis=0)) if used.any() else np.ones(alpha.shape[1])
    )
