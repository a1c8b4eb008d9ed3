"""Fitting the process to many whole games that share their coalitions.

As for the process on pairs, hyperparameters are learnt from a few pilot games together, from which up to
``refitted_games`` games are refitted; if there are more, the others take over the hyperparameters of one of these
(``bank``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import ROUNDING
from sharpley.estimators.gp.bank import Suitability, make_bank, spread
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.gp.unpaired.errors import Stage, foreseen_errors, judged
from sharpley.estimators.gp.unpaired.kernel import WholeScales
from sharpley.estimators.gp.unpaired.learning import learn_whole
from sharpley.estimators.gp.unpaired.posterior import condition


class WholeData(NamedTuple):
    """Normalised games at coalitions, of which the first two are ∅ and N; each column is a game."""

    signs: Floats
    """Coalitions as ±1, (n, d)."""
    values: Floats
    """Values with mean 0 and root mean square 1, (n, g); 0 for a constant game."""
    magnitudes: Floats
    """What they were divided by, (g,); 0 for a constant game."""


class Estimates(NamedTuple):
    """Estimated Shapley values; each column is a game."""

    values: Floats
    """Shapley values, (d, g)."""
    variances: Floats
    """Variances of ``values``, (d, g)."""
    degrees_of_freedom: Floats
    """Degrees of freedom behind ``variances``, (g,)."""


def normalised(signs: Floats, values: Floats) -> WholeData:
    """Normalise games with values (n, g) at coalitions (n, d)."""
    centred = values - values.mean(axis=0)
    # Differences that are nothing but rounding have nothing to tell.
    is_constant = np.abs(centred).max(axis=0) <= ROUNDING * np.abs(values).max(axis=0)
    centred[:, is_constant] = 0.0
    magnitudes = np.sqrt((centred**2).mean(axis=0))
    return WholeData(signs, centred / np.where(magnitudes > 0, magnitudes, 1.0), magnitudes)


def learn_pilots(data: WholeData, settings: GPSettings, start: WholeScales | None) -> WholeScales:
    """Learn hyperparameters from a few of the games together, starting from those found with fewer coalitions."""
    pilots = spread(data.values.shape[1], settings.pilot_games)
    mine = settings.unpaired
    iterations = mine.first_iterations if start is None else mine.iterations
    return learn_whole(data.signs, data.values[:, pilots], settings=settings, iterations=iterations, start=start)


def estimate_whole(data: WholeData, scales: WholeScales, stages: Sequence[Stage], settings: GPSettings) -> Estimates:
    """Estimate the Shapley values of normalised games, given the hyperparameters of the pilot games."""
    constant = settings.unpaired.constant_variance
    d, n_games = data.signs.shape[1], data.values.shape[1]
    values, variances = np.empty((d, n_games)), np.empty((d, n_games))
    for games, own in _sets(data, scales, settings):
        found = condition(data.signs, data.values[:, games], own, constant)
        values[:, games], variances[:, games] = found.values, found.variances[:, None]
    linear, is_additive = _linear_fit(data)
    values[:, is_additive] = linear[:, is_additive]
    errors = foreseen_errors(data.signs, data.values, stages, constant)
    return Estimates(values, *judged(data.values, variances, errors, settings))


def _linear_fit(data: WholeData) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the Shapley values of linear fits to all games, (d, g), and which games are linear but for rounding.

    The process knows such games to six digits only, because of the jitter of its Gram matrix.
    """
    design = np.column_stack([np.ones(len(data.signs)), data.signs])
    coefficients = np.stack([np.linalg.lstsq(design, column, rcond=None)[0] for column in data.values.T], axis=1)
    errors = np.abs(data.values - design @ coefficients).max(axis=0)
    return 2.0 * coefficients[1:], errors <= ROUNDING * np.abs(data.values).max(axis=0)


def _sets(
    data: WholeData, scales: WholeScales, settings: GPSettings
) -> Iterator[tuple[NDArray[np.int64], WholeScales]]:
    """Yield games that share hyperparameters, and these; a single game is not refitted, since it is the only pilot."""
    everyone = np.arange(data.values.shape[1])
    if len(everyone) == 1:
        yield everyone, scales
        return

    def refit(game: int) -> WholeScales:
        iterations = settings.unpaired.refit_iterations
        values = data.values[:, game : game + 1]
        return learn_whole(data.signs, values, settings=settings, iterations=iterations, start=scales, narrow=True)

    def judge(own: WholeScales) -> Suitability:
        evidence = condition(data.signs, data.values, own, settings.unpaired.constant_variance).log_evidence
        return Suitability(evidence, -evidence)  # games that a set explains badly get sets of their own

    if len(everyone) <= settings.refitted_games:
        for game in everyone.tolist():
            yield everyone[game : game + 1], refit(game)
    else:
        bank = make_bank(len(everyone), refit, judge, settings)
        for number in np.unique(bank.best).tolist():
            yield everyone[bank.best == number], bank.sets[number]
