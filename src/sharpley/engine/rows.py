"""One run, from a budget and a tolerance to estimates for all rows.

Rows are explained together: they share the coalitions, which are drawn once, so model calls can be large. Yet the
result for a row depends on that row alone, but for "gp", which learns from several. Rows in which a player cannot
matter (its value is that of all background rows) leave it out, so rows are first sorted by the players that can.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import evaluate
from sharpley.engine.methods import make_estimator, method_name
from sharpley.engine.progress import Progress, progress_bar
from sharpley.engine.settings import Plan, Settings, make_plan
from sharpley.engine.timing import Clock
from sharpley.estimators import Estimator, ExactEstimator
from sharpley.protocols import PairEvaluator, RowGames
from sharpley.result import ShapleyEstimate

GROWTH = 1.5  # of the budget from one check of the tolerance to the next
VALUES_AT_ONCE = 2**23  # coalition values held for a block of rows: 64 MB


def estimate_rows(game: RowGames, settings: Settings) -> ShapleyEstimate:
    """Estimate the Shapley values of every row of ``game`` (see ``RowGames``): arrays (rows, d, k)."""
    varying = game.varying()
    sizes = varying.sum(axis=1)
    # Made before the model is called: a budget that is too small is told at once.
    shape = len(sizes), len(np.unique(varying, axis=0)), game.predictions_per_value
    plans = {d: make_plan(settings, d, *shape) for d in sorted(set(sizes.tolist()))}
    ends = game.endpoints()
    n_rows, _, k = ends.shape
    result = _Rows(n_rows, game.d, k)
    names = list(dict.fromkeys(method_name(plans[d].method) for d in sorted(plans, reverse=True)))
    clock = Clock()
    with progress_bar(settings.progress, sum(plans[d].budget - 2 for d in sizes.tolist())) as bar:
        for rows, players in _blocks(varying, plans, k):
            run = _Run(_Reduced(game, players), rows, ends[rows], plans[len(players)], settings, bar, clock)
            run.into(result, players)
    _warn_unconverged(result.converged, settings)
    clock.note(names[0])
    return ShapleyEstimate(
        result.values,
        np.sqrt(result.variances),
        ends[:, 0],
        result.n_evals,
        " and ".join(names),
        result.converged,
        result.freedom,
    )


def _blocks(
    varying: Coalitions, plans: dict[int, Plan], k: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows that are run together, with the players that matter in them."""
    patterns, which = np.unique(varying, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        players, rows = np.flatnonzero(pattern), np.flatnonzero(which.reshape(-1) == index)
        plan = plans[len(players)]
        size = 1 if plan.adaptive else max(1, VALUES_AT_ONCE // (plan.budget * k))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], players


class _Reduced:
    """A game restricted to the players that matter; the others are taken as absent, which changes nothing."""

    def __init__(self, game: RowGames, players: NDArray[np.int64]) -> None:
        self._game, self._players = game, players
        self.d = len(players)
        self.pairs_per_call = game.pairs_per_call

    def evaluator(self) -> PairEvaluator:
        """The game's evaluator, given coalitions of fewer players."""
        evaluate_pairs = self._game.evaluator()
        if self.d == self._game.d:
            return evaluate_pairs

        def reduced(rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
            whole = np.zeros((len(coalitions), self._game.d), dtype=bool)
            whole[:, self._players] = coalitions
            return np.asarray(evaluate_pairs(rows, whole))

        return reduced


class _Rows:
    """Results of all rows, filled as they are ready."""

    def __init__(self, n: int, d: int, k: int) -> None:
        self.values, self.variances = np.zeros((n, d, k)), np.zeros((n, d, k))
        self.freedom = np.full((n, d, k), np.inf)
        self.n_evals = np.full(n, 2, dtype=np.int64)
        self.converged = np.ones(n, dtype=bool)


class _Run:
    """One run of a method on rows that share their coalitions."""

    def __init__(
        self,
        game: _Reduced,
        rows: NDArray[np.int64],
        ends: Floats,
        plan: Plan,
        settings: Settings,
        progress: Progress,
        clock: Clock,
    ) -> None:
        self._game, self._rows, self._settings, self._progress = game, rows, settings, progress
        self._clock = clock
        self._plan, self._budget = plan, plan.budget
        self._values = ends  # (active rows, coalitions, k)
        self._active = np.arange(len(rows))

    def into(self, result: _Rows, players: NDArray[np.int64]) -> None:
        """Run, and write the rows into ``result`` as they are done."""
        if self._game.d < 2:  # nothing to estimate: the only player that matters makes all the difference
            result.values[self._rows[:, None], players] = self._values[:, 1:] - self._values[:, :1]
            return
        # The same seed for every block: a row's coalitions do not depend on the rows beside it.
        estimator = make_estimator(self._plan.method, self._game.d, np.random.default_rng(self._settings.seed))
        estimator.prepare(self._budget, may_stop=self._settings.tol is not None)
        store = CoalitionStore(self._game.d)
        for budget in self._checkpoints(estimator):
            moments = self._estimate(estimator, store, budget)
            met = self._met(moments, all_players=len(players) == result.values.shape[1])
            moments = self._write(result, players, moments, met, len(store), converged=True)
            if len(self._active) == 0:
                return
        if self._plan.may_enumerate:
            moments = self._enumerate(store)
        everyone = np.ones(len(self._active), dtype=bool)
        self._write(result, players, moments, everyone, len(store), converged=self._plan.may_enumerate)

    def _estimate(self, estimator: Estimator, store: CoalitionStore, budget: int) -> Moments:
        """Spend a budget; if it happened to pay for all coalitions, the values are exact."""
        while estimator.extend(store, budget, self._values[0] if estimator.adaptive else None):
            self._evaluate(store)
        return self._enumerate(store) if store.is_complete else estimator.estimate(self._values)

    def _enumerate(self, store: CoalitionStore) -> Moments:
        """Exact values, from all coalitions."""
        exact = ExactEstimator(self._game.d)
        exact.extend(store, self._budget, None)
        self._evaluate(store)
        return exact.estimate(self._values)

    def _checkpoints(self, estimator: Estimator) -> list[int]:
        """Budgets at which the tolerance is checked, up to the whole."""
        if self._settings.tol is None:
            return [self._budget]
        checks, budget = [], estimator.first_checkpoint
        while budget < self._budget:
            checks.append(budget)
            budget = int(GROWTH * budget) + 1
        return [*checks, self._budget]

    def _evaluate(self, store: CoalitionStore) -> None:
        fresh = store.since(self._values.shape[1])
        if len(fresh):
            rows = self._rows[self._active]
            with self._clock.model_calls():
                new = evaluate(self._game, rows, fresh, n_jobs=self._settings.n_jobs, progress=self._progress)
            self._values = np.concatenate([self._values, new], axis=1)

    def _met(self, moments: Moments, *, all_players: bool) -> NDArray[np.bool_]:
        """Whether each active row's largest standard error is within tolerance of the range of its values."""
        if self._settings.tol is None:
            return np.ones(len(self._active), dtype=bool)
        highest, lowest = moments.values.max(axis=1), moments.values.min(axis=1)
        if not all_players:  # those that cannot matter have the value 0
            highest, lowest = np.maximum(highest, 0.0), np.minimum(lowest, 0.0)
        spread = highest - lowest
        return np.asarray(
            (np.sqrt(moments.variances).max(axis=1) <= self._settings.tol * spread).all(axis=1), dtype=bool
        )

    def _write(
        self,
        result: _Rows,
        players: NDArray[np.int64],
        moments: Moments,
        done: NDArray[np.bool_],
        n_evals: int,
        *,
        converged: bool,
    ) -> Moments:
        """Write the rows that are done and go on with the others, whose moments are returned."""
        rows = self._rows[self._active[done]]
        at = (rows[:, None], players)
        result.values[at], result.variances[at] = moments.values[done], moments.variances[done]
        result.freedom[at] = moments.degrees_of_freedom[done]
        result.n_evals[rows], result.converged[rows] = n_evals, converged
        self._progress.advance((self._budget - n_evals) * len(rows))
        self._active, self._values = self._active[~done], self._values[~done]
        return Moments(*(part[~done] for part in moments))


def _warn_unconverged(converged: NDArray[np.bool_], settings: Settings) -> None:
    missed = int((~converged).sum())
    if missed:
        warnings.warn(
            f"{missed} of {len(converged)} rows did not reach tol={settings.tol}; raise max_evals, or look at "
            "`converged` and the standard errors",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
