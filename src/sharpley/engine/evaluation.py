"""Evaluation of coalitions: each one once, in calls of bounded size, on one core or several.

A value depends only on its row and coalition, never on how the work was divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats, Orderings
from sharpley._support.workers import in_workers
from sharpley.coalitions.store import EMPTY, FULL, CoalitionStore
from sharpley.engine.progress import Progress
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.draws.base import Asked
from sharpley.estimators.walks import add_walks, contributions_along
from sharpley.games.base import Evaluate, Games
from sharpley.games.callables import CallableGame
from sharpley.games.values import checked_values

ENDS = (EMPTY, FULL)  # the first coalitions of every store
MAX_EXPONENT = 300  # values up to 2 to this power, or down to its inverse, are computed with as they are
TASKS_PER_JOB = 4  # tasks for each worker: enough to balance the load, few enough to send the model rarely


class Evaluation:
    """The values of a store's coalitions for some rows, evaluated as the store grows.

    Parameters
    ----------
    games : Games
        Games to evaluate.
    rows : (r,) int
        Rows of ``games`` that are evaluated.
    store : CoalitionStore
        Coalitions to evaluate.
    ends : (r, 2, k) float
        Values of the empty and of the full coalition, the first two of every store.
    players : (store.d,) int, optional
        The players of ``games`` that the store's coalitions consist of; the others are absent from all coalitions.
    n_jobs : int, optional
        Number of parallel workers of joblib's current backend.
    progress : Progress, optional
        Progress bar to advance.
    stopwatch : Stopwatch, optional
        Measures the time of model calls.

    Attributes
    ----------
    values : (r, m, k) float
        Values of all coalitions evaluated so far, in units of ``units``.
    units : (r, 1, k) float
        1, unless values are so large or so small that their squares are not finite, or 0; then a power of 2, so that
        the digits do not change.
    """

    def __init__(
        self,
        games: Games,
        rows: NDArray[np.int64],
        store: CoalitionStore,
        ends: Floats,
        *,
        players: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        self.store, self.rows = store, rows
        self.units = units_of(ends)
        self.values = ends / self.units
        self._games, self._players = games, None if store.d == games.d else players
        self._n_jobs, self._progress, self._stopwatch = n_jobs, progress, stopwatch

    def catch_up(self) -> None:
        """Evaluate the coalitions that were registered since the last call."""
        fresh = self.store.since(self.values.shape[1])
        if len(fresh) == 0:
            return
        with nullcontext() if self._stopwatch is None else self._stopwatch.model_calls():
            new = evaluate(self._games, self.rows, self._whole(fresh), n_jobs=self._n_jobs, advance=self._advance)
        if self.values.shape[1] == len(ENDS):  # nothing but ∅ and N is known, which may be 0
            ends = self.values * self.units
            self.units = units_of(np.concatenate([ends, new], axis=1))
            self.values = ends / self.units
        self.values = np.concatenate([self.values, new / self.units], axis=1)

    @property
    def may_be_noisy(self) -> bool:
        """Whether nothing is known of how values come about: a function of coalitions may return anything."""
        return isinstance(self._games, CallableGame)

    def again(self, position: int) -> Floats:
        """Evaluate one of the store's coalitions once more, for the first of the rows: (k,)."""
        coalition = self._whole(self.store.since(position)[:1])
        with nullcontext() if self._stopwatch is None else self._stopwatch.model_calls():
            return evaluate(self._games, self.rows[:1], coalition)[0, 0]

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Continue with only some of the rows, given by a mask (r,)."""
        self.rows, self.values, self.units = self.rows[which], self.values[which], self.units[which]

    def _whole(self, coalitions: Coalitions) -> Coalitions:
        """Return coalitions of the store as coalitions of all players."""
        if self._players is None:
            return coalitions
        whole = np.zeros((len(coalitions), self._games.d), dtype=bool)
        whole[:, self._players] = coalitions
        return whole

    def _advance(self, count: int) -> None:
        if self._progress is not None:
            self._progress.advance(count)


def walk_contributions(games: Games, orderings: Orderings) -> Floats:
    """Return the contributions of all players along orderings (n, d), for every game: (rows, k, n, d)."""
    store = CoalitionStore(games.d)
    walks = add_walks(store, orderings)
    evaluation = Evaluation(games, np.arange(games.n_rows), store, games.endpoints())
    evaluation.catch_up()
    return contributions_along(np.moveaxis(evaluation.values * evaluation.units, 1, 2)[:, :, walks], orderings)


def units_of(values: Floats) -> Floats:
    """Return the unit of each row and output, (r, 1, k), from values (r, m, k), or of each output, from (m, k)."""
    _, exponents = np.frexp(np.abs(values).max(axis=-2, keepdims=True))
    return np.ldexp(1.0, np.where(np.abs(exponents) > MAX_EXPONENT, exponents, 0))


def evaluate(
    games: Games,
    rows: NDArray[np.int64],
    coalitions: Coalitions,
    *,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Return the value of every coalition for every row, as means over all draws: (r,) and (m, d) -> (r, m, k).

    The r·m values are computed in calls of at most ``games.values_per_call``, in one process or in ``n_jobs`` workers
    of joblib's current backend.
    """
    total = len(rows) * len(coalitions)
    if n_jobs in (None, 1):
        parts = iter([_evaluate_part(games, rows, coalitions, 0, total, advance)])
    else:
        parts = _in_parallel(games, rows, coalitions, n_jobs, advance)
    return np.concatenate(list(parts)).reshape(len(rows), len(coalitions), -1)


def evaluate_draws(
    games: Games,
    rows: NDArray[np.int64],
    asked: Asked,
    *,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Return the values of coalitions of ``rows`` (r,) in single draws, (evaluations, k).

    They are evaluated in calls of at most ``games.draws_per_call``.
    """
    bounds = np.arange(0, len(asked), games.draws_per_call)
    parts: Iterator[Floats]
    if n_jobs in (None, 1):
        evaluator = games.evaluator()
        parts = (_draws_part(evaluator, rows, asked, int(start), games.draws_per_call) for start in bounds)
    else:
        parts = _draws_in_parallel(games, rows, asked, bounds, n_jobs)
    found = []
    for part in parts:
        advance(len(part))
        found.append(part)
    return np.concatenate(found) if found else np.empty((0, 1))


def _draws_part(evaluator: Evaluate, rows: NDArray[np.int64], asked: Asked, start: int, size: int) -> Floats:
    which, coalitions, draws = asked.ask(slice(start, start + size))
    return checked_values(evaluator(rows[which], coalitions, draws), coalitions)


def _call(games: Games, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
    return checked_values(games.evaluator()(rows, coalitions, draws), coalitions)


def _draws_in_parallel(
    games: Games, rows: NDArray[np.int64], asked: Asked, bounds: NDArray[np.int64], n_jobs: int | None
) -> Iterator[Floats]:
    parts = (asked.ask(slice(int(start), int(start) + games.draws_per_call)) for start in bounds)
    tasks = ((rows[which], coalitions, draws) for which, coalitions, draws in parts)
    yield from in_workers(_call, tasks, n_jobs, shared=(games,))


def _evaluate_part(
    games: Games,
    rows: NDArray[np.int64],
    coalitions: Coalitions,
    start: int,
    stop: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Return values start .. stop of the product of rows and coalitions, (stop − start, k).

    Neighbouring coalitions are similar: along a walk, one player joins after another. So neighbours are assigned to the
    same position of consecutive calls, whose inputs then differ little.
    """
    evaluate_values = games.evaluator()
    n_calls = -(-(stop - start) // games.values_per_call)
    outputs, order = [], []
    for call in range(n_calls):
        numbers = np.arange(start + call, stop, n_calls)
        asked = coalitions[numbers % len(coalitions)]
        outputs.append(checked_values(evaluate_values(rows[numbers // len(coalitions)], asked, None), asked))
        order.append(numbers - start)
        advance(len(numbers))
    values = np.empty((stop - start, outputs[0].shape[1]))
    values[np.concatenate(order)] = np.concatenate(outputs)
    return values


def _in_parallel(
    games: Games, rows: NDArray[np.int64], coalitions: Coalitions, n_jobs: int | None, advance: Callable[[int], None]
) -> Iterator[Floats]:
    from joblib import effective_n_jobs

    total, size = len(rows) * len(coalitions), games.values_per_call
    n_calls = -(-total // size)
    n_tasks = min(n_calls, TASKS_PER_JOB * effective_n_jobs(n_jobs))
    # Each task consists of whole calls, so that dividing the work does not make calls smaller.
    bounds = np.linspace(0, n_calls, n_tasks + 1).round().astype(np.int64) * size
    bounds[-1] = total
    tasks = ((int(a), int(b)) for a, b in pairwise(bounds))
    for values in in_workers(_evaluate_part, tasks, n_jobs, shared=(games, rows, coalitions)):
        advance(len(values))
        yield values
