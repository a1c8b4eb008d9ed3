"""A model function that is timed, and whose predictions are counted."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any


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
