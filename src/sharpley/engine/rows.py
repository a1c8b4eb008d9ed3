"""From games and settings to an estimate for all rows.

Rows are explained together: they share the coalitions, which are chosen once, so that model calls can be large. Yet the
result for a row depends on that row alone, except with "gp", which learns from several. Players that cannot matter in a
row (their value is that of all background rows) are left out of its game, so rows are first sorted by the players that
can.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import Evaluation
from sharpley.engine.methods import make_estimator, method_name
from sharpley.engine.progress import Progress, progress_bar
from sharpley.engine.settings import Plan, Settings, make_plan
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.base import Budget, Estimator, whole_budget
from sharpley.estimators.exact import ExactEstimator
from sharpley.games.base import Games
from sharpley.result import ShapleyEstimate

CHECKPOINT_GROWTH = 1.5  # factor of the budget from one check of the tolerance to the next
VALUES_AT_ONCE = 2**23  # coalition values held for a block of rows: 64 MB


def estimate_rows(games: Games, settings: Settings) -> ShapleyEstimate:
    """Estimate the index of every row of ``games``: arrays (rows, components), or (rows, components, k)."""
    varying = games.varying()
    plans = _plans(varying, games.n_draws, settings)  # before the model is called: too small a budget fails at once
    ends = games.endpoints()
    result = _Result(len(ends), settings.index.n_components(games.d), ends.shape[2])
    stopwatch = Stopwatch()
    n_players = varying.sum(axis=1).tolist()
    with progress_bar(settings.progress, sum(plans[d].budget - 2 for d in n_players)) as bar:
        for rows, players in _patterns(varying):
            group = _Group(games, players, plans[len(players)], settings, bar, stopwatch)
            group.run(rows, ends, result)
    _warn_unconverged(result.converged, settings)
    names = _method_names(plans)
    stopwatch.report(names[0])
    return result.estimate(ends[:, 0], " and ".join(names), games)


def _plans(varying: Coalitions, n_draws: int, settings: Settings) -> dict[int, Plan]:
    """What is done for each number of players that matter."""
    n_patterns = len(np.unique(varying, axis=0))
    every = sorted(set(varying.sum(axis=1).tolist()))
    return {d: make_plan(settings, d, len(varying), n_patterns, n_draws) for d in every}


def _method_names(plans: dict[int, Plan]) -> list[str]:
    """Names of the methods in use, that for the most players first."""
    return list(dict.fromkeys(method_name(plans[d].method) for d in sorted(plans, reverse=True)))


def _patterns(varying: Coalitions) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows in which the same players matter, with these players."""
    patterns, which = np.unique(varying, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(which.reshape(-1) == number), np.flatnonzero(pattern)


class _Result:
    """Results of all rows, filled in as they are ready; rows in which nothing matters stay at 0."""

    def __init__(self, n: int, components: int, k: int) -> None:
        self.values, self.variances = np.zeros((n, components, k)), np.zeros((n, components, k))
        self.freedom = np.full((n, components, k), np.inf)
        self.n_evals = np.full(n, 2, dtype=np.int64)
        self.converged = np.ones(n, dtype=bool)

    def write(self, rows: NDArray[np.int64], components: NDArray[np.int64], moments: Moments) -> None:
        """Write the moments of some rows."""
        at = (rows[:, None], components)
        self.values[at], self.variances[at], self.freedom[at] = moments

    def estimate(self, base_values: Floats, method: str, games: Games) -> ShapleyEstimate:
        """The whole as an estimate; a single output has no axis of its own."""
        names = None if games.player_names is None else list(games.player_names)
        whole = ShapleyEstimate(
            self.values,
            np.sqrt(self.variances),
            base_values,
            self.n_evals,
            method,
            self.converged,
            self.freedom,
            names,
        )
        return whole.without_output_axis() if base_values.shape[1] == 1 else whole


class _Group:
    """Rows in which the same players matter, run in blocks that share their coalitions."""

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

    def run(self, rows: NDArray[np.int64], ends: Floats, result: _Result) -> None:
        """Estimate rows, given the values of ∅ and N for all rows."""
        if self._d < 2:  # these values are all there are
            values = self._settings.index.of_all_values(ends[rows, : 2**self._d], self._d)
            result.write(rows, self._components, exact_moments(values))
            return
        while len(rows):
            # The same seed for every block: a row's coalitions do not depend on the rows explained with it.
            estimator = make_estimator(self._plan.method, self._d, self._settings.generator())
            size = self._block_size(estimator, ends.shape[2])
            self._run_block(estimator, rows[:size], ends, result)
            rows = rows[size:]

    def _block_size(self, estimator: Estimator, k: int) -> int:
        """Rows that are run together: as many as memory allows, unless each must have a run of its own."""
        return 1 if estimator.choices_depend_on == "row" else max(1, VALUES_AT_ONCE // (self._plan.budget * k))

    def _run_block(self, estimator: Estimator, rows: NDArray[np.int64], ends: Floats, result: _Result) -> None:
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
        _Run(estimator, evaluation, self._plan, self._settings).into(result, self._components, self._progress)


class _Run:
    """One run of an estimator on rows that share their coalitions."""

    def __init__(self, estimator: Estimator, evaluation: Evaluation, plan: Plan, settings: Settings) -> None:
        self._estimator, self._evaluation, self._plan, self._settings = estimator, evaluation, plan, settings

    def into(self, result: _Result, components: NDArray[np.int64], progress: Progress) -> None:
        """Run, and write rows into ``result`` as soon as they meet the tolerance."""
        learnt = None
        for budget in self._checkpoints():
            learnt = self._evaluation.spend(self._estimator, budget, learnt)
            moments = self._moments(learnt)
            done = self._met(moments, all_components=len(components) == result.values.shape[1])
            self._write(result, components, progress, moments, done, converged=True)
            if done.all():
                return
            moments = moments.rows(~done)
        if self._plan.may_enumerate:
            moments = self._enumerate()
        everyone = np.ones(len(self._evaluation.rows), dtype=bool)
        self._write(result, components, progress, moments, everyone, converged=self._plan.may_enumerate)

    def _checkpoints(self) -> list[Budget]:
        """Budgets at which the tolerance is checked, up to the whole."""
        most = self._plan.budget
        if not self._settings.may_stop:
            return [whole_budget(most)]
        checks, budget = [], self._estimator.first_checkpoint(most)
        while budget < most:
            checks.append(budget)
            budget = int(CHECKPOINT_GROWTH * budget) + 1
        return [Budget(now, most, may_stop=True) for now in [*checks, most]]

    def _moments(self, learnt: object) -> Moments:
        """The estimate; if all coalitions happened to be evaluated, it is exact."""
        if self._evaluation.store.is_complete:
            return self._enumerate()
        return self._estimator.estimate(self._evaluation.values, learnt)

    def _enumerate(self) -> Moments:
        """Exact values, from all coalitions."""
        exact = ExactEstimator(self._evaluation.store.d, index=self._settings.index)
        exact.choose(self._evaluation.store, whole_budget(self._plan.budget))
        self._evaluation.catch_up()
        return exact.estimate(self._evaluation.values)

    def _met(self, moments: Moments, *, all_components: bool) -> NDArray[np.bool_]:
        """Whether each row's largest standard error is within tolerance of the range of its values."""
        if self._settings.tol is None:
            return np.ones(len(moments.values), dtype=bool)
        highest, lowest = moments.values.max(axis=1), moments.values.min(axis=1)
        if not all_components:  # those that cannot matter have the value 0
            highest, lowest = np.maximum(highest, 0.0), np.minimum(lowest, 0.0)
        largest_error = np.sqrt(moments.variances).max(axis=1)
        return np.asarray((largest_error <= self._settings.tol * (highest - lowest)).all(axis=1), dtype=bool)

    def _write(
        self,
        result: _Result,
        components: NDArray[np.int64],
        progress: Progress,
        moments: Moments,
        done: NDArray[np.bool_],
        *,
        converged: bool,
    ) -> None:
        """Write the rows that are done, and go on with the others."""
        rows, n_evals = self._evaluation.rows[done], len(self._evaluation.store)
        result.write(rows, components, moments.rows(done))
        result.n_evals[rows], result.converged[rows] = n_evals, converged
        progress.advance((self._plan.budget - n_evals) * len(rows))
        self._evaluation.keep(~done)


def _warn_unconverged(converged: NDArray[np.bool_], settings: Settings) -> None:
    missed = int((~converged).sum())
    if missed:
        warnings.warn(
            f"{missed} of {len(converged)} rows did not reach tol={settings.tol}; raise max_evals, or look at "
            "`converged` and the standard errors",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
