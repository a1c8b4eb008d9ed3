"""The interface of an index, a linear functional of games, which is what is estimated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

Label: TypeAlias = tuple[int, ...]
"""The players that a component of an index belongs to, in increasing order."""


class Index(ABC):
    """A linear functional of games, with a number, called *component*, for each of its labels.

    An index is defined as a function of the values of all coalitions. Method "exact" needs nothing else;
    ``MethodRecord.indices`` has the indices that each of the other methods estimates.

    Attributes
    ----------
    name : str
        The name that ``index=`` accepts.
    ignores_null_players : bool, default True
        Whether players that change no value have components 0 and leave those of the others unchanged. Players that
        cannot matter are then left out of a game; otherwise all are kept.

    Notes
    -----
    **Subclassing.** Define ``name``, ``labels`` and ``of_all_values``, and add the index to
    ``sharpley.indices.INDICES``. A complete index, the Banzhaf values, which weight all coalitions equally:

    >>> import numpy as np
    >>> from sharpley.indices import Index
    >>> class BanzhafValues(Index):
    ...     '''The mean contribution of each player over all coalitions of the others.'''
    ...     name = "banzhaf"
    ...     def labels(self, d):
    ...         return [(player,) for player in range(d)]
    ...     def of_all_values(self, values, d):
    ...         coalitions = np.arange(2**d)
    ...         members = (coalitions[:, None] >> np.arange(d)) & 1  # (2^d, d)
    ...         return np.einsum("cd,rck->rdk", (2 * members - 1) / 2 ** (d - 1), values)
    """

    name: str
    ignores_null_players: bool = True

    @abstractmethod
    def labels(self, d: int) -> Sequence[Label]:
        """Return the players that each component belongs to, for games of d players."""

    @abstractmethod
    def of_all_values(self, values: Floats, d: int) -> Floats:
        """Return the index of games, given their values at all coalitions: (r, 2^d, k) -> (r, components, k).

        Coalitions are numbered by their binary digits, player 0's the lowest; see ``all_coalitions``.
        """

    def component_names(self, player_names: Sequence[str]) -> list[str]:
        """Names of the components: those of their players."""
        return [" × ".join(player_names[player] for player in label) for label in self.labels(len(player_names))]

    def n_components(self, d: int) -> int:
        """Return the number of components for games of d players."""
        return len(self.labels(d))

    def positions(self, players: NDArray[np.int64], d: int) -> NDArray[np.int64]:
        """Return the positions of the components of a game restricted to some players among those for all d players."""
        place = {label: position for position, label in enumerate(self.labels(d))}
        reduced = self.labels(len(players))
        return np.array([place[tuple(int(players[i]) for i in label)] for label in reduced], dtype=np.int64)
