"""Evaluating coalitions: counted, in calls of bounded size, on one core or many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.engine.progress import Progress
from sharpley.protocols import PairGame

TASKS_PER_JOB = 4  # pieces of work for each parallel worker: enough to even out, few enough to ship the model seldom


def evaluate(
    game: PairGame, rows: NDArray[np.int64], coalitions: Coalitions, *, n_jobs: int | None, progress: Progress
) -> Floats:
    """Values of every coalition for every row: (r,) and (m, d) -> (r, m, k).

    The r·m pairs are worked off in calls of ``game.pairs_per_call``, within one process or in ``n_jobs``
    workers of joblib's current backend. A value depends on its own row and coalition only, never on how the
    work was divided.
    """
    total = len(rows) * len(coalitions)
    if n_jobs in (None, 1):
        pieces = iter([_work_off(game, rows, coalitions, 0, total, progress.advance)])
    else:
        pieces = _parallel(game, rows, coalitions, n_jobs, progress)
    return np.concatenate(list(pieces)).reshape(len(rows), len(coalitions), -1)


def _work_off(
    game: PairGame,
    rows: NDArray[np.int64],
    coalitions: Coalitions,
    start: int,
    stop: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Values of pairs start .. stop of the product of rows and coalitions, (stop − start, k).

    Neighbouring pairs are alike: most estimators ask for coalitions in which one player joins after another.
    So each slot of a call is given a run of neighbours, one in each call, and the tables of consecutive calls
    differ by little.
    """
    evaluate_pairs = game.evaluator()
    n_calls = -(-(stop - start) // game.pairs_per_call)
    outputs, order = [], []
    for call in range(n_calls):
        pairs = np.arange(start + call, stop, n_calls)
        outputs.append(evaluate_pairs(rows[pairs // len(coalitions)], coalitions[pairs % len(coalitions)]))
        order.append(pairs - start)
        advance(len(pairs))
    values = np.empty((stop - start, outputs[0].shape[1]))
    values[np.concatenate(order)] = np.concatenate(outputs)
    return values


def _parallel(
    game: PairGame, rows: NDArray[np.int64], coalitions: Coalitions, n_jobs: int | None, progress: Progress
) -> Iterator[Floats]:
    from joblib import Parallel, delayed, effective_n_jobs

    total, size = len(rows) * len(coalitions), game.pairs_per_call
    n_calls = -(-total // size)
    n_tasks = min(n_calls, TASKS_PER_JOB * effective_n_jobs(n_jobs))
    # Whole calls for each task, so that dividing the work does not make calls smaller.
    bounds = np.linspace(0, n_calls, n_tasks + 1).round().astype(np.int64) * size
    bounds[-1] = total
    tasks = (delayed(_work_off)(game, rows, coalitions, int(a), int(b)) for a, b in pairwise(bounds))
    for values in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        progress.advance(len(values))
        yield values
