"""Linear algebra on one thread: the same bits whatever the number of threads, and no waiting for busy cores.

Libraries such as OpenBLAS divide products and factorisations among threads, and the order of summation changes with
their number. The matrices of estimators are small; on a busy machine several threads are even slower than one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which linear algebra uses one thread."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


def one_thread_of_everything() -> AbstractContextManager[Any]:
    """Return a context in which OpenMP, which torch uses, has one thread as well; for one of several processes."""
    from threadpoolctl import threadpool_limits

    context: AbstractContextManager[Any] = threadpool_limits(limits=1)  # torch may have been loaded a moment ago
    return context


@lru_cache(maxsize=1)
def _controller() -> Any:
    """Find the libraries once: that takes milliseconds."""
    import numpy.linalg  # noqa: F401 (the libraries must have been loaded)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
