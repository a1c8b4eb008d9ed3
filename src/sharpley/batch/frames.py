"""Rows as the frames that models take: with the columns, types and categories of the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.reading import first_line
from sharpley.batch.tables import Table
from sharpley.games.marginal.background import MAX_ROWS
from sharpley.presentation.parquet import pyarrow

FIRST_ROWS = 1000  # on which a model is tried


def background_frame(background: Table, names: list[str], seed: int) -> Any:
    """Return the background rows as a pandas frame; of too many rows, a random part that is never read as a whole."""
    n = background.n_rows
    if n > MAX_ROWS:
        return _plain(_taken(background, names, random_rows(n, MAX_ROWS, seed)))
    (table,) = background.ranges([(0, n)], names)
    return _plain(table.select(names))


def sample_frame(data: Table, rows: NDArray[np.int64], background: Any) -> Any:
    """Return some of the rows of the data, in ascending order, as a pandas frame like the background."""
    return frame_of(_taken(data, list(background.columns), rows), background, rows.tolist())


def random_rows(n: int, count: int, seed: int) -> NDArray[np.int64]:
    """Return the numbers of random rows of n, in ascending order: all, if there are no more."""
    return np.sort(np.random.default_rng(seed).choice(n, size=min(n, count), replace=False))


def _taken(table: Table, names: list[str], rows: NDArray[np.int64]) -> Any:
    """Return some of the rows of a table that is never read as a whole."""
    pa, _ = pyarrow()
    bounds = [(start, min(table.n_rows, start + MAX_ROWS)) for start in range(0, table.n_rows, MAX_ROWS)]
    pieces = []
    for (start, stop), piece in zip(bounds, table.ranges(bounds, names), strict=True):
        mine = rows[(rows >= start) & (rows < stop)] - start
        pieces.append(piece.select(names).take(pa.array(mine)))
    return pa.concat_tables(pieces, promote_options="permissive")


def first_rows(background: Table) -> Any:
    """Return the first of the background rows as a pandas frame, with all columns."""
    if background.n_rows == 0:
        raise ValueError(f"{background.paths[0]} has no rows; the background must have at least one")
    names = background.feature_names
    (table,) = background.ranges([(0, min(background.n_rows, FIRST_ROWS))], names)
    return _plain(table.select(names))


def frame_of(table: Any, background: Any, rows: Sequence[int]) -> Any:
    """Return rows as a pandas frame like the background; their numbers in the data are for messages."""
    frame = _plain(table.select(list(background.columns)))
    if frame.dtypes.equals(background.dtypes):
        return frame
    for name, dtype in background.dtypes.items():
        if frame[name].dtype != dtype:
            frame[name] = _like(frame[name], dtype, rows)
    return frame


def _plain(table: Any) -> Any:
    """Return a table as a frame; dictionaries become categories."""
    return table.replace_schema_metadata(None).to_pandas(use_threads=False)  # of so few values, threads only cost time


def _like(column: Any, dtype: Any, rows: Sequence[int]) -> Any:
    """Return a column with another dtype, if that loses nothing."""
    categories = getattr(dtype, "categories", None)
    missing = column.isna()
    if dtype.kind in "biu" and missing.any():  # a missing flag would become False
        at = int(np.flatnonzero(missing)[0])
        raise _MismatchError(column, dtype, rows[at], "none may be missing there; make its column one of floats")
    try:
        if categories is not None:
            lost = ~(column.isin(categories) | missing)
        else:
            converted = column.astype(dtype)
            lost = ~((converted.astype(column.dtype) == column) | missing)
    except (TypeError, ValueError) as error:
        raise _MismatchError(column, dtype, rows[0], first_line(error)) from error
    if lost.any():
        at = int(np.flatnonzero(lost)[0])
        raise _MismatchError(column, dtype, rows[at], f"it cannot be {column.iloc[at]!r} there")
    return column.astype(dtype) if categories is not None else converted


class _MismatchError(ValueError):
    """A column has values that the column of the background cannot have."""

    def __init__(self, column: Any, dtype: Any, row: int, reason: str) -> None:
        super().__init__(
            f"column {column.name!r} of the data is {column.dtype} from row {row} on, but {dtype} in the background: "
            f"{reason}"
        )
