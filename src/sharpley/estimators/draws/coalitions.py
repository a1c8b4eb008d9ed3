"""Estimation from coalitions that every draw has for itself, for games with few draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharpley._support.threads import one_thread
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.budget import whole_budget
from sharpley.coalitions.enumeration import can_be_enumerated
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.estimators.base import Estimator
from sharpley.estimators.draws.base import DrawsEstimator, DrawsTask, Look
from sharpley.estimators.draws.pairings import AskedCoalitions, Pairings, Total, chosen, places_of
from sharpley.estimators.exact import ExactEstimator

MAX_EVALUATIONS_AT_ONCE = 2**20  # of all rows of a block: their coalitions and values are in memory together


class OwnCoalitions(DrawsEstimator):
    """Shapley values as means over draws, each of which is estimated by itself.

    Parameters
    ----------
    task : DrawsTask
        What is to be estimated.
    make_estimator : callable
        Makes the estimator for a single draw from a number of players and a generator.
    """

    def __init__(self, task: DrawsTask, make_estimator: Callable[[int, np.random.Generator], Estimator]) -> None:
        self._task, self._make_estimator = task, make_estimator
        known = 2 if task.ends_known else 0
        self._budget = (task.budget - task.endpoint_cost) // task.games.n_draws + known  # for each draw
        ordering = task.generator().spawn(2)[1]
        self._orders = ordering.permuted(np.tile(np.arange(task.games.d), (task.games.n_draws, 1)), axis=1)
        self._estimators: dict[int, tuple[Estimator, Coalitions]] = {}

    def run(self, rows: NDArray[np.int64]) -> None:
        """Estimate the values of rows."""
        at_once = max(1, MAX_EVALUATIONS_AT_ONCE // (self._budget * self._task.games.n_draws))
        for start in range(0, len(rows), at_once):
            self._run_block(rows[start : start + at_once])

    def _run_block(self, rows: NDArray[np.int64]) -> None:
        task = self._task
        n, d = task.games.n_draws, task.games.d
        every, draws = np.repeat(np.arange(len(rows)), n), np.tile(np.arange(n), len(rows))
        differing = task.games.differing(rows[every], draws)
        sizes = differing.sum(axis=1)
        spent = np.full(len(rows), task.endpoint_cost)
        total = Total(len(rows), d, task.n_outputs)
        for t in np.unique(sizes[sizes > 0]).tolist():
            mine = sizes == t
            pairings = Pairings(every[mine], draws[mine], places_of(differing[mine], draws[mine], self._orders))
            moments, evaluations = self._estimate(rows, pairings, t)
            total.add(pairings, moments, task.weights[pairings.draws])
            spent += evaluations * np.bincount(pairings.rows, minlength=len(rows))
        task.judge(Look(rows, total.moments(), None, spent, 1, is_last=True))

    def _estimate(self, rows: NDArray[np.int64], pairings: Pairings, t: int) -> tuple[Moments, int]:
        """Return the estimates of pairings in which t players differ, (g, t, k), and the evaluations for each."""
        if t == 1:
            return exact_moments(np.diff(self._ends_of(rows, pairings), axis=1)), 0
        estimator, coalitions = self._estimator(t)
        values = self._task.evaluate(rows, AskedCoalitions(pairings, coalitions))
        values = values.reshape(len(pairings.rows), len(coalitions), self._task.n_outputs)
        if self._task.ends_known:
            values = np.concatenate([self._ends_of(rows, pairings), values], axis=1)
        with one_thread():
            return estimator.estimate(values), len(coalitions)

    def _estimator(self, t: int) -> tuple[Estimator, Coalitions]:
        """Return the estimator for t players, and the coalitions that it asks for."""
        if t not in self._estimators:
            may_enumerate = can_be_enumerated(t, self._budget)
            estimator = ExactEstimator(t) if may_enumerate else self._make_estimator(t, self._task.generator())
            store = CoalitionStore(t)
            estimator.choose(store, whole_budget(self._budget))
            self._estimators[t] = estimator, chosen(store, ends_known=self._task.ends_known)
        return self._estimators[t]

    def _ends_of(self, rows: NDArray[np.int64], pairings: Pairings) -> Floats:
        """Return the known values of ∅ and N of pairings, (g, 2, k)."""
        if self._task.facts is None:
            raise ValueError("a game whose draws are unknown has no known values of ∅ and N")
        return np.stack([self._task.facts.empty[pairings.draws], self._task.ends[rows[pairings.rows], 1]], axis=1)
