"""Choosing pairs without repetition, for the estimators that regress on coalitions.

Shapley values depend only on the odd part of a game, and a pair, a coalition and its complement, gives its value at one
point. A pair is represented by its smaller coalition; if both have d/2 players, by the one that contains player 0. All
pairs whose smaller coalition has k players form class k; if d is even, class d/2 is called the *middle class*.

Within a class, pairs are chosen so that the players are balanced and the pairs differ from each other: of a few
candidates that favour the least-used players, the one with the smallest Σ|z·z'|³ is chosen, where the sum is over the
pairs z' = ±1 chosen before.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.coalitions.store import coalition_keys

CANDIDATES_PER_PAIR = 20  # each pair is chosen from this many
MAX_LISTED_PAIRS = 5000  # classes with at most this many pairs are drawn from a list of all of them
MAX_SHARE_OF_LAST_CLASS = 0.35  # maximum share of the pairs of class ⌊d/2⌋ that its quota claims in advance
MAX_COUNTED_PAIRS = 2**62  # classes with more pairs than this count as having this many
KEY_PENALTY_PER_USE = 0.5  # added to a player's random key, in [0, 1), per use in excess of the mean


def pairs_per_class(d: int) -> NDArray[np.float64]:
    """Return the number of pairs in each of the classes 1 … ⌊d/2⌋.

    Examples
    --------
    >>> pairs_per_class(6)
    array([ 6., 15., 10.])
    """
    numbers = np.full(d // 2, float(MAX_COUNTED_PAIRS))
    n_pairs = 1
    for k in range(1, d // 2 + 1):  # the numbers increase up to the last class
        n_pairs = n_pairs * (d - k + 1) // k
        if n_pairs >= MAX_COUNTED_PAIRS:
            break
        numbers[k - 1] = n_pairs
    if d % 2 == 0:
        numbers[-1] /= 2
    return numbers


def quotas(
    d: int,
    n_pairs: int,
    *,
    singletons: bool = False,
    middle: float = 0.0,
    already: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return how many of ``n_pairs`` pairs come from each class 1 … ⌊d/2⌋, at most all pairs of the class.

    Parameters
    ----------
    d : int
        Number of players.
    n_pairs : int
        Total number of pairs; at most all of them are used.
    singletons : bool
        Whether all d pairs of class 1 come first.
    middle : float
        Share of the other pairs that comes from class ⌊d/2⌋ in advance; the rest is spread evenly over sizes.
    already : (⌊d/2⌋,) int, optional
        Numbers of pairs chosen before; the result includes them.

    Returns
    -------
    (⌊d/2⌋,) int

    Examples
    --------
    >>> quotas(6, 10)
    array([4, 4, 2])
    >>> quotas(6, 10, singletons=True)
    array([6, 2, 2])
    """
    available = pairs_per_class(d)
    n_pairs = int(min(n_pairs, available.sum()))
    counts = np.zeros(len(available)) if already is None else already.astype(np.float64)
    if singletons:
        counts[0] = min(available[0], n_pairs)
    missing = n_pairs - counts.sum()
    if middle:
        counts[-1] = max(counts[-1], np.floor(min(middle * missing, MAX_SHARE_OF_LAST_CLASS * available[-1])))
    # Every size from 1 to d − 1 gets the same share. A class has two sizes, k and d − k; the middle class has only one.
    shares = np.full(len(available), 2.0)
    if d % 2 == 0:
        shares[-1] = 1.0
    return _filled(counts, n_pairs, shares, available)


def quotas_towards(d: int, n_pairs: int, shares: NDArray[np.float64], already: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of ``n_pairs`` pairs come from each class, as nearly in proportion to shares as possible.

    Parameters
    ----------
    d : int
        Number of players.
    n_pairs : int
        Total number of pairs; at most all of them are used.
    shares : (⌊d/2⌋,) float
        Positive shares of the classes.
    already : (⌊d/2⌋,) int
        Numbers of pairs chosen before; the result includes them.

    Examples
    --------
    >>> quotas_towards(6, 10, np.array([1.0, 3.0, 1.0]), already=np.array([4, 0, 0]))
    array([4, 4, 2])
    """
    available = pairs_per_class(d)
    n_pairs = int(min(n_pairs, available.sum()))
    wanted = _filled(np.zeros(len(available)), n_pairs, shares, available)
    # What exceeds its share has been chosen already, so that all others get less than theirs.
    return _filled(already.astype(np.float64), n_pairs, np.maximum(wanted - already, 0.0), available)


def _filled(
    counts: NDArray[np.float64], n_pairs: int, shares: NDArray[np.float64], limits: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Increase counts to a sum of ``n_pairs``, in proportion to shares, none beyond its limit."""
    while n_pairs - counts.sum() > 0.5:
        unfilled = (counts < limits) & (shares > 0.0)
        missing = n_pairs - counts.sum()
        add = np.where(unfilled, np.floor(missing * shares / shares[unfilled].sum()), 0.0)
        if add.sum() == 0:  # fewer pairs are missing than there are classes: one each, from class ⌊d/2⌋ down
            order = np.flatnonzero(unfilled)[::-1][: int(missing)]
            add[order] = 1.0
        counts = np.minimum(counts + add, limits)
    return counts.astype(np.int64)


def random_members(d: int, k: int, keys: NDArray[np.float64]) -> Coalitions:
    """Return a pair of class k for each row of keys (m, d): the k players with the lowest keys, (m, d) bool."""
    masks = np.zeros(keys.shape, dtype=bool)
    masks[np.arange(len(keys))[:, None], np.argpartition(keys, k - 1, axis=1)[:, :k]] = True
    if 2 * k == d:
        masks ^= ~masks[:, :1]  # represent the pair by the coalition that contains player 0
    return masks


class PairChooser:
    """Choose distinct pairs, class by class; pairs can be added later.

    Parameters
    ----------
    d : int
        Number of players.
    rng : Generator
        Source of randomness.
    """

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self.d = d
        self._rng = rng
        self._classes: list[_Class] = []  # created on first use, since listing the pairs of many classes takes a while

    @property
    def counts(self) -> NDArray[np.int64]:
        """Numbers of pairs chosen from each class, (⌊d/2⌋,)."""
        return np.array([part.count for part in self._classes] or [0] * (self.d // 2), dtype=np.int64)

    def extend(self, counts: NDArray[np.int64]) -> Coalitions:
        """Choose pairs until class k has ``counts[k − 1]`` of them; return the smaller coalitions of the new ones."""
        if not self._classes:
            self._classes = [_Class(self.d, k, self._rng) for k in range(1, self.d // 2 + 1)]
        fresh = [part.extend(int(count)) for part, count in zip(self._classes, counts, strict=True)]
        return np.concatenate(fresh)


class _Class:
    """The chosen pairs of one class."""

    def __init__(self, d: int, k: int, rng: np.random.Generator) -> None:
        self._d, self._k, self._rng = d, k, rng
        self._is_middle = 2 * k == d
        self._uses = np.zeros(d)
        self._chosen = np.empty((0, d), dtype=np.float32)  # ±1
        self._known: set[bytes] = set()
        n_pairs = comb(d, k) // (2 if self._is_middle else 1)
        self._unused: list[tuple[int, ...]] | None = None  # in random order; None if there are too many to list
        if n_pairs <= MAX_LISTED_PAIRS:
            # In the middle class, the second half in lexicographic order are the complements of the first.
            members = list(combinations(range(d), k))[:n_pairs]
            self._unused = [members[i] for i in rng.permutation(n_pairs)]

    @property
    def count(self) -> int:
        """Number of pairs chosen."""
        return len(self._chosen)

    def extend(self, count: int) -> Coalitions:
        """Choose pairs until there are ``count``, and return the new ones, (m, d)."""
        before = len(self._chosen)
        grown = np.empty((max(count, before), self._d), dtype=np.float32)
        grown[:before] = self._chosen
        for n in range(before, count):
            candidates = self._candidates()
            overlap = np.abs(candidates @ grown[:n].T)
            best = int(np.argmin((overlap * overlap * overlap).sum(axis=1)))  # much faster than overlap**3
            self._take(candidates[best], best)
            grown[n] = candidates[best]
        self._chosen = grown
        return np.asarray(grown[before:] > 0)

    def _candidates(self) -> NDArray[np.float32]:
        if self._unused is not None:
            masks = np.zeros((min(CANDIDATES_PER_PAIR, len(self._unused)), self._d), dtype=bool)
            for row, members in zip(masks, self._unused[-len(masks) :], strict=True):
                row[list(members)] = True
        else:
            masks = self._random(CANDIDATES_PER_PAIR)
        return np.where(masks, np.float32(1.0), np.float32(-1.0))

    def _random(self, count: int) -> Coalitions:
        """Draw pairs that have not been chosen yet, and that favour the least-used players."""
        # Both coalitions of a pair of the middle class have d/2 players: there is nothing to balance.
        excess = np.zeros(self._d) if self._is_middle else self._uses - self._uses.mean()
        while True:
            keys = self._rng.random((count, self._d)) + KEY_PENALTY_PER_USE * excess
            masks = random_members(self._d, self._k, keys)
            new = np.array([key not in self._known for key in coalition_keys(masks)])
            if new.any():
                return masks[new]
            excess = np.zeros(self._d)

    def _take(self, signs: NDArray[np.float32], index: int) -> None:
        member = signs > 0
        self._uses += member
        if self._unused is None:
            self._known.add(np.packbits(member).tobytes())
        else:
            n_candidates = min(CANDIDATES_PER_PAIR, len(self._unused))
            del self._unused[len(self._unused) - n_candidates + index]
