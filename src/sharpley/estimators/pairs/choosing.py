"""Coalitions in complementary pairs, without repetition, for the estimators that regress on coalitions.

Only the odd part of a game matters to its Shapley values, and a coalition with its complement gives its value
at one point. A pair stands for both; it is named by its smaller member (by either, if both have d/2 players)
and belongs to the class of that size.

Within a class the players are kept in balance, and pairs apart: of a few candidates that favour the least-used
players, the one is taken that is least like those chosen before it, by Σ|z·z'|³ with z = ±1.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.coalitions.store import coalition_keys

CANDIDATES = 20
ENUMERATED = 5000  # classes up to this size are drawn from a list
MIDDLE_AT_MOST = 0.35  # of the class of half the players
INEXHAUSTIBLE = 2**62  # larger classes count as this large
BIAS = 0.5  # towards players used less


def class_sizes(d: int) -> NDArray[np.float64]:
    """Pairs in the classes 1 … ⌊d/2⌋."""
    sizes = [float(min(comb(d, k), INEXHAUSTIBLE)) for k in range(1, d // 2 + 1)]
    if d % 2 == 0:
        sizes[-1] /= 2
    return np.array(sizes)


def quotas(
    d: int,
    n_pairs: int,
    *,
    singletons: bool = False,
    middle: float = 0.0,
    already: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """How many of ``n_pairs`` pairs come from each class 1 … ⌊d/2⌋: as many as there are, at most.

    Parameters
    ----------
    d : int
    n_pairs : int
    singletons : bool
        Whether all d singletons come first.
    middle : float
        Share of the rest that comes from the class of half the players; what remains is spread evenly over sizes.
    already : (⌊d/2⌋,) int, optional
        Pairs of each class that are there, to which others are added.
    """
    sizes = class_sizes(d)
    n_pairs = int(min(n_pairs, sizes.sum()))
    counts = np.zeros(len(sizes)) if already is None else already.astype(np.float64)
    if singletons:
        counts[0] = min(sizes[0], n_pairs)
    rest = n_pairs - counts.sum()
    if middle:
        counts[-1] = max(counts[-1], np.floor(min(middle * rest, MIDDLE_AT_MOST * sizes[-1])))
    # Every size from 1 to d − 1 gets the same share: that of half the players stands for itself alone.
    shares = np.full(len(sizes), 2.0)
    if d % 2 == 0:
        shares[-1] = 1.0
    while n_pairs - counts.sum() > 0.5:
        free = counts < sizes
        rest = n_pairs - counts.sum()
        add = np.where(free, np.floor(rest * shares / shares[free].sum()), 0.0)
        if add.sum() == 0:  # fewer left than classes: one each, from the largest class down
            order = np.flatnonzero(free)[::-1][: int(rest)]
            add[order] = 1.0
        counts = np.minimum(counts + add, sizes)
    return counts.astype(np.int64)


def random_members(d: int, k: int, keys: NDArray[np.float64]) -> Coalitions:
    """Pairs of class k: in each the players with the k lowest of its keys, (m, d)."""
    masks = np.zeros(keys.shape, dtype=bool)
    masks[np.arange(len(keys))[:, None], np.argpartition(keys, k - 1, axis=1)[:, :k]] = True
    if 2 * k == d:
        masks ^= ~masks[:, :1]  # one name for a pair: the member with player 0
    return masks


class PairChooser:
    """Distinct pairs, chosen class by class; what was chosen stays.

    Parameters
    ----------
    d : int
    rng : Generator
    """

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self.d = d
        self._rng = rng
        self._classes: list[_Class] = []  # made when needed: many of them take a while

    def extend(self, counts: NDArray[np.int64]) -> Coalitions:
        """Choose until every class has its count, and return the new pairs, (m, d), by one member each."""
        if not self._classes:
            self._classes = [_Class(self.d, k, self._rng) for k in range(1, self.d // 2 + 1)]
        fresh = [part.extend(int(count)) for part, count in zip(self._classes, counts, strict=True)]
        return np.concatenate(fresh)


class _Class:
    """Pairs of one class."""

    def __init__(self, d: int, k: int, rng: np.random.Generator) -> None:
        self._d, self._k, self._rng = d, k, rng
        self._is_middle = 2 * k == d
        self._uses = np.zeros(d)
        self._chosen = np.empty((0, d), dtype=np.float32)  # ±1
        self._known: set[bytes] = set()
        size = comb(d, k) // (2 if self._is_middle else 1)
        self._left: list[tuple[int, ...]] | None = None
        if size <= ENUMERATED:
            members = list(combinations(range(d), k))[:size]  # in lexical order the second half are complements
            self._left = [members[i] for i in rng.permutation(size)]

    def extend(self, count: int) -> Coalitions:
        before = len(self._chosen)
        grown = np.empty((max(count, before), self._d), dtype=np.float32)
        grown[:before] = self._chosen
        for n in range(before, count):
            candidates = self._candidates()
            overlap = np.abs(candidates @ grown[:n].T)
            best = int(np.argmin((overlap * overlap * overlap).sum(axis=1)))  # much faster than a power
            self._take(candidates[best], best)
            grown[n] = candidates[best]
        self._chosen = grown
        return np.asarray(grown[before:] > 0)

    def _candidates(self) -> NDArray[np.float32]:
        if self._left is not None:
            masks = np.zeros((min(CANDIDATES, len(self._left)), self._d), dtype=bool)
            for row, members in zip(masks, self._left[-len(masks) :], strict=True):
                row[list(members)] = True
        else:
            masks = self._random(CANDIDATES)
        return np.where(masks, np.float32(1.0), np.float32(-1.0))

    def _random(self, count: int) -> Coalitions:
        """New members of the class that favour players used less."""
        # A pair of the middle class holds every player once: there is nothing to balance.
        excess = np.zeros(self._d) if self._is_middle else self._uses - self._uses.mean()
        while True:
            masks = random_members(self._d, self._k, self._rng.random((count, self._d)) + BIAS * excess)
            new = np.array([key not in self._known for key in coalition_keys(masks)])
            if new.any():
                return masks[new]
            excess = np.zeros(self._d)

    def _take(self, signs: NDArray[np.float32], index: int) -> None:
        member = signs > 0
        self._uses += member
        if self._left is None:
            self._known.add(np.packbits(member).tobytes())
        else:
            shown = min(CANDIDATES, len(self._left))
            del self._left[len(self._left) - shown + index]
