"""Fitting the process to many games that share their pairs.

Hyperparameters are learnt from a few pilot games together, and one factorisation then serves all games. A handful of
games is refitted one by one from there, in a few iterations, since games of one model differ in which players
interact; and each of a handful of games may have interactions that stand out (``triples``).

**Beyond ``most_pairs`` pairs** the process is conditioned on the first of them only. What its mean leaves unexplained
is a game too, whose Shapley values the regression estimates: pairs that the process has seen stand for themselves,
later ones for all others of their class. The two estimates are combined by their variances. That is consistent, since
the regression is and its variance falls to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.data import with_full_coalition
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.learning import Sample, learn_scales
from sharpley.estimators.gp.posterior import Conditioner, Posterior
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import LeastSquares, PairRegression


class Estimates(NamedTuple):
    """Shapley values of games, which are columns."""

    values: Floats
    """(d, g)."""
    variances: Floats
    """(d, g)."""
    degrees_of_freedom: float


class Pilot(NamedTuple):
    """What games of unit size have in common."""

    linear: LeastSquares
    scales: Scales


def learn_from_pilots(unit: PairData, settings: GPSettings) -> Pilot:
    """Fit the regression to all games, and hyperparameters to a few of them."""
    linear = PairRegression(unit.signs).fit(unit.odd, unit.delta)
    n_games = unit.odd.shape[1]
    games = np.unique(np.linspace(0, n_games - 1, min(settings.pilot_games, n_games)).round().astype(np.int64))
    effort = pilot_effort(unit.d, n_games, settings)
    return Pilot(linear, _learn(unit, np.abs(linear.values), games, effort, settings))


def estimate_games(unit: PairData, pilot: Pilot, settings: GPSettings) -> Estimates:
    """Shapley values of games of unit size."""
    values, variances = np.empty((unit.d, unit.odd.shape[1])), np.empty((unit.d, unit.odd.shape[1]))
    seen = unit.pairs(slice(settings.most_pairs))
    n_more = len(unit.signs) - len(seen.signs)
    correctable = n_more >= settings.correction_pairs_per_player * unit.d
    regression = PairRegression(unit.signs, len(seen.signs)) if correctable else None
    for games, found in posteriors(seen, pilot, settings):
        values[:, games], variances[:, games] = found.values, found.variances
        if regression is not None:
            at_full = found.predict(np.ones((1, unit.d)))[0]
            correction = regression.fit(unit.odd[:, games] - found.predict(unit.signs), unit.delta[games] - at_full)
            values[:, games], variances[:, games] = _corrected(found, correction)
    return Estimates(values, variances, float(max(1, len(seen.signs) - unit.d)))


def _corrected(found: Posterior, correction: LeastSquares) -> tuple[Floats, Floats]:
    """The process's values plus a part of the regression's correction, by their variances.

    A correction larger than its own variance shows that the process was surer than it should be. The part is the same
    for all players of a game, so that values add up. It tends to 1 with many pairs.
    """
    stated, other = found.variances.mean(axis=0), correction.variances.mean(axis=0)
    own = np.maximum(stated, (correction.values**2).mean(axis=0) - other)
    part = np.where(own > 0, own / np.where(own > 0, own + other, 1.0), 1.0)
    values = found.values + part * correction.values
    of_process = found.variances * (own / np.where(stated > 0, stated, 1.0))
    return values, (1.0 - part) ** 2 * of_process + part**2 * correction.variances


def posteriors(unit: PairData, pilot: Pilot, settings: GPSettings) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
    """Condition games of unit size; games that share everything they are predicted by are yielded together."""
    conditioner = Conditioner(unit, pilot.linear, settings)
    everyone = np.arange(unit.odd.shape[1])
    if len(everyone) > settings.refitted_games:
        yield everyone, conditioner.posterior(everyone, pilot.scales)
    elif not settings.refits(len(everyone), len(unit.signs)):
        yield from conditioner.posteriors(everyone, pilot.scales)
    else:
        importance = np.abs(pilot.linear.values)
        effort = refit_effort(unit.d, settings)
        for game in everyone[:, None]:
            own = _learn(unit, importance, game, effort, settings, start=pilot.scales)
            yield from conditioner.posteriors(game, own)


class Effort(NamedTuple):
    """What a search for hyperparameters may cost."""

    pairs: int
    iterations: int


def pilot_effort(d: int, n_games: int, settings: GPSettings) -> Effort:
    """Pairs and iterations of the search that all games share."""
    few = d < settings.many_players and n_games > 1
    return Effort(settings.pilot_pairs if few else settings.pilot_pairs_of_many, settings.pilot_iterations)


def refit_effort(d: int, settings: GPSettings) -> Effort:
    """Pairs and iterations of the refit of one game."""
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
    signs, odd, noise = with_full_coalition(unit.games(games))
    n = len(signs) - 1
    # The same pairs every time: results do not depend on what was drawn before.
    chosen = (
        np.sort(np.random.default_rng(0).choice(n, effort.pairs, replace=False)) if n > effort.pairs else np.arange(n)
    )
    rows = np.append(chosen, n)
    sample = Sample(signs[rows], odd[rows], unit.even[np.ix_(chosen, games)], noise[rows])
    mean_importance = importance[:, games].mean(axis=1)
    return learn_scales(sample, mean_importance, iterations=effort.iterations, start=start, settings=settings)
