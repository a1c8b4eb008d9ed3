"""What plots show of the columns of a table: numbers for colours and axes, and values that can be printed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

NUMBERS = (int, float, np.number, np.bool_)
MIDNIGHT = " 00:00:00"  # is not shown where all dates have it, or all durations are days


def columns_of(rows: Any) -> NDArray[Any]:
    """Return the rows as an array (rows, columns), of numbers if all values are numbers, else of objects."""
    if hasattr(rows, "toarray"):
        return np.asarray(rows.toarray())
    array = np.asarray(rows)
    return array if array.dtype.kind in "biuf" else array.astype(object)


def ordinals_of(rows: Any) -> dict[int, Floats]:
    """Return numbers for the columns of a frame whose order is not that of their text: categories, dates, durations."""
    if hasattr(rows, "iloc"):  # of pandas
        each = [_pandas_ordinals(rows.iloc[:, j]) for j in range(rows.shape[1])]
    elif hasattr(rows, "get_columns"):  # of polars
        each = [_polars_ordinals(series) for series in rows.get_columns()]
    else:
        each = []
    return {j: numbers for j, numbers in enumerate(each) if numbers is not None}


def _pandas_ordinals(column: Any) -> Floats | None:
    if hasattr(column.dtype, "categories"):
        codes = column.array.codes
    elif column.dtype.kind in "mM":
        codes = column.rank(method="dense").to_numpy() - 1
    else:
        return None
    return np.where(column.isna().to_numpy(), np.nan, codes)


def _polars_ordinals(series: Any) -> Floats | None:
    is_ordered = series.dtype.is_temporal() or type(series.dtype).__name__ == "Enum"
    codes = series.to_physical().rank("dense") - 1 if is_ordered else None
    return None if codes is None else np.asarray(codes.cast(float).to_numpy())


def printable(columns: NDArray[Any]) -> NDArray[Any]:
    """Return the values of columns (rows, c) as they are shown."""
    return np.stack([_printable(column) for column in columns.T], axis=1) if columns.dtype.kind == "O" else columns


def _printable(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers, NaN where they are missing, or else text for all that shap cannot print, such as dates."""
    missing = [_is_missing(value) for value in column]
    shown = np.empty(len(column), dtype=object)  # numpy would take lists for further axes
    if all(gone or isinstance(value, NUMBERS) for value, gone in zip(column, missing, strict=True)):
        shown[:] = [np.nan if gone else value for value, gone in zip(column, missing, strict=True)]
    else:
        shown[:] = [value if isinstance(value, (str, *NUMBERS)) else str(value) for value in column]
        if all(gone or str(value).endswith(MIDNIGHT) for value, gone in zip(column, missing, strict=True)):
            shown[:] = [str(value).removesuffix(MIDNIGHT) for value in shown]
    return shown


def numbers_of(columns: NDArray[Any], ordinals: dict[int, Floats]) -> Floats:
    """Return a number for each value of columns (rows, c), by which plots colour and place points."""
    if columns.dtype.kind in "biuf":
        return columns.astype(np.float64)
    each = [ordinals[j] if j in ordinals else _codes(column) for j, column in enumerate(columns.T)]
    return np.stack(each, axis=1)


def _codes(column: NDArray[Any]) -> Floats:
    """Return the column as numbers if it can be converted, else as codes of its distinct values; NaN if missing."""
    missing = np.array([_is_missing(value) for value in column], dtype=bool)
    try:
        return np.where(missing, np.nan, column).astype(np.float64)
    except (TypeError, ValueError):
        _, codes = np.unique([str(value) for value in column], return_inverse=True)
        return np.where(missing, np.nan, codes.reshape(-1).astype(np.float64))


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA, whose comparisons are neither true nor false."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array, of which each element is compared
        return False
