"""Fitting the process to many games that share their pairs.

Hyperparameters are learnt from a few pilot games together. Games of one model differ in which players interact, so up
to ``refitted_games`` of them are refitted from there in a few iterations, one by one; if there are more, the others
take over the hyperparameters of a game that was refitted (``bank``), and one factorisation serves all games that share
hyperparameters. Each game may have outstanding interactions (``triples``).

**More than ``most_pairs`` pairs.** The process is conditioned only on the first ``most_pairs`` of them. The residuals
of its posterior mean are a game too, whose Shapley values the regression estimates: pairs that the process was
conditioned on represent only themselves, later ones all others of their class. The two estimates are weighted by their
variances. The combination is consistent, since the regression is, and its variance tends to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.averaging import N_HALVES, halves_of
from sharpley.estimators.gp.bank import make_bank, spread
from sharpley.estimators.gp.data import with_full_coalition
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.learning import Sample, learn_scales
from sharpley.estimators.gp.posterior import Conditioner, Posterior
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import LeastSquares, PairRegression


class Estimates(NamedTuple):
    """Estimated Shapley values; each column is a game."""

    values: Floats
    """Shapley values, (d, g)."""
    variances: Floats
    """Variances of ``values``, (d, g)."""
    degrees_of_freedom: Floats
    """Degrees of freedom behind ``variances``, (g,)."""


class Pilot(NamedTuple):
    """Fits that all games share."""

    linear: LeastSquares
    """The regression, for all games."""
    scales: Scales
    """Hyperparameters of the process, learnt from the pilot games."""


def learn_from_pilots(unit: PairData, settings: GPSettings) -> Pilot:
    """Fit the regression to all normalised games, and hyperparameters to a few of them."""
    linear = PairRegression(unit.signs).fit(unit.odd, unit.delta)
    n_games = unit.odd.shape[1]
    games = spread(n_games, settings.pilot_games)
    effort = pilot_effort(unit.d, n_games, settings)
    return Pilot(linear, _learn(unit, np.abs(linear.values), games, effort, settings))


def estimate_games(unit: PairData, pilot: Pilot, settings: GPSettings) -> Estimates:
    """Estimate the Shapley values of normalised games."""
    n_games = unit.odd.shape[1]
    values, variances, degrees_of_freedom = np.empty((unit.d, n_games)), np.empty((unit.d, n_games)), np.empty(n_games)
    seen = unit.pairs(slice(settings.most_pairs))
    n_more = len(unit.signs) - len(seen.signs)
    correctable = n_more >= settings.correction_pairs_per_player * unit.d
    regression = PairRegression(unit.signs, len(seen.signs)) if correctable else None
    # A correction is one of predictions, whose Shapley values are those of a single set of hyperparameters.
    used = settings if regression is None else replace(settings, halved_pairs=0)
    for games, found in posteriors(seen, pilot, used):
        values[:, games], variances[:, games] = found.values, found.variances
        degrees_of_freedom[games] = found.degrees_of_freedom
        if regression is not None:
            at_full = found.predict(np.ones((1, unit.d)))[0]
            correction = regression.fit(unit.odd[:, games] - found.predict(unit.signs), unit.delta[games] - at_full)
            values[:, games], variances[:, games] = _corrected(found, correction)
    return Estimates(values, variances, degrees_of_freedom)


def _corrected(found: Posterior, correction: LeastSquares) -> tuple[Floats, Floats]:
    """Return the values of the process plus a share of the regression's correction, and their variances, (d, g).

    The share depends on the variances of both. A squared correction larger than its variance shows that the process was
    overconfident. The share is the same for all players of a game, so that the values add up to v(N) − v(∅). It tends
    to 1 as the number of pairs grows.
    """
    stated, other = found.variances.mean(axis=0), correction.variances.mean(axis=0)
    own = np.maximum(stated, (correction.values**2).mean(axis=0) - other)
    share = np.where(own > 0, own / np.where(own > 0, own + other, 1.0), 1.0)
    values = found.values + share * correction.values
    of_process = found.variances * (own / np.where(stated > 0, stated, 1.0))
    return values, (1.0 - share) ** 2 * of_process + share**2 * correction.variances


def posteriors(unit: PairData, pilot: Pilot, settings: GPSettings) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
    """Condition normalised games; yield games that share hyperparameters and triples together, with their posterior."""
    conditioner = Conditioner(unit, pilot.linear, settings)
    everyone = np.arange(unit.odd.shape[1])
    importance = np.abs(pilot.linear.values)

    def learn_halves(games: NDArray[np.int64]) -> list[Scales]:
        some = games[spread(len(games), settings.pilot_games)]
        effort = pilot_effort(unit.d, len(some), settings)
        return [_learn(half, importance, some, effort, settings) for half in _without_halves(unit, settings)]

    if not settings.refits(len(everyone), len(unit.signs)):
        if len(everyone) > settings.refitted_games:  # with this many pairs, triples for each cost more than they gain
            yield everyone, conditioner.posterior(everyone, pilot.scales)
        else:
            yield from conditioner.posteriors(everyone, pilot.scales, learn_halves)
        return
    effort = refit_effort(unit.d, settings)

    def refit(game: int, start: Scales = pilot.scales) -> Scales:
        return _learn(unit, importance, everyone[game : game + 1], effort, settings, start=start)

    if len(everyone) <= settings.refitted_games:
        for game in everyone.tolist():
            yield from conditioner.posteriors(everyone[game : game + 1], refit(game), learn_halves)
        return
    for games, scales in _from_bank(everyone, refit, conditioner, settings):
        yield from conditioner.posteriors(games, scales, learn_halves)


def _from_bank(
    everyone: NDArray[np.int64], refit: Callable[..., Scales], conditioner: Conditioner, settings: GPSettings
) -> Iterator[tuple[NDArray[np.int64], Scales]]:
    """Yield games with the hyperparameters that they take from a bank, or that were found from there."""
    bank = make_bank(
        len(everyone), refit, conditioner.suitability, settings, own_set_error=settings.own_set_error_for(conditioner.d)
    )
    for number in np.unique(bank.best).tolist():
        mine, scales = everyone[bank.best == number], bank.sets[number]
        if bank.is_start:
            yield from ((mine[i : i + 1], refit(game, scales)) for i, game in enumerate(mine.tolist()))
        else:
            yield mine, scales


def _without_halves(unit: PairData, settings: GPSettings) -> list[PairData]:
    """Return the data without each of the halves of the pairs; none if there are too many pairs."""
    n = len(unit.signs)
    if not N_HALVES < n <= settings.halved_pairs:
        return []
    belongs = halves_of(n)
    return [unit.pairs(belongs != half) for half in range(N_HALVES)]


class Effort(NamedTuple):
    """How much a search for hyperparameters may cost."""

    pairs: int
    """Maximum number of pairs in the likelihood."""
    iterations: int
    """Maximum number of L-BFGS iterations."""


def pilot_effort(d: int, n_games: int, settings: GPSettings) -> Effort:
    """Return the numbers of pairs and iterations of the search for the hyperparameters that all games share."""
    few = d < settings.many_players and n_games > 1
    return Effort(settings.pilot_pairs if few else settings.pilot_pairs_of_many, settings.pilot_iterations)


def refit_effort(d: int, settings: GPSettings) -> Effort:
    """Return the numbers of pairs and iterations of the refit of one game of d players."""
    if d < settings.many_players:
        return Effort(settings.refit_pairs, settings.refit_iterations)
    return Effort(settings.refit_pairs_of_many, settings.refit_iterations_of_many)


def _learn(
    unit: PairData,
    importance: Floats,
    games: NDArray[np.int64],
    effort: Effort,
    settings: GPSettings,
    start: Scales | None = None,
) -> Scales:
    """Learn hyperparameters from some of the games, at a random sample of the pairs."""
    signs, odd, noise = with_full_coalition(unit.games(games))
    n = len(signs) - 1
    # A fixed seed: the result must not depend on what was drawn before.
    chosen = (
        np.sort(np.random.default_rng(0).choice(n, effort.pairs, replace=False)) if n > effort.pairs else np.arange(n)
    )
    rows = np.append(chosen, n)
    sample = Sample(signs[rows], odd[rows], unit.even[np.ix_(chosen, games)], noise[rows])
    mean_importance = importance[:, games].mean(axis=1)
    return learn_scales(sample, mean_importance, iterations=effort.iterations, start=start, settings=settings)
