"""Parts on a Dask cluster.

The recipe is a plug-in of the workers: each gets it once, those that join later included. A task is a part with its
rows. The tasks of a worker that is lost are run again by another one; since results are written by this process alone,
and once for each part, nothing is lost and nothing is there twice.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module
from typing import Any

from sharpley.batch.parts import Explained, Part, Task, explain_part
from sharpley.batch.recipe import Recipe

TASKS_PER_THREAD = 2  # that are sent ahead, so that no worker waits for rows
CONNECT_SECONDS = 30

_RECIPES: dict[str, Recipe] = {}  # those that this process was sent, by key


def on_cluster(recipe: Recipe, tasks: Iterator[Task], scheduler: str) -> Generator[Explained, None, None]:
    """Yield the results of parts, explained by the workers of a cluster, in the order in which they are finished."""
    client = _connect(scheduler)
    name = f"sharpley-{recipe.key}"
    try:
        client.register_plugin(_plugin(recipe), name=name)
        yield from _finished(client, recipe.key, tasks)
    except (_distributed().KilledWorker, _distributed().comm.CommClosedError, CancelledError) as error:
        raise OSError(
            f"the cluster at {scheduler} lost its scheduler, or one worker after the other; finished parts are kept, "
            "and the same command goes on"
        ) from error
    finally:
        with suppress(OSError):  # there may be no scheduler any more
            client.unregister_worker_plugin(name)
        client.close()


def _connect(scheduler: str) -> Any:
    try:
        client = _distributed().Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(f"there is no Dask scheduler at {scheduler}: {error}") from error
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        client.close()
        raise OSError(f"the Dask cluster at {scheduler} has no workers") from error
    return client


def _finished(client: Any, key: str, tasks: Iterator[Task]) -> Iterator[Explained]:
    """Keep a few tasks for every thread of the cluster under way, and yield what is finished."""
    waiting = _distributed().as_completed(loop=client.loop)
    under_way = 0
    more = True
    while more or under_way:
        while more and under_way < max(1, TASKS_PER_THREAD * sum(client.nthreads().values())):
            task = next(tasks, None)
            if task is None:
                more = False
                break
            waiting.add(client.submit(_explain_on_worker, key, *task, pure=False))
            under_way += 1
        if under_way:
            finished = next(waiting)
            under_way -= 1
            yield finished.result()


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise ImportError("--scheduler needs Dask: pip install 'sharpley[dask]'") from error


def _plugin(recipe: Recipe) -> Any:
    """Return a plug-in that keeps the recipe in every worker."""

    class KeepRecipe(_distributed().WorkerPlugin):  # type: ignore[misc] # imported on first use
        def setup(self, worker: Any) -> None:
            _keep(recipe)

        def teardown(self, worker: Any) -> None:
            _forget(recipe.key)

    return KeepRecipe()


def _keep(recipe: Recipe) -> None:
    _RECIPES[recipe.key] = recipe


def _forget(key: str) -> None:
    _RECIPES.pop(key, None)


def _explain_on_worker(key: str, part: Part, rows: Any) -> Explained:
    return explain_part(_RECIPES[key], part, rows)
