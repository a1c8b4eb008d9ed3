"""How long the model took, and how long the estimator; it changes no result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sharpley._support.checks import stacklevel_outside

WORTH_A_NOTE = 5.0  # seconds
FASTER = {"gp": "regression", "gp-unbiased": "antithetic", "regression": "antithetic"}


class EstimatorTimeWarning(UserWarning):
    """An estimator took longer than the calls of the model."""


class Clock:
    """Seconds since it was made, those in model calls apart."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._in_calls = 0.0

    @contextmanager
    def model_calls(self) -> Iterator[None]:
        """Count what is done within as the model's."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._in_calls += time.perf_counter() - start

    def note(self, method: str) -> None:
        """Tell the user if the method took long, and longer than the model."""
        own = time.perf_counter() - self._start - self._in_calls
        if method not in FASTER or own < max(WORTH_A_NOTE, self._in_calls):
            return
        warnings.warn(
            f"method {method!r} took {own:.1f} s of its own beside {self._in_calls:.1f} s of model calls; "
            f"method={FASTER[method]!r} is faster, and less accurate for the same number of evaluations",
            EstimatorTimeWarning,
            stacklevel=stacklevel_outside(),
        )
