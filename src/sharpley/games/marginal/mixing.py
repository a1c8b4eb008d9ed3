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


def make_mixer(rows: Any, background: Any) -> Mixer:
    """Return the mixer for a type of container; both arguments must have the same type and the same columns."""
    from sharpley.games.marginal.array_mixer import ArrayMixer

    for module in ("pandas", "polars"):
        frames = [is_from(module, data, "DataFrame") for data in (rows, background)]
        if all(frames):
            return _frame_mixer(module, rows, background)
        if any(frames):
            mine, theirs = type(rows).__name__, type(background).__name__
            raise TypeError(f"X and the background must be of the same type, got {mine} and {theirs}; convert one")
    named = (("X", rows), ("background", background))
    return ArrayMixer(*(data if is_sparse(data) else _as_matrix(name, data) for name, data in named))


def _frame_mixer(module: str, rows: Any, background: Any) -> Mixer:
    from sharpley.games.marginal import frame_mixers

    check_same_columns(list(rows.columns), list(background.columns))
    return frame_mixers.MIXERS[module](rows, background)


def is_from(module: str, data: Any, name: str) -> bool:
    """Return whether ``data`` is an instance of a library's class; this is False if the library was not imported."""
    library = sys.modules.get(module)
    return library is not None and isinstance(data, getattr(library, name))


def is_sparse(data: Any) -> bool:
    """Return whether ``data`` is a scipy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


def check_same_columns(names: list[Any], expected: list[Any]) -> None:
    """Raise an error unless the columns of X are those of the background, in the same order."""
    if names == expected:
        return
    missing = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if missing or extra:
        raise ValueError(f"the columns of X differ from those of the background: missing {missing}, unexpected {extra}")
    raise ValueError(f"the columns of X are in a different order from those of the background; use X[{expected}]")


def _as_matrix(name: str, data: Any) -> NDArray[Any]:
    array = np.asarray(data)
    if array.ndim != 2:
        raise ValueError(f"{name} must have shape (rows, columns), got shape {array.shape}; for one row, use X[[0]]")
    if array.dtype.kind == "U" and not isinstance(data, np.ndarray) and not _all_text(data):
        raise TypeError(f"{name} mixes text and numbers, which an array would convert to text; use a DataFrame")
    return array


def _all_text(data: Any) -> bool:
    return all(isinstance(value, str) for row in data for value in row)
