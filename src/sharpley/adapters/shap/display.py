"""What shap's plots show of players that are groups of columns: a number for colours and axes, a label for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.players import Players
from sharpley.presentation.shown import columns_of, numbers_of, printable

SEPARATORS = "_=:.-"
MOST_VALUES = 3  # values of a group that are shown
SHARES_ROUNDING = 1e-6
MOST_BACKGROUND_ROWS = 1000  # to see whether columns are one-hot


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
    columns = printable(columns)
    if players.is_plain:
        return columns
    shown = np.empty((len(columns), players.d), dtype=object)
    for player in range(players.d):
        members = np.flatnonzero(players.of_column == player)
        names = [players.column_names[member] for member in members]
        mine = columns[:, members]
        shown[:, player] = mine[:, 0] if len(members) == 1 else group_labels(mine, names, player in one_hot)
    return shown


def numbers_for(columns: NDArray[Any], players: Players, ordinals: dict[int, Floats], one_hot: set[int]) -> Floats:
    """Return a number for each row and player, (rows, d), by which plots colour and place points."""
    numbers = numbers_of(columns, ordinals)
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
