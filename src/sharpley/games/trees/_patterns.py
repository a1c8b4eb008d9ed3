"""Compiled loops of the closed form for trees: patterns of rows at units, histograms, tables, look-ups.

A visit of the program computes the bits of a node from those of its parent, for a block of rows at once: one bit for
each player on the path, set while a row meets all conditions of that player. At a unit, a bit for each of its inner
splits is added, which gives the row's pattern there. ``_program`` has the columns of the arrays.

This module imports numba: import it inside functions only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sharpley.games.trees._program import (
    BIT,
    CELLS,
    COLUMN,
    DEPTH,
    FIRST_INNER,
    FIRST_LEAF,
    FIRST_PLACE,
    FIRST_PLAYER,
    FIRST_STEP,
    LEAF_PLAYERS,
    LOW,
    MAX_BITS,
    N_INNER,
    N_LEAVES,
    N_PLAYERS,
    N_STEPS,
    NODE,
    ON_PATH,
    SIDE,
    SPAN,
    TABLE,
    UNIT,
)

BLOCK = 256  # rows whose patterns are computed together, in the processor's cache
ALL_BITS = 0xFFFF
SIZES = np.array([number.bit_count() for number in range(1 << MAX_BITS)])
"""Number of players in each set that is given by its bits."""


@njit(nogil=True, cache=True)
def _descend(visit, codes, start, n, bits):
    """Set the bits of a node, ``bits[depth]``, for the n rows from ``start`` on, from those of its parent."""
    depth = visit[DEPTH]
    if depth == 0:
        bits[0, :n] = ALL_BITS
        return
    above, here, code = bits[depth - 1, :n], bits[depth, :n], codes[visit[COLUMN], start : start + n]
    low, span = codes.dtype.type(visit[LOW]), codes.dtype.type(visit[SPAN])
    failed = np.uint16(ALL_BITS ^ (1 << visit[BIT]))
    inside, outside = (np.uint16(ALL_BITS), failed) if visit[SIDE] else (failed, np.uint16(ALL_BITS))
    for i in range(n):
        is_inside = codes.dtype.type(code[i] - low) <= span
        here[i] = above[i] & (inside if is_inside else outside)


@njit(nogil=True, cache=True)
def _complete(unit, inner, codes, start, n, bits, patterns):
    """Set the patterns of n rows at a unit, given their bits at its first node."""
    k = unit[ON_PATH]
    mask = np.uint16((1 << k) - 1)
    for i in range(n):
        patterns[i] = bits[i] & mask
    for s in range(unit[N_INNER]):
        split = inner[unit[FIRST_INNER] + s]
        code = codes[split[0], start : start + n]
        low, span, bit = codes.dtype.type(split[1]), codes.dtype.type(split[2]), np.uint16(1 << (k + s))
        for i in range(n):
            patterns[i] |= bit if codes.dtype.type(code[i] - low) <= span else np.uint16(0)


@njit(nogil=True, cache=True)
def add_histograms(visits, units, inner, codes, weights, depth, histogram):
    """Add the weights of background rows to the histogram of each unit over its patterns."""
    bits, patterns = np.empty((depth + 1, BLOCK), np.uint16), np.empty(BLOCK, np.uint16)
    for start in range(0, codes.shape[1], BLOCK):
        n = min(BLOCK, codes.shape[1] - start)
        for visit in visits:
            _descend(visit, codes, start, n, bits)
            if visit[UNIT] >= 0:
                unit = units[visit[UNIT]]
                _complete(unit, inner, codes, start, n, bits[visit[DEPTH]], patterns)
                cells, shares = histogram[unit[CELLS] :], weights[start : start + n]
                for i in range(n):
                    cells[np.uint64(patterns[i])] += shares[i]


@njit(nogil=True, cache=True)
def look_up(visits, units, inner, unit_players, codes, rows, depth, tables, values):
    """Add the table entries of the patterns of some rows, from the first to the last, to ``values`` (rows, k, d)."""
    n_outputs, d = values.shape[1:]
    bits, patterns = np.empty((depth + 1, BLOCK), np.uint16), np.empty(BLOCK, np.uint16)
    totals = np.empty((n_outputs, d, BLOCK))
    for start in range(rows[0], rows[1], BLOCK):
        n = min(BLOCK, rows[1] - start)
        totals[:] = 0.0
        for visit in visits:
            _descend(visit, codes, start, n, bits)
            if visit[UNIT] >= 0:
                unit = units[visit[UNIT]]
                _complete(unit, inner, codes, start, n, bits[visit[DEPTH]], patterns)
                n_cells = 1 << (unit[ON_PATH] + unit[N_INNER])
                for output in range(n_outputs):
                    for j in range(unit[N_PLAYERS]):
                        entries = tables[output, unit[TABLE] + j * n_cells :]
                        total = totals[output, unit_players[unit[FIRST_PLAYER] + j], :n]
                        for i in range(n):
                            total[i] += entries[np.uint64(patterns[i])]
        for i in range(n):
            values[start + i] += totals[:, :, i]


@njit(nogil=True, cache=True)
def _leaf_patterns(leaf, steps, n_on_path, n_cells, patterns):
    """Set the pattern of a leaf that each pattern of its unit implies."""
    k = leaf[LEAF_PLAYERS]
    new = ((1 << k) - 1) ^ ((1 << n_on_path) - 1)
    for cell in range(n_cells):
        patterns[cell] = (cell & ((1 << n_on_path) - 1)) | new
    for s in range(leaf[FIRST_STEP], leaf[FIRST_STEP] + leaf[N_STEPS]):
        at, side, failed = steps[s, 0], steps[s, 1], ~(np.int64(1) << steps[s, 2])
        for cell in range(n_cells):
            if ((cell >> at) & 1) != side:
                patterns[cell] &= failed


@njit(nogil=True, cache=True)
def _sum_over_subsets(values, k):
    """Replace the value of every set of k players, given by its bits, by the sum of the values of its subsets."""
    for j in range(k):
        half = 1 << j
        for first in range(0, 1 << k, 2 * half):
            for i in range(first, first + half):
                values[i + half] += values[i]


@njit(nogil=True, cache=True)
def _leaf_table(histogram, k, nodes, weights, work, table):
    """Set what a leaf of value 1 adds to each of its k players, for every pattern c of a row: ``table[j, c]``.

    With G(A) the weight of background rows that fail exactly the players A, and b the number of players that the row
    fails, player j gets the integral of w(q) times

        Σ_{A ⊆ c, j ∈ A} G(A) q^(|A|−1) (1−q)^b          if the row meets its conditions (j ∈ c),
        − Σ_{A ⊆ c} G(A) q^|A| (1−q)^(b−1)               otherwise.

    Nodes and weights make the integral a sum. For each node, one transform gives the sums over all subsets of every c;
    the sum over A ∋ j is a difference of two of them.
    """
    size = 1 << k
    sums, factors = work[:size], work[size : 2 * size]
    table[:] = 0.0
    powers, others = np.empty(k + 1), np.empty(k + 1)
    for m in range(len(nodes)):
        q = nodes[m]
        for a in range(k + 1):
            powers[a], others[a] = q**a, weights[m] * (1.0 - q) ** max(0, k - 1 - a)
        for c in range(size):
            sums[c] = histogram[size - 1 - c] * powers[SIZES[c]]
            factors[c] = others[SIZES[c]]
        _sum_over_subsets(sums, k)
        inverse = 1.0 / q if q > 0.0 else 0.0
        for j in range(k):
            half, column = 1 << j, table[j]
            alone = 0.0 if q > 0.0 else histogram[size - 1 - half]  # at q = 0, only A = {j} counts
            for first in range(0, size, 2 * half):
                for c in range(first, first + half):
                    column[c] -= factors[c] * sums[c]
                    column[c + half] += factors[c] * ((sums[c + half] - sums[c]) * inverse + alone)


@njit(nogil=True, cache=True)
def fill_tables(chosen, units, leaves, steps, places, leaf_values, quadrature, histogram, tables, base):
    """Fill the tables of some units from their histograms, and add each unit's part of v(∅) to ``base`` (units, k).

    ``quadrature`` has nodes and weights for each number of players on a path, (players, nodes), and their number.
    """
    nodes, weights, counts = quadrature
    size = 1 << MAX_BITS
    work, patterns, of_leaf = np.empty(2 * size), np.empty(size, np.int64), np.empty(size)
    space = np.empty(MAX_BITS * size)
    for u in chosen:
        unit = units[u]
        n_cells = 1 << (unit[ON_PATH] + unit[N_INNER])
        cells = histogram[unit[CELLS] : unit[CELLS] + n_cells]
        for leaf in leaves[unit[FIRST_LEAF] : unit[FIRST_LEAF] + unit[N_LEAVES]]:
            k = leaf[LEAF_PLAYERS]
            _leaf_patterns(leaf, steps, unit[ON_PATH], n_cells, patterns)
            of_leaf[: 1 << k] = 0.0
            for cell in range(n_cells):
                of_leaf[patterns[cell]] += cells[cell]
            m, table = counts[k], space[: k << k].reshape((k, 1 << k))
            _leaf_table(of_leaf, k, nodes[k, :m], weights[k, :m], work, table)
            for output in range(len(tables)):
                value = leaf_values[leaf[NODE], output]
                base[u, output] += value * of_leaf[(1 << k) - 1]
                for j in range(k):
                    first = unit[TABLE] + places[leaf[FIRST_PLACE] + j] * n_cells
                    entries, column = tables[output, first : first + n_cells], table[j]
                    for cell in range(n_cells):
                        entries[cell] += value * column[patterns[cell]]
