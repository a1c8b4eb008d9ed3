"""Where parts are explained: in this process, in several of this machine, or on a Dask cluster.

All of them call the same function on the same rows, so that results do not depend on the engine. The recipe goes once
to every process; then rows go, and columns come back in the order in which parts are finished.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TypeAlias

from sharpley._support.workers import in_workers
from sharpley.batch.cluster import on_cluster
from sharpley.batch.parts import Explained, Task, explain_part
from sharpley.batch.recipe import Recipe

Results: TypeAlias = Generator[Explained, None, None]


def run(recipe: Recipe, tasks: Iterator[Task], *, jobs: int, scheduler: str | None) -> Results:
    """Yield the results of parts in the order in which they are finished."""
    if scheduler is not None:
        return on_cluster(recipe, tasks, scheduler)
    if jobs == 1:
        return (explain_part(recipe, part, rows) for part, rows in tasks)
    return _in_processes(recipe, tasks, jobs)


def _in_processes(recipe: Recipe, tasks: Iterator[Task], jobs: int) -> Results:
    """Explain parts in worker processes of this machine, or of joblib's current backend."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        yield from in_workers(explain_part, tasks, jobs, shared=(recipe,), ordered=False)
    except TerminatedWorkerError as error:
        raise OSError(
            "a worker process ended unexpectedly, probably for lack of memory; finished parts are kept. Go on with "
            "fewer --jobs"
        ) from error
