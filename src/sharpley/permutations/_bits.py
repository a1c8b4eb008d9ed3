"""Orderings packed into bit sets, and their discordant pairs by popcount (compiled).

An ordering is packed into N = C(d, 2) bits, one for each pair of players p > q: whether q enters before p. Two
orderings disagree on exactly the pairs of players whose bits differ, so the number of discordant pairs is
popcount(a XOR b), computed 64 bits at a time.

Packing walks along the ordering and maintains the bit set of the players that have entered so far. When player p
enters, that set restricted to the players below p is p's row of bits. The row is split at the last multiple of 64
players: the ⌊p/64⌋ whole words are copied as they are, and the remainder (fewer than 64 bits) is appended to the
remainders of the other rows without a gap. Only the remainder is ever shifted, and less than one word is wasted.

This module imports numba: import it inside functions only. Compiled code is cached on disk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic

from sharpley._support.typing import Codes, Floats, Orderings

WORD = 64  # bits
TILE = 32  # orderings that are compared with as many others at a time
WORDS_AT_ONCE = 64  # of their codes: a tile then has two times 16 kB


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


@njit(cache=True)
def _whole_words_below(player: int) -> int:
    """Number of whole words in the rows of players 0 .. player−1: Σ_{p < player} ⌊p/64⌋."""
    block, within = player >> 6, player & 63
    return 64 * (block * (block - 1) // 2) + block * within


@njit(cache=True)
def pack(orderings: Orderings) -> Codes:
    """Pack orderings, int (n, d), into one bit per pair of players: uint64 (n, words), words ≈ ⌈N/64⌉."""
    n, d = orderings.shape
    n_whole = _whole_words_below(d)
    n_rest = d * (d - 1) // 2 - n_whole * WORD
    codes = np.zeros((n, max(1, n_whole + (n_rest + WORD - 1) // WORD)), np.uint64)
    entered = np.zeros((d + WORD - 1) // WORD, np.uint64)
    one = np.uint64(1)
    for i in range(n):
        entered[:] = 0
        for k in range(d):
            p = orderings[i, k]
            block, within = p >> 6, p & 63
            first = _whole_words_below(p)
            for w in range(block):
                codes[i, first + w] = entered[w]
            # The remainder of player 64 · block + within has `within` bits: a whole block has Σ_{w<64} w = 64 · 63 / 2.
            start = block * (WORD * (WORD - 1) // 2) + within * (within - 1) // 2
            rest = entered[block] & ((one << np.uint64(within)) - one)
            word, shift = n_whole + (start >> 6), start & 63
            codes[i, word] |= rest << np.uint64(shift)
            if shift + within > WORD:
                codes[i, word + 1] |= rest >> np.uint64(WORD - shift)
            entered[block] |= one << np.uint64(within)
    return codes


@njit(cache=True, nogil=True)
def distance(a: Codes, i: int, b: Codes, j: int) -> int:
    """Number of discordant pairs between ordering i of ``a`` and ordering j of ``b``, both packed."""
    if a.shape[1] == 1:  # d ≤ 11: avoids the set-up of the vectorised loop, which costs 10 times the work itself
        return np.int64(_popcount(a[i, 0] ^ b[j, 0]))
    total = np.uint64(0)
    for w in range(a.shape[1]):
        total += _popcount(a[i, w] ^ b[j, w])
    return np.int64(total)


@njit(cache=True)
def distances(a: Codes, b: Codes) -> np.ndarray:
    """Numbers of discordant pairs between all orderings of two packed sets: int64 (n, m)."""
    out = np.empty((a.shape[0], b.shape[0]), np.int64)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = distance(a, i, b, j)
    return out


@njit(cache=True, nogil=True)
def _tile(codes: Codes, i0: int, i1: int, j0: int, j1: int, counts: np.ndarray) -> None:
    """Count the discordant pairs between orderings i0 .. i1 and j0 .. j1 in ``counts``, a few words at a time.

    The words that are compared at a time are copied to where they stay in the processor's cache; whole codes of 1,000
    players, of 62 kB each, would not. The innermost loop has a fixed length, so that it is vectorised.
    """
    words = codes.shape[1]
    a = np.zeros((TILE, WORDS_AT_ONCE), np.uint64)
    b = np.zeros((TILE, WORDS_AT_ONCE), np.uint64)
    counts[:] = 0
    for first in range(0, words, WORDS_AT_ONCE):
        last = min(words, first + WORDS_AT_ONCE)
        if last - first < WORDS_AT_ONCE:
            a[:], b[:] = 0, 0
        a[: i1 - i0, : last - first] = codes[i0:i1, first:last]
        b[: j1 - j0, : last - first] = codes[j0:j1, first:last]
        for i in range(i1 - i0):
            for j in range(j1 - j0):
                total = np.uint64(0)
                for w in range(WORDS_AT_ONCE):
                    total += _popcount(a[i, w] ^ b[j, w])
                counts[i, j] += np.int64(total)


@njit(cache=True, nogil=True)
def _rows_of_words(codes: Codes, table: Floats, vector: Floats, start: int, stop: int, product: Floats) -> None:
    for i in range(start, stop):
        total = 0.0
        for j in range(i):
            value = table[distance(codes, i, codes, j)]
            total += value * vector[j]
            product[j] += value * vector[i]
        product[i] += total


@njit(cache=True, nogil=True)
def table_rows(codes: Codes, table: Floats, vector: Floats, start: int, stop: int) -> Floats:
    """Return the part of K · vector, (n,), that is due to pairs (i, j) with start ≤ i < stop and j ≤ i.

    K_ij = table[distance(i, j)] is symmetric and never formed. Parts of consecutive rows add up to the product.
    """
    product = np.zeros(codes.shape[0])
    for i in range(start, stop):
        product[i] = table[0] * vector[i]
    if codes.shape[1] == 1:  # d ≤ 11: looking up a count would cost more than counting
        _rows_of_words(codes, table, vector, start, stop, product)
        return product
    counts = np.empty((TILE, TILE), np.int64)
    for i0 in range(start, stop, TILE):
        i1 = min(stop, i0 + TILE)
        for j0 in range(0, i1, TILE):
            j1 = min(i1, j0 + TILE)
            _tile(codes, i0, i1, j0, j1, counts)
            for i in range(i0, i1):
                for j in range(j0, min(j1, i)):
                    value = table[counts[i - i0, j - j0]]
                    product[i] += value * vector[j]
                    product[j] += value * vector[i]
    return product
