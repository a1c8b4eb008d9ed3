"""Estimates for all rows of games.

Rows are explained together: they share their coalitions, which are chosen once, so that model calls can be large. The
result for a row nevertheless depends on that row alone, except with methods that learn from several rows
(``MethodRecord.learns_from_rows``). Players that cannot matter in a row, since their feature equals that of all
background rows, are omitted from its game; so rows are first grouped by the players that can matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.budget import Budget, whole_budget
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.blind import with_blind_errors
from sharpley.engine.evaluation import Evaluation
from sharpley.engine.facts import learns_from_rows, method_name
from sharpley.engine.making import make_estimator
from sharpley.engine.own_draws import run_own_draws
from sharpley.engine.progress import Progress, progress_bar
from sharpley.engine.repeats import warn_if_noisy
from sharpley.engine.results import Results
from sharpley.engine.settings import Plan, Settings, make_plan, make_settings
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.base import Estimator
from sharpley.estimators.exact import ExactEstimator
from sharpley.games.base import Games, checked_endpoints, checked_varying
from sharpley.games.callables import as_games
from sharpley.result import ShapleyEstimate

CHECKPOINT_GROWTH = 1.5  # factor by which the budget grows from one check of the tolerance to the next
MAX_VALUES_AT_ONCE = 2**23  # values of coalitions held in memory for a block of rows: 64 MB


def estimate_rows(games: Any, **arguments: Any) -> ShapleyEstimate:
    """Estimate the index of every row of games, with the arguments of ``make_settings``.

    Arrays have shape (rows, components), or (rows, components, k).
    """
    settings = make_settings(**arguments)
    games = as_games(games)
    everyone = np.ones((games.n_rows, games.d), dtype=bool)
    varying = checked_varying(games) if settings.index.ignores_null_players else everyone
    # Before the model is called, since too small a budget is an error.
    plans = _plans(varying, games, settings)
    ends = checked_endpoints(games)
    results = Results(games, settings.index, ends, settings.tol)
    stopwatch = Stopwatch()
    n_players = varying.sum(axis=1)
    owning = np.isin(n_players, [d for d, plan in plans.items() if plan.own_draws])
    total = sum(plans[d].budget - plans[d].endpoint_cost for d in n_players.tolist())
    with progress_bar(settings.progress, total, is_limit=settings.tol is not None) as bar:
        for d in np.unique(n_players[owning]).tolist():
            rows = np.flatnonzero(n_players == d)
            run_own_draws(games, rows, varying, ends, plans[d], settings, results, bar, stopwatch)
        for rows, players in _patterns(varying, ~owning):
            group = _Group(games, players, plans[len(players)], settings, bar, stopwatch)
            group.run(rows, ends, results)
    names = _method_names(plans)
    stopwatch.report(names[0])
    return results.estimate(" and ".join(names))


def _plans(varying: Coalitions, games: Games, settings: Settings) -> dict[int, Plan]:
    """Return the plan for each number of players that can matter."""
    n_patterns = int(_pattern_numbers(varying).max()) + 1
    every = sorted(set(varying.sum(axis=1).tolist()))
    return {d: make_plan(settings, games, d, len(varying), n_patterns) for d in every}


def _method_names(plans: dict[int, Plan]) -> list[str]:
    """Return the names of the methods in use, starting with that for the most players."""
    ordered = [plans[d] for d in sorted(plans, reverse=True)]
    return list(dict.fromkeys(method_name(plan.method) for plan in ordered))


def _patterns(varying: Coalitions, wanted: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield groups of the wanted rows in which the same players can matter, and these players."""
    rows = np.flatnonzero(wanted)
    which = _pattern_numbers(varying[rows])
    for number in range(int(which.max(initial=-1)) + 1):
        mine = rows[which == number]
        yield mine, np.flatnonzero(varying[mine[0]])


def _pattern_numbers(varying: Coalitions) -> NDArray[np.int64]:
    """Number the distinct rows of a bool array, and return the number of each, (r,); fast for millions of columns."""
    packed = np.packbits(varying, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


class _Group:
    """Rows in which the same players can matter, run in blocks of rows that share their coalitions."""

    def __init__(
        self,
        games: Games,
        players: NDArray[np.int64],
        plan: Plan,
        settings: Settings,
        progress: Progress,
        stopwatch: Stopwatch,
    ) -> None:
        self._games, self._players, self._plan, self._settings = games, players, plan, settings
        self._progress, self._stopwatch = progress, stopwatch
        self._d = len(players)
        self._components = settings.index.positions(players, games.d)

    def run(self, rows: NDArray[np.int64], ends: Floats, results: Results) -> None:
        """Estimate the index of rows, given the values of ∅ and N for all rows."""
        if self._d < 2:  # there are no other coalitions
            values = self._settings.index.of_all_values(ends[rows, : 2**self._d], self._d)
            results.write(rows, self._components, exact_moments(values))
            return
        while len(rows):
            # The same seed for every block, so that a row's coalitions do not depend on the rows explained with it.
            estimator = make_estimator(self._plan.method, self._d, self._settings.generator())
            count = self._rows_per_block(estimator, ends.shape[2])
            self._run_block(estimator, rows[:count], ends, results)
            rows = rows[count:]

    def _rows_per_block(self, estimator: Estimator, k: int) -> int:
        """Number of rows in a block: as many as memory allows, or 1 if rows must not learn from each other."""
        learns = learns_from_rows(self._plan.method) and self._settings.independent_rows
        alone = learns or estimator.choices_depend_on == "row"
        return 1 if alone else max(1, MAX_VALUES_AT_ONCE // (self._plan.budget * k))

    def _run_block(self, estimator: Estimator, rows: NDArray[np.int64], ends: Floats, results: Results) -> None:
        evaluation = Evaluation(
            self._games,
            rows,
            CoalitionStore(self._d),
            ends[rows],
            players=self._players,
            n_jobs=self._settings.n_jobs,
            progress=self._progress,
            stopwatch=self._stopwatch,
        )
        _Run(estimator, evaluation, self._plan, self._settings).into(results, self._components, self._progress)


class _Run:
    """One run of an estimator on rows that share their coalitions."""

    def __init__(self, estimator: Estimator, evaluation: Evaluation, plan: Plan, settings: Settings) -> None:
        self._estimator, self._evaluation, self._plan, self._settings = estimator, evaluation, plan, settings

    def into(self, results: Results, components: NDArray[np.int64], progress: Progress) -> None:
        """Run the estimator, and write rows into ``results`` as soon as they meet the tolerance."""
        all_components = len(components) == results.n_components
        before: Moments | None = None
        for n_looks, found in enumerate(self._estimator.run(self._evaluation, self._checkpoints()), start=1):
            if self._evaluation.store.is_complete:
                moments = self._enumerate()
            elif found is not None:  # otherwise the last estimate, of the rows that remain, still holds
                moments = found
            if n_looks == 1 and self._can_repeat:
                warn_if_noisy(self._evaluation)
            n_evals = len(self._evaluation.store)
            done = results.met(moments, before, n_looks, n_evals, all_components=all_components)
            self._write(results, components, progress, moments, done, converged=True)
            if done.all():
                return
            # A look at the same sample again is no second look.
            before = moments.rows(~done) if found is not None or before is None else before.rows(~done)
            moments = moments.rows(~done)
        if self._plan.may_enumerate:
            moments = self._enumerate()
        everyone = np.ones(len(self._evaluation.rows), dtype=bool)
        self._write(results, components, progress, moments, everyone, converged=self._plan.may_enumerate)

    @property
    def _can_repeat(self) -> bool:
        """Whether a coalition may be evaluated once more: a budget that was given is for distinct coalitions alone."""
        return self._evaluation.may_be_noisy and not self._settings.has_budget

    def _checkpoints(self) -> list[Budget]:
        """Return the budgets after which the tolerance is checked; the last is the whole budget."""
        most = self._plan.budget
        if not self._settings.may_stop:
            return [whole_budget(most)]
        checks, budget = [], self._estimator.first_checkpoint(most)
        while budget < most:
            checks.append(budget)
            budget = int(CHECKPOINT_GROWTH * budget) + 1
        if not checks and self._estimator.least_budget <= 2 * most // 3:  # one look is not enough to stop
            checks = [2 * most // 3]
        return [Budget(now, most, may_stop=True) for now in [*checks, most]]

    def _enumerate(self) -> Moments:
        """Evaluate all coalitions and return exact values."""
        exact = ExactEstimator(self._evaluation.store.d, index=self._settings.index)
        exact.choose(self._evaluation.store, whole_budget(self._plan.budget))
        self._evaluation.catch_up()
        return exact.estimate(self._evaluation.values)

    def _write(
        self,
        results: Results,
        components: NDArray[np.int64],
        progress: Progress,
        moments: Moments,
        done: NDArray[np.bool_],
        *,
        converged: bool,
    ) -> None:
        """Write the rows that are done, and continue with the others."""
        rows, n_evals = self._evaluation.rows[done], len(self._evaluation.store)
        values, units = self._evaluation.values[done], self._evaluation.units[done]
        found = with_blind_errors(moments.rows(done), values, n_evals)
        results.write(rows, components, found, units, converged=converged)
        results.write_evals(rows, n_evals)
        progress.advance((self._plan.budget - n_evals) * len(rows))
        self._evaluation.keep(~done)
