"""Players in a binary tree: orderings in which each branch enters as a whole, and the Owen values that belong to them.

shap's maskers may have a clustering of players, an array (d − 1, 4) as scipy's hierarchical clustering returns it. An
ordering respects the tree if the players of every branch enter one after the other. In a random one of these, each of
the branches that leave the path from the root to a player is, independently, before or after the player with equal
probability. So the value of a player with siblings B_1, …, B_m along its path is

    φ_i = 2^−m Σ_{T ⊆ {1..m}} v(B_T ∪ i) − v(B_T),   B_T = ∪_{t ∈ T} B_t.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats, Orderings
from sharpley.permutations.orderings import with_reverses
from sharpley.samplers.base import BlockSampler

MAX_SIBLINGS = 20  # more would need more than a million coalitions for a single player


def children(clustering: Floats) -> NDArray[np.int64]:
    """Return the two children of each inner node, (d − 1, 2); inner node j is number d + j."""
    return np.asarray(clustering, dtype=np.float64)[:, :2].astype(np.int64)


def siblings(clustering: Floats) -> list[list[NDArray[np.int64]]]:
    """Return, for each player, the branches that leave its path from the root, each as a list of players."""
    pairs = children(clustering)
    d = len(pairs) + 1
    members: list[list[int]] = [[player] for player in range(d)]
    for left, right in pairs:
        members.append(members[left] + members[right])
    found: list[list[NDArray[np.int64]]] = [[] for _ in range(d)]
    for left, right in pairs:
        for branch, other in ((left, right), (right, left)):
            for player in members[branch]:
                found[player].append(np.array(members[other]))
    return found


def owen_coalitions(clustering: Floats, most: int) -> tuple[Coalitions, list[NDArray[np.int64]]] | None:
    """Return all coalitions of the formula, and where each player's are; None if there are more than ``most``.

    Returns
    -------
    coalitions : (m, d) bool
        Distinct coalitions, which include ∅ and N.
    positions : list of (2, 2^m_i) int
        For each player, the positions of its coalitions without and with the player.
    """
    paths = siblings(clustering)
    d = len(paths)
    if max(map(len, paths)) > MAX_SIBLINGS or sum(2 ** len(path) for path in paths) > 64 * most:
        return None
    numbers: dict[bytes, int] = {}
    coalitions: list[NDArray[np.bool_]] = []
    positions = []
    for player, path in enumerate(paths):
        without = _unions(path, d)
        both = np.stack([without, without])
        both[1, :, player] = True
        for coalition in both.reshape(-1, d):
            if numbers.setdefault(coalition.tobytes(), len(coalitions)) == len(coalitions):
                coalitions.append(coalition)
        positions.append(np.array([numbers[each.tobytes()] for each in both.reshape(-1, d)]).reshape(2, -1))
    return (np.array(coalitions), positions) if len(coalitions) <= most else None


def _unions(path: list[NDArray[np.int64]], d: int) -> Coalitions:
    """Return the unions of all subsets of some branches, (2^m, d)."""
    unions = np.zeros((1, d), dtype=bool)
    for branch in path:
        more = unions.copy()
        more[:, branch] = True
        unions = np.concatenate([unions, more])
    return unions


def owen_values(values: Floats, positions: list[NDArray[np.int64]]) -> Floats:
    """Return exact Owen values, (d, k), from the values (m, k) of the coalitions of ``owen_coalitions``."""
    return np.stack([(values[with_player] - values[without]).mean(axis=0) for without, with_player in positions])


@final
class TreeOrderings(BlockSampler):
    """Random orderings that respect a tree of players, in antithetic pairs or one by one.

    Parameters
    ----------
    d : int
        Number of players.
    clustering : (d − 1, 4) float
        The tree.
    paired : bool, default True
        Whether each ordering is followed by its reverse.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Examples
    --------
    Players 0 and 1 always enter one after the other:

    >>> tree = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    >>> sorted(set(map(tuple, TreeOrderings(3, clustering=tree, rng=0).random(40).tolist())))
    [(0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0)]
    """

    block_size = 2

    def __init__(self, d: int, *, clustering: Floats, paired: bool = True, rng: RNG = None) -> None:
        self.unit = self.step = self.block_size = 2 if paired else 1
        self._children = children(clustering)
        if len(self._children) != d - 1:
            raise ValueError(f"a clustering of {d} players has {d - 1} rows, got {len(self._children)}")
        super().__init__(d, rng=rng)

    def _blocks(self, count: int) -> Orderings:
        orderings = np.array([self._ordering() for _ in range(count)], dtype=np.int64)
        return with_reverses(orderings) if self.block_size == 2 else orderings

    def _ordering(self) -> list[int]:
        swapped = self._rng.random(len(self._children)) < 0.5
        members = [[player] for player in range(self.d)]
        for (left, right), swap in zip(self._children, swapped, strict=True):
            members.append(members[right] + members[left] if swap else members[left] + members[right])
        return members[-1]
