"""A progress bar for long computations."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sharpley._support.checks import stacklevel_outside

LONG_SECONDS = 180.0  # runs that are expected to take longer than this say so
SECONDS_TO_JUDGE = 2.0  # of each of the two stretches by which the expected time is judged
SECONDS_WITH_LIMIT = 60.0  # that a run has taken before it says how long it may take if a tolerance is not met


class LongRunWarning(UserWarning):
    """Warning that a run will take several minutes, with what would make it shorter.

    Examples
    --------
    >>> import warnings, sharpley
    >>> warnings.simplefilter("ignore", sharpley.LongRunWarning)  # it may take as long as it takes
    """


class Progress:
    """A tqdm bar over evaluations, which warns of runs that will take long.

    What happens before the first evaluations is not extrapolated, since it comes once: imports, compilation, the
    model's own preparations. Nor is a single slow stretch: two in a row must agree.

    Parameters
    ----------
    show : bool or None
        Whether to show the bar; None shows it only on a terminal.
    total : int
        Expected number of evaluations.
    is_limit : bool, default False
        Whether fewer evaluations may be enough, because a tolerance is met. Then only runs that have already taken a
        while say how long they may still take.
    """

    def __init__(self, show: bool | None, total: int, *, is_limit: bool = False) -> None:
        self._total, self._is_limit, self._done = total, is_limit, 0
        self._start, self._stretch = time.perf_counter(), (0.0, 0)
        self._remaining: float | None = None  # seconds, by the last stretch
        self._warned = False
        self._bar: Any = None
        if show is not False:  # even a bar that is not shown has a semaphore, which a killed process leaves behind
            from tqdm.auto import tqdm

            disable = None if show is None else False
            self._bar = tqdm(total=total, unit="eval", unit_scale=True, disable=disable, leave=False, desc="Shapley")

    def advance(self, count: int) -> None:
        """Advance the bar by a number of evaluations that are done or no longer needed."""
        if self._bar is not None:
            self._bar.update(count)
        now, is_first = time.perf_counter(), self._done == 0
        self._done += count
        since, done = self._stretch
        if is_first:
            self._stretch = now, self._done
        elif now - since > SECONDS_TO_JUDGE and self._done > done:
            self._judge(now - self._start, (now - since) / (self._done - done) * (self._total - self._done))
            self._stretch = now, self._done

    def _judge(self, elapsed: float, remaining: float) -> None:
        """Warn, once, if the last two stretches agree that the run will take long."""
        before, self._remaining = self._remaining, remaining
        is_early = self._is_limit and elapsed < SECONDS_WITH_LIMIT
        if before is None or self._warned or is_early or min(before, remaining) < LONG_SECONDS:
            return
        self._warned = True
        minutes = f"{min(before, remaining) / 60:.0f} more minutes"
        how_long = f"up to {minutes}, unless the tolerance is met before" if self._is_limit else f"about {minutes}"
        warnings.warn(
            f"this run will take {how_long}; fewer rows, a smaller max_predictions or max_evals, or n_jobs=-1 would "
            "make it shorter, and Explainer.plan forecasts by how much",
            LongRunWarning,
            stacklevel=stacklevel_outside(),
        )

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


@contextmanager
def progress_bar(show: bool | None, total: int, *, is_limit: bool = False) -> Iterator[Progress]:
    """Show a progress bar while the block runs; it is also removed if the block is interrupted."""
    bar = Progress(show, total, is_limit=is_limit)
    try:
        yield bar
    finally:
        bar.close()
