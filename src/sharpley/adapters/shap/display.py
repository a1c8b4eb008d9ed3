"""What shap's plots show of rows: numbers for colours and axes, and values or labels for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.mixing import is_from
from sharpley.games.marginal.players import Players

SEPARATORS = "_=:.-"
NUMBERS = (int, float, np.number, np.bool_)
MOST_VALUES = 3  # values of a group that are shown
SHARES_ROUNDING = 1e-6
MOST_BACKGROUND_ROWS = 1000  # to see whether columns are one-hot
MIDNIGHT = " 00:00:00"  # is not shown where all dates have it, or all durations are days


def columns_of(rows: Any) -> NDArray[Any]:
    """Return the rows as an array (rows, columns), of numbers if all values are numbers, else of objects."""
    if hasattr(rows, "toarray"):
        return np.asarray(rows.toarray())
    array = np.asarray(rows)
    return array if array.dtype.kind in "biuf" else array.astype(object)


def ordinals_of(rows: Any) -> dict[int, Floats]:
    """Return numbers for the columns of a frame whose order is not that of their text: categories, dates, durations."""
    if is_from("pandas", rows, "DataFrame"):
        each = [_pandas_ordinals(rows.iloc[:, j]) for j in range(rows.shape[1])]
    elif is_from("polars", rows, "DataFrame"):
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


def one_hot_players(columns: NDArray[Any], background: Any, players: Players) -> set[int]:
    """Return the groups whose columns are one-hot in the rows, unless the background has counts, or several flags.

    A single row with 1 bedroom and 0 bathrooms looks one-hot. The mean of one-hot rows is a background, too.
    """
    if players.is_plain:
        return set()
    others = columns_of(background[:MOST_BACKGROUND_ROWS])
    members = [players.of_column == player for player in range(players.d)]
    return {
        player
        for player, mine in enumerate(members)
        if mine.sum() > 1 and is_one_hot(columns[:, mine]) and _are_shares(others[:, mine])
    }


def _are_shares(mine: NDArray[Any]) -> bool:
    """Return whether a group's columns (rows, c) may be means of one-hot rows."""
    numbers = _as_numbers(mine)
    return numbers is not None and bool((numbers >= 0).all() and (numbers.sum(axis=1) <= 1 + SHARES_ROUNDING).all())


def shown_values(columns: NDArray[Any], players: Players, one_hot: set[int]) -> NDArray[Any]:
    """Return what is shown of each row and player, (rows, d): the value of a column, or a label of a group."""
    if columns.dtype.kind == "O":
        columns = np.stack([_printable(column) for column in columns.T], axis=1)
    if players.is_plain:
        return columns
    shown = np.empty((len(columns), players.d), dtype=object)
    for player in range(players.d):
        members = np.flatnonzero(players.of_column == player)
        names = [players.column_names[member] for member in members]
        mine = columns[:, members]
        shown[:, player] = mine[:, 0] if len(members) == 1 else group_labels(mine, names, player in one_hot)
    return shown


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


def numbers_for(columns: NDArray[Any], players: Players, ordinals: dict[int, Floats], one_hot: set[int]) -> Floats:
    """Return a number for each row and player, (rows, d), by which plots colour and place points."""
    if columns.dtype.kind in "biuf":
        numbers = columns.astype(np.float64)
    else:
        each = [ordinals[j] if j in ordinals else _codes(column) for j, column in enumerate(columns.T)]
        numbers = np.stack(each, axis=1)
    if players.is_plain:
        return numbers
    each = [_number(numbers[:, players.of_column == player], player in one_hot) for player in range(players.d)]
    return np.stack(each, axis=1)


def _number(parts: Floats, one_hot: bool) -> Floats:
    """Return one number for each row of the columns of a player, (rows, c)."""
    if parts.shape[1] == 1:
        return parts[:, 0]
    if one_hot:
        return np.where(parts.any(axis=1), parts.argmax(axis=1), -1.0)
    _, order = np.unique(np.nan_to_num(parts, nan=np.inf), axis=0, return_inverse=True)
    return order.reshape(-1).astype(np.float64)


def is_one_hot(mine: NDArray[Any]) -> bool:
    """Return whether a group's columns (rows, c) are 0 or 1, with at most a single 1 in each row."""
    numbers = _as_numbers(mine)
    return numbers is not None and bool(np.isin(numbers, (0.0, 1.0)).all() and (numbers.sum(axis=1) <= 1).all())


def _as_numbers(mine: NDArray[Any]) -> Floats | None:
    try:
        return np.asarray(mine, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def group_labels(mine: NDArray[Any], names: list[str], one_hot: bool) -> list[str]:
    """Return a label for each row of a group with columns (rows, c).

    For one-hot columns it is the name of the column that is set, without what all names begin with; for others the
    values, of which the first three are shown.

    Examples
    --------
    >>> group_labels(np.array([[0, 1], [1, 0], [0, 0]]), ["month_may", "month_june"], one_hot=True)
    ['june', 'may', 'none']
    >>> group_labels(np.array([[37.88, -122.2]]), ["latitude", "longitude"], one_hot=False)
    ['(37.88, -122.2)']
    """
    if one_hot:
        short = [name[common_prefix(names) :] for name in names]
        return [short[int(np.argmax(row))] if np.any(row) else "none" for row in np.asarray(mine, dtype=np.float64)]
    more = ", …" if mine.shape[1] > MOST_VALUES else ""
    # In brackets, since shap removes zeros at the end of text: "37, -120" would become "37, -12".
    return ["(" + ", ".join(_text(value) for value in row[:MOST_VALUES]) + more + ")" for row in mine]


def common_prefix(names: list[str]) -> int:
    """Return the length of what all names begin with, up to a separator such as "_" or "="; 0 if it is a whole name.

    Examples
    --------
    >>> common_prefix(["colour_red", "colour_rose"]), common_prefix(["red", "rose"])
    (7, 0)
    """
    shortest = min(names, key=len)
    same = next((i for i, letter in enumerate(shortest) if any(n[i] != letter for n in names)), len(shortest))
    ends = [i + 1 for i in range(same) if shortest[i] in SEPARATORS and i + 1 < len(shortest)]
    return max(ends, default=0)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


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
