"""Games of few players, whose coalitions are evaluated once, all of them, and then looked up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley import Games, MarginalGame
from sharpley._support.atomic import replacing
from sharpley._support.typing import Coalitions, Floats, Orderings
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.estimators.walks import contributions_along
from sharpley_experiments.common.models import Task, margin
from sharpley_experiments.common.quiet import estimated

MAX_PLAYERS_IN_TABLE = 16  # players


class NetworkGames(NamedTuple):
    """The games of all rows, and their Shapley values if they are known."""

    games: Games
    exact: Floats | None
    """(rows, d)."""


def network_games(task: Task, kept: Path) -> NetworkGames:
    """Games of explaining a neural network; with players few enough all values are kept in a file."""
    games = MarginalGame(margin(task.model), task.background, task.rows)
    if games.d > MAX_PLAYERS_IN_TABLE:
        return NetworkGames(games, None)
    looked_up = TableGames(all_values(games, kept))
    exact = estimated(looked_up, "exact", 2**games.d, 0).values
    return NetworkGames(looked_up, exact)


def digest(task: Task) -> str:
    """Of what a task's games depend on: the rows, the background, and what the model makes of them."""
    return digest_of(margin(task.model), task.background, task.rows)


def digest_of(predict: Callable[[Floats], Floats], background: Floats, rows: Floats) -> str:
    """Digest of rows, of a background, and of what a model makes of them."""
    arrays = (rows, background, predict(np.concatenate([rows, background])))
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def all_values(games: Games, kept: Path) -> Floats:
    """Values of all coalitions, see ``TableGames``; read from a file if it exists, or else kept in it."""
    if not kept.exists():
        coalitions = all_coalitions(games.d)
        order = np.argsort(coalitions @ (2 ** np.arange(games.d)[::-1]))
        write_arrays(kept, table=np.atleast_2d(games(coalitions[order])))
    with np.load(kept) as arrays:
        return np.asarray(arrays["table"])


@final
class TableGames(Games):
    """Games whose values are looked up.

    Parameters
    ----------
    table : (rows, 2^d) float
        The binary digits of a column's number are its coalition's members, the last player's the lowest.
    varying : (rows, d) bool, optional
        Players that may matter in each row; all by default.
    """

    draws_per_call = 65_536

    def __init__(self, table: Floats, varying: Coalitions | None = None) -> None:
        self._table = table
        self.n_rows, self.d = len(table), int(table.shape[1]).bit_length() - 1
        self._digits = 2 ** np.arange(self.d)[::-1]
        self._varying = np.ones((len(table), self.d), dtype=bool) if varying is None else varying

    def varying(self) -> Coalitions:
        """Players that may matter."""
        return self._varying

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        return np.asarray(self._table[rows, coalitions @ self._digits])

    def contributions(self, orderings: Orderings) -> Floats:
        """Contributions of players along each ordering, (rows, n, d)."""
        walks = np.zeros((len(orderings), self.d + 1), dtype=np.int64)
        np.cumsum(self._digits[orderings], axis=1, out=walks[:, 1:])
        return contributions_along(self._table[:, walks], orderings)


def write_arrays(path: Path, **arrays: Any) -> None:
    """Write a file atomically: another process may be reading, or writing the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as stream:
        np.savez(stream, **arrays)
