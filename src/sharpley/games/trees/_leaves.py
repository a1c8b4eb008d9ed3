"""Compiled loops over the leaves of trees: sums of leaf values, and Shapley values against many background rows.

For one tree, a row and a background row b, a leaf counts for the coalitions that lead to it. On its path, let A be the
players whose splits only the row passes, and B those whose splits only b passes; a player that neither passes makes the
leaf unreachable. With a = |A| and b = |B|, the leaf adds to the Shapley value of each player in A its value times
(a−1)! b! / (a+b)!, and subtracts from that of each player in B its value times a! (b−1)! / (a+b)!.

A tree is walked through once for a row and all background rows, of which those that cannot reach a node any more are
left behind. At a leaf, B is the same for all of them, and those with the same A are counted together.

This module imports numba: import it inside functions only.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numba import njit

from sharpley.games.trees._terms import _goes_left

MAX_PATH_PLAYERS = 62  # players on one path, one bit each
ROWS_AT_ONCE = 2**16  # background rows; bounds memory
SHARES = np.array(
    [
        [factorial(max(a - 1, 0)) * factorial(b) / factorial(a + b) for b in range(MAX_PATH_PLAYERS + 1)]
        for a in range(MAX_PATH_PLAYERS + 1)
    ]
)
"""(a−1)! b! / (a+b)! at [a, b]; for a = 0 unused."""


@njit(cache=True)
def add_leaves(tree, table, totals):
    """Add the value of the leaf that each row of a table (m, q) reaches to ``totals`` (m,)."""
    left, right, feature, threshold, missing_left, value = tree
    for i in range(len(table)):
        node = 0
        while left[node] >= 0:
            goes_left = _goes_left(table[i, feature[node]], threshold[node], missing_left[node])
            node = left[node] if goes_left else right[node]
        totals[i] += value[node]


@njit(cache=True)
def _count_bits(bits):
    count = 0
    while bits:
        bits &= bits - np.int64(1)
        count += 1
    return count


@njit(cache=True)
def _add_shares(of_row, of_background, weight, on_path, n_on_path, shares, values):
    """Distribute the weight of a leaf over the players of A and B, which are given as bits."""
    a, b = _count_bits(of_row), _count_bits(of_background)
    for k in range(n_on_path):
        bit = np.int64(1) << np.int64(k)
        if of_row & bit:
            values[on_path[k]] += weight * shares[a, b]
        elif of_background & bit:
            values[on_path[k]] -= weight * shares[b, a]


@njit(cache=True)
def _add_leaf(failed, weights, of_background, leaf_value, on_path, n_on_path, shares, counts, values):
    """Add a leaf's part of the Shapley values; ``failed`` has the bits of A of every background row that reaches it."""
    n, n_sets = len(failed), np.int64(1) << np.int64(n_on_path)
    if n_on_path < MAX_PATH_PLAYERS and n_sets <= len(counts) and n_sets <= n:
        counts[:n_sets] = 0.0
        for i in range(n):
            counts[failed[i]] += weights[i]
        for of_row in range(n_sets):
            if counts[of_row] != 0.0:
                weight = leaf_value * counts[of_row]
                _add_shares(np.int64(of_row), of_background, weight, on_path, n_on_path, shares, values)
    else:
        for i in range(n):
            _add_shares(failed[i], of_background, leaf_value * weights[i], on_path, n_on_path, shares, values)


@njit(cache=True)
def _enter(child_is_left, passes_row, bit, passed_before, split, background, here, there):
    """Move background rows from a node to its child; return how many can reach it, some of them with the row's help.

    ``here`` has the rows, their bits of A, their weights and their number, and ``there`` is filled in the same way.
    """
    column, threshold, missing_left = split
    rows, failed, weights, n = here
    new_rows, new_failed, new_weights = there
    count = 0
    for i in range(n):
        passes = _goes_left(background[column, rows[i]], threshold, missing_left) == child_is_left
        if passes_row and passed_before:
            new_bits = failed[i] if passes else failed[i] | bit
        elif passes and not failed[i] & bit:  # the row fails, so that the background row has to pass every split
            new_bits = failed[i]
        else:
            continue
        new_rows[count], new_failed[count], new_weights[count] = rows[i], new_bits, weights[i]
        count += 1
    return count


@njit(cache=True)
def _place(player, on_path, n_on_path):
    """Return the place of a player among those on the path, to which it is added if it is new."""
    k = 0
    while k < n_on_path and on_path[k] != player:
        k += 1
    on_path[k] = player
    return k


@njit(cache=True)
def add_shapley_values(tree, depth, row, background, weights, players, shares, values):
    """Add the Shapley values of one tree for a row (q,) to ``values`` (d,).

    ``background`` is (q, n), with weights (n,); ``players`` (q,) has the player of each column.
    """
    left, right, feature, threshold, missing_left, value = tree
    n = background.shape[1]
    rows, failed = np.empty((depth + 1, n), np.int32), np.empty((depth + 1, n), np.int64)
    shares_of = np.empty((depth + 1, n))
    counts, on_path = np.empty(4096), np.empty(depth + 1, np.int64)
    alive, n_on_path = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
    of_background = np.zeros(depth + 1, np.int64)
    waiting, levels = np.empty(depth + 2, np.int64), np.empty(depth + 2, np.int64)
    parents = np.empty(depth + 2, np.int64)
    for i in range(n):
        rows[0, i], failed[0, i], shares_of[0, i] = i, 0, weights[i]
    alive[0], n_on_path[0] = n, 0
    waiting[0], levels[0], parents[0] = 0, 0, -1
    top = 1
    while top > 0:
        top -= 1
        node, level, parent = waiting[top], levels[top], parents[top]
        if level > 0:
            player, above = players[feature[parent]], level - 1
            k = _place(player, on_path, n_on_path[above])
            n_on_path[level] = max(k + 1, n_on_path[above])
            bit = np.int64(1) << np.int64(k)
            is_left = node == left[parent]
            passes = _goes_left(row[feature[parent]], threshold[parent], missing_left[parent]) == is_left
            before = not of_background[above] & bit
            of_background[level] = of_background[above] if passes else of_background[above] | bit
            alive[level] = _enter(
                is_left,
                passes,
                bit,
                before,
                (feature[parent], threshold[parent], missing_left[parent]),
                background,
                (rows[above], failed[above], shares_of[above], alive[above]),
                (rows[level], failed[level], shares_of[level]),
            )
        if alive[level] == 0:
            continue
        if left[node] >= 0:
            for child in (left[node], right[node]):
                waiting[top], levels[top], parents[top] = child, level + 1, node
                top += 1
        elif value[node] != 0.0:
            m = alive[level]
            _add_leaf(
                failed[level, :m],
                shares_of[level, :m],
                of_background[level],
                value[node],
                on_path,
                n_on_path[level],
                shares,
                counts,
                values,
            )
