"""Rows as the frames that models take: with the columns, types and categories of the background."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpley._support.reading import first_line
from sharpley.batch.tables import Table
from sharpley.games.marginal.background import MAX_ROWS
from sharpley.presentation.parquet import pyarrow

FIRST_ROWS = 1000  # on which a model is tried


def background_frame(background: Table, names: list[str], seed: int) -> Any:
    """Return the background rows as a pandas frame; of too many rows, a random part that is never read as a whole."""
    n = background.n_rows
    pa, _ = pyarrow()
    if n <= MAX_ROWS:
        (table,) = background.ranges([(0, n)], names)
        return _plain(table.select(names))
    chosen = np.sort(np.random.default_rng(seed).choice(n, size=MAX_ROWS, replace=False))
    bounds = [(start, min(n, start + MAX_ROWS)) for start in range(0, n, MAX_ROWS)]
    pieces = []
    for (start, stop), table in zip(bounds, background.ranges(bounds, names), strict=True):
        mine = chosen[(chosen >= start) & (chosen < stop)] - start
        pieces.append(table.select(names).take(pa.array(mine)))
    return _plain(pa.concat_tables(pieces, promote_options="permissive"))


def first_rows(background: Table) -> Any:
    """Return the first of the background rows as a pandas frame, with all columns."""
    if background.n_rows == 0:
        raise ValueError(f"{background.paths[0]} has no rows; the background must have at least one")
    names = background.feature_names
    (table,) = background.ranges([(0, min(background.n_rows, FIRST_ROWS))], names)
    return _plain(table.select(names))


def frame_of(table: Any, background: Any, start: int = 0) -> Any:
    """Return rows as a pandas frame like the background; ``start`` is the number of the first row, for messages."""
    frame = _plain(table.select(list(background.columns)))
    if frame.dtypes.equals(background.dtypes):
        return frame
    for name, dtype in background.dtypes.items():
        if frame[name].dtype != dtype:
            frame[name] = _like(frame[name], dtype, start)
    return frame


def _plain(table: Any) -> Any:
    """Return a table as a frame; dictionaries become categories."""
    return table.replace_schema_metadata(None).to_pandas(use_threads=False)  # of so few values, threads only cost time


def _like(column: Any, dtype: Any, start: int) -> Any:
    """Return a column with another dtype, if that loses nothing."""
    categories = getattr(dtype, "categories", None)
    missing = column.isna()
    if dtype.kind in "biu" and missing.any():  # a missing flag would become False
        at = int(np.flatnonzero(missing)[0])
        raise _MismatchError(column, dtype, start + at, "none may be missing there; make its column one of floats")
    try:
        if categories is not None:
            lost = ~(column.isin(categories) | missing)
        else:
            converted = column.astype(dtype)
            lost = ~((converted.astype(column.dtype) == column) | missing)
    except (TypeError, ValueError) as error:
        raise _MismatchError(column, dtype, start, first_line(error)) from error
    if lost.any():
        at = int(np.flatnonzero(lost)[0])
        raise _MismatchError(column, dtype, start + at, f"it cannot be {column.iloc[at]!r} there")
    return column.astype(dtype) if categories is not None else converted


class _MismatchError(ValueError):
    """A column has values that the column of the background cannot have."""

    def __init__(self, column: Any, dtype: Any, row: int, reason: str) -> None:
        super().__init__(
            f"column {column.name!r} of the data is {column.dtype} from row {row} on, but {dtype} in the background: "
            f"{reason}"
        )
