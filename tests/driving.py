"""Estimators run without the engine, so that each of their steps can be looked at."""

import numpy as np

from sharpley.coalitions.budget import whole_budget
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.estimators.base import Block


def one_game(game):
    """Return the function that ``drive`` expects, for a single game."""

    def values_of(coalitions):
        values = np.asarray(game(coalitions), dtype=float)
        return values[None, :, None] if values.ndim == 1 else values[None]

    return values_of


def many_games(games):
    """Return the function that ``drive`` expects, for one game in each row."""
    return lambda coalitions: np.stack([game(coalitions) for game in games])[:, :, None]


def start(estimator, values_of):
    """Start an estimator of coalitions on games whose values (r, m, k) a function returns."""
    ends = values_of(np.array([[False] * estimator.d, [True] * estimator.d]))
    r = len(ends)
    seed = np.zeros(4, dtype=np.uint32)
    estimator.start(Block(None, np.arange(r), ends, np.ones((r, estimator.d), dtype=bool), None, seed))


def spend(estimator, values_of, budget):
    """Choose, evaluate and learn until the budget is spent, and return the number of coalitions after each step."""
    known = []
    while (request := estimator.choose(budget)) is not None:
        values = values_of(request.coalitions)
        estimator.learn(values.reshape(-1, values.shape[2]))
        known.append(len(estimator.store))
    return known


def drive(estimator, values_of, budget):
    """Run an estimator of coalitions with a number of evaluations, and return its estimate."""
    start(estimator, values_of)
    spend(estimator, values_of, whole_budget(budget))
    return estimator.estimate()


def is_complete(estimator):
    """Return whether an estimator has asked for all coalitions."""
    return len(estimator.store) == len(all_coalitions(estimator.d))
