"""Mixing rows with background rows, in the container that the model expects.

A *mixer* holds the rows to be explained and the background rows. ``mix`` makes, for pairs of a row and a mask
of columns, the background rows with the masked columns taken from the row, as the type of table that was
given: arrays stay arrays, frames stay frames with their dtypes (categories, strings, mixed columns), sparse
matrices stay sparse.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Coalitions


class Mixer(Protocol):
    """Rows and background rows of one kind of table."""

    n_rows: int
    n_background: int
    names: list[str] | None
    """Names of the columns, if the table has them."""

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained, as the model takes them, in memory that nothing else uses."""

    def fresh_background(self, part: slice) -> Any:
        """Background rows likewise."""

    def note_changes(self, table: Any, part: slice) -> None:
        """Look whether the model changed the background rows that it was given; if so it gets fresh memory always."""

    def varying(self) -> Coalitions:
        """Whether a column of a row differs from that of any background row, (n_rows, columns)."""

    def mixing(self) -> Callable[[NDArray[np.int64], Coalitions, slice], Any]:
        """A function ``mix(rows (p,), masks (p, columns), background slice)`` with memory of its own."""


def make_mixer(rows: Any, background: Any) -> Mixer:
    """Choose the mixer for a type of table; both tables must be of one type and have the same columns."""
    if _is_from("pandas", rows, "DataFrame"):
        return _pandas_mixer(rows, background)
    if _is_from("polars", rows, "DataFrame"):
        return PolarsMixer(rows, _same_type("polars", rows, background))
    if _is_sparse(rows) or _is_sparse(background):
        return ArrayMixer(rows, background)
    if _is_from("pandas", background, "DataFrame") or _is_from("polars", background, "DataFrame"):
        raise TypeError(f"X must be a {type(background).__name__} like the background, got {type(rows).__name__}")
    return ArrayMixer(_as_matrix("X", rows), _as_matrix("background", background))


def _is_from(module: str, table: Any, name: str) -> bool:
    """Whether ``table`` is of a library's class; a library that was not imported cannot have made it."""
    library = sys.modules.get(module)
    return library is not None and isinstance(table, getattr(library, name))


def _is_sparse(table: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(table))


def _same_type(module: str, rows: Any, background: Any) -> Any:
    if not _is_from(module, background, "DataFrame"):
        raise TypeError(f"the background must be a {module} DataFrame like X, got {type(background).__name__}")
    check_same_columns([str(c) for c in rows.columns], [str(c) for c in background.columns])
    return background


def check_same_columns(names: list[str], expected: list[str]) -> None:
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
    return array


class ArrayMixer:
    """Mixes numpy arrays and scipy sparse matrices; ``wrap`` turns the mixed array into what the model takes."""

    def __init__(
        self, rows: Any, background: Any, *, names: list[str] | None = None, wrap: Callable[[Any], Any] | None = None
    ) -> None:
        if rows.shape[1] != background.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} columns, but the background has {background.shape[1]}")
        self.n_rows, self.n_background, self.names = rows.shape[0], background.shape[0], names
        self._wrap = wrap or (rows.__class__ if _is_sparse(rows) else lambda array: array)
        self._dtype = np.result_type(rows.dtype, background.dtype)
        self._rows = rows.tocsr() if _is_sparse(rows) else rows
        self._dense_background = np.ascontiguousarray(self._dense(background))
        self._model_writes = False

    def _dense(self, table: Any) -> NDArray[Any]:
        return np.asarray(table.toarray() if _is_sparse(table) else table, dtype=self._dtype)

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained."""
        return self._wrap(self._dense(self._rows[part]).copy())

    def fresh_background(self, part: slice) -> Any:
        """Background rows."""
        return self._wrap(self._dense_background[part].copy())

    def note_changes(self, table: Any, part: slice) -> None:
        """Compare with the true background; sparse tables and frames are made anew for each call anyway."""
        if isinstance(table, np.ndarray):
            self._model_writes |= bool(_differs(table, self._dense_background[part], pairwise=True).any())

    def varying(self) -> Coalitions:
        """Compare row by row, so that memory stays that of the background."""
        return np.array([_differs(self._dense(self._rows[[i]]), self._dense_background) for i in range(self.n_rows)])

    def mixing(self) -> Callable[[NDArray[np.int64], Coalitions, slice], Any]:
        """Mix numbers in compiled code and in memory that is used again, anything else by numpy."""
        if not self._model_writes and self._dtype.kind in "biuf" and self._dtype.itemsize in (1, 2, 4, 8):
            fill = _Buffer(self._dtype).fill
        else:
            fill = _fill_by_numpy

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            present, which = np.unique(rows, return_inverse=True)
            foreground = np.ascontiguousarray(self._dense(self._rows[present]))
            mixed = fill(foreground, which.reshape(-1), rows, masks, self._dense_background, part)
            return self._wrap(mixed.reshape(-1, masks.shape[1]))

        return mix


def _fill_by_numpy(
    foreground: NDArray[Any],
    which: NDArray[Any],
    rows: NDArray[Any],
    masks: Coalitions,
    background: NDArray[Any],
    part: slice,
) -> NDArray[Any]:
    return np.where(masks[:, None, :], foreground[which][:, None, :], background[part])


class _Buffer:
    """Memory that mixed rows are written to again and again: fresh memory would cost more than the mixing."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._mixed = np.empty((0, 0, 0), dtype=dtype)
        self._part = slice(0, 0)

    def fill(
        self,
        foreground: NDArray[Any],
        which: NDArray[Any],
        rows: NDArray[Any],
        masks: Coalitions,
        background: NDArray[Any],
        part: slice,
    ) -> NDArray[Any]:
        """Mix pairs of rows and masks with a part of the background, (p, b, c)."""
        from sharpley.games._blend import blend

        shape = (len(rows), *background[part].shape)
        if shape[0] > len(self._mixed) or shape[1:] != self._mixed.shape[1:]:
            self._mixed = np.empty(shape, dtype=self._dtype)
            self._part = slice(0, 0)
        if part != self._part:  # nothing in the buffer can be kept
            self._part = part
            self._last_rows = np.full(len(self._mixed), -1, dtype=np.int64)
            self._last_masks = np.zeros((len(self._mixed), masks.shape[1]), dtype=bool)
        bits = f"u{self._dtype.itemsize}"
        tables = background[part].view(bits), self._mixed.view(bits)
        blend(foreground.view(bits), which, rows, masks, *tables, self._last_rows, self._last_masks)
        return self._mixed[: len(rows)]


def _differs(row: NDArray[Any], background: NDArray[Any], *, pairwise: bool = False) -> NDArray[np.bool_]:
    """Which columns of one row (or of as many rows, ``pairwise``) differ from any background row; NaN equals NaN."""
    if pairwise and row.shape != background.shape:
        return np.ones(background.shape[1], dtype=bool)
    equal = (row == background) | ((row != row) & (background != background))
    return np.asarray(~equal.all(axis=0), dtype=bool)


def _pandas_mixer(rows: Any, background: Any) -> Mixer:
    import pandas as pd

    background = _same_type("pandas", rows, background)
    names = [str(c) for c in rows.columns]
    dtypes = {*rows.dtypes, *background.dtypes}
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes) and len(dtypes) == 1:
        columns = rows.columns
        return ArrayMixer(
            rows.to_numpy(),
            background.to_numpy(),
            names=names,
            wrap=lambda array: pd.DataFrame(array, columns=columns, copy=False),
        )
    return PandasMixer(rows, background)


class PandasMixer:
    """Mixes frames with columns of any dtypes, column by column."""

    def __init__(self, rows: Any, background: Any) -> None:
        import pandas as pd

        for name, mine, theirs in zip(rows.columns, rows.dtypes, background.dtypes, strict=True):
            numbers = pd.api.types.is_numeric_dtype(mine) and pd.api.types.is_numeric_dtype(theirs)
            if mine != theirs and not numbers:
                raise TypeError(f"column {name!r} is {mine} in X but {theirs} in the background; give both one dtype")
        self.n_rows, self.n_background = len(rows), len(background)
        self.names: list[str] | None = [str(c) for c in rows.columns]
        self._pool = pd.concat([rows, background], ignore_index=True)

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained."""
        return self._pool.iloc[: self.n_rows].iloc[part].copy()

    def fresh_background(self, part: slice) -> Any:
        """Background rows."""
        return self._pool.iloc[self.n_rows :].iloc[part].copy()

    def note_changes(self, table: Any, part: slice) -> None:
        """Every call gets a fresh frame anyway."""
        return

    def varying(self) -> Coalitions:
        """Compare codes of equal values; missing values equal each other."""
        import pandas as pd

        codes = np.stack([pd.factorize(self._pool.iloc[:, j])[0] for j in range(self._pool.shape[1])], axis=1)
        rows, background = codes[: self.n_rows], codes[self.n_rows :]
        return np.array([(row != background).any(axis=0) for row in rows])

    def mixing(self) -> Callable[[NDArray[np.int64], Coalitions, slice], Any]:
        """Take each column from the pool of all rows, which keeps its dtype."""
        import pandas as pd

        columns = [self._pool.iloc[:, j].array for j in range(self._pool.shape[1])]

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            indices = _pool_indices(rows, masks, self.n_rows, part)
            mixed = pd.DataFrame(
                {j: column.take(index) for j, (column, index) in enumerate(zip(columns, indices, strict=True))}
            )
            mixed.columns = self._pool.columns
            return mixed

        return mix


class PolarsMixer:
    """Mixes polars frames, column by column."""

    def __init__(self, rows: Any, background: Any) -> None:
        import polars as pl

        self.n_rows, self.n_background = rows.height, background.height
        self.names: list[str] | None = list(rows.columns)
        try:
            self._pool = pl.concat([rows, background], how="vertical_relaxed")
        except Exception as error:
            error.add_note("the dtypes of X and of the background must agree")
            raise

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained."""
        return self._pool[: self.n_rows][part]

    def fresh_background(self, part: slice) -> Any:
        """Background rows."""
        return self._pool[self.n_rows :][part]

    def note_changes(self, table: Any, part: slice) -> None:
        """Polars columns cannot be changed in place."""
        return

    def varying(self) -> Coalitions:
        """Compare codes of equal values; missing values equal each other."""
        codes = np.stack([series.rank("dense").fill_null(0).to_numpy() for series in self._comparable()], axis=1)
        rows, background = codes[: self.n_rows], codes[self.n_rows :]
        return np.array([(row != background).any(axis=0) for row in rows])

    def _comparable(self) -> list[Any]:
        import polars as pl

        ranked = (pl.Categorical, pl.Enum)
        return [s.cast(pl.String) if isinstance(s.dtype, ranked) else s for s in self._pool.get_columns()]

    def mixing(self) -> Callable[[NDArray[np.int64], Coalitions, slice], Any]:
        """Gather each column from the pool of all rows, which keeps its dtype."""
        import polars as pl

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            indices = _pool_indices(rows, masks, self.n_rows, part)
            return pl.DataFrame([s.gather(i) for s, i in zip(self._pool.get_columns(), indices, strict=True)])

        return mix


def _pool_indices(rows: NDArray[np.int64], masks: Coalitions, n_rows: int, part: slice) -> list[NDArray[np.int64]]:
    """For each column, where in the pool (rows, then background) the mixed table's entries stand."""
    behind = n_rows + np.arange(part.start, part.stop)
    return [np.where(mask[:, None], rows[:, None], behind[None, :]).reshape(-1) for mask in masks.T]
