"""Work in parallel, by joblib's current backend, in processes that do not outlive the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from sharpley._support.sharing import Handle, handle_for, remove_files

SECONDS_BETWEEN_LOOKS = 1.0

T = TypeVar("T")


def in_workers(
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    *,
    shared: tuple[Any, ...] = (),
    ordered: bool = True,
) -> Iterator[Any]:
    """Yield what a function returns for each tuple of arguments, computed by ``n_jobs`` parallel workers.

    Results are in the order of the arguments or, if that does not matter, in the order in which they are finished. The
    arguments that are ``shared`` come first in every call, and are sent once to each worker.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    backend = get_active_backend()[0]
    one_by_one = "generator" if ordered else "generator_unordered"
    return_as = one_by_one if backend.supports_return_generator else "list"  # Ray returns all results at the end
    with handle_for(shared, type(backend).__name__) as handle:
        tasks = (delayed(_call)(os.getpid(), function, handle, each) for each in arguments)
        with _watching():
            parallel = Parallel(n_jobs=n_jobs, return_as=return_as)
        results = parallel(tasks)
        try:
            yield from chain(results)  # a chain is not closed by an error, but by what follows
        finally:
            _abandon(results)


def behind(function: Callable[[T], object], items: Iterable[T]) -> Iterator[T]:
    """Yield each item once a function has been called on it, in a thread, while the next item was being made.

    At most one call is under way, so that items do not pile up. An error of a call is raised after the next item.
    """
    with ThreadPoolExecutor(1) as thread:
        before: list[tuple[Future[object], T]] = []
        for item in items:
            yield from _finished(before)
            before = [(thread.submit(function, item), item)]
        yield from _finished(before)


def _finished(calls: list[tuple[Future[object], T]]) -> Iterator[T]:
    for call, item in calls:
        call.result()
        yield item


def _abandon(results: Any) -> None:
    """Cancel the tasks whose results nobody wants since there was an error, without the warnings of joblib."""
    if isinstance(results, Generator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _watching() -> AbstractContextManager[Any]:
    """Return a context in which the processes of loky, joblib's default, watch this one from their start.

    Those of other backends do so from their first task on.
    """
    from joblib import parallel_config
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    if type(backend).__name__ != "LokyBackend" or backend.backend_kwargs:
        return nullcontext()
    return parallel_config("loky", n_jobs=n_jobs, initializer=_end_with, initargs=(os.getpid(),))


def _call(caller: int, function: Callable[..., Any], handle: Handle, arguments: tuple[Any, ...]) -> Any:
    """Call a function in a worker, which ends when the process that called it does."""
    _end_with(caller)
    return function(*handle.get(), *arguments)


@cache
def _end_with(caller: int) -> None:
    """Watch the caller from now on, once in a process, if this process is a child of it.

    A process that is killed cannot tell its workers. Those of loky would wait five minutes for the next task, with the
    standard output of the caller open, so that whoever reads it would wait, too.
    """
    if _is_child_of(caller):
        threading.Thread(target=_exit_after, args=(caller,), name="sharpley-caller", daemon=True).start()


def _is_child_of(caller: int) -> bool:
    """Return whether the caller started this process; threads of the caller and machines of a cluster are no children.

    The caller may be gone already, but loky's processes have no other parent.
    """
    if os.name == "nt":
        known = multiprocessing.parent_process()
        return known is not None and known.pid == caller
    of_loky = ".loky." in type(multiprocessing.current_process()).__module__
    return os.getppid() == caller or (of_loky and os.getpid() != caller)


def _exit_after(caller: int) -> None:
    """End this process once the caller has ended."""
    if os.name == "nt" and (known := multiprocessing.parent_process()) is not None:
        known.join()  # on Windows, the number of a parent outlives it
    while os.name != "nt" and os.getppid() == caller:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    remove_files()
    os._exit(1)
