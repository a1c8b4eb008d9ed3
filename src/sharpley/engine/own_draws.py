"""Runs in which every ordering has a draw of its own.

All rows of a run have the same steps, that is, orderings with their draws, so that what depends on the draws alone is
computed once. How many steps a row can afford depends on how many players differ between the row and the draws; rows
that can afford the same number run together, and the result of a row does not depend on which rows these are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sharpley._support.threads import one_thread
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.engine.evaluation import evaluate_draws
from sharpley.engine.methods import make_source
from sharpley.engine.progress import Progress
from sharpley.engine.results import Results
from sharpley.engine.settings import Plan, Settings
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.draws.assisted import with_surrogate
from sharpley.estimators.draws.controls import NO_BIN, make_controls
from sharpley.estimators.draws.estimator import LEAST_DRAWS, OwnDraws
from sharpley.estimators.draws.visits import FoldedVisits, Visits
from sharpley.estimators.draws.walked import Walked
from sharpley.estimators.draws.walks import Steps, Walks
from sharpley.games.base import DrawFacts, Games, weights_of_draws

FIRST_STEPS = 50  # after which a tolerance is first checked
CHECKPOINT_GROWTH = 1.5  # factor by which the number of steps grows from one check to the next
MAX_CHANGES_AT_ONCE = 2**21  # steps × players of all rows that are evaluated together: about 100 MB
MAX_CONTRIBUTIONS = 2**24  # steps × players of one row, kept until the estimate: 128 MB
DRAWS_TO_COUNT = 64  # draws in which differing players are counted, if nothing else is known of them
STEPS_BITS = 5  # numbers of steps are rounded down to this many significant bits, so that more rows share them
SPARE_FACTOR = 2.0  # standard deviations of the cost of a sample that are kept in reserve


class OwnDrawsRun:
    """Estimate the Shapley values of rows from steps with draws of their own."""

    def __init__(
        self,
        games: Games,
        varying: Coalitions,
        plan: Plan,
        settings: Settings,
        ends: Floats,
        progress: Progress,
        stopwatch: Stopwatch,
    ) -> None:
        self._varying = varying
        self._games, self._plan, self._settings, self._ends = games, plan, settings, ends
        self._progress, self._stopwatch = progress, stopwatch
        self._weights = weights_of_draws(games)
        self._facts = games.draw_facts()
        self._population = OwnDraws(games.n_draws, self._weights, self._facts, use_controls=not settings.unbiased)
        self._assisted = with_surrogate(settings.surrogate, self._population, ends.shape[2], settings.seed)
        self._step = make_source(plan.method, games.d, settings.generator()).step

    def run(self, rows: NDArray[np.int64], results: Results) -> None:
        """Estimate the values of rows; those that turn out to be too expensive run again with fewer steps."""
        steps = self._affordable_steps(rows)
        while len(rows):
            left = []
            for count in np.unique(steps).tolist():
                mine, at_once = rows[steps == count], self._rows_at_once(count)
                for start in range(0, len(mine), at_once):
                    left.append(self._run_together(mine[start : start + at_once], count, results))
            again = np.isin(rows, np.concatenate(left))
            rows, steps = rows[again], steps[again]
            steps = np.maximum(LEAST_DRAWS, steps - np.maximum(1, steps // 32))

    def _affordable_steps(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many steps each row can afford, from the players that are expected to differ in a draw."""
        expected, spread = np.full(len(rows), float(self._games.d)), np.zeros(len(rows))
        if self._facts is not None:
            expected, spread = self._expected_players(rows, self._facts)
        ends = -1.0 if self._facts is not None else 1.0
        cost = self._step * np.maximum(expected + ends, 0.5)
        free = float(self._plan.budget - self._plan.endpoint_cost)
        count = free / cost
        count = (free - SPARE_FACTOR * self._step * spread * np.sqrt(count)) / cost
        most = max(LEAST_DRAWS, MAX_CONTRIBUTIONS // self._games.d)
        count = np.clip(count, LEAST_DRAWS, most).astype(np.int64)
        return np.where(spread > 0, _rounded_down(count), count)

    def _expected_players(self, rows: NDArray[np.int64], facts: DrawFacts) -> tuple[Floats, Floats]:
        """Return the mean number of players that differ in a draw, and its standard deviation at most, (r,) each."""
        if facts.columns.shape[1] == 0:  # nothing is known of the players: some draws have to tell
            some = self._settings.generator().integers(self._games.n_draws, size=DRAWS_TO_COUNT)
            differ = [self._games.differing(np.full(len(some), row), some).sum(axis=1) for row in rows]
            return np.mean(differ, axis=1), np.std(differ, axis=1)
        expected, spread = np.full(len(rows), float(self._games.d)), np.zeros(len(rows))
        controls = make_controls(facts, self._weights, self._games.d)
        for player, bins in enumerate(controls.players):
            same = controls.shared_bins(facts.row_columns[rows], player)
            if bins is not None and (same != NO_BIN).any():
                share = np.where(same == NO_BIN, 0.0, np.minimum(bins.sums[same, 0], 1.0))
                expected, spread = expected - share, spread + np.sqrt(share * (1.0 - share))
        return expected, spread

    def _rows_at_once(self, count: int) -> int:
        values = count * self._games.d * self._ends.shape[2]
        kept = 2 if self._assisted.surrogates is None else 2 + self._step
        return max(1, MAX_CONTRIBUTIONS // (kept * values))

    def _run_together(self, rows: NDArray[np.int64], count: int, results: Results) -> NDArray[np.int64]:
        """Run rows with the same number of steps; return those that would exceed the budget."""
        sampling, visiting = self._settings.generator().spawn(2)
        source = make_source(self._plan.method, self._games.d, sampling, self._expected(count))
        visits = self._visits(visiting)
        spent = np.full(len(rows), self._plan.endpoint_cost)
        expensive = [np.empty(0, dtype=np.int64)]
        walked: Walked | None = None
        moments: Moments | None = None
        n_before = 0
        for n_looks, now in enumerate(self._checkpoints(count), start=1):
            fresh = Steps(source.take(now - n_before)[0], visits.extend(now - n_before))
            found, cost = self._walk(rows, fresh, spent)
            fits = spent + cost <= self._plan.budget
            if moments is None:
                expensive.append(rows[~fits])
            else:  # what was spent cannot be spent again: these rows end with the last estimate
                last = moments.rows(~fits)
                results.write_done(rows[~fits], last, None, spent[~fits], n_looks=n_looks, is_last=True)
                self._progress.advance(int((self._plan.budget - spent[~fits]).sum()))
            rows, spent = rows[fits], (spent + cost)[fits]
            walked = found.rows(fits) if walked is None else walked.rows(fits).then(found.rows(fits))
            if len(rows) == 0:
                break
            before = None if moments is None else moments.rows(fits)
            with one_thread():
                moments = self._assisted.estimate(walked, self._varying[rows], rows, self._ends[rows])
            done = results.write_done(rows, moments, before, spent, n_looks=n_looks, is_last=now == count)
            self._progress.advance(int((self._plan.budget - spent[done]).sum()))
            rows, spent, n_before = rows[~done], spent[~done], now
            walked, moments = walked.rows(~done), moments.rows(~done)
        return np.concatenate(expensive)

    def _visits(self, rng: np.random.Generator) -> Visits | FoldedVisits:
        order = self._population.order(self._games.d, rng)
        surrogates = self._assisted.surrogates
        return Visits(order, rng) if surrogates is None else FoldedVisits(order, surrogates.folds, rng)

    def _expected(self, count: int) -> int | None:
        return None if self._settings.may_stop else count * self._step

    def _checkpoints(self, count: int) -> Iterator[int]:
        """Yield the numbers of steps after which the tolerance is checked; the last is the whole number."""
        now = min(FIRST_STEPS, max(LEAST_DRAWS, 2 * count // 3))  # one look is not enough to stop
        while self._settings.may_stop and now < count:
            yield now
            now = int(CHECKPOINT_GROWTH * now) + 1
        yield count

    def _walk(
        self, rows: NDArray[np.int64], steps: Steps, spent: NDArray[np.int64]
    ) -> tuple[Walked, NDArray[np.int64]]:
        """Return what is found along steps, and its costs (r,).

        Rows that would exceed the budget are not evaluated.
        """
        r, d, n, k = len(rows), self._games.d, len(steps.draws), self._ends.shape[2]
        differing = self._games.differing(np.repeat(rows, n), np.tile(steps.draws, r)).reshape(r, n, d)
        cost = Walks(steps, differing, self._facts is not None).evaluations_of_rows()
        fits = np.flatnonzero(spent + cost <= self._plan.budget)
        found = Walked(steps, np.zeros((r, n, d, k)), differing, [np.empty((0, k))] * r)
        at_once = max(1, MAX_CHANGES_AT_ONCE // (n * self._step * d))
        for start in range(0, len(fits), at_once):
            self._walk_block(rows, found, fits[start : start + at_once])
        return found, cost

    def _walk_block(self, rows: NDArray[np.int64], found: Walked, block: NDArray[np.int64]) -> None:
        """Evaluate the walks of a block of the rows, in parts of the steps."""
        steps = found.steps
        at_once = max(1, MAX_CHANGES_AT_ONCE // (len(block) * self._step * self._games.d))
        for start in range(0, len(steps.draws), at_once):
            part = slice(start, start + at_once)
            some = steps.part(part)
            walks = Walks(some, found.differing[block, part], self._facts is not None)
            with self._stopwatch.model_calls():
                values = evaluate_draws(
                    self._games, rows[block], walks, n_jobs=self._settings.n_jobs, advance=self._progress.advance
                ).reshape(-1, self._ends.shape[2])
            known = (None, None) if self._facts is None else (self._facts.empty[some.draws], self._ends[rows[block], 1])
            found.contributions[block, part] = walks.contributions(values, *known)
            if self._assisted.surrogates is not None:
                of_rows = np.split(values, np.cumsum(walks.evaluations_of_rows())[:-1])
                for i, mine in zip(block.tolist(), of_rows, strict=True):
                    found.values[i] = np.concatenate([found.values[i], mine])


def _rounded_down(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round down to STEPS_BITS significant bits."""
    shifts = np.maximum(0, np.floor(np.log2(counts)).astype(np.int64) + 1 - STEPS_BITS)
    return (counts >> shifts) << shifts
