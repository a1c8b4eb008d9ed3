"""Compiled loops over the terms of a tree game.

A term w_t [A_t ⊆ S and B_t ∩ S = ∅] is stored as an array of 2 · ``width`` features: first those of A_t, which must
come from the explained row, then, from index ``width`` on, those of B_t, which must come from the background row. Each
half is sorted and padded with ``NO_FEATURE``. A term is *on* in a coalition S if the condition holds.

This module imports numba: import it inside functions only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sharpley.games.trees._walks import is_left

NO_FEATURE = 2**15 - 1

WALKS_PER_BLOCK = 64  # orderings that are walked along at once

DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""A number whose 64 windows of six bits are all different: the highest six bits of 2^i times it identify i."""
BIT_INDEX = np.argsort([(0x03F79D71B4CB0A89 << i) % 2**64 >> 58 for i in range(64)])


@njit(cache=True)
def _contains(features, feature):
    for present in features:
        if present == feature:
            return True
        if present > feature:
            return False
    return False


@njit(cache=True)
def _insert(features, feature):
    """Insert a feature in sorted order; there is room, because no path has more than ``width`` splits."""
    k = len(features) - 1
    while k > 0 and features[k - 1] > feature:
        features[k] = features[k - 1]
        k -= 1
    features[k] = feature


@njit(cache=True)
def collect_terms(nodes_of_trees, root, leaf_values, players, row, background, shares, width):
    """Return the terms of one tree and their weights, int16 (t, 2 · width) and float (t,).

    ``row`` has the codes of the explained row, (columns,), and ``background`` those of background rows, (columns, b).

    Each background row is sent down the tree together with the explained row. Where the two go to different children
    and the feature has not been assigned yet, both branches are followed: one assigns the feature to the explained row,
    the other to the background row.
    """
    left, right, column, low, span = nodes_of_trees
    terms = np.empty((64, 2 * width), np.int16)
    weights = np.empty(64)
    count = 0
    nodes = np.empty(width + 1, np.int32)
    assigned = np.empty((width + 1, 2 * width), np.int16)
    for b in range(background.shape[1]):
        nodes[0] = root
        assigned[0] = NO_FEATURE
        top = 1
        while top > 0:
            top -= 1
            node = nodes[top]
            while left[node] >= 0:
                f = players[column[node]]
                of_row = is_left(np.int64(row[column[node]]), low[node], span[node])
                of_background = is_left(np.int64(background[column[node], b]), low[node], span[node])
                if of_row == of_background or _contains(assigned[top, :width], f):
                    node = left[node] if of_row else right[node]
                elif _contains(assigned[top, width:], f):
                    node = left[node] if of_background else right[node]
                else:
                    # The branch of the background is followed now, in slot top + 1; that of the row waits in slot top.
                    assigned[top + 1] = assigned[top]
                    _insert(assigned[top, :width], f)
                    nodes[top] = left[node] if of_row else right[node]
                    top += 1
                    _insert(assigned[top, width:], f)
                    node = left[node] if of_background else right[node]
            if count == len(weights):
                terms = np.concatenate((terms, np.empty_like(terms)))
                weights = np.concatenate((weights, np.empty_like(weights)))
            terms[count] = assigned[top]
            weights[count] = leaf_values[node] * shares[b]
            count += 1
    return terms[:count], weights[:count]


@njit(cache=True)
def _on(term, columns, on):
    """Return the bits of those coalitions, among the bits of ``on``, in which a term is on."""
    width = len(term) // 2
    for k in range(width):
        if term[k] == NO_FEATURE:
            break
        on &= columns[term[k]]
    for k in range(width, 2 * width):
        if term[k] == NO_FEATURE:
            break
        on &= ~columns[term[k]]
    return on


@njit(cache=True)
def coalition_values(terms, weights, coalitions):
    """Return the sum of the weights of the terms that are on in each coalition, (m,).

    Coalitions are processed 64 at a time. One word for each feature marks the coalitions that contain it, and a few
    operations on words yield the coalitions in which a term is on. These are few, and only their values are updated.
    """
    m, d = coalitions.shape
    values = np.zeros(m)
    columns = np.empty(d, np.uint64)
    one = np.uint64(1)
    for start in range(0, m, 64):
        count = min(64, m - start)
        columns[:] = 0
        for i in range(count):
            for f in range(d):
                if coalitions[start + i, f]:
                    columns[f] |= one << np.uint64(i)
        everyone = ~np.uint64(0) >> np.uint64(64 - count)
        for t in range(len(weights)):
            on = _on(terms[t], columns, everyone)
            while on:
                lowest = on & (~on + one)
                values[start + BIT_INDEX[(lowest * DE_BRUIJN) >> np.uint64(58)]] += weights[t]
                on ^= lowest
    return values


@njit(cache=True)
def _intervals(term, ranks, on, off):
    """Set ``on`` and ``off`` to the first rank at which a term is on, and at which it is off again, along each walk.

    A term that is on from the start has on = −1, and one that is never off again has off = d. Ranks are (d, walks), so
    that the loops over walks are vectorised.
    """
    width = len(term) // 2
    on[:] = -1
    off[:] = ranks.shape[0]
    for k in range(width):
        if term[k] == NO_FEATURE:
            break
        of_feature = ranks[term[k]]
        for i in range(len(on)):
            on[i] = max(on[i], of_feature[i])
    for k in range(width, 2 * width):
        if term[k] == NO_FEATURE:
            break
        of_feature = ranks[term[k]]
        for i in range(len(off)):
            off[i] = min(off[i], of_feature[i])


@njit(cache=True)
def walk_contributions(terms, weights, ranks):
    """Return the contributions of all players along orderings that are given by their ranks, (n, d) -> (n, d).

    A term turns on when the last feature of A_t enters, and off when the first feature of B_t enters. Along an ordering
    it is therefore on during an interval, which may be empty.
    """
    n, d = ranks.shape
    contributions = np.zeros((n, d))
    on, off = np.empty(WALKS_PER_BLOCK, np.int16), np.empty(WALKS_PER_BLOCK, np.int16)
    by_player = np.zeros((d, WALKS_PER_BLOCK), np.int16)
    for start in range(0, n, WALKS_PER_BLOCK):
        count = min(WALKS_PER_BLOCK, n - start)
        for i in range(count):
            for player in range(d):
                by_player[player, i] = ranks[start + i, player]
        changes = np.zeros((count, d + 2))  # at ranks −1 .. d; the first and the last are not contributions
        for t in range(terms.shape[0]):
            _intervals(terms[t], by_player, on, off)
            for i in range(count):
                if on[i] < off[i]:
                    changes[i, on[i] + 1] += weights[t]
                    changes[i, off[i] + 1] -= weights[t]
        for i in range(count):
            contributions[start + i] = changes[i][ranks[start + i] + 1]
    return contributions
