"""What is estimated: an index is a linear functional of games."""

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
    """A linear functional of games: one number, a *component*, for each of its labels.

    An index is defined by its value when every coalition is known. That definition is all that method "exact"
    needs; the table of methods says which indices the others estimate (``MethodRecord.indices``).

    Notes
    -----
    **Subclassing.** Define ``name``, ``labels`` and ``of_all_values``, and add the index to
    ``sharpley.indices.INDICES``. A complete index, the Banzhaf values, which weight all coalitions alike:

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

    @abstractmethod
    def labels(self, d: int) -> Sequence[Label]:
        """The players that each component belongs to, for games of d players."""

    @abstractmethod
    def of_all_values(self, values: Floats, d: int) -> Floats:
        """The index of games whose every value is known: (r, 2^d, k) -> (r, components, k).

        Coalitions are numbered by their binary digits, player 0's the lowest; see ``all_coalitions``.
        """

    def n_components(self, d: int) -> int:
        """Number of components for games of d players."""
        return len(self.labels(d))

    def positions(self, players: NDArray[np.int64], d: int) -> NDArray[np.int64]:
        """Where the components of a game restricted to some of d players stand among those of the whole game."""
        place = {label: position for position, label in enumerate(self.labels(d))}
        reduced = self.labels(len(players))
        return np.array([place[tuple(int(players[i]) for i in label)] for label in reduced], dtype=np.int64)
