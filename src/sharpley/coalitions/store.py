"""A store of distinct coalitions.

The budget counts *distinct* coalitions. So estimators register the coalitions that they need in a ``CoalitionStore``,
which keeps each of them once. The empty and the full coalition are always its first two.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions

EMPTY, FULL = 0, 1  # positions in every store


class CoalitionStore:
    """Distinct coalitions in the order in which they were first registered.

    Parameters
    ----------
    d : int
        Number of players.

    Examples
    --------
    >>> store = CoalitionStore(2)
    >>> store.add(np.array([[True, False], [True, True], [True, False]]))
    array([2, 1, 2])
    >>> len(store)
    3
    """

    def __init__(self, d: int) -> None:
        self.d = d
        ends = np.packbits([[False] * d, [True] * d], axis=1)
        self._positions = {ends[0].tobytes(): EMPTY, ends[1].tobytes(): FULL}

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def is_complete(self) -> bool:
        """Whether the store holds all 2^d coalitions."""
        return len(self) == 2**self.d

    def add(self, coalitions: Coalitions) -> NDArray[np.int64]:
        """Register coalitions (m, d) and return their positions, (m,)."""
        return np.array(
            [self._positions.setdefault(key, len(self)) for key in coalition_keys(coalitions)], dtype=np.int64
        )

    def add_within(self, coalitions: Coalitions, limit: int) -> NDArray[np.int64] | None:
        """Register coalitions as ``add`` does, or return None if the store would then hold more than ``limit``."""
        fresh = {key for key in coalition_keys(coalitions) if key not in self._positions}
        return self.add(coalitions) if len(self) + len(fresh) <= limit else None

    def since(self, start: int) -> Coalitions:
        """Return the coalitions from position ``start`` on, (m, d) bool."""
        packed = np.frombuffer(b"".join(islice(self._positions, start, None)), dtype=np.uint8)
        rows = packed.reshape(-1, -(-self.d // 8))
        return np.unpackbits(rows, axis=1, count=self.d).astype(bool)


def coalition_keys(coalitions: Coalitions) -> list[bytes]:
    """Return bytes that identify each of the coalitions (m, d)."""
    return [row.tobytes() for row in np.packbits(coalitions, axis=1)]


def unseen(coalitions: Coalitions, known: set[bytes]) -> NDArray[np.bool_]:
    """Return which coalitions (m, d) are not among the known ones, given by their keys: (m,) bool."""
    return np.array([key not in known for key in coalition_keys(coalitions)], dtype=bool)
