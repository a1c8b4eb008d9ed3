"""Progress of long work, shown on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """A tqdm bar over evaluations; silent when not on a terminal, or when ``show`` is False."""

    def __init__(self, show: bool | None, total: int) -> None:
        from tqdm.auto import tqdm

        disable = None if show is None else not show
        self._bar = tqdm(total=total, unit="eval", unit_scale=True, disable=disable, leave=False, desc="Shapley")

    def advance(self, count: int) -> None:
        """Count evaluations that are done or no longer needed."""
        self._bar.update(count)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


@contextmanager
def progress_bar(show: bool | None, total: int) -> Iterator[Progress]:
    """Show progress while the block runs; the bar is removed on Ctrl-C too."""
    bar = Progress(show, total)
    try:
        yield bar
    finally:
        bar.close()
