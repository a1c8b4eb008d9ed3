"""How long the model took, and how long the estimator; it changes no result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sharpley._support.checks import stacklevel_outside
from sharpley.engine.methods import METHODS

REPORTED_SECONDS = 5.0  # an estimator that takes less time is not mentioned


class EstimatorTimeWarning(UserWarning):
    """An estimator took longer than the calls of the model.

    Examples
    --------
    >>> import warnings, sharpley
    >>> warnings.simplefilter("ignore", sharpley.EstimatorTimeWarning)  # accuracy is worth the time
    """


class Stopwatch:
    """Seconds since it was made, with those spent in model calls counted separately."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._in_calls = 0.0

    @contextmanager
    def model_calls(self) -> Iterator[None]:
        """Count the time within the block as the model's."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._in_calls += time.perf_counter() - start

    def report(self, method: str) -> None:
        """Warn if a method took long, and longer than the model, and has a faster alternative."""
        own = time.perf_counter() - self._start - self._in_calls
        faster = METHODS[method].faster if method in METHODS else None
        if faster is None or own < max(REPORTED_SECONDS, self._in_calls):
            return
        warnings.warn(
            f"method {method!r} took {own:.1f} s of its own, and model calls {self._in_calls:.1f} s; "
            f"method={faster!r} is faster, and less accurate for the same number of evaluations",
            EstimatorTimeWarning,
            stacklevel=stacklevel_outside(),
        )
