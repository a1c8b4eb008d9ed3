"""Mixing rows with background rows, in the type of container that the model expects.

A *mixer* holds the rows to be explained and the background rows. Given a row and a mask of columns, it returns the
background rows with the masked columns replaced by those of the row, in the type that was given: arrays stay arrays,
frames stay frames with their dtypes (categories, strings, mixed columns), sparse matrices stay sparse.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions

Mix: TypeAlias = Callable[[NDArray[np.int64], Coalitions, slice], Any]
"""``mix(rows (p,), masks (p, columns), slice of b background rows)`` -> p · b mixed rows."""


class Numbers(NamedTuple):
    """The values of rows and background rows as numbers; categories, strings and objects are numbered."""

    rows: NDArray[Any]
    """Values of the rows to be explained, (n_rows, columns)."""
    background: NDArray[Any]
    """Values of the background rows, (n_background, columns). They do not depend on the rows to be explained."""
    is_category: NDArray[np.bool_]
    """Which columns are numbered categories, (columns,)."""


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

    def fresh_rows(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the rows to be explained, as the model accepts them."""

    def fresh_background(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the background rows, as the model accepts them."""

    def varying(self) -> Coalitions:
        """Return whether each column of a row differs from any background row, (n_rows, columns)."""

    def differing(self, rows: NDArray[np.int64], background: NDArray[np.int64]) -> Coalitions:
        """Return which columns of rows differ from those of single background rows, (p,) and (p,) -> (p, columns)."""

    def numbers(self) -> Numbers | None:
        """Return all values as numbers; None if they would not fit into memory, as those of sparse matrices."""

    def mixing(self) -> Mix:
        """Return a function that mixes rows with many background rows, in its own memory."""

    def mix_single(self, rows: NDArray[np.int64], masks: Coalitions, background: NDArray[np.int64]) -> Any:
        """Mix each row with one background row: (p,), (p, columns) and (p,) -> p rows, as the model accepts them."""


def is_from(module: str, data: Any, name: str) -> bool:
    """Return whether ``data`` is an instance of a library's class; this is False if the library was not imported."""
    library = sys.modules.get(module)
    return library is not None and isinstance(data, getattr(library, name, ()))


def is_sparse(data: Any) -> bool:
    """Return whether ``data`` is a scipy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))
