"""A progress bar for long computations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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
        self._bar = tqdm(total=total, unit="eval", unit_scale=True, disable=disable, leave=False, desc="Shapley")

    def advance(self, count: int) -> None:
        """Advance the bar by a number of evaluations that are done or no longer needed."""
        self._bar.update(count)

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
