"""Meters of the study ``overhead``: time inside a model, and memory of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

WATCH_SECONDS = 0.002
"""Seconds between two readings of the resident memory."""

PAGE_BYTES = 4096


class Timed:
    """A model function that records its time, its calls and the number of rows that it was given.

    Examples
    --------
    >>> predict = Timed(lambda table: [sum(row) for row in table])
    >>> predict([[1, 2], [3, 4]])
    [3, 7]
    >>> predict.calls, predict.rows
    (1, 2)
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self.reset()

    def reset(self) -> None:
        """Forget all calls so far."""
        self.seconds, self.calls, self.rows = 0.0, 0, 0

    def __call__(self, table: Any) -> Any:
        """Call the function."""
        start = perf_counter()
        output = self._function(table)
        self.seconds += perf_counter() - start
        self.calls += 1
        self.rows += len(table)
        return output


class PeakMemory:
    """Largest resident memory of this process while a block runs, minus that at its start; ``peak`` is in MB.

    Examples
    --------
    ::

        with PeakMemory() as memory:
            explain(rows)
        memory.peak
    """

    def __enter__(self) -> Self:
        self._stop, self._start = threading.Event(), _resident_megabytes()
        self.peak = 0.0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._update()
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(WATCH_SECONDS):
            self._update()

    def _update(self) -> None:
        self.peak = max(self.peak, _resident_megabytes() - self._start)


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE_BYTES / 1e6
