"""Evaluating coalitions: each one once, in calls of bounded size, on one core or many.

A value depends on its own row and coalition only, never on how the work was divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.progress import Progress
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.base import Budget, Estimator
from sharpley.games.base import Games

TASKS_PER_JOB = 4  # pieces of work for each parallel worker: enough to even out, few enough to ship the model seldom


class Evaluation:
    """The values of a store's coalitions for some rows, evaluated as the store grows.

    Parameters
    ----------
    games : Games
    rows : (r,) int
        Rows of ``games`` that are evaluated.
    store : CoalitionStore
    ends : (r, 2, k) float
        Values of the empty and of the full coalition, the first two of every store.
    players : (store.d,) int, optional
        The players of ``games`` that the store's coalitions are made of; the others are absent from all of them.
    n_jobs, progress, stopwatch : optional
        Parallel workers of joblib's current backend, and whom to tell of the work.

    Attributes
    ----------
    values : (r, m, k) float
        Values of all coalitions evaluated so far.
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
        self.store, self.rows, self.values = store, rows, ends
        self._games, self._players = games, None if store.d == games.d else players
        self._n_jobs, self._progress, self._stopwatch = n_jobs, progress, stopwatch

    def catch_up(self) -> None:
        """Evaluate the coalitions that were registered since the last time."""
        fresh = self.store.since(self.values.shape[1])
        if len(fresh) == 0:
            return
        with nullcontext() if self._stopwatch is None else self._stopwatch.model_calls():
            new = evaluate(self._games, self.rows, self._whole(fresh), n_jobs=self._n_jobs, advance=self._advance)
        self.values = np.concatenate([self.values, new], axis=1)

    def spend(self, estimator: Estimator, budget: Budget, learnt: Any = None) -> Any:
        """Let an estimator choose coalitions and learn from their values until the budget is spent.

        Returns what it learnt. When all coalitions are known, nothing more is to be learnt.
        """
        while estimator.choose(self.store, budget, learnt):
            self.catch_up()
            if self.store.is_complete:
                break
            learnt = estimator.learn(self.values)
        return learnt

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Go on with some of the rows."""
        self.rows, self.values = self.rows[which], self.values[which]

    def _whole(self, coalitions: Coalitions) -> Coalitions:
        """Coalitions of the store as coalitions of all players."""
        if self._players is None:
            return coalitions
        whole = np.zeros((len(coalitions), self._games.d), dtype=bool)
        whole[:, self._players] = coalitions
        return whole

    def _advance(self, count: int) -> None:
        if self._progress is not None:
            self._progress.advance(count)


def evaluate(
    games: Games,
    rows: NDArray[np.int64],
    coalitions: Coalitions,
    *,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Values of every coalition for every row, as means over all draws: (r,) and (m, d) -> (r, m, k).

    The r·m values are computed in calls of ``games.values_per_call``, within one process or in ``n_jobs`` workers of
    joblib's current backend.
    """
    total = len(rows) * len(coalitions)
    if n_jobs in (None, 1):
        parts = iter([_evaluate_part(games, rows, coalitions, 0, total, advance)])
    else:
        parts = _in_parallel(games, rows, coalitions, n_jobs, advance)
    return np.concatenate(list(parts)).reshape(len(rows), len(coalitions), -1)


def _evaluate_part(
    games: Games,
    rows: NDArray[np.int64],
    coalitions: Coalitions,
    start: int,
    stop: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Values start .. stop of the product of rows and coalitions, (stop − start, k).

    Neighbouring coalitions are alike: along a walk one player joins after another. So each slot of a call is given a
    run of neighbours, one in each call, and the inputs of consecutive calls differ by little.
    """
    evaluate_values = games.evaluator()
    n_calls = -(-(stop - start) // games.values_per_call)
    outputs, order = [], []
    for call in range(n_calls):
        numbers = np.arange(start + call, stop, n_calls)
        outputs.append(evaluate_values(rows[numbers // len(coalitions)], coalitions[numbers % len(coalitions)], None))
        order.append(numbers - start)
        advance(len(numbers))
    values = np.empty((stop - start, outputs[0].shape[1]))
    values[np.concatenate(order)] = np.concatenate(outputs)
    return values


def _in_parallel(
    games: Games, rows: NDArray[np.int64], coalitions: Coalitions, n_jobs: int | None, advance: Callable[[int], None]
) -> Iterator[Floats]:
    from joblib import Parallel, delayed, effective_n_jobs

    total, size = len(rows) * len(coalitions), games.values_per_call
    n_calls = -(-total // size)
    n_tasks = min(n_calls, TASKS_PER_JOB * effective_n_jobs(n_jobs))
    # Whole calls for each task, so that dividing the work does not make calls smaller.
    bounds = np.linspace(0, n_calls, n_tasks + 1).round().astype(np.int64) * size
    bounds[-1] = total
    tasks = (delayed(_evaluate_part)(games, rows, coalitions, int(a), int(b)) for a, b in pairwise(bounds))
    for values in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        advance(len(values))
        yield values
