"""Running out of memory: the batch is halved, and the work goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Floats

SIGNS = ("out of memory", "not enough memory", "can't allocate memory", "failed to allocate", "bad_alloc")


class BatchHalvedWarning(UserWarning):
    """Warning that a network ran out of memory, and is called with fewer images at a time.

    Examples
    --------
    >>> import warnings, sharpley
    >>> warnings.simplefilter("ignore", sharpley.BatchHalvedWarning)
    """


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of any library says that there was not enough memory."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    return any(sign in text for sign in SIGNS)


class Batches:
    """Calls a function on parts of a range, and on smaller ones from the moment that memory does not suffice.

    Parameters
    ----------
    size : int
        Largest part.

    Attributes
    ----------
    size : int
        Largest part that has not failed yet.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, n: int, function: Callable[[slice], Floats]) -> Floats:
        """Return the results of ``function`` for parts of ``range(n)``, one after the other, joined."""
        parts, start = [], 0
        while start < n:
            part = slice(start, min(n, start + self.size))
            try:
                parts.append(function(part))
            except Exception as error:
                if part.stop - part.start == 1 or not is_out_of_memory(error):
                    raise
                self._halve(part.stop - part.start)
                continue
            start = part.stop
        return np.concatenate(parts)

    def _halve(self, failed: int) -> None:
        self.size = max(1, failed // 2)
        warnings.warn(
            f"{failed} images at a time do not fit into memory; continuing with {self.size}. "
            f"batch_size={self.size} avoids the attempt",
            BatchHalvedWarning,
            stacklevel=stacklevel_outside(),
        )
