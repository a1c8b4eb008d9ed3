"""The compiled descent by adjacent transpositions.

Let players a and b enter one directly after the other. Swapping them changes the number m_j of discordant pairs with
every other ordering j by one: it decreases if b enters before a in ordering j, and increases otherwise. With S(m) the
kernel value at m discordant pairs, the change of Σ_j S(m_j) is

    Σ_j up(m_j) + Σ_{j: rank_j(a) > rank_j(b)} gain(m_j),   up(m) = S(m+1) − S(m),   gain(m) = S(m−1) − S(m+1),

one masked sum over the other orderings. Kernel values are integers stored as floats. Their sums are exact in any order
of summation, so the result does not depend on how the processor vectorises them.

This module imports numba: import it inside functions only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sharpley.permutations import _bits

SWAP_WORK = 4  # cost of a swap per other ordering, in comparisons of two players


@njit(cache=True, fastmath=True)  # safe: sums of integers below 2^53 are exact in any order
def _masked_sum(gains, ranks_a, ranks_b, n):
    total = 0.0
    for j in range(n):
        total += gains[j] if ranks_a[j] > ranks_b[j] else 0.0
    return total


@njit(cache=True)
def _count_swap(discordant, ranks_a, ranks_b, n):
    for j in range(n):
        discordant[j] += -1 if ranks_a[j] > ranks_b[j] else 1


@njit(cache=True)
def _look_up(discordant, up, gain, gains, n, i):
    """Set ``gains`` to gain(m_j) and return Σ_j up(m_j), both over the first n orderings except ordering i itself."""
    total = 0.0
    for j in range(n):
        gains[j] = gain[discordant[j]]
        total += up[discordant[j]]
    if i < n:
        total -= up[discordant[i]]
        gains[i] = 0.0
    return total


@njit(cache=True)
def _descend(orderings, ranks, codes, i, n, up, gain, discordant, gains):
    """Improve ordering i with respect to the first n orderings until no adjacent transposition lowers the sum.

    Return the number of walks along the ordering and the number of swaps.
    """
    d = orderings.shape[1]
    for j in range(n):
        discordant[j] = _bits.distance(codes, i, codes, j)
    total_up = _look_up(discordant, up, gain, gains, n, i)
    walks, swaps, moved = 0, 0, True
    while moved:
        moved = False
        walks += 1
        for k in range(d - 1):
            a, b = orderings[i, k], orderings[i, k + 1]
            if total_up + _masked_sum(gains, ranks[a], ranks[b], n) < 0.0:
                _count_swap(discordant, ranks[a], ranks[b], n)
                if i < n:
                    discordant[i] = 0
                total_up = _look_up(discordant, up, gain, gains, n, i)
                orderings[i, k], orderings[i, k + 1] = b, a
                ranks[a, i], ranks[b, i] = k + 1, k
                moved = True
                swaps += 1
    if swaps:
        codes[i] = _bits.pack(orderings[i : i + 1])[0]
    return walks, swaps


@njit(cache=True)
def sweep(orderings, ranks, up, gain, work):
    """Improve one ordering after the other, in place, until none changes or the work is used up.

    Parameters
    ----------
    orderings : (n, d) int
        Modified in place.
    ranks : (d, n) int
        Ranks of the players in each ordering, player-major, so that sums over orderings access contiguous memory.
        Modified in place.
    up, gain : (C(d, 2) + 1,) float
        Differences of the kernel values, see the module.
    work : int
        Maximum number of comparisons of players or words, checked after each ordering.

    Returns
    -------
    int
        Number of sweeps, including the last one if it was interrupted.
    """
    n, d = orderings.shape
    codes = _bits.pack(orderings)
    discordant, gains = np.empty(n, np.int32), np.empty(n)
    sweeps, moved = 0, True
    while moved:
        moved = False
        sweeps += 1
        for i in range(n):
            walks, swaps = _descend(orderings, ranks, codes, i, n, up, gain, discordant, gains)
            moved = moved or swaps > 0
            work -= n * (walks * d + SWAP_WORK * swaps + codes.shape[1])
            if work < 0:
                return sweeps
    return sweeps


@njit(cache=True)
def grow(orderings, ranks, up, gain):
    """Improve each ordering, in place, with respect to the orderings before it only.

    The first m orderings of the result are those of ``grow`` on the first m orderings, for every m.
    """
    n = orderings.shape[0]
    codes = _bits.pack(orderings)
    discordant, gains = np.empty(n, np.int32), np.empty(n)
    for i in range(1, n):
        _descend(orderings, ranks, codes, i, i, up, gain, discordant, gains)
