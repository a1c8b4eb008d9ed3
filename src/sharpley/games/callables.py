"""Games that are given as plain functions of coalitions, or of sets of names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import compress
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Coalitions
from sharpley.games.base import Games, check_games, checked_names


class Game(Protocol):
    """A cooperative game as a function of coalitions: the type of function that ``shapley_values`` accepts.

    Examples
    --------
    Two of three players are needed:

    >>> import sharpley
    >>> def majority(coalitions):
    ...     return coalitions.sum(axis=1) >= 2
    >>> sharpley.shapley_values(majority, 3).values.round(3)
    array([0.333, 0.333, 0.333])
    """

    def __call__(self, coalitions: Coalitions, /) -> ArrayLike:
        """Return the values of coalitions (m, d) bool, True for members: (m,), or (m, k) for k outputs."""


@final
class CallableGame(Games):
    """One game, given as a function of coalitions; it has a single draw.

    Parameters
    ----------
    game : callable
        Maps bool coalitions (m, d) to values (m,), or (m, k) for k outputs.
    d : int
        Number of players.
    names : sequence of d str, optional
        Names of the players.
    batch_size : int, optional
        Maximum number of coalitions in one call; 4,096 by default.

    Examples
    --------
    >>> game = CallableGame(lambda coalitions: coalitions.sum(axis=1) ** 2, d=3, names=["a", "b", "c"])
    >>> game([[True, True, False]])
    array([4.])
    """

    may_be_noisy = True  # nothing is known of how a function comes to its values

    def __init__(
        self, game: Game, d: int, *, names: Sequence[str] | None = None, batch_size: int | None = None
    ) -> None:
        if not callable(game):
            raise TypeError(f"game must be callable with bool coalitions (m, d), got {game!r}")
        self.d = check_count("d", d, minimum=1)
        self._game = game
        self.player_names = None if names is None else checked_names(names, self.d)
        if batch_size is not None:
            self.draws_per_call = check_count("batch_size", batch_size, minimum=1)

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        return self._game(coalitions)


@final
class SetGame(Games):
    """One game, given as a function of sets of names, with a cache.

    Parameters
    ----------
    function : callable
        Maps a frozenset of names to a number, or to a sequence of k numbers.
    players : sequence of hashable
        Names of the players.

    Attributes
    ----------
    evaluated : dict
        The value of every set that was evaluated so far. No set is evaluated twice in the same process, and a call that
        raises an error leaves nothing behind; you may fill the cache in advance.

    Examples
    --------
    >>> import sharpley
    >>> game = SetGame(lambda S: len(S & {"left", "right"}) == 2, players=["left", "right", "hat"])
    >>> sharpley.shapley_values(game)["left"].values
    array([0.5])
    >>> len(game.evaluated)
    8
    """

    def __init__(self, function: Callable[[frozenset[Any]], Any], players: Sequence[Hashable]) -> None:
        if not callable(function):
            raise TypeError(f"a game of sets must be callable with a frozenset of names, got {function!r}")
        if isinstance(players, str | bytes) or not len(players):
            raise ValueError(f"players must be a sequence of at least one name, such as ['a', 'b'], got {players!r}")
        self._function, self._players = function, tuple(players)
        if len(set(self._players)) < len(self._players):
            twice = next(name for name in self._players if self._players.count(name) > 1)
            raise ValueError(f"players must have different names, but {twice!r} is there twice")
        self.d = len(self._players)
        self.player_names = [str(name) for name in self._players]
        self.evaluated: dict[frozenset[Any], Any] = {}

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        return np.array([self._value(frozenset(compress(self._players, row))) for row in coalitions.tolist()])

    def _value(self, members: frozenset[Any]) -> Any:
        if members not in self.evaluated:
            value = np.asarray(self._function(members))
            if value.dtype.kind not in "biuf" or value.ndim > 1 or not np.isfinite(value).all():
                names = [name for name in self._players if name in members]
                raise ValueError(f"the game must return finite numbers, got {value.tolist()!r} for the set of {names}")
            self.evaluated[members] = value.tolist()
        return self.evaluated[members]


def as_games(
    game: Any, d: int | None = None, *, names: Sequence[str] | None = None, batch_size: int | None = None
) -> Games:
    """Return ``game`` if it is an instance of ``Games``, and otherwise a function of coalitions as ``CallableGame``.

    Parameters
    ----------
    game : Games or callable
        Games, or a function from bool coalitions (m, d) to values (m,), or (m, k) for k outputs.
    d : int, optional
        Number of players. By default, the attribute ``d`` of the function is used, or ``n_players``, which shapiq's
        games have.
    names : sequence of d str, optional
        Names of the players of a function.
    batch_size : int, optional
        Maximum number of coalitions in one call of a function; 4,096 by default.

    Returns
    -------
    Games

    Examples
    --------
    >>> games = as_games(lambda coalitions: coalitions.sum(axis=1), d=3)
    >>> games.d, games.n_rows
    (3, 1)
    """
    known = _number_of_players(game)
    if known is not None and d is not None and d != known:
        raise ValueError(f"the game has {known} players, but d={d} was given; omit d")
    if isinstance(game, Games):
        if names is not None or batch_size is not None:
            raise TypeError(f"names and batch_size apply only to functions; {type(game).__name__} has its own")
        check_games(game)
        return game
    if not callable(game):
        raise TypeError(f"game must be callable with bool coalitions (m, d), got {game!r}")
    n_players = d if known is None else known
    if n_players is None:
        raise TypeError("the number of players is unknown; pass d, as in shapley_values(game, d=10)")
    return CallableGame(game, n_players, names=names, batch_size=batch_size)


def _number_of_players(game: Any) -> int | None:
    """Return the number of players that a game says it has; attributes of other kinds are not about players."""
    said = (getattr(game, "d", None), getattr(game, "n_players", None))
    return next((int(n) for n in said if isinstance(n, int | np.integer) and not isinstance(n, bool)), None)
