"""Mixing rows with background rows, in the type of container that the model expects.

A *mixer* holds the rows to be explained and the background rows. Given a row and a mask of columns, it returns the
background rows with the masked columns replaced by those of the row, in the type that was given: arrays stay arrays,
frames stay frames with their dtypes (categories, strings, mixed columns), sparse matrices stay sparse.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions

Mix: TypeAlias = Callable[[NDArray[np.int64], Coalitions, slice], Any]
"""``mix(rows (p,), masks (p, columns), slice of b background rows)`` -> p · b mixed rows."""


class Mixer(Protocol):
    """Rows to be explained and background rows, of one type of container."""

    n_rows: int
    """Number of rows to be explained."""
    n_background: int
    """Number of background rows."""
    n_columns: int
    """Number of columns."""
    names: list[str] | None
    """Names of the columns, if they have any."""
    may_reuse: bool
    """Whether mixed rows may share memory from one call to the next; then the model must not write to them."""

    def fresh_rows(self, part: slice) -> Any:
        """Return a copy of some of the rows to be explained, as the model accepts them."""

    def fresh_background(self, part: slice) -> Any:
        """Return a copy of some of the background rows, as the model accepts them."""

    def varying(self) -> Coalitions:
        """Return whether each column of a row differs from any background row, (n_rows, columns)."""

    def mixing(self) -> Mix:
        """Return a function that mixes rows with many background rows, in its own memory."""

    def mix_single(self, rows: NDArray[np.int64], masks: Coalitions, background: NDArray[np.int64]) -> Any:
        """Mix each row with one background row: (p,), (p, columns) and (p,) -> p rows, as the model accepts them."""


def is_from(module: str, data: Any, name: str) -> bool:
    """Return whether ``data`` is an instance of a library's class; this is False if the library was not imported."""
    library = sys.modules.get(module)
    return library is not None and isinstance(data, getattr(library, name))


def is_sparse(data: Any) -> bool:
    """Return whether ``data`` is a scipy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))
