"""Players and the columns that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions


@dataclass(frozen=True)
class Players:
    """Which player each column belongs to."""

    of_column: NDArray[np.int64]
    """(columns,): the player of each column."""
    names: list[str] | None
    """Names of players; None if neither columns nor groups have any."""

    @cached_property
    def d(self) -> int:
        """Number of players."""
        return int(self.of_column.max()) + 1

    @cached_property
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


def make_players(n_columns: int, names: list[str] | None, groups: Mapping[str, Any] | None) -> Players:
    """Check groups of columns; columns in no group are players of their own."""
    if n_columns == 0:
        raise ValueError("X must have at least one column, got none")
    if not groups:
        return Players(np.arange(n_columns), names)
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a mapping such as {{'colour': ['red', 'green']}}, got {groups!r}")
    labels = list(names) if names is not None else [f"x{j}" for j in range(n_columns)]
    group_of = _group_of_columns(groups, labels, named=names is not None)
    if clash := {labels[c] for c in range(n_columns) if c not in group_of} & set(group_of.values()):
        raise ValueError(f"groups may not have the names of columns outside them: {sorted(clash)}")
    # Columns are told apart by position: their names may repeat.
    keys: list[str | int] = [group_of.get(column, column) for column in range(n_columns)]
    players = list(dict.fromkeys(keys))
    of_column = np.array([players.index(key) for key in keys])
    return Players(of_column, [labels[key] if isinstance(key, int) else key for key in players])


def _group_of_columns(groups: Mapping[str, Any], labels: list[str], *, named: bool) -> dict[int, str]:
    """The group of each column that is in one."""
    group_of: dict[int, str] = {}
    for group, members in groups.items():
        if isinstance(members, int | np.integer) or not isinstance(members, Iterable):
            raise TypeError(f"group {group!r} must be a list of columns, got {members!r}")
        columns = [_column(group, m, labels, named) for m in ([members] if isinstance(members, str) else members)]
        if not columns:
            raise ValueError(f"group {group!r} has no columns")
        for column in columns:
            if column in group_of:
                also = "twice" if group_of[column] == group else f"in two groups, {group_of[column]!r} and {group!r}"
                raise ValueError(f"column {labels[column]!r} is {also}")
            group_of[column] = str(group)
    return group_of


def _column(group: str, member: Any, labels: list[str], named: bool) -> int:
    """Position of a column given by name or by position."""
    if named and labels.count(str(member)) > 1:
        raise ValueError(f"group {group!r}: there are several columns {member!r}; give positions instead of names")
    if named and str(member) in labels:
        return labels.index(str(member))
    if isinstance(member, int | np.integer) and 0 <= member < len(labels):
        return int(member)
    known = f"the columns are {labels}" if named else f"columns are counted from 0 to {len(labels) - 1}"
    raise ValueError(f"group {group!r} has an unknown column {member!r}; {known}")
