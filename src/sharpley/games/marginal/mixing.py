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


def make_mixer(rows: Any, background: Any) -> Mixer:
    """Choose the mixer for a type of table; both tables must be of one type and have the same columns."""
    from sharpley.games.marginal.array_mixer import ArrayMixer

    for module in ("pandas", "polars"):
        frames = [is_from(module, table, "DataFrame") for table in (rows, background)]
        if all(frames):
            return _frame_mixer(module, rows, background)
        if any(frames):
            mine, theirs = type(rows).__name__, type(background).__name__
            raise TypeError(f"X and background must be tables of one type, got {mine} and {theirs}")
    tables = [t if is_sparse(t) else _as_matrix(w, t) for w, t in (("X", rows), ("background", background))]
    return ArrayMixer(*tables)


def _frame_mixer(module: str, rows: Any, background: Any) -> Mixer:
    from sharpley.games.marginal import frame_mixers

    check_same_columns(list(rows.columns), list(background.columns))
    return frame_mixers.MIXERS[module](rows, background)


def is_from(module: str, table: Any, name: str) -> bool:
    """Whether ``table`` is of a library's class; a library that was not imported cannot have made it."""
    library = sys.modules.get(module)
    return library is not None and isinstance(table, getattr(library, name))


def is_sparse(table: Any) -> bool:
    """Whether ``table`` is a scipy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(table))


def check_same_columns(names: list[Any], expected: list[Any]) -> None:
    """Compare the columns of X with those of the background."""
    if names == expected:
        return
    missing = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if missing or extra:
        raise ValueError(f"the columns of X are not the background's: missing {missing}, unexpected {extra}")
    raise ValueError(f"the columns of X are in another order than the background's; use X[{expected}]")


def _as_matrix(what: str, table: Any) -> NDArray[Any]:
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"{what} must be a table of shape (rows, columns), got shape {array.shape}; one row is X[[0]]")
    if array.dtype.kind == "U" and not isinstance(table, np.ndarray) and not _all_text(table):
        raise TypeError(f"{what} mixes text and numbers, which an array would turn into text; use a DataFrame")
    return array


def _all_text(table: Any) -> bool:
    return all(isinstance(value, str) for row in table for value in row)
