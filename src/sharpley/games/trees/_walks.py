"""Compiled walks through single trees: sums of leaf values, and values of deep trees against many background rows.

A tree is walked through once for a row and all background rows, of which those that cannot reach a node any more are
left behind. At a leaf, the players B that only a background row passes are the same for all of them, and those with the
same A, the players that only the row passes, are counted together. The time is proportional to rows times background
rows; ``closed_form`` uses these walks for trees whose paths have too many players for tables.

This module imports numba: import it inside functions only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MAX_PATH_PLAYERS = 62  # players on one path, one bit each


@njit(nogil=True, cache=True)
def is_left(code, low, span):
    """Return whether a code lies in the interval of a split; a code below it is none of its unsigned differences."""
    return low <= code <= low + span


@njit(nogil=True, cache=True)
def add_leaves(nodes, roots, leaf_values, codes, totals):
    """Add the values of the leaves that rows reach, given by their codes (columns, m), to ``totals`` (m, k)."""
    left, right, column, low, span = nodes
    for i in range(codes.shape[1]):
        for root in roots:
            node = root
            while left[node] >= 0:
                goes_left = is_left(np.int64(codes[column[node], i]), low[node], span[node])
                node = left[node] if goes_left else right[node]
            for output in range(totals.shape[1]):
                totals[i, output] += leaf_values[node, output]


@njit(nogil=True, cache=True)
def _count_bits(bits):
    count = 0
    while bits:
        bits &= bits - np.int64(1)
        count += 1
    return count


@njit(nogil=True, cache=True)
def _add_shares(of_row, of_background, weight, leaf_value, on_path, n_on_path, shares, values):
    """Distribute the values (k,) of a leaf over the players of A and B, which are given as bits."""
    a, b = _count_bits(of_row), _count_bits(of_background)
    for j in range(n_on_path):
        bit = np.int64(1) << np.int64(j)
        share = shares[0, a, b] if of_row & bit else (-shares[1, a, b] if of_background & bit else 0.0)
        for output in range(len(leaf_value)):
            values[on_path[j], output] += weight * share * leaf_value[output]


@njit(nogil=True, cache=True)
def _add_leaf(failed, weights, of_background, leaf_value, on_path, n_on_path, shares, counts, values):
    """Add a leaf's part of the values; ``failed`` has the bits of A of every background row that reaches it."""
    n, n_sets = len(failed), np.int64(1) << np.int64(n_on_path)
    if n_on_path < MAX_PATH_PLAYERS and n_sets <= len(counts) and n_sets <= n:
        counts[:n_sets] = 0.0
        for i in range(n):
            counts[failed[i]] += weights[i]
        for of_row in range(n_sets):
            if counts[of_row] != 0.0:
                weight = counts[of_row]
                _add_shares(np.int64(of_row), of_background, weight, leaf_value, on_path, n_on_path, shares, values)
    else:
        for i in range(n):
            _add_shares(failed[i], of_background, weights[i], leaf_value, on_path, n_on_path, shares, values)


@njit(nogil=True, cache=True)
def _enter(child_is_left, passes_row, bit, passed_before, split, background, here, there):
    """Move background rows from a node to its child; return how many can reach it, some of them with the row's help.

    ``here`` has the rows, their bits of A, their weights and their number, and ``there`` is filled in the same way.
    """
    column, low, span = split
    rows, failed, weights, n = here
    new_rows, new_failed, new_weights = there
    count = 0
    for i in range(n):
        passes = is_left(np.int64(background[column, rows[i]]), low, span) == child_is_left
        if passes_row and passed_before:
            new_bits = failed[i] if passes else failed[i] | bit
        elif passes and not failed[i] & bit:  # the row fails, so that the background row has to pass every split
            new_bits = failed[i]
        else:
            continue
        new_rows[count], new_failed[count], new_weights[count] = rows[i], new_bits, weights[i]
        count += 1
    return count


@njit(nogil=True, cache=True)
def _place(player, on_path, n_on_path):
    """Return the place of a player among those on the path, to which it is added if it is new."""
    k = 0
    while k < n_on_path and on_path[k] != player:
        k += 1
    on_path[k] = player
    return k


@njit(nogil=True, cache=True)
def add_values(nodes, root, depth, row, background, weights, players, leaf_values, shares, values):
    """Add the values of one tree for a row, given by its codes (columns,), to ``values`` (d, k).

    ``background`` has the codes of background rows, (columns, n), with weights (n,); ``players`` has the player of each
    column, and ``shares`` the weights of the players in A and in B for |A| = a and |B| = b, (2, a, b).
    """
    left, right, column, low, span = nodes
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
    waiting[0], levels[0], parents[0] = root, 0, -1
    top = 1
    while top > 0:
        top -= 1
        node, level, parent = waiting[top], levels[top], parents[top]
        if level > 0:
            above = level - 1
            k = _place(players[column[parent]], on_path, n_on_path[above])
            n_on_path[level] = max(k + 1, n_on_path[above])
            bit = np.int64(1) << np.int64(k)
            child_is_left = node == left[parent]
            passes = is_left(np.int64(row[column[parent]]), low[parent], span[parent]) == child_is_left
            before = not of_background[above] & bit
            of_background[level] = of_background[above] if passes else of_background[above] | bit
            alive[level] = _enter(
                child_is_left,
                passes,
                bit,
                before,
                (column[parent], low[parent], span[parent]),
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
        else:
            m = alive[level]
            _add_leaf(
                failed[level, :m],
                shares_of[level, :m],
                of_background[level],
                leaf_values[node],
                on_path,
                n_on_path[level],
                shares,
                counts,
                values,
            )


@njit(nogil=True, cache=True)
def _depth(left, right, root):
    """Return the number of splits on the longest path from a root."""
    waiting, levels = np.empty(len(left) + 1, np.int64), np.empty(len(left) + 1, np.int64)
    waiting[0], levels[0], top, most = root, 0, 1, 0
    while top > 0:
        top -= 1
        node, level = waiting[top], levels[top]
        most = max(most, level)
        if left[node] >= 0:
            waiting[top], levels[top], waiting[top + 1], levels[top + 1] = left[node], level + 1, right[node], level + 1
            top += 2
    return most


@njit(nogil=True, cache=True)
def add_rows(nodes, roots, rows, background, weights, players, leaf_values, shares, values):
    """Add the values of trees for rows, given by their codes (columns, r), to ``values`` (r, k, d)."""
    for root in roots:
        depth = _depth(nodes[0], nodes[1], root)
        for i in range(rows.shape[1]):
            add_values(nodes, root, depth, rows[:, i], background, weights, players, leaf_values, shares, values[i].T)
