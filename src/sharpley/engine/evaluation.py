"""Evaluation of what estimators ask for: in calls of bounded size, on one core or several.

A value depends only on its row, coalition and draw, never on how the work was divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley._support.workers import in_workers
from sharpley.coalitions.request import AllDraws, Asked, Request
from sharpley.coalitions.store import CoalitionStore
from sharpley.estimators.walks import add_walks, contributions_along
from sharpley.games.base import Games
from sharpley.games.values import checked_values

TASKS_PER_JOB = 4  # tasks for each worker: enough to balance the load, few enough to send the model rarely
MAX_CALLS_PER_TASK = 16  # whose coalitions are in memory together


def evaluate(
    games: Games,
    rows: NDArray[np.int64],
    request: Request,
    *,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Return the values of a request for ``rows`` (r,), (evaluations, k).

    They are computed in calls of at most ``games.values_per_call`` means or ``games.draws_per_call`` single draws, in
    one process or in ``n_jobs`` workers of joblib's current backend.
    """
    if len(request) == 0:
        return np.empty((0, 1))
    calls = request.calls(games.values_per_call if request.is_for_all_draws else games.draws_per_call)
    asked = (_of_games(rows, request.ask(numbers)) for numbers in calls)
    parts = []
    for part in _evaluated(games, asked) if n_jobs in (None, 1) else _in_parallel(games, asked, len(calls), n_jobs):
        advance(len(part))
        parts.append(part)
    values = np.empty((len(request), parts[0].shape[1]))
    values[np.concatenate(calls)] = np.concatenate(parts)
    return values


def _of_games(rows: NDArray[np.int64], asked: Asked) -> Asked:
    """Replace positions of rows by the rows of the games."""
    return rows[asked[0]], *asked[1:]


def _evaluated(games: Games, calls: Iterable[Asked]) -> Iterator[Floats]:
    """Yield the values of each call."""
    evaluator = games.evaluator()
    for rows, coalitions, draws in calls:
        yield checked_values(evaluator(rows, coalitions, draws), coalitions)


def _task(games: Games, *calls: Asked) -> list[Floats]:
    return list(_evaluated(games, calls))


def _in_parallel(games: Games, calls: Iterator[Asked], n_calls: int, n_jobs: int | None) -> Iterator[Floats]:
    """Yield the values of each call, a few calls in every task."""
    from itertools import islice

    from joblib import effective_n_jobs

    n_tasks = TASKS_PER_JOB * effective_n_jobs(n_jobs)
    size = min(MAX_CALLS_PER_TASK, -(-n_calls // n_tasks))
    tasks = iter(lambda: tuple(islice(calls, size)), ())
    for values in in_workers(_task, tasks, n_jobs, shared=(games,)):
        yield from values


def walk_contributions(games: Games, orderings: Orderings) -> Floats:
    """Return the contributions of all players along orderings (n, d), for every game: (rows, k, n, d)."""
    store = CoalitionStore(games.d)
    walks = add_walks(store, orderings)
    request = AllDraws(store.since(2), games.n_rows)
    ends = games.endpoints()
    values = evaluate(games, np.arange(games.n_rows), request).reshape(games.n_rows, -1, ends.shape[2])
    every = np.concatenate([ends, values], axis=1)
    return contributions_along(np.moveaxis(every, 1, 2)[:, :, walks], orderings)
