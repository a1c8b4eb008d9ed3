"""The compiled descent by adjacent transpositions. It imports numba: import it inside functions only.

Swapping the players a and b that enter one after the other changes the number of discordant pairs to every
other ordering by one: down where the other ordering has them the other way round, up elsewhere. So with S(m)
the kernel value at m discordant pairs, the change of Σ_j S(m_j) is

    Σ_j up(m_j) + Σ_{j: rank_j(a) > rank_j(b)} gain(m_j),   up(m) = S(m+1) − S(m),   gain(m) = S(m−1) − S(m+1),

one masked sum over the other orderings. Kernel values are whole numbers held as floats: their sums are exact in any
order, so the result does not depend on how a processor vectorises them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sharpley.permutations import _bits

SWAP_WORK = 4  # of a swap for each other ordering, compared with one comparison of players


@njit(cache=True, fastmath=True)  # sums of whole numbers below 2^53: reordering them changes nothing
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
    """Fill in the gains of swaps towards each other ordering, and return the sum of ``up``; ordering i is left out."""
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
    """Improve ordering i against the first n others until no adjacent transposition helps; return walks and swaps."""
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
    """Improve one ordering after the other until nothing moves or the work is used up; change them in place.

    Parameters
    ----------
    orderings : (n, d) int
    ranks : (d, n) int
        Player-major, so that the sums over other orderings run through contiguous memory.
    up, gain : (C(d, 2) + 1,) float
    work : int
        Comparisons of players or words that may be made, checked after each ordering.

    Returns
    -------
    int
        Sweeps made, the last one perhaps in part.
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
    """Improve each ordering against those before it only: every first part of the result is a sample of its own."""
    n = orderings.shape[0]
    codes = _bits.pack(orderings)
    discordant, gains = np.empty(n, np.int32), np.empty(n)
    for i in range(1, n):
        _descend(orderings, ranks, codes, i, i, up, gain, discordant, gains)
