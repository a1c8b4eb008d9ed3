"""A progress bar for long computations."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sharpley._support.checks import stacklevel_outside

LONG_SECONDS = 180.0  # runs that are expected to take longer than this say so
SECONDS_TO_JUDGE = 2.0  # after which the expected time is judged


class LongRunWarning(UserWarning):
    """Warning that a run will take several minutes, with what would make it shorter.

    Examples
    --------
    >>> import warnings, sharpley
    >>> warnings.simplefilter("ignore", sharpley.LongRunWarning)  # it may take as long as it takes
    """


class Progress:
    """A tqdm bar over evaluations.

    Parameters
    ----------
    show : bool or None
        Whether to show the bar; None shows it only on a terminal.
    total : int
        Expected number of evaluations.
    """

    def __init__(self, show: bool | None, total: int) -> None:
        from tqdm.auto import tqdm

        disable = None if show is None else not show
        self._total, self._done, self._start, self._judged = total, 0, time.perf_counter(), False
        self._bar = tqdm(total=total, unit="eval", unit_scale=True, disable=disable, leave=False, desc="Shapley")

    def advance(self, count: int) -> None:
        """Advance the bar by a number of evaluations that are done or no longer needed."""
        self._bar.update(count)
        self._done += count
        elapsed = time.perf_counter() - self._start
        if not self._judged and elapsed > SECONDS_TO_JUDGE and self._done > 0:
            self._judged = True
            self._warn_if_long(elapsed * self._total / self._done)

    def _warn_if_long(self, expected: float) -> None:
        if expected > LONG_SECONDS:
            warnings.warn(
                f"this run will take about {expected / 60:.0f} minutes; fewer rows, a smaller max_predictions or "
                "max_evals, or n_jobs=-1 would make it shorter, and Explainer.plan forecasts by how much",
                LongRunWarning,
                stacklevel=stacklevel_outside(),
            )

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


@contextmanager
def progress_bar(show: bool | None, total: int) -> Iterator[Progress]:
    """Show a progress bar while the block runs; it is also removed if the block is interrupted."""
    bar = Progress(show, total)
    try:
        yield bar
    finally:
        bar.close()
