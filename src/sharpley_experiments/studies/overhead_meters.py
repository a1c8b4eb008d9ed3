"""A meter of the study ``overhead``: the memory of this process."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

WATCH_SECONDS = 0.002
"""Seconds between two readings of the resident memory."""

PAGE_BYTES = 4096


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
