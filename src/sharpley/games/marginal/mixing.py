"""Mixing rows with background rows, in the container that the model expects.

A *mixer* holds the rows to be explained and the background rows. ``mix`` makes, for pairs of a row and a mask
of columns, the background rows with the masked columns taken from the row, as the type of table that was
given: arrays stay arrays, frames stay frames with their dtypes (categories, strings, mixed columns), sparse
matrices stay sparse.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions

Mix: TypeAlias = Callable[[NDArray[np.int64], Coalitions, slice], Any]
"""``mix(rows (p,), masks (p, columns), part of the background)``: a table of p · (size of part) rows."""


class Mixer(Protocol):
    """Rows and background rows of one kind of table."""

    n_rows: int
    n_background: int
    n_columns: int
    names: list[str] | None
    """Names of the columns, if the table has them."""
    may_reuse: bool
    """Whether tables may share memory from one call to the next; then the model may not write to them."""

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained, as the model takes them, in memory of their own."""

    def fresh_background(self, part: slice) -> Any:
        """Background rows likewise."""

    def varying(self) -> Coalitions:
        """Whether a column of a row differs from that of any background row, (n_rows, columns)."""

    def mixing(self) -> Mix:
        """Return a function that mixes rows with many background rows, in memory of its own."""

    def mix_single(self, rows: NDArray[np.int64], masks: Coalitions, background: NDArray[np.int64]) -> Any:
        """Mix each row with one background row: (p,), (p, columns) and (p,) -> p rows as the model accepts them."""


def is_from(module: str, table: Any, name: str) -> bool:
    """Whether ``table`` is of a library's class; a library that was not imported cannot have made it."""
    library = sys.modules.get(module)
    return library is not None and isinstance(table, getattr(library, name))


def is_sparse(table: Any) -> bool:
    """Whether ``table`` is a scipy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(table))
