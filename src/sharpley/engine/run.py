"""The one loop of every estimate: budgets, blocks of rows, and looks at what was found.

Rows are explained together: they share their coalitions or their draws, so that model calls can be large. The result
for a row nevertheless depends on that row alone, except with methods that learn from several rows
(``MethodRecord.learns_from_rows``). Players that cannot matter in a row, since their feature equals that of all
background rows, are left out of its game, unless every ordering has a draw of its own; so rows are first grouped by the
players that can matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.threads import one_thread
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.budget import Budget, whole_budget
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.request import AllDraws, Request
from sharpley.engine.blind import with_blind_errors
from sharpley.engine.evaluation import evaluate
from sharpley.engine.methods import AUTO, check_estimates
from sharpley.engine.progress import Progress, progress_bar
from sharpley.engine.results import Results
from sharpley.engine.settings import Plan, Settings, make_plan
from sharpley.engine.stopping import meets
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.base import Block, CoalitionEstimator, Estimator
from sharpley.estimators.draws.coalitions import OwnCoalitions
from sharpley.estimators.draws.orderings import OwnOrderings
from sharpley.estimators.walks import GivenOrderings, OrderingGroups
from sharpley.games.base import Games, checked_endpoints, checked_varying
from sharpley.games.callables import as_games
from sharpley.games.noisy import warn_if_different
from sharpley.indices import SHAPLEY
from sharpley.result import ShapleyEstimate

CHECKPOINT_GROWTH = 1.5  # factor by which the budget grows from one look at the estimates to the next


def run(games: Any, settings: Settings) -> Any:
    """Estimate the index of every row of games; arrays have shape (rows, components), or (rows, components, k)."""
    games = as_games(games)
    if (exact := _closed_form(games, settings)) is not None:
        return exact
    varying = checked_varying(games)
    # Before the model is called, since too small a budget is an error.
    n_patterns = int(_pattern_numbers(varying).max()) + 1
    every = sorted(set(varying.sum(axis=1).tolist()), reverse=True)
    plans = {d: make_plan(settings, games, d, games.n_rows, n_patterns) for d in every}
    ends = checked_endpoints(games)
    if (outputs := ends.shape[2]) > 1:  # every output is a game of its own, of whose work "auto" has to know
        plans = {d: make_plan(settings, games, d, games.n_rows, n_patterns, outputs) for d in every}
    results, stopwatch = Results(games, settings.index, ends), Stopwatch()
    total = sum(plans[d].budget - plans[d].endpoint_cost for d in varying.sum(axis=1).tolist())
    with progress_bar(settings.progress, total, is_limit=settings.may_stop) as bar:
        for rows, players, plan in _groups(varying, plans):
            d = len(players)
            if d < 2:  # there are no other coalitions
                exact = exact_moments(settings.index.of_all_values(ends[rows, : 2**d], d))
                results.write(rows, settings.index.positions(players, games.d), exact)
                both = np.full(len(rows), 2)
                results.write_costs(rows, both, plan.n_predictions(both))
                continue
            facts = games.draw_facts() if plan.own_draws else None
            block = Block(games, rows, ends[rows], varying[rows], facts, settings.seed)
            method = _Run(games, players, plan, settings, results, bar, stopwatch)
            while len(block.rows):
                # The same seed for every block, so that a row's coalitions do not depend on the rows explained with it.
                block = method.next_block(_estimator(plan, d, settings), block)
    results.warn_unconverged(settings.tol)
    names = list(dict.fromkeys(plan.method.name for plan in plans.values()))  # that for the most players first
    stopwatch.report(names[0])
    return results.estimate(" and ".join(names))


def _closed_form(games: Games, settings: Settings) -> Any:
    """Return exact values that need no sampling, if such a method was asked for, or none and there are such values."""
    method = settings.method
    if not method.is_closed_form and method.name != AUTO:
        return None
    if method.is_closed_form:
        check_estimates(method, settings.index)
    forced = method.name if method.is_closed_form else None
    found = games.closed_form(settings.index, method=forced, n_threads=_n_threads(settings.n_jobs))
    if found is None:
        return None
    shape, names = found.values.shape, games.player_names
    whole = ShapleyEstimate(
        values=found.values,
        standard_errors=np.zeros(shape),
        base_values=np.tile(found.base_values, (games.n_rows, 1)),
        n_evals=np.zeros(games.n_rows, dtype=np.int64),
        method=found.method,
        converged=np.ones(games.n_rows, dtype=bool),
        degrees_of_freedom=np.full(shape, np.inf),
        names=None if names is None else settings.index.component_names(names),
        n_predictions=np.full(games.n_rows, found.n_predictions),
        index=settings.index.name,
    )
    return whole.without_output_axis() if shape[2] == 1 else whole


def _n_threads(n_jobs: int | None) -> int:
    """Return the number of threads of this machine that a number of workers stands for."""
    if n_jobs in (None, 1):
        return 1
    from joblib import cpu_count, effective_n_jobs

    return int(min(effective_n_jobs(n_jobs), cpu_count()))


def estimate_along(games: Games, sample: OrderingGroups, *, n_jobs: int | None) -> ShapleyEstimate:
    """Estimate the Shapley values of every row from contributions along given orderings."""
    ends, rows = checked_endpoints(games), np.arange(games.n_rows)
    estimator = GivenOrderings(games.d, sample)
    estimator.start(Block(games, rows, ends, np.ones((len(rows), games.d), dtype=bool), None, np.zeros(4, np.uint32)))
    request = estimator.choose(whole_budget(2**62))
    if request is not None:
        estimator.learn(evaluate(games, rows, request, n_jobs=n_jobs))
    results = Results(games, SHAPLEY, ends)
    results.write(rows, np.arange(games.d), estimator.estimate(), estimator.units)
    n_evals = estimator.spent
    results.write_costs(rows, n_evals, (n_evals - 2) * games.draws_per_value + games.endpoint_draws)
    found: ShapleyEstimate = results.estimate("orderings")
    return found


class _Rows(NamedTuple):
    """Rows that have the same plan."""

    rows: NDArray[np.int64]
    players: NDArray[np.int64]
    """The players of their games; the others are absent from all coalitions."""
    plan: Plan


def _groups(varying: Coalitions, plans: dict[int, Plan]) -> Iterator[_Rows]:
    """Yield groups of rows: with own draws, by how many players can matter; otherwise, by which players."""
    n_players = varying.sum(axis=1)
    owning = np.isin(n_players, [d for d, plan in plans.items() if plan.own_draws])
    for d in np.unique(n_players[owning]).tolist():
        yield _Rows(np.flatnonzero(n_players == d), np.arange(varying.shape[1]), plans[d])
    rows = np.flatnonzero(~owning)
    which = _pattern_numbers(varying[rows])
    for number in range(int(which.max(initial=-1)) + 1):
        mine = rows[which == number]
        players = np.flatnonzero(varying[mine[0]])
        yield _Rows(mine, players, plans[len(players)])


def _pattern_numbers(varying: Coalitions) -> NDArray[np.int64]:
    """Number the distinct rows of a bool array, and return the number of each, (r,); fast for millions of columns."""
    packed = np.packbits(varying, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


@dataclass
class _Run:
    """The run of a method on rows that have the same plan, in blocks that fit into memory."""

    games: Games
    players: NDArray[np.int64]
    plan: Plan
    settings: Settings
    results: Results
    progress: Progress
    stopwatch: Stopwatch

    def next_block(self, estimator: Estimator, rest: Block) -> Block:
        """Run an estimator on the first rows of a block, as many as fit into memory, and return the others.

        Rows are written into the results as soon as they meet the tolerance.
        """
        alone = self.plan.method.learns_from_rows and self.settings.independent_rows
        count = 1 if alone else estimator.rows_at_once(rest, self.plan.budget)
        block, rest = rest.some(slice(count)), rest.some(slice(count, None))
        estimator.start(block)
        rows = block.rows
        before: Moments | None = None
        for n_looks, budget in enumerate(self.checkpoints(estimator), start=1):
            grew = n_looks == 1
            while True:
                with one_thread():
                    request = None if estimator.is_complete else estimator.choose(budget)
                if request is None:
                    break
                values, grew = self.evaluate(rows, request), True
                with one_thread():
                    estimator.learn(values)
            if grew:  # otherwise the last estimate, of the rows that remain, still holds
                moments = self.estimated(estimator, rows, n_looks)
            met = self.met(moments, before, n_looks, estimator.spent)
            is_last = budget.now == budget.most
            if is_last and not met.all() and self.plan.may_enumerate:
                moments, met = self.enumerated(estimator, rows), np.ones_like(met)
            done = met | is_last
            self.write(estimator, rows, moments, met, done)
            # A look at the same sample again is no second look.
            before = moments.rows(~done) if grew or before is None else before.rows(~done)
            rows, moments = rows[~done], moments.rows(~done)
            if len(rows) == 0:
                break
            estimator.keep(~done)
        return rest

    def estimated(self, estimator: Estimator, rows: NDArray[np.int64], n_looks: int) -> Moments:
        """Return what an estimator estimates, or exact values if all coalitions were evaluated."""
        if n_looks == 1 and self.games.may_be_noisy and not self.settings.has_budget:
            self.warn_if_noisy(estimator, rows)
        if estimator.is_complete:
            return self.enumerated(estimator, rows)
        with one_thread():
            return estimator.estimate()

    def evaluate(self, rows: NDArray[np.int64], request: Request) -> Floats:
        """Return the values of a request, (evaluations, k)."""
        whole = _with_all_players(request, self.players, self.games.d)
        with self.stopwatch.model_calls():
            return evaluate(self.games, rows, whole, n_jobs=self.settings.n_jobs, advance=self.progress.advance)

    def enumerated(self, estimator: Estimator, rows: NDArray[np.int64]) -> Moments:
        """Evaluate the coalitions that are missing, and return exact values."""
        assert isinstance(estimator, CoalitionEstimator), "own draws are never enumerated"
        positions, request = estimator.all_coalitions()
        if len(request):
            estimator.learn(self.evaluate(rows, request))
        return exact_moments(self.settings.index.of_all_values(estimator.values[:, positions], estimator.d))

    def met(
        self, moments: Moments, before: Moments | None, n_looks: int, spent: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether each row meets the tolerance, given the look before; all do if there is none."""
        if self.settings.tol is None:
            return np.ones(len(moments.values), dtype=bool)
        everything = moments.values.shape[1] == self.results.n_components
        n_evals = self.plan.n_evals(spent)
        return meets(moments, before, self.settings.tol, n_looks=n_looks, n_evals=n_evals, all_components=everything)

    def checkpoints(self, estimator: Estimator) -> list[Budget]:
        """Return the budgets after which the tolerance is checked; the last is the whole budget."""
        most = self.plan.budget
        if not self.settings.may_stop:
            return [whole_budget(most)]
        checks, budget = [], estimator.first_checkpoint(most)
        while budget < most:
            checks.append(budget)
            budget = int(CHECKPOINT_GROWTH * budget) + 1
        if not checks and estimator.least_budget <= 2 * most // 3:  # one look is not enough to stop
            checks = [2 * most // 3]
        return [Budget(now, most, may_stop=True) for now in [*checks, most]]

    def write(
        self,
        estimator: Estimator,
        rows: NDArray[np.int64],
        moments: Moments,
        met: NDArray[np.bool_],
        done: NDArray[np.bool_],
    ) -> None:
        """Write the rows that are done."""
        spent = estimator.spent[done]
        n_evals = self.plan.n_evals(spent)
        found = with_blind_errors(moments.rows(done), estimator.seen[done], n_evals)
        components = self.settings.index.positions(self.players, self.games.d)
        self.results.write(rows[done], components, found, estimator.units[done], converged=met[done])
        self.results.write_costs(rows[done], n_evals, self.plan.n_predictions(spent))
        self.progress.advance(int((self.plan.budget - spent).sum()))

    def warn_if_noisy(self, estimator: Estimator, rows: NDArray[np.int64]) -> None:
        """Evaluate a coalition of about half of the players once more, and warn if its value has changed.

        The values of ∅ and N are often not random when all others are, as where absent features are drawn at random.
        """
        assert isinstance(estimator, CoalitionEstimator), "a function of coalitions has a single draw"
        coalitions = estimator.store.since(0)
        position = int(np.abs(coalitions.sum(axis=1) - estimator.d / 2.0).argmin())
        known = (estimator.values * estimator.units)[0]
        again = self.evaluate(rows[:1], AllDraws(coalitions[position : position + 1], 1))[0]
        warn_if_different(known, position, again, coalitions[position])


def _estimator(plan: Plan, d: int, settings: Settings) -> Estimator:
    """Start a run: coalitions for all draws, coalitions with draws of their own, or a draw for every ordering."""
    rng, method = settings.generator(), plan.method
    if not plan.own_draws:
        return method.start(d, rng, settings.index)
    if method.own_coalitions is not None:
        return OwnCoalitions(d, partial(method.start, in_draw=True), endpoint_cost=plan.endpoint_cost, rng=rng)
    return OwnOrderings(
        d,
        partial(method.start_source, d),
        orderings_per_step=method.orderings_per_step(d),
        use_controls=not settings.unbiased,
        surrogate=settings.surrogate,
        endpoint_cost=plan.endpoint_cost,
        rng=rng,
    )


def _with_all_players(request: Request, players: NDArray[np.int64], d: int) -> Request:
    """Return a request for coalitions of some players as one for coalitions of all d players."""
    if len(players) == d or not isinstance(request, AllDraws):
        return request
    whole = np.zeros((len(request.coalitions), d), dtype=bool)
    whole[:, players] = request.coalitions
    return AllDraws(whole, request.n_rows)
