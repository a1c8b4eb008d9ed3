"""Estimation from orderings that have draws of their own.

Rows share their steps, that is, orderings with their draws, so that what depends on the draws alone is computed once.
How many steps a row can afford depends on how many players differ between the row and the draws. Rows that take the
same number of steps are a group; the result of a row does not depend on the other rows of its group.

A run that may stop at a tolerance has one sequence of steps, of which every row takes as many as it can afford at each
look. A run that spends its budget at once has a sequence for each number of steps, spread evenly over the draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Floats, Orderings
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.request import Asked, Request
from sharpley.estimators.base import Block, Estimator
from sharpley.estimators.draws.affordable import LEAST_STEPS, MAX_CONTRIBUTIONS, affordable_steps, fewer_steps
from sharpley.estimators.draws.assisted import AssistedDraws, with_surrogate
from sharpley.estimators.draws.population import Population
from sharpley.estimators.draws.surrogate import SurrogateChoice
from sharpley.estimators.draws.visits import EndlessVisits, FoldedVisits, Visits
from sharpley.estimators.draws.walked import Walked
from sharpley.estimators.draws.walks import Steps, Walks

FIRST_STEPS = 50  # after which a tolerance is first checked
GROWTH = 1.5  # factor by which a sequence of steps grows at a time
MAX_CHANGES_AT_ONCE = 2**21  # steps × players of all rows that are evaluated together: about 100 MB


class StepSource(Protocol):
    """Where steps of orderings come from."""

    def take(self, count: int) -> tuple[Orderings, NDArray[np.int64]]:
        """Return the next steps, (count, orderings per step, d), and numbers that do not matter here."""


class MakeSource(Protocol):
    """Makes sources of steps."""

    def __call__(self, rng: np.random.Generator, expected: int | None) -> StepSource:
        """Return a source, for an expected number of orderings; None if it is not known."""


@dataclass
class _Group:
    """Rows that have taken the same steps."""

    rows: NDArray[np.int64]
    """Positions of the rows in the block."""
    walked: Walked
    """What was found along their walks."""
    spent: NDArray[np.int64]
    """Number of evaluations along their walks."""
    visits: Visits | FoldedVisits | EndlessVisits
    """Where their draws come from."""

    def probabilities(self) -> Floats | None:
        """Return the probability of each draw to be visited; None if draws are never exhausted."""
        if isinstance(self.visits, EndlessVisits):
            return None
        return self.visits.probabilities(len(self.walked.steps.draws))


@final
@dataclass(frozen=True)
class _Part(Request):
    """Walks that are evaluated together: some rows of a group along some of its steps."""

    group: _Group
    rows: NDArray[np.int64]
    """Positions of the rows in the group."""
    steps: slice
    walks: Walks
    is_for_all_draws = False

    def __len__(self) -> int:
        return len(self.walks)

    def ask(self, numbers: NDArray[np.int64]) -> Asked:
        """Return positions of rows in the block, coalitions and draws."""
        row, coalitions, draws = self.walks.ask(numbers)
        return self.group.rows[self.rows][row], coalitions, draws


@final
class OwnOrderings(Estimator):
    """Shapley values from orderings, or antithetic pairs of them, that have draws of their own.

    Parameters
    ----------
    d : int
        Number of players.
    make_source : MakeSource
        Makes sources of orderings.
    orderings_per_step : int
        1, or 2 for antithetic pairs.
    use_controls : bool
        Whether to use what is known of all draws for a regression, which causes a small bias.
    surrogate : "auto", tree regressor or None
        A regressor that learns the games from what was evaluated.
    endpoint_cost : int
        How many single draws the values of ∅ and N took.
    rng : int, Generator, SeedSequence or None
        Source of randomness.
    """

    def __init__(
        self,
        d: int,
        make_source: MakeSource,
        *,
        orderings_per_step: int,
        use_controls: bool,
        surrogate: SurrogateChoice,
        endpoint_cost: int,
        rng: RNG = None,
    ) -> None:
        super().__init__(d, rng=rng)
        self._make_source, self._step = make_source, orderings_per_step
        self._use_controls, self._surrogate = use_controls, surrogate
        self._endpoint_cost = endpoint_cost
        self._groups: list[_Group] = []
        self._waiting: list[_Part] = []
        self._sequence: _Sequence | None = None
        self._now = 0

    @property
    def least_budget(self) -> int:
        """Number of evaluations for two steps, whether v_b(∅) and v_b(N) are known or not."""
        return self._cost_of(LEAST_STEPS)

    def _cost_of(self, steps: int) -> int:
        return self._endpoint_cost + steps * self._step * (self.d + 1)

    def first_checkpoint(self, most: int) -> int:
        """Return the number of evaluations for 50 steps."""
        return self._cost_of(FIRST_STEPS)

    def rows_at_once(self, block: Block, budget: int) -> int:
        """Return how many rows fit into memory."""
        steps = affordable_steps(block.in_units()[1], self._step, budget - self._endpoint_cost)
        count = int(steps.max())
        kept = 2 if self._surrogate is None else 2 + self._step
        return max(1, MAX_CONTRIBUTIONS // (kept * count * self.d * block.n_outputs))

    def start(self, block: Block) -> None:
        """Start the run: nothing is visited yet."""
        self.units, self._block = block.in_units()
        block = self._block
        weights = None if block.games.draws_are_endless else block.weights
        population = Population(block.games.n_draws, weights, block.facts, use_controls=self._use_controls)
        self._assisted: AssistedDraws = with_surrogate(self._surrogate, population, block.n_outputs, block.seed)

    def choose(self, budget: Budget) -> Request | None:
        """Return the walks of some rows along some steps, until the steps that the budget pays for are taken."""
        if not self._waiting and budget.now > self._now:
            self._now = budget.now
            self._take_further(budget) if budget.may_stop else self._take_at_once(budget)
        return self._waiting[-1] if self._waiting else None

    def learn(self, values: Floats) -> None:
        """Turn values along walks into contributions."""
        part, block = self._waiting.pop(), self._block
        values = values / self.units[0]
        walked, steps = part.group.walked, part.walks.steps
        rows = part.group.rows[part.rows]
        known = (None, None) if block.facts is None else (block.facts.empty[steps.draws], block.ends[rows, 1])
        walked.contributions[part.rows, part.steps] = part.walks.contributions(values, *known)
        if self._assisted.surrogates is not None:
            of_rows = np.split(values, np.cumsum(part.walks.evaluations_of_rows())[:-1])
            for i, mine in zip(part.rows.tolist(), of_rows, strict=True):
                walked.values[i] = np.concatenate([walked.values[i], mine])

    def estimate(self) -> Moments:
        """Estimate means over all draws, for each group of rows."""
        block = self._block
        shape = (len(block.rows), self.d, block.n_outputs)
        found = Moments(np.zeros(shape), np.zeros(shape), np.full(shape, np.inf))
        for group in self._groups:
            mine = block.some(group.rows)
            moments = self._assisted.estimate(group.walked, group.probabilities(), mine.varying, mine.rows, mine.ends)
            for part, of_group in zip(found, moments, strict=True):
                part[group.rows] = of_group
        return found

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Continue with only some of the rows."""
        places = np.cumsum(which) - 1
        for group in self._groups:
            kept = which[group.rows]
            group.walked, group.spent = group.walked.rows(kept), group.spent[kept]
            group.rows = places[group.rows[kept]]
        self._groups = [group for group in self._groups if len(group.rows)]
        self._block, self.units = self._block.some(which), self.units[which]

    @property
    def seen(self) -> Floats:
        """The values of ∅ and N."""
        return self._block.ends

    @property
    def spent(self) -> NDArray[np.int64]:
        """Number of single draws that were evaluated for each row."""
        spent = np.full(len(self._block.rows), self._endpoint_cost)
        for group in self._groups:
            spent[group.rows] += group.spent
        return spent

    def _take_at_once(self, budget: Budget) -> None:
        """Take steps with the whole budget; rows that turn out to be too expensive take fewer."""
        limit = budget.most - self._endpoint_cost
        rows, steps = np.arange(len(self._block.rows)), affordable_steps(self._block, self._step, limit)
        while len(rows):
            expensive = np.zeros(len(rows), dtype=bool)
            for count in np.unique(steps).tolist():
                mine = np.flatnonzero(steps == count)
                sequence = self._new_sequence(count)
                group = self._walking(rows[mine], sequence.take(count), sequence.visits)
                fits = group.spent <= limit
                expensive[mine[~fits]] = True
                some = _Group(group.rows[fits], group.walked.rows(fits), group.spent[fits], sequence.visits)
                self._groups.append(some)
                self._wait_for(self._groups[-1], 0)
            rows, steps = rows[expensive], fewer_steps(steps[expensive])
        self._groups = [group for group in self._groups if len(group.rows)]

    def _take_further(self, budget: Budget) -> None:
        """Take further steps of the one sequence, as many as each row can afford now."""
        if self._sequence is None:
            self._sequence = self._new_sequence(None)
            nothing = self._sequence.steps.part(slice(0, 0))
            self._groups = [self._walking(np.arange(len(self._block.rows)), nothing, self._sequence.visits)]
        limit = budget.now - self._endpoint_cost
        counts = affordable_steps(self._block, self._step, limit)
        groups: list[_Group] = []
        for group in self._groups:
            groups += self._extended(group, np.maximum(counts[group.rows], len(group.walked.steps.draws)), limit)
        self._groups = groups

    def _extended(self, group: _Group, counts: NDArray[np.int64], limit: int) -> list[_Group]:
        """Return a group divided by how many steps its rows have after this look."""
        assert self._sequence is not None
        before, found = len(group.walked.steps.draws), []
        left = np.arange(len(group.rows))
        while len(left):
            expensive = np.zeros(len(left), dtype=bool)
            for count in np.unique(counts).tolist():
                mine = np.flatnonzero(counts == count)
                fresh = self._walking(group.rows[left[mine]], self._sequence.between(before, count), group.visits)
                fits = group.spent[left[mine]] + fresh.spent <= limit
                expensive[mine[~fits]] = count > before
                mask = np.isin(np.arange(len(group.rows)), left[mine[fits]])
                if not mask.any():
                    continue
                walked = group.walked.rows(mask).then(fresh.walked.rows(fits))
                spent = group.spent[mask] + fresh.spent[fits]
                found.append(_Group(group.rows[mask], walked, spent, group.visits))
                self._wait_for(found[-1], before)
            left, counts = left[expensive], np.maximum(before, fewer_steps(counts[expensive]))
        return found

    def _new_sequence(self, expected: int | None) -> _Sequence:
        """Return a sequence of steps, made for an expected number of them; None if it is not known."""
        sampling, visiting = self._block.generator().spawn(2)
        source = self._make_source(sampling, None if expected is None else expected * self._step)
        return _Sequence(source, self._visits(visiting, expected), self._step, self.d)

    def _visits(self, rng: np.random.Generator, expected: int | None) -> Visits | FoldedVisits | EndlessVisits:
        games, surrogates = self._block.games, self._assisted.surrogates
        if games.draws_are_endless:
            return EndlessVisits(games.n_draws, rng)
        population = self._assisted.population
        order, sizes = population.order(self.d, rng), population.sizes()
        if surrogates is None:
            return Visits(order, sizes, rng, expected)
        return FoldedVisits(order, sizes, surrogates.folds, rng, expected)

    def _walking(self, rows: NDArray[np.int64], steps: Steps, visits: Visits | FoldedVisits | EndlessVisits) -> _Group:
        """Return rows with steps along which nothing was evaluated yet, and what these will cost."""
        block = self._block
        r, n, k = len(rows), len(steps.draws), block.n_outputs
        at = np.repeat(block.rows[rows], n), np.tile(steps.draws, r)
        differing = block.games.differing(*at).reshape(r, n, self.d)
        cost = Walks(steps, differing, block.ends_known).evaluations_of_rows()
        walked = Walked(steps, np.zeros((r, n, self.d, k)), differing, [np.empty((0, k))] * r)
        return _Group(rows, walked, cost, visits)

    def _wait_for(self, group: _Group, start: int) -> None:
        """Put the walks of a group from step ``start`` on in front of what waits, in parts that fit into memory."""
        walked, total = group.walked, len(group.walked.steps.draws)
        width = self._step * self.d
        parts = []
        rows_at_once = max(1, MAX_CHANGES_AT_ONCE // max(1, (total - start) * width))
        for first in range(0, len(group.rows), rows_at_once):
            rows = np.arange(first, min(len(group.rows), first + rows_at_once))
            steps_at_once = max(1, MAX_CHANGES_AT_ONCE // (len(rows) * width))
            for begin in range(start, total, steps_at_once):
                part = slice(begin, min(total, begin + steps_at_once))
                walks = Walks(walked.steps.part(part), walked.differing[rows, part], self._block.ends_known)
                parts.append(_Part(group, rows, part, walks))
        self._waiting = parts[::-1] + self._waiting


class _Sequence:
    """A sequence of steps, which grows."""

    def __init__(self, source: StepSource, visits: Visits | FoldedVisits | EndlessVisits, step: int, d: int) -> None:
        self._source, self.visits = source, visits
        self.steps = Steps(np.empty((0, step, d), dtype=np.int64), np.empty(0, dtype=np.int64))

    def take(self, count: int) -> Steps:
        """Return ``count`` further steps."""
        fresh = Steps(self._source.take(count)[0], self.visits.extend(count))
        self.steps = Steps(*(np.concatenate(both) for both in zip(self.steps, fresh, strict=True)))
        return fresh

    def between(self, start: int, stop: int) -> Steps:
        """Return the steps from ``start`` to ``stop``.

        Missing steps are taken in portions that do not depend on how many are wanted. The steps of a row therefore do
        not depend on how many steps other rows take.
        """
        while (known := len(self.steps.draws)) < stop:
            self.take(max(FIRST_STEPS, int(GROWTH * known) + 1) - known)
        return self.steps.part(slice(start, stop))
