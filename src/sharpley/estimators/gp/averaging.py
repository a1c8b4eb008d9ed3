"""Rough games: averaging over hyperparameters, and errors at pairs that these were not learnt from.

Hyperparameters that were learnt from all pairs fit each of them too well. Smooth games, those of models, do not suffer,
but on rough ones, such as steps and vetoes, the errors at pairs that are left out one by one are up to ten times too
small, since the pair that is left out had its say in which players matter. So hyperparameters are learnt again from
either half of the pairs. The error at a pair is that of the process with the hyperparameters that were learnt without
its half, but conditioned on all other pairs.

A game counts as rough if its odd values are few, or if a few pairs have most of the squared error.

The posteriors of all three sets are averaged, which lowers the error on rough games. A half may be too little to learn
from: then its errors are larger by a factor that fitting too well cannot explain, and its set is ignored. So are values
that differ from those of the first set by more than the errors can explain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import ROUNDING, n_distinct
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.triples import Triples
from sharpley.estimators.pairs.regression import LeastSquares

N_HALVES = 2
FEW_VALUES = 0.9  # distinct odd values for each pair, below which a game counts as rough
FEW_ERRORS = 0.15  # share of the pairs, below which errors are concentrated; a third for normal errors
EVENTS_TO_LEARN_FROM = 2.0  # pairs that share the regression's error, for each factor of e in what can be explained
MAX_DIFFERENCE = 3.0  # squared differences between sets that errors at held-out pairs can explain, in variances
MAX_OVERFITTING = 20.0  # ratio of squared errors that fitting too well can explain


class Conditional(NamedTuple):
    """The posterior of games, each of which is a column, with one set of hyperparameters."""

    values: Floats
    """Posterior means of the Shapley values, (d, g)."""
    variances: Floats
    """Posterior variances of the Shapley values, (d, g)."""
    squared_errors: Floats
    """Squared errors at held-out pairs, each predicted from all others, (c, g)."""
    alpha: Floats
    """K₀⁻¹ (y − Zβ), (n, g)."""
    slopes: Floats
    """β of the players, (d, g)."""
    triples: Triples
    """Outstanding interactions."""
    coefficients: Floats
    """β of the outstanding interactions, (k, g)."""
    scales: Scales
    """Hyperparameters."""


class Average(NamedTuple):
    """The average over sets of hyperparameters."""

    values: Floats
    """Shapley values, (d, g)."""
    variances: Floats
    """Their variances, within and between sets, (d, g)."""
    squared_errors: Floats
    """Squared errors at held-out pairs, (c, g)."""


def are_rough(odd: Floats, squared_errors: Floats) -> NDArray[np.bool_]:
    """Return whether games with odd values (n, g) and squared errors (c, g) at held-out pairs are rough, (g,)."""
    return has_few_values(odd) | (participation(squared_errors) < FEW_ERRORS * len(squared_errors))


def has_few_values(values: Floats) -> NDArray[np.bool_]:
    """Return whether games with values (n, g) have few distinct ones, (g,)."""
    return np.asarray(n_distinct(values) < FEW_VALUES * len(values))


def degrees_of_freedom(squared_errors: Floats, n_pairs: int, most: int) -> Floats:
    """Return the degrees of freedom of variances that were estimated from squared errors (c, g), 1 to ``most``, (g,).

    Normal errors have a participation of a third of their number, and ``most`` degrees of freedom. If fewer errors
    share the sum, less is known of it, and of errors that were not seen: there are at least half as many degrees of
    freedom as errors, of all ``n_pairs`` pairs, that share the sum.
    """
    participating = participation(squared_errors) / len(squared_errors)
    share = np.minimum(3.0 * participating, 1.0)
    return np.clip(np.maximum(most * share**2, participating * n_pairs / 2.0), 1.0, most)


def least_share(held_out_errors: Floats) -> Floats:
    """Return the share of the regression's variance that remains at least, for its squared errors (n, g): (g,).

    If few pairs show nearly all that there is to explain, as for a step that few coalitions exceed, then any process
    explains them, and nothing is known of those that were not seen. If no pair shows any, the game is linear as far as
    is known, and the regression's variance is that of what was not seen. Errors are those of normalised games, so that
    smaller ones than ``ROUNDING`` are due to rounding.
    """
    seen = np.where(held_out_errors > ROUNDING**2, held_out_errors, 0.0)
    events = np.where(seen.any(axis=0), participation(seen), 0.0)
    return np.exp(-events / EVENTS_TO_LEARN_FROM)


def participation(squares: Floats) -> Floats:
    """Return the number of entries that share the sum of each column, (Σx)² / Σx², (g,); all of them if it is 0."""
    sums = (squares**2).sum(axis=0)
    return np.where(sums > 0, squares.sum(axis=0) ** 2 / np.where(sums > 0, sums, 1.0), len(squares))


def halves_of(n_pairs: int) -> NDArray[np.int64]:
    """Return to which half each of the pairs belongs, 0 or 1, (n,)."""
    # A fixed seed: the result must not depend on what was drawn before.
    return np.random.default_rng(0).permutation(n_pairs) % N_HALVES


def average(
    sets: Sequence[Conditional],
    half_of_held_out: NDArray[np.int64],
    variances_from: Callable[[Floats], Floats],
) -> Average:
    """Average posteriors: the first with hyperparameters from all pairs, the others without each of the halves.

    Parameters
    ----------
    sets : sequence of Conditional
        The posteriors; if there is one alone, it is the average.
    half_of_held_out : (c,) int
        Half that each of the held-out pairs belongs to.
    variances_from : callable
        Maps squared errors (c, g) at held-out pairs to variances (d, g) of Shapley values.
    """
    first, *halves = sets
    if not halves:
        return Average(first.values, first.variances, first.squared_errors)
    trust = np.stack([_trust(first, each, half_of_held_out == half) for half, each in enumerate(halves)])
    without = np.stack([half.squared_errors for half in halves])[half_of_held_out, np.arange(len(half_of_held_out))]
    share = trust[half_of_held_out]
    squared_errors = share * without + (1.0 - share) * first.squared_errors
    allowed = (MAX_DIFFERENCE * variances_from(squared_errors).sum(axis=0)) ** 2
    differences = np.stack([((half.values - first.values) ** 2).sum(axis=0) ** 2 for half in halves])
    weights = np.concatenate([np.ones((1, trust.shape[1])), trust * _share(allowed, differences)])
    weights /= weights.sum(axis=0)
    values = sum(weight * each.values for weight, each in zip(weights, sets, strict=True))
    between = sum(weight * (each.values - values) ** 2 for weight, each in zip(weights, sets, strict=True))
    return Average(np.asarray(values), first.variances + between, squared_errors)


def with_regression(values: Floats, variances: Floats, linear: LeastSquares) -> tuple[Floats, Floats]:
    """Return values and variances (d, g) of the process, averaged with those of the regression.

    The regression makes no use of interactions, but does not mistake anything for one either. The weights are the same
    for all players of a game, so that the values add up to v(N) − v(∅). They depend on the squares of the variances:
    both estimates are made from the same pairs, so the worse of the two adds little. For the same reason, the variance
    of the average is taken to be that of one of them.
    """
    of_process, of_regression = (each.mean(axis=0) ** 2 for each in (variances, linear.variances))
    weight = _share(of_regression, of_process)
    return (
        weight * values + (1.0 - weight) * linear.values,
        weight * variances + (1.0 - weight) * linear.variances,
    )


def _trust(first: Conditional, half: Conditional, of_half: NDArray[np.bool_]) -> Floats:
    """Return how far a set learnt without a half can be trusted, from 0 to 1, (g,)."""
    with_all, without = (each.squared_errors[of_half].sum(axis=0) for each in (first, half))
    return _share((MAX_OVERFITTING * with_all) ** 2, without**2)


def _share(part: Floats, other: Floats) -> Floats:
    """Return part / (part + other); 1 where both are 0."""
    total = part + other
    return np.where(total > 0, part / np.where(total > 0, total, 1.0), 1.0)
