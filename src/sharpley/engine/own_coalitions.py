"""Runs in which every draw has coalitions of its own, for games with few draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.threads import one_thread
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.enumeration import can_be_enumerated
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import evaluate_draws
from sharpley.engine.methods import make_estimator
from sharpley.engine.progress import Progress
from sharpley.engine.results import Results
from sharpley.engine.settings import Plan, Settings
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.base import Estimator, whole_budget
from sharpley.estimators.draws.coalitions import AskedCoalitions, Pairings, Total, chosen, places_of
from sharpley.estimators.exact import ExactEstimator
from sharpley.games.base import Games, weights_of_draws

MAX_EVALUATIONS_AT_ONCE = 2**20  # of all rows of a block: their coalitions and values are in memory together


class OwnCoalitionsRun:
    """Estimate the Shapley values of rows from coalitions that every draw has for itself."""

    def __init__(
        self,
        games: Games,
        plan: Plan,
        settings: Settings,
        ends: Floats,
        progress: Progress,
        stopwatch: Stopwatch,
    ) -> None:
        self._games, self._plan, self._settings, self._ends = games, plan, settings, ends
        self._progress, self._stopwatch = progress, stopwatch
        self._weights = weights_of_draws(games)
        self._facts = games.draw_facts()
        self._budget = evals_per_draw(games, plan)
        ordering = settings.generator().spawn(2)[1]
        self._orders = ordering.permuted(np.tile(np.arange(games.d), (games.n_draws, 1)), axis=1)
        self._estimators: dict[int, tuple[Estimator, Coalitions]] = {}

    def run(self, rows: NDArray[np.int64], results: Results) -> None:
        """Estimate the values of rows."""
        at_once = max(1, MAX_EVALUATIONS_AT_ONCE // (self._budget * self._games.n_draws))
        for start in range(0, len(rows), at_once):
            self._run_block(rows[start : start + at_once], results)

    def _run_block(self, rows: NDArray[np.int64], results: Results) -> None:
        n, d = self._games.n_draws, self._games.d
        every, draws = np.repeat(np.arange(len(rows)), n), np.tile(np.arange(n), len(rows))
        differing = self._games.differing(rows[every], draws)
        sizes = differing.sum(axis=1)
        spent = np.full(len(rows), self._plan.endpoint_cost)
        total = Total(len(rows), d, self._ends.shape[2])
        for t in np.unique(sizes[sizes > 0]).tolist():
            mine = sizes == t
            pairings = Pairings(every[mine], draws[mine], places_of(differing[mine], draws[mine], self._orders))
            moments, evaluations = self._estimate(rows, pairings, t)
            total.add(pairings, moments, self._weights[pairings.draws])
            spent += evaluations * np.bincount(pairings.rows, minlength=len(rows))
        results.write_done(rows, total.moments(), None, spent, n_looks=1, is_last=True)
        self._progress.advance(int((self._plan.budget - spent).sum()))

    def _estimate(self, rows: NDArray[np.int64], pairings: Pairings, t: int) -> tuple[Moments, int]:
        """Return the estimates of pairings in which t players differ, (g, t, k), and the evaluations for each."""
        if t == 1:
            return exact_moments(np.diff(self._ends_of(rows, pairings), axis=1)), 0
        estimator, coalitions = self._estimator(t)
        asked = AskedCoalitions(pairings, coalitions)
        with self._stopwatch.model_calls():
            values = evaluate_draws(
                self._games, rows, asked, n_jobs=self._settings.n_jobs, advance=self._progress.advance
            )
        values = values.reshape(len(pairings.rows), len(coalitions), self._ends.shape[2])
        if self._facts is not None:
            values = np.concatenate([self._ends_of(rows, pairings), values], axis=1)
        with one_thread():
            return estimator.estimate(values), len(coalitions)

    def _estimator(self, t: int) -> tuple[Estimator, Coalitions]:
        """Return the estimator for t players, and the coalitions that it asks for."""
        if t not in self._estimators:
            may_enumerate = can_be_enumerated(t, self._budget)
            rng = self._settings.generator()
            estimator = ExactEstimator(t) if may_enumerate else make_estimator(self._plan.method, t, rng)
            store = CoalitionStore(t)
            estimator.choose(store, whole_budget(self._budget))
            self._estimators[t] = estimator, chosen(store, ends_known=self._facts is not None)
        return self._estimators[t]

    def _ends_of(self, rows: NDArray[np.int64], pairings: Pairings) -> Floats:
        """Return the known values of ∅ and N of pairings, (g, 2, k)."""
        if self._facts is None:
            raise ValueError("a game whose draws are unknown has no known values of ∅ and N")
        return np.stack([self._facts.empty[pairings.draws], self._ends[rows[pairings.rows], 1]], axis=1)


def evals_per_draw(games: Games, plan: Plan) -> int:
    """Return how many coalitions the budget pays for in every draw, ∅ and N included."""
    known = 2 if games.draws_are_known else 0
    return (plan.budget - plan.endpoint_cost) // games.n_draws + known
