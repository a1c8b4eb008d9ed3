"""Players and the columns that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Coalitions


@dataclass(frozen=True)
class Players:
    """Which player each column belongs to."""

    of_column: NDArray[np.int64]
    """(columns,): the player of each column."""
    names: list[str] | None
    """Names of players; None if neither columns nor groups have any."""

    @property
    def d(self) -> int:
        """Number of players."""
        return int(self.of_column.max()) + 1

    @property
    def is_plain(self) -> bool:
        """Whether every column is a player of its own."""
        return self.d == len(self.of_column)

    def column_masks(self, coalitions: Coalitions) -> Coalitions:
        """Columns of the members: (m, d) -> (m, columns)."""
        return np.ascontiguousarray(coalitions if self.is_plain else coalitions[:, self.of_column])

    def any_column(self, columns: Coalitions) -> Coalitions:
        """Whether any column of a player is set: (m, columns) -> (m, d)."""
        out = np.zeros((len(columns), self.d), dtype=bool)
        for column, player in enumerate(self.of_column):
            out[:, player] |= columns[:, column]
        return out


def make_players(n_columns: int, names: list[str] | None, groups: dict[str, Any] | None) -> Players:
    """Check groups of columns; columns in no group are players of their own."""
    if n_columns == 0:
        raise ValueError("X must have at least one column, got none")
    if not groups:
        return Players(np.arange(n_columns), names)
    labels = list(names) if names is not None else [f"x{j}" for j in range(n_columns)]
    group_of: dict[int, str] = {}
    for group, members in groups.items():
        for column in _columns(group, members, n_columns, names):
            if column in group_of:
                raise ValueError(f"column {labels[column]!r} is in two groups, {group_of[column]!r} and {group!r}")
            group_of[column] = str(group)
    ordered = [group_of.get(column, labels[column]) for column in range(n_columns)]
    player_names = list(dict.fromkeys(ordered))
    single = {labels[c] for c in range(n_columns) if c not in group_of}
    if clash := single & set(group_of.values()):
        raise ValueError(f"groups may not have the names of columns outside them: {sorted(clash)}")
    return Players(np.array([player_names.index(name) for name in ordered]), player_names)


def _columns(group: str, members: Any, n_columns: int, names: list[str] | None) -> list[int]:
    """Column indices of a group given by names or by indices."""
    listed = [members] if isinstance(members, str) else list(members)
    if not listed:
        raise ValueError(f"group {group!r} has no columns")
    return [_column(group, member, n_columns, names) for member in listed]


def _column(group: str, member: Any, n_columns: int, names: list[str] | None) -> int:
    if names is not None and str(member) in names:
        return names.index(str(member))
    if isinstance(member, int | np.integer) and 0 <= member < n_columns:
        return int(member)
    known = f"the columns are {names}" if names is not None else f"columns are counted from 0 to {n_columns - 1}"
    raise ValueError(f"group {group!r} has an unknown column {member!r}; {known}")
