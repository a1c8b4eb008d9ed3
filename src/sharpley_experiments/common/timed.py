"""A model function that is timed, and whose predictions are counted."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time, thread_time
from typing import Any


class Timed:
    """A model function that records its time, its calls and the number of rows that it was given.

    ``seconds`` is wall-clock time. ``thread_seconds`` is processor time of the thread that calls it, and
    ``process_seconds`` that of all threads; these two do not depend on how busy the machine is.

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
        self.seconds, self.thread_seconds, self.process_seconds, self.calls, self.rows = 0.0, 0.0, 0.0, 0, 0

    def __call__(self, table: Any) -> Any:
        """Call the function."""
        start, thread_start, process_start = perf_counter(), thread_time(), process_time()
        output = self._function(table)
        self.seconds += perf_counter() - start
        self.thread_seconds += thread_time() - thread_start
        self.process_seconds += process_time() - process_start
        self.calls += 1
        self.rows += table.shape[0] if hasattr(table, "shape") else len(table)
        return output
