"""Players and the columns that they consist of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.base import checked_names


@dataclass(frozen=True)
class Players:
    """The assignment of columns to players."""

    of_column: NDArray[np.int64]
    """The player of each column, (columns,)."""
    names: list[str]
    """Names of the players: of groups, and of columns, which are "Feature 0", … if they have none."""
    column_names: list[str]
    """Names of the columns."""

    @cached_property
    def d(self) -> int:
        """Number of players."""
        return int(self.of_column.max()) + 1

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column is a separate player."""
        return self.d == len(self.of_column)

    def column_masks(self, coalitions: Coalitions) -> Coalitions:
        """Return masks of the columns of the members: (m, d) -> (m, columns)."""
        return np.ascontiguousarray(coalitions if self.is_plain else coalitions[:, self.of_column])

    def any_column(self, columns: Coalitions) -> Coalitions:
        """Return whether any column of each player is set: (m, columns) -> (m, d)."""
        out = np.zeros((len(columns), self.d), dtype=bool)
        for column, player in enumerate(self.of_column):
            out[:, player] |= columns[:, column]
        return out


def make_players(n_columns: int, names: list[str] | None, groups: Mapping[str, Any] | None) -> Players:
    """Check groups of columns and return the players; each column outside all groups is a separate player."""
    if n_columns == 0:
        raise ValueError("X must have at least one column, got none")
    labels = list(names) if names is not None else [f"Feature {j}" for j in range(n_columns)]
    if not groups:
        return Players(np.arange(n_columns), labels, labels)
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a mapping such as {{'colour': ['red', 'green']}}, got {groups!r}")
    group_of = _group_of_columns(groups, labels, named=names is not None)
    if clash := {labels[c] for c in range(n_columns) if c not in group_of} & set(group_of.values()):
        raise ValueError(f"groups must not have the names of columns outside them: {sorted(clash)}; rename the groups")
    # Columns are identified by position, since their names may repeat.
    keys: list[str | int] = [group_of.get(column, column) for column in range(n_columns)]
    players = list(dict.fromkeys(keys))
    of_column = np.array([players.index(key) for key in keys])
    return Players(of_column, [labels[key] if isinstance(key, int) else key for key in players], labels)


def check_players(n_columns: int, columns: list[str] | None, groups: Any, names: Sequence[str] | None) -> None:
    """Raise the errors of groups and names of players that show before X is known.

    The columns of a background without names may have names in X, by which groups may refer to them.
    """
    every = list(groups.values()) if isinstance(groups, Mapping) else []
    members = [each for group in every if isinstance(group, Iterable) for each in group]
    if columns is None and any(isinstance(member, str) for member in members):
        return
    players = make_players(n_columns, columns, groups)
    if names is not None:
        checked_names(names, players.d)


def _group_of_columns(groups: Mapping[str, Any], labels: list[str], *, named: bool) -> dict[int, str]:
    """Return the group of each column that is in one."""
    group_of: dict[int, str] = {}
    if len({str(group) for group in groups}) < len(groups):
        raise ValueError(f"groups must have different names as text, got {list(groups)}; rename one of them")
    for group, members in groups.items():
        if isinstance(members, int | np.integer) or not isinstance(members, Iterable):
            raise TypeError(f"group {group!r} must be a list of columns, got {members!r}")
        columns = [_column(group, m, labels, named) for m in ([members] if isinstance(members, str) else members)]
        if not columns:
            raise ValueError(f"group {group!r} has no columns; give it columns, or remove it")
        for column in columns:
            if column in group_of:
                other = group_of[column]
                where = f"twice in group {group!r}" if other == group else f"in two groups, {other!r} and {group!r}"
                raise ValueError(f"column {labels[column]!r} is {where}; list it once")
            group_of[column] = str(group)
    return group_of


def _column(group: str, member: Any, labels: list[str], named: bool) -> int:
    """Return the position of a column that is given by name or by position."""
    if named and labels.count(str(member)) > 1:
        raise ValueError(f"group {group!r}: several columns are named {member!r}; give positions instead of names")
    if named and str(member) in labels:
        return labels.index(str(member))
    if isinstance(member, int | np.integer) and 0 <= member < len(labels):
        return int(member)
    known = f"the columns are {labels}" if named else f"columns are numbered from 0 to {len(labels) - 1}"
    raise ValueError(f"group {group!r} has an unknown column {member!r}; {known}")
