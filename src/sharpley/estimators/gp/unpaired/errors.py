"""How far the process can be trusted: errors at coalitions that it foresaw before they were evaluated.

Coalitions are chosen in stages. At each, the value of every new coalition is predicted with the hyperparameters that it
was chosen by, from all values before it. These errors are honest: neither the prediction nor the hyperparameters had
seen the value. With L the Cholesky factor of K for all coalitions up to and including the stage, the error of the j-th
is L_jj (L⁻¹y)_j.

A regression on n coalitions with such errors has Shapley values of variance (4/n) · mean squared error. The process is
more accurate by a factor that depends little on the game, unless this has few distinct values. The larger of that share
and of the posterior's variance is added to a third of the smaller one, as for the process on pairs.

The next coalition may be of a kind that was not seen, by the rule of succession with probability 1/(n + 2), and jump by
the mean distance of distinct values. So a variance is at least 4/(n (n + 2)) times the square of that distance, which
matters only for games with a few distinct values, such as votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import mean_steps
from sharpley.estimators.gp.averaging import has_few_values, participation
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.gp.unpaired.kernel import WholeScales
from sharpley.estimators.gp.unpaired.posterior import factorise

LEAST_DEGREES = 2.0  # of freedom: with fewer, intervals would be too wide to be of use


class Stage(NamedTuple):
    """Coalitions that were chosen together."""

    start: int
    """Number of coalitions known before."""
    stop: int
    """Number of coalitions known afterwards."""
    scales: WholeScales
    """Hyperparameters by which they were chosen."""


class Judged(NamedTuple):
    """Variances of Shapley values that take errors into account."""

    variances: Floats
    """(d, g)."""
    degrees_of_freedom: Floats
    """(g,)."""


def foreseen_errors(signs: Floats, values: Floats, stages: Sequence[Stage], constant: float) -> Floats:
    """Return the squared errors (m, g) of games with values (n, g) at the later half of the foreseen coalitions.

    At least half as many as players are returned, if so many were foreseen.
    """
    errors = [np.empty((0, values.shape[1]))]
    total = sum(stage.stop - stage.start for stage in stages)
    wanted = max(total // 2, signs.shape[1] // 2)
    for stage in reversed(stages):  # the latest first
        if sum(map(len, errors)) >= wanted:
            break
        factor = factorise(signs[: stage.stop], stage.scales, constant)
        white = factor.whiten(values[: stage.stop])
        new = slice(stage.start, stage.stop)
        errors.append((np.diagonal(factor.lower)[new, None] * white[new]) ** 2)
    return np.concatenate(errors)


def judged(values: Floats, posterior_variances: Floats, errors: Floats, settings: GPSettings) -> Judged:
    """Return the variances of the Shapley values of games.

    Parameters
    ----------
    values : (n, g) float
        Values of the games.
    posterior_variances : (d, g) float
    errors : (m, g) float
        Squared errors at foreseen coalitions.
    settings : GPSettings
    """
    mine, n = settings.unpaired, len(values)
    few = has_few_values(values)
    unseen = 4.0 * mean_steps(values) ** 2 / (n * (n + 2.0))
    if len(errors) == 0:
        degrees = np.full(values.shape[1], mine.unforeseen_degrees)
        return Judged(np.maximum(mine.unforeseen_share * posterior_variances, unseen), degrees)
    share = np.where(few, mine.foreseen_share_of_few, mine.foreseen_share)
    by_errors = np.broadcast_to(share * 4.0 / n * errors.mean(axis=0), posterior_variances.shape)
    larger, smaller = np.maximum(posterior_variances, by_errors), np.minimum(posterior_variances, by_errors)
    variances = np.maximum(larger + settings.smaller_share * smaller, unseen)
    return Judged(variances, np.maximum(participation(errors), LEAST_DEGREES))
