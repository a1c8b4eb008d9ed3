"""Moves beyond adjacent transpositions, tried on top of the sweeps that make designs: compiled, with numba.

The compiled functions share their arguments:

- ``orderings`` (n, d) and ``ranks`` (d, n), which are changed in step: ``ranks[p, i]`` is the rank of player p in
  ordering i;
- ``values``, the kernel value by the number of discordant pairs;
- ``discordant`` (n,), the number of discordant pairs between ordering i and every other.

Each move lowers Σ_{j ≠ i} values[discordant[j]], the sum of kernel values between ordering i and all others.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sharpley import Mallows
from sharpley._support.typing import Floats, Orderings
from sharpley_experiments.studies.design_internals import (
    DESIGN_SCALE,
    NOT_TABULATED,
    ranks_by_player,
    swept,
    whole_kernel_values,
)

LONGEST_BLOCK = 3
"""Maximum number of players in a block that is exchanged."""

SMALLEST_GAIN = 1e-9
"""Sums that differ by less count as equal."""

FINAL_TEMPERATURE = 1e-3
"""Last temperature of annealing, as a share of the first."""

Function = TypeVar("Function", bound=Callable[..., Any])
Integers: TypeAlias = NDArray[np.signedinteger]
Move: TypeAlias = Callable[[Orderings, Integers, Floats], int]
"""Improves orderings in place, and returns the number of moves made."""


def _compiled(function: Function) -> Function:
    """``njit``, with a type: without one, mypy would not check the functions that it decorates."""
    return njit(function)


def improved_further(orderings: Orderings, move: Move) -> Orderings:
    """Sweep orderings (n, d), make further moves until none lowers the sum, and return the new orderings."""
    orderings = swept(orderings)
    ranks = ranks_by_player(orderings)
    values = whole_kernel_values(orderings.shape[1])
    while move(orderings, ranks, values):
        pass
    return orderings


def annealed(orderings: Orderings, seed: int, n_temperatures: int = 200) -> Orderings:
    """Anneal orderings (n, d), sweep them once, and return the new orderings.

    The first temperature accepts nearly every step, and the last hardly ever one that raises the sum.
    """
    orderings = orderings.copy()
    n, d = orderings.shape
    table = Mallows(DESIGN_SCALE).discordance_table(d)
    if table is None:
        raise ValueError(NOT_TABULATED.format(d))
    typical = table[0] * DESIGN_SCALE / comb(d, 2) * n**0.5
    temperatures = typical * np.geomspace(1.0, FINAL_TEMPERATURE, n_temperatures)
    anneal(orderings, ranks_by_player(orderings), table, temperatures, np.random.default_rng(seed))
    return swept(orderings, (1,))


@_compiled
def insertion_sweep(orderings: Orderings, ranks: Integers, values: Floats) -> int:
    """Put each player of each ordering where the sum is lowest; return the number of moves made."""
    n, d = orderings.shape
    discordant = np.empty(n, np.int64)
    moves = 0
    for i in range(n):
        _count_discordant(ranks, i, discordant)
        for player in range(d):
            home, place = ranks[player, i], _best_place(ranks, orderings[i], i, player, discordant, values)
            if place != home:
                moves += 1
                step = 1 if place > home else -1
                for k in range(home, place, step):
                    orderings[i, k] = orderings[i, k + step]
                orderings[i, place] = player
                ranks[orderings[i], i] = np.arange(d)
                _count_discordant(ranks, i, discordant)
    return moves


@_compiled
def block_sweep(orderings: Orderings, ranks: Integers, values: Floats) -> int:
    """Exchange neighbouring blocks of players where that lowers the sum; return the number of moves made."""
    n, d = orderings.shape
    discordant, trial = np.empty(n, np.int64), np.empty(n, np.int64)
    moves = 0
    for i in range(n):
        _count_discordant(ranks, i, discordant)
        for start in range(d - 1):
            for lengths in range(LONGEST_BLOCK * LONGEST_BLOCK):
                middle = start + 1 + lengths // LONGEST_BLOCK
                stop = middle + 1 + lengths % LONGEST_BLOCK
                if stop > d:
                    continue
                trial[:] = discordant
                for a in orderings[i, start:middle]:
                    for b in orderings[i, middle:stop]:
                        trial += np.where(ranks[a] > ranks[b], -1, 1)
                if _sum_to_others(trial, values, i) < _sum_to_others(discordant, values, i) - SMALLEST_GAIN:
                    moves += 1
                    exchanged = np.concatenate((orderings[i, middle:stop], orderings[i, start:middle]))
                    orderings[i, start:stop] = exchanged
                    ranks[orderings[i], i] = np.arange(d)
                    _count_discordant(ranks, i, discordant)
    return moves


@_compiled
def anneal(
    orderings: Orderings, ranks: Integers, values: Floats, temperatures: Floats, rng: np.random.Generator
) -> None:
    """Take Metropolis steps by random adjacent transpositions, 4d for each ordering at each temperature."""
    n, d = orderings.shape
    discordant = np.empty(n, np.int64)
    for temperature in temperatures:
        for i in range(n):
            _count_discordant(ranks, i, discordant)
            for _ in range(4 * d):
                k = rng.integers(0, d - 1)
                a, b = orderings[i, k], orderings[i, k + 1]
                change = _change_of_swap(ranks, i, a, b, discordant, values)
                if change < 0 or rng.random() < np.exp(-change / temperature):
                    discordant += np.where(ranks[a] > ranks[b], -1, 1)
                    discordant[i] = 0
                    orderings[i, k], orderings[i, k + 1] = b, a
                    ranks[a, i], ranks[b, i] = k + 1, k


@_compiled
def _sum_to_others(discordant: Integers, values: Floats, i: int) -> float:
    total = 0.0
    for j in range(len(discordant)):
        if j != i:
            total += values[discordant[j]]
    return total


@_compiled
def _count_discordant(ranks: Integers, i: int, discordant: Integers) -> None:
    """Fill ``discordant`` with the numbers for ordering i."""
    d, n = ranks.shape
    discordant[:] = 0
    for a in range(d):
        for b in range(a):
            before = ranks[a, i] < ranks[b, i]
            for j in range(n):
                discordant[j] += before != (ranks[a, j] < ranks[b, j])


@_compiled
def _best_place(ranks: Integers, ordering: Orderings, i: int, player: int, discordant: Integers, values: Floats) -> int:
    """Find the rank of a player in ordering i at which the sum is lowest."""
    d, n = ranks.shape
    home = ranks[player, i]
    best, best_at = _sum_to_others(discordant, values, i) - SMALLEST_GAIN, home
    for direction in (-1, 1):
        trial = discordant.copy()
        k = home + direction
        while 0 <= k < d:
            for j in range(n):
                agrees = (ranks[player, j] > ranks[ordering[k], j]) == (direction > 0)
                trial[j] += -1 if agrees else 1
            total = _sum_to_others(trial, values, i)
            if total < best:
                best, best_at = total, k
            k += direction
    return best_at


@_compiled
def _change_of_swap(ranks: Integers, i: int, a: int, b: int, discordant: Integers, values: Floats) -> float:
    """Change of the sum if a and b, which enter one after the other in ordering i, are swapped."""
    change = 0.0
    for j in range(len(discordant)):
        if j != i:
            change += values[discordant[j] + (-1 if ranks[a, j] > ranks[b, j] else 1)] - values[discordant[j]]
    return change
