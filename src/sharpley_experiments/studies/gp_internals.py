"""All uses that the studies make of ``gp`` and of the engine beyond their public interfaces.

``gp`` works on pairs of a coalition and its complement. Here, as there, a pair is given by one of its members, and
games are columns of values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.budget import whole_budget
from sharpley.estimators import GPSettings
from sharpley.estimators.gp import active, fitting
from sharpley.estimators.gp.data import normalised
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.of_pairs import ProcessOnPairs, mixture_quotas
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import PairChooser, pairs_per_class

__all__ = [
    "FixedMixture",
    "GaussianProcessRun",
    "PairData",
    "Scales",
    "candidate_pairs",
    "estimate_with_error",
    "evaluated_pairs",
    "fixed_scales",
    "learnt_scales",
    "most_informative",
    "number_of_pairs",
]

AT_ONCE = GPSettings(staged_pairs_per_player=np.inf)  # all pairs are chosen before anything is evaluated


class GaussianProcessRun:
    """A run of ``gp`` on pairs in steps, so that each can be timed; pairs are chosen at once.

    Parameters
    ----------
    d : int
        Number of players.
    seed : int

    Examples
    --------
    >>> run = GaussianProcessRun(4, seed=0)
    >>> run.choose(16)
    >>> run.coalitions.shape
    (16, 4)
    >>> run.estimate(run.coalitions.sum(axis=1, dtype=float)[None]).round(6)
    array([[1., 1., 1., 1.]])
    """

    def __init__(self, d: int, seed: int) -> None:
        self._estimator = ProcessOnPairs(d, settings=AT_ONCE, rng=seed)
        self._estimator.values = np.zeros((1, 2, 1))

    def choose(self, budget: int) -> None:
        """Choose the coalitions that a budget pays for."""
        self._estimator.choose(whole_budget(budget))

    @property
    def coalitions(self) -> Coalitions:
        """The coalitions chosen, (m, d); the first two are the empty and the full coalition."""
        return self._estimator.store.since(0)

    def estimate(self, values: Floats) -> Floats:
        """Return the Shapley values (r, d) of the games that have these values (r, m)."""
        return self.estimate_with_error(values)[0]

    def estimate_with_error(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the Shapley values and the half-widths of their 95% intervals, (r, d) each."""
        from scipy.special import stdtrit

        self._estimator.values = values[:, :, None]
        self._estimator._learn()
        values_by_row, variances, degrees_of_freedom = self._estimator.estimate()
        half_widths = stdtrit(degrees_of_freedom, 0.975) * np.sqrt(variances)
        return values_by_row[:, :, 0], half_widths[:, :, 0]


class FixedMixture:
    """The pairs that ``gp`` evaluates without active selection: quotas for each size, and balance within it.

    Parameters
    ----------
    d : int
        Number of players.
    rng : Generator

    Examples
    --------
    >>> mixture = FixedMixture(6, np.random.default_rng(0))
    >>> len(mixture.extend(10)), len(mixture.extend(15))
    (10, 5)
    """

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self._d, self._chooser = d, PairChooser(d, rng)

    def extend(self, total: int) -> Coalitions:
        """Extend the mixture to a total number of pairs, and return the new ones, (m, d)."""
        return self._chooser.extend(mixture_quotas(self._d, total))


def number_of_pairs(d: int) -> int:
    """Return how many pairs d players have, apart from that of the empty and the full coalition.

    Examples
    --------
    >>> number_of_pairs(4)
    7
    """
    return int(pairs_per_class(d).sum())


def evaluated_pairs(game: Callable[[Coalitions], Floats], masks: Coalitions) -> PairData:
    """Evaluate games at pairs, and at the empty and the full coalition.

    Parameters
    ----------
    game : callable
        Maps coalitions (m, d) to their values, (m,) or (r, m) for r games.
    masks : (n, d) bool
        One member of each pair.

    Examples
    --------
    >>> evaluated_pairs(lambda coalitions: coalitions.sum(axis=1) ** 2.0, np.eye(3, dtype=bool)).odd
    array([[-1.5],
           [-1.5],
           [-1.5]])
    """
    n, d = masks.shape
    ends = np.array([np.zeros(d, dtype=bool), np.ones(d, dtype=bool)])
    values = np.atleast_2d(game(np.concatenate([masks, ~masks, ends]))).T
    member, complement, (empty, full) = values[:n], values[n : 2 * n], values[2 * n :]
    signs = np.where(masks, 1.0, -1.0)
    return PairData(signs, (member - complement) / 2.0, (member + complement) / 2.0, (full - empty) / 2.0)


def learnt_scales(data: PairData) -> Scales:
    """Return the hyperparameters that all games share, from the fit to the pilot games."""
    return fitting.learn_from_pilots(normalised(data)[0], GPSettings()).scales


def fixed_scales(d: int, total: float) -> Scales:
    """Return hyperparameters for any game: all players are alike, and interactions of low order matter most.

    Parameters
    ----------
    d : int
        Number of players.
    total : float
        Sum of the players' scales.

    Examples
    --------
    >>> fixed_scales(3, 1.5).players
    array([0.5, 0.5, 0.5])
    """
    return Scales(np.full(d, total / d), interactions=1.0, sizes=0.01, linear_by_size=0.01, noise=0.01)


def estimate_with_error(data: PairData) -> tuple[Floats, Floats]:
    """Estimate Shapley values as ``gp`` does, and return them with the half-widths of their 95% intervals, (d, r)."""
    from scipy.special import stdtrit

    unit, magnitudes = normalised(data)
    settings = GPSettings()
    found = fitting.estimate_games(unit, fitting.learn_from_pilots(unit, settings), settings)
    half_widths = stdtrit(found.degrees_of_freedom, 0.975) * np.sqrt(found.variances)
    return found.values * magnitudes, half_widths * magnitudes


def candidate_pairs(d: int, known: Coalitions, rng: np.random.Generator) -> Coalitions:
    """Return up to 3,000 pairs, (m, d), that are not known yet: random, spread evenly over sizes."""
    return active.candidates(d, known, rng)


def most_informative(known: Coalitions, pool: Coalitions, scales: Scales, count: int) -> NDArray[np.int64]:
    """Return the positions in the pool of the pairs that lower the summed variance of the Shapley values most."""
    return active.most_informative(known, pool, scales, count)
