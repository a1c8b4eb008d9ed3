"""The program of a forest: its units, in the order in which one pass over rows reaches them.

This module imports numba: import it inside functions only.

All arrays that it makes have one line for each object, with the columns that are named here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MAX_BITS = 16  # of a pattern

# Columns of visits: each computes the bits of a node from those of its parent, at depth − 1.
DEPTH, COLUMN, LOW, SPAN, SIDE, BIT, UNIT = range(7)
# Columns of units; their inner splits, leaves and players are consecutive, from FIRST_… on. CELLS and TABLE are
# positions in the histogram and in the table of the chunk.
FIRST_INNER, N_INNER, ON_PATH, CELLS, TABLE, FIRST_PLAYER, N_PLAYERS, FIRST_LEAF, N_LEAVES = range(9)
# Columns of leaves: the leaf's node, its players (path first), its steps within the unit, and where its players stand
# among those of the unit.
NODE, LEAF_PLAYERS, FIRST_STEP, N_STEPS, FIRST_PLACE = range(5)
# Columns of chunks: each is a part of the program whose tables are in memory together.
FIRST_VISIT, LAST_VISIT, FIRST_UNIT, LAST_UNIT, N_CELLS, N_ENTRIES = range(6)
WIDTHS = ((7,), (6,), (9,), (3,), (), (5,), (3,), ())
"""Columns of visits, chunks and units; of inner splits, players, leaves, steps and places."""


@njit(nogil=True, cache=True)
def _position(players, n, player):
    """Return the position of a player among the first n, or n."""
    k = 0
    while k < n and players[k] != player:
        k += 1
    return k


@njit(nogil=True, cache=True)
def lay_out(nodes, roots, players, growth):
    """Return, for each node, the players on the path to it, the bit of its split, and whether it starts a unit.

    Leaves always start a unit, unless they are part of a larger one. A subtree becomes one unit if its table has at
    most ``growth`` times the entries that the tables of its leaves would have.
    """
    left, right, column = nodes[0], nodes[1], nodes[2]
    n = len(left)
    on_path, bit, inner, entries = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    order, stack, path = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    count = 0
    for root in roots:
        stack[0], top = root, 1
        while top > 0:
            top -= 1
            node = stack[top]
            order[count], count = node, count + 1
            if left[node] >= 0:
                k = on_path[node]
                bit[node] = _position(path, k, players[column[node]])
                path[bit[node]] = players[column[node]]
                for child in (right[node], left[node]):
                    on_path[child] = max(k, bit[node] + 1)
                    stack[top], top = child, top + 1
    is_unit = np.zeros(n, np.bool_)
    for i in range(count - 1, -1, -1):  # children before their parents
        node = order[i]
        if left[node] >= 0:
            inner[node] = inner[left[node]] + inner[right[node]] + 1
            entries[node] = entries[left[node]] + entries[right[node]]
        else:
            entries[node] = 2.0 ** on_path[node] * max(1, on_path[node])
        bits = on_path[node] + inner[node]
        fits = bits <= MAX_BITS and 2.0**bits * bits <= growth * entries[node]
        is_unit[node] = left[node] < 0 or fits
    return on_path, bit, is_unit


@njit(nogil=True, cache=True)
def _add_unit(node, k, path, nodes, players, at, out, write):
    """Add the unit below a node: its inner splits, its players, its leaves, and their steps and places.

    ``at`` counts the lines of ``out``, which are not written unless ``write``. Returns the bits of a pattern and the
    number of players.
    """
    left, right, column, low, span = nodes
    units, inner, unit_players, leaves, steps, places = out
    first = at.copy()
    stack, levels, sides = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    mine, n_mine = np.empty(k + 64, np.int64), k  # players of the unit
    mine[:k] = path[:k]
    on_leaf, n_on_leaf = np.empty((64, k + 64), np.int64), np.empty(64, np.int64)  # by level: players up to there
    on_leaf[0, :k], n_on_leaf[0] = path[:k], k
    taken = np.empty((64, 3), np.int64)  # the steps on the way: bit, side, position among the players of the leaf
    stack[0], levels[0], sides[0], top = node, 0, 0, 1
    while top > 0:
        top -= 1
        here, level = stack[top], levels[top]
        taken[max(0, level - 1), 1] = sides[top]
        n_here = n_on_leaf[level]
        if left[here] >= 0:
            player = players[column[here]]
            place = _position(mine, n_mine, player)
            mine[place], n_mine = player, max(n_mine, place + 1)
            j = _position(on_leaf[level], n_here, player)
            on_leaf[level + 1] = on_leaf[level]
            on_leaf[level + 1, j], n_on_leaf[level + 1] = player, max(n_here, j + 1)
            taken[level, 0], taken[level, 2] = k + at[1] - first[1], j
            if write:
                inner[at[1], 0], inner[at[1], 1], inner[at[1], 2] = column[here], low[here], span[here]
            at[1] += 1
            stack[top], levels[top], sides[top] = right[here], level + 1, 0
            stack[top + 1], levels[top + 1], sides[top + 1] = left[here], level + 1, 1
            top += 2
            continue
        if write:
            line = leaves[at[3]]
            line[NODE], line[LEAF_PLAYERS], line[FIRST_STEP] = here, n_here, at[4]
            line[N_STEPS], line[FIRST_PLACE] = level, at[5]
            steps[at[4] : at[4] + level] = taken[:level]
            for j in range(n_here):
                places[at[5] + j] = _position(mine, n_mine, on_leaf[level, j])
        at[3:] += np.array([1, level, n_here])
    if write:
        unit_players[at[2] : at[2] + n_mine] = mine[:n_mine]
        line = units[at[0]]
        line[FIRST_INNER], line[N_INNER], line[ON_PATH] = first[1], at[1] - first[1], k
        line[FIRST_PLAYER], line[N_PLAYERS] = first[2], n_mine
        line[FIRST_LEAF], line[N_LEAVES] = first[3], at[3] - first[3]
    at[0] += 1
    at[2] += n_mine
    return k + at[1] - first[1], n_mine


@njit(nogil=True, cache=True)
def _end_chunk(state, n_units, chunks, write):
    """Close a chunk: ``state`` has its first visit, its last, its first unit, its cells, its entries and its number."""
    if write:
        line = chunks[state[5]]
        line[FIRST_VISIT], line[LAST_VISIT], line[FIRST_UNIT] = state[0], state[1], state[2]
        line[LAST_UNIT], line[N_CELLS], line[N_ENTRIES] = n_units, state[3], state[4]
    state[0], state[2], state[3], state[4] = state[1], n_units, 0, 0
    state[5] += 1


@njit(nogil=True, cache=True)
def _add_visits(lines, state, visits, write):
    """Add visits to the program."""
    if write:
        visits[state[1] : state[1] + len(lines)] = lines
    state[1] += len(lines)


@njit(nogil=True, cache=True)
def write_program(nodes, roots, players, layout, most_entries, visits, chunks, out, write):
    """Write the program of trees, or only count its lines; return the numbers of visits and chunks, and of ``out``.

    A chunk ends when its tables have ``most_entries``; the next one begins with the visits on the path to its first.
    """
    left, right, column, low, span = nodes
    on_path, bit, is_unit = layout
    at, state = np.zeros(6, np.int64), np.zeros(6, np.int64)
    n = len(left) + 1
    stack, levels, parents = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    path, way = np.empty(n, np.int64), np.zeros((n, 7), np.int64)
    for root in roots:
        stack[0], levels[0], parents[0], top = root, 0, root, 1
        while top > 0:
            top -= 1
            node, level, parent = stack[top], levels[top], parents[top]
            line = way[level]
            line[DEPTH], line[UNIT], line[COLUMN], line[LOW] = level, -1, column[parent], low[parent]
            line[SPAN], line[SIDE], line[BIT] = span[parent], left[parent] == node, bit[parent]
            if state[4] >= most_entries:
                _end_chunk(state, at[0], chunks, write)
                _add_visits(way[:level], state, visits, write)
            if is_unit[node]:
                _add_visits(way[level : level + 1], state, visits, write)
                if write:
                    visits[state[1] - 1, UNIT], out[0][at[0], CELLS], out[0][at[0], TABLE] = at[0], state[3], state[4]
                bits, n_mine = _add_unit(node, on_path[node], path, nodes, players, at, out, write)
                state[3] += 1 << bits
                state[4] += n_mine << bits
                continue
            _add_visits(way[level : level + 1], state, visits, write)
            path[bit[node]] = players[column[node]]
            for child in (right[node], left[node]):
                stack[top], levels[top], parents[top] = child, level + 1, node
                top += 1
    _end_chunk(state, at[0], chunks, write)
    return state[1], state[5], at
