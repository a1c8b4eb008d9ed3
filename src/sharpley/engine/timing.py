"""The time that model calls and the estimator take; results do not depend on it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sharpley._support.checks import stacklevel_outside
from sharpley.engine.methods import METHODS

MIN_REPORTED_SECONDS = 5.0  # no warning if the estimator takes less time than this


class EstimatorTimeWarning(UserWarning):
    """Warning that an estimator took longer than the model calls, and that a faster method is available.

    Examples
    --------
    >>> import warnings, sharpley
    >>> warnings.simplefilter("ignore", sharpley.EstimatorTimeWarning)  # accuracy is worth the time
    """


class Stopwatch:
    """Measure the time since its creation, and separately the time of model calls."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._in_calls = 0.0

    @contextmanager
    def model_calls(self) -> Iterator[None]:
        """Count the time of the block as model calls."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._in_calls += time.perf_counter() - start

    def report(self, method: str) -> None:
        """Warn if a method took long, and longer than the model calls, and if there is a faster method."""
        own = time.perf_counter() - self._start - self._in_calls
        faster = METHODS[method].faster if method in METHODS else None
        if faster is None or own < max(MIN_REPORTED_SECONDS, self._in_calls):
            return
        warnings.warn(
            f"method {method!r} took {own:.1f} s of its own, in addition to {self._in_calls:.1f} s of model calls; "
            f"method={faster!r} is faster, but less accurate for the same number of evaluations",
            EstimatorTimeWarning,
            stacklevel=stacklevel_outside(),
        )
