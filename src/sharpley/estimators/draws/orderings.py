"""Estimation from orderings that have draws of their own.

All rows of a run have the same steps, that is, orderings with their draws, so that what depends on the draws alone is
computed once. How many steps a row can afford depends on how many players differ between the row and the draws; rows
that can afford the same number run together, and the result of a row does not depend on which rows these are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sharpley._support.threads import one_thread
from sharpley._support.typing import Orderings
from sharpley.coalitions.moments import Moments
from sharpley.estimators.draws.affordable import LEAST_STEPS, MAX_CONTRIBUTIONS, affordable_steps, fewer_steps
from sharpley.estimators.draws.assisted import with_surrogate
from sharpley.estimators.draws.base import DrawsEstimator, DrawsTask, Look
from sharpley.estimators.draws.population import Population
from sharpley.estimators.draws.surrogate import SurrogateChoice
from sharpley.estimators.draws.visits import EndlessVisits, FoldedVisits, Visits
from sharpley.estimators.draws.walked import Walked
from sharpley.estimators.draws.walks import Steps, Walks

FIRST_STEPS = 50  # after which a tolerance is first checked
CHECKPOINT_GROWTH = 1.5  # factor by which the number of steps grows from one check to the next
MAX_CHANGES_AT_ONCE = 2**21  # steps × players of all rows that are evaluated together: about 100 MB


class StepSource(Protocol):
    """Where steps of orderings come from."""

    def take(self, count: int) -> tuple[Orderings, NDArray[np.int64]]:
        """Return the next steps, (count, orderings per step, d), and numbers that do not matter here."""


class MakeSource(Protocol):
    """Makes sources of steps."""

    def __call__(self, rng: np.random.Generator, expected: int | None) -> StepSource:
        """Return a source, for an expected number of orderings; None if it is not known."""


class OwnOrderings(DrawsEstimator):
    """Shapley values from orderings, or antithetic pairs of them, that have draws of their own.

    Parameters
    ----------
    task : DrawsTask
        What is to be estimated.
    make_source : MakeSource
        Makes sources of orderings.
    orderings_per_step : int
        1, or 2 for antithetic pairs.
    use_controls : bool
        Whether to use what is known of all draws for a regression, which causes a small bias.
    surrogate : "auto", tree regressor or None
        A regressor that learns the games from what was evaluated.
    """

    def __init__(
        self,
        task: DrawsTask,
        make_source: MakeSource,
        *,
        orderings_per_step: int,
        use_controls: bool,
        surrogate: SurrogateChoice,
    ) -> None:
        self._task, self._make_source, self._step = task, make_source, orderings_per_step
        weights = None if task.games.draws_are_endless else task.weights
        self._population = Population(task.games.n_draws, weights, task.facts, use_controls=use_controls)
        self._assisted = with_surrogate(surrogate, self._population, task.n_outputs, task.seed)

    def run(self, rows: NDArray[np.int64]) -> None:
        """Estimate the values of rows; those that turn out to be too expensive run again with fewer steps."""
        steps = affordable_steps(self._task, rows, self._step)
        while len(rows):
            left = []
            for count in np.unique(steps).tolist():
                mine, at_once = rows[steps == count], self._rows_at_once(count)
                for start in range(0, len(mine), at_once):
                    left.append(self._run_together(mine[start : start + at_once], count))
            again = np.isin(rows, np.concatenate(left))
            rows, steps = rows[again], fewer_steps(steps[again])

    def _rows_at_once(self, count: int) -> int:
        values = count * self._task.games.d * self._task.n_outputs
        kept = 2 if self._assisted.surrogates is None else 2 + self._step
        return max(1, MAX_CONTRIBUTIONS // (kept * values))

    def _run_together(self, rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """Run rows with the same number of steps; return those that would exceed the budget."""
        task = self._task
        sampling, visiting = task.generator().spawn(2)
        source = self._make_source(sampling, None if task.may_stop else count * self._step)
        visits = self._visits(visiting)
        spent = np.full(len(rows), task.endpoint_cost)
        expensive = [np.empty(0, dtype=np.int64)]
        walked: Walked | None = None
        moments: Moments | None = None
        n_before = 0
        for number, now in enumerate(self._checkpoints(count), start=1):
            fresh = Steps(source.take(now - n_before)[0], visits.extend(now - n_before))
            found, cost = self._walk(rows, fresh, spent)
            fits = spent + cost <= task.budget
            if moments is None:
                expensive.append(rows[~fits])
            else:  # what was spent cannot be spent again: these rows end with the last estimate
                task.judge(Look(rows[~fits], moments.rows(~fits), None, spent[~fits], number, is_last=True))
            rows, spent = rows[fits], (spent + cost)[fits]
            walked = found.rows(fits) if walked is None else walked.rows(fits).then(found.rows(fits))
            if len(rows) == 0:
                break
            before = None if moments is None else moments.rows(fits)
            with one_thread():
                moments = self._assisted.estimate(walked, task.varying[rows], rows, task.ends[rows])
            goes_on = ~task.judge(Look(rows, moments, before, spent, number, is_last=now == count))
            rows, spent, n_before = rows[goes_on], spent[goes_on], now
            walked, moments = walked.rows(goes_on), moments.rows(goes_on)
        return np.concatenate(expensive)

    def _visits(self, rng: np.random.Generator) -> Visits | FoldedVisits | EndlessVisits:
        if self._task.games.draws_are_endless:
            return EndlessVisits(self._task.games.n_draws, rng)
        order = self._population.order(self._task.games.d, rng)
        surrogates = self._assisted.surrogates
        return Visits(order, rng) if surrogates is None else FoldedVisits(order, surrogates.folds, rng)

    def _checkpoints(self, count: int) -> Iterator[int]:
        """Yield the numbers of steps after which the tolerance is checked; the last is the whole number."""
        now = min(FIRST_STEPS, max(LEAST_STEPS, 2 * count // 3))  # one look is not enough to stop
        while self._task.may_stop and now < count:
            yield now
            now = int(CHECKPOINT_GROWTH * now) + 1
        yield count

    def _walk(
        self, rows: NDArray[np.int64], steps: Steps, spent: NDArray[np.int64]
    ) -> tuple[Walked, NDArray[np.int64]]:
        """Return what is found along steps, and its costs (r,).

        Rows that would exceed the budget are not evaluated.
        """
        task = self._task
        r, d, n, k = len(rows), task.games.d, len(steps.draws), task.n_outputs
        differing = task.games.differing(np.repeat(rows, n), np.tile(steps.draws, r)).reshape(r, n, d)
        cost = Walks(steps, differing, task.ends_known).evaluations_of_rows()
        fits = np.flatnonzero(spent + cost <= task.budget)
        found = Walked(steps, np.zeros((r, n, d, k)), differing, [np.empty((0, k))] * r)
        at_once = max(1, MAX_CHANGES_AT_ONCE // (n * self._step * d))
        for start in range(0, len(fits), at_once):
            self._walk_block(rows, found, fits[start : start + at_once])
        return found, cost

    def _walk_block(self, rows: NDArray[np.int64], found: Walked, block: NDArray[np.int64]) -> None:
        """Evaluate the walks of a block of the rows, in parts of the steps."""
        task, steps = self._task, found.steps
        at_once = max(1, MAX_CHANGES_AT_ONCE // (len(block) * self._step * task.games.d))
        for start in range(0, len(steps.draws), at_once):
            part = slice(start, start + at_once)
            some = steps.part(part)
            walks = Walks(some, found.differing[block, part], task.ends_known)
            values = task.evaluate(rows[block], walks).reshape(-1, task.n_outputs)
            known = (None, None) if task.facts is None else (task.facts.empty[some.draws], task.ends[rows[block], 1])
            found.contributions[block, part] = walks.contributions(values, *known)
            if self._assisted.surrogates is not None:
                of_rows = np.split(values, np.cumsum(walks.evaluations_of_rows())[:-1])
                for i, mine in zip(block.tolist(), of_rows, strict=True):
                    found.values[i] = np.concatenate([found.values[i], mine])
