"""The convention for permutations that the whole package follows, and the number of discordant pairs.

An **ordering** lists the players in the order in which they enter: ``orderings[i, k]`` is the player that enters at
step k of permutation i. Its **ranks** are the inverse permutation: ``ranks[i, p]`` is the step at which player p
enters. Both count from 0. In the paper's notation σ is the rank vector and σ⁻¹ the ordering.

Two orderings are compared by their discordant pairs, the pairs of *players* that the two orderings rank differently.
Their number is invariant under relabelling: ``discordant_pairs(τ[a], τ[b]) == discordant_pairs(a, b)`` for every
permutation τ of the players.
"""

from __future__ import annotations

from itertools import chain, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Orderings, Ranks

MAX_PLAYERS_ENUMERATED = 10  # 10! orderings occupy 290 MB, 11! would occupy 3.5 GB


def as_orderings(orderings: ArrayLike) -> Orderings:
    """Check that every row is a permutation of 0 .. d−1, and return the orderings as an array.

    Parameters
    ----------
    orderings : (n, d) int

    Returns
    -------
    (n, d) int64

    Raises
    ------
    TypeError
        If the entries are not integers.
    ValueError
        If the array is not two-dimensional or a row is not a permutation; the message names the row and the entry.

    Examples
    --------
    >>> as_orderings([[0, 1, 2], [0, 2, 2]])
    Traceback (most recent call last):
    ...
    ValueError: row 1 of orderings is not a permutation of 0..2: entry 2 repeats player 2
    """
    array = np.asarray(orderings)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"orderings must have shape (n, d) with d of at least 1, got {array.shape}; "
            "write a single ordering as [[0, 2, 1]]"
        )
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"orderings must be integers, got dtype {array.dtype}")
    # Checking the range first makes the entries valid indices into the d flags of each ordering.
    array = np.ascontiguousarray(array, dtype=np.int64)
    n, d = array.shape
    outside = (array < 0) | (array >= d)
    if outside.any():
        raise ValueError(_describe_outside(array, outside))
    seen = np.zeros((n, d), dtype=bool)
    np.put_along_axis(seen, array, True, axis=1)
    if not seen.all():
        raise ValueError(_describe_repeated(array, int(np.flatnonzero(~seen.all(axis=1))[0])))
    return array


def _describe_outside(orderings: Orderings, outside: NDArray[np.bool_]) -> str:
    row, entry = np.argwhere(outside)[0]
    d = orderings.shape[1]
    hint = ""
    if orderings.min() == 1 and orderings.max() == d:
        hint = "; players are numbered from 0: subtract 1"
    return f"row {row} of orderings is not a permutation of 0..{d - 1}: entry {entry} is {orderings[row, entry]}{hint}"


def _describe_repeated(orderings: Orderings, row: int) -> str:
    _, first = np.unique(orderings[row], return_index=True)
    entry = int(np.setdiff1d(np.arange(orderings.shape[1]), first)[0])
    return (
        f"row {row} of orderings is not a permutation of 0..{orderings.shape[1] - 1}: "
        f"entry {entry} repeats player {orderings[row, entry]}"
    )


def as_comparable(a: ArrayLike, b: ArrayLike | None) -> tuple[Orderings, Orderings]:
    """Check two sets of orderings of the same number of players, (n, d) and (m, d); ``b=None`` stands for ``a``."""
    a = as_orderings(a)
    b = a if b is None else as_orderings(b)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"both sets of orderings must have the same number of players, got d={a.shape[1]} and d={b.shape[1]}"
        )
    return a, b


def ranks_of(orderings: ArrayLike) -> Ranks:
    """Return the ranks of the players in each ordering, that is, the inverse permutations.

    Parameters
    ----------
    orderings : (n, d) int
        ``orderings[i, k]`` is the player that enters at step k.

    Returns
    -------
    (n, d) int
        ``ranks[i, p]`` is the step at which player p enters.

    Examples
    --------
    Player 2 enters first, player 0 second and player 1 last:

    >>> ranks_of([[2, 0, 1]])
    array([[1, 2, 0]])
    """
    orderings = as_orderings(orderings)
    ranks = np.empty_like(orderings)
    steps = np.broadcast_to(np.arange(orderings.shape[1]), orderings.shape)
    np.put_along_axis(ranks, orderings, steps, axis=1)
    return ranks


def all_orderings(d: int) -> Orderings:
    """Return all d! orderings of d players in lexicographic order.

    Parameters
    ----------
    d : int
        Number of players, from 1 to 10.

    Returns
    -------
    (d!, d) int

    Examples
    --------
    >>> all_orderings(3)
    array([[0, 1, 2],
           [0, 2, 1],
           [1, 0, 2],
           [1, 2, 0],
           [2, 0, 1],
           [2, 1, 0]])
    """
    d = check_count("d", d, minimum=1)
    if d > MAX_PLAYERS_ENUMERATED:
        raise ValueError(
            f"{d}! orderings do not fit into memory: d must be at most {MAX_PLAYERS_ENUMERATED}, got {d}; "
            "draw a sample instead, for instance with MonteCarlo"
        )
    players = chain.from_iterable(permutations(range(d)))
    return np.fromiter(players, dtype=np.int64, count=factorial(d) * d).reshape(-1, d)


def discordant_pairs(a: ArrayLike, b: ArrayLike | None = None) -> NDArray[np.int64]:
    """Count the pairs of players that two orderings rank differently.

    Parameters
    ----------
    a, b : (n, d) and (m, d) int
        Orderings. ``b=None`` compares ``a`` with itself.

    Returns
    -------
    (n, m) int
        n_dis(a_i, b_j), from 0 (equal orderings) to C(d, 2) (one is the reverse of the other).

    Examples
    --------
    >>> discordant_pairs([[0, 1, 2]], [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    array([[0, 1, 3]])
    """
    from sharpley.permutations import _bits

    a, b = as_comparable(a, b)
    packed = _bits.pack(a)
    counts: NDArray[np.int64] = _bits.distances(packed, packed if b is a else _bits.pack(b))
    return counts


def with_reverses(orderings: Orderings) -> Orderings:
    """Return each ordering followed by its reverse: (n, d) -> (2n, d)."""
    return np.stack([orderings, orderings[:, ::-1]], axis=1).reshape(-1, orderings.shape[1])
