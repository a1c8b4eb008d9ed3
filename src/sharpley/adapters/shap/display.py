"""What shap's plots show of rows: numbers for colours and axes, and values or labels for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.players import Players

SEPARATORS = "_=:.-"
SEVERAL = (list, tuple, dict, set, frozenset, np.ndarray)
MOST_VALUES = 3  # values of a group that are shown


def columns_of(rows: Any) -> NDArray[Any]:
    """Return the rows as an array (rows, columns), of numbers if all values are numbers, else of objects."""
    if hasattr(rows, "toarray"):
        return np.asarray(rows.toarray())
    array = np.asarray(rows)
    return array if array.dtype.kind in "biuf" else array.astype(object)


def shown_values(columns: NDArray[Any], players: Players) -> NDArray[Any]:
    """Return what is shown of each row and player, (rows, d): the value of a column, or a label of a group."""
    if columns.dtype.kind == "O":  # shap would take a list for further rows and columns
        columns = np.frompyfunc(lambda v: str(v) if isinstance(v, SEVERAL) else v, 1, 1)(columns)
    if players.is_plain:
        return columns
    shown = np.empty((len(columns), players.d), dtype=object)
    for player in range(players.d):
        members = np.flatnonzero(players.of_column == player)
        names = [players.column_names[member] for member in members]
        mine = columns[:, members]
        shown[:, player] = mine[:, 0] if len(members) == 1 else group_labels(mine, names)
    return shown


def numbers_for(columns: NDArray[Any], players: Players) -> Floats:
    """Return a number for each row and player, (rows, d), by which plots colour and place points."""
    if players.is_plain and columns.dtype.kind in "biuf":
        return columns.astype(np.float64)
    numbers = [_number(columns[:, players.of_column == player]) for player in range(players.d)]
    return np.stack(numbers, axis=1)


def _number(mine: NDArray[Any]) -> Floats:
    """Return the numbers of one player with columns (rows, c)."""
    if mine.shape[1] == 1:
        return _codes(mine[:, 0])
    if is_one_hot(mine):
        active = np.asarray(mine, dtype=np.float64)
        return np.where(active.any(axis=1), active.argmax(axis=1), -1.0)
    parts = np.stack([_codes(mine[:, j]) for j in range(mine.shape[1])], axis=1)
    _, order = np.unique(np.nan_to_num(parts, nan=np.inf), axis=0, return_inverse=True)
    return order.reshape(-1).astype(np.float64)


def is_one_hot(mine: NDArray[Any]) -> bool:
    """Return whether a group's columns (rows, c) are 0 or 1, with at most a single 1 in each row."""
    try:
        numbers = np.asarray(mine, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool(np.isin(numbers, (0.0, 1.0)).all() and (numbers.sum(axis=1) <= 1).all())


def group_labels(mine: NDArray[Any], names: list[str]) -> list[str]:
    """Return a label for each row of a group with columns (rows, c).

    For one-hot columns it is the name of the column that is set, without what all names begin with; for others the
    values, of which the first three are shown.

    Examples
    --------
    >>> group_labels(np.array([[0, 1], [1, 0], [0, 0]]), ["month_may", "month_june"])
    ['june', 'may', 'none']
    >>> group_labels(np.array([[37.88, -122.2]]), ["latitude", "longitude"])
    ['37.88, -122.2']
    """
    if is_one_hot(mine):
        short = [name[common_prefix(names) :] for name in names]
        return [short[int(np.argmax(row))] if np.any(row) else "none" for row in np.asarray(mine, dtype=np.float64)]
    more = ", …" if mine.shape[1] > MOST_VALUES else ""
    return [", ".join(_text(value) for value in row[:MOST_VALUES]) + more for row in mine]


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
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        missing = np.array([_is_missing(value) for value in column], dtype=bool)
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
