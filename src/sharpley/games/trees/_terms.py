"""Compiled loops over the terms of a tree game. It imports numba: import it inside functions only.

A term is a row of features: first those that must come from the explained row, then, from ``width`` on, those
that must come from the background; each half is sorted and filled up with ``NONE``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NONE = 2**15 - 1

WALKS = 64  # walks at a time

DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""A number whose 64 windows of six bits are all different: times 2^i, its highest six bits tell i."""
PLACE = np.argsort([(0x03F79D71B4CB0A89 << i) % 2**64 >> 58 for i in range(64)])


@njit(cache=True)
def _goes_left(value, threshold, missing_left):
    return missing_left if np.isnan(value) else value < threshold


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
    """Put a feature in its place; the last one is ``NONE``, as no path is longer than the row."""
    k = len(features) - 1
    while k > 0 and features[k - 1] > feature:
        features[k] = features[k - 1]
        k -= 1
    features[k] = feature


@njit(cache=True)
def collect_terms(tree, row, background, shares, width):
    """Terms and their weights from one tree: (t, 2 · width) int16 and (t,) float.

    Each background row is sent down the tree together with the explained row. Where the two disagree on a
    feature that is not settled yet, both ways are gone: one settles the feature for the row, one for the background.
    """
    left, right, feature, threshold, missing_left, value = tree
    terms = np.empty((64, 2 * width), np.int16)
    weights = np.empty(64)
    count = 0
    nodes = np.empty(width + 1, np.int32)
    settled = np.empty((width + 1, 2 * width), np.int16)
    for b in range(background.shape[0]):
        nodes[0] = 0
        settled[0] = NONE
        top = 1
        while top > 0:
            top -= 1
            node = nodes[top]
            while left[node] >= 0:
                f = feature[node]
                of_row = _goes_left(row[f], threshold[node], missing_left[node])
                of_background = _goes_left(background[b, f], threshold[node], missing_left[node])
                if of_row == of_background or _contains(settled[top, :width], f):
                    node = left[node] if of_row else right[node]
                elif _contains(settled[top, width:], f):
                    node = left[node] if of_background else right[node]
                else:
                    # The way of the background is gone now, from slot top + 1; that of the row waits in slot top.
                    settled[top + 1] = settled[top]
                    _insert(settled[top, :width], f)
                    nodes[top] = left[node] if of_row else right[node]
                    top += 1
                    _insert(settled[top, width:], f)
                    node = left[node] if of_background else right[node]
            if count == len(weights):
                terms = np.concatenate((terms, np.empty_like(terms)))
                weights = np.concatenate((weights, np.empty_like(weights)))
            terms[count] = settled[top]
            weights[count] = value[node] * shares[b]
            count += 1
    return terms[:count], weights[:count]


@njit(cache=True)
def _on(term, columns, on):
    """Bits of the coalitions, among those of ``on``, in which a term is on."""
    width = len(term) // 2
    for k in range(width):
        if term[k] == NONE:
            break
        on &= columns[term[k]]
    for k in range(width, 2 * width):
        if term[k] == NONE:
            break
        on &= ~columns[term[k]]
    return on


@njit(cache=True)
def coalition_values(terms, weights, coalitions):
    """Sum of the weights of the terms that are on in each coalition, (m,).

    64 coalitions at a time: a word for each feature says in which of them it is present, and a few operations on words
    say in which of them a term is on. That is true of few, whose values alone are touched.
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
                values[start + PLACE[(lowest * DE_BRUIJN) >> np.uint64(58)]] += weights[t]
                on ^= lowest
    return values


@njit(cache=True)
def _intervals(term, ranks, on, off):
    """First rank at which a term is on, and first at which it is off again, along walks; -1 and d are the ends.

    Ranks are (d, walks), so that the loops over walks are the processor's vector instructions.
    """
    width = len(term) // 2
    on[:] = -1
    off[:] = ranks.shape[0]
    for k in range(width):
        if term[k] == NONE:
            break
        of_feature = ranks[term[k]]
        for i in range(len(on)):
            on[i] = max(on[i], of_feature[i])
    for k in range(width, 2 * width):
        if term[k] == NONE:
            break
        of_feature = ranks[term[k]]
        for i in range(len(off)):
            off[i] = min(off[i], of_feature[i])


@njit(cache=True)
def walk_contributions(terms, weights, ranks):
    """Contributions of all players along orderings, given by their ranks: (n, d).

    A term goes on when the last of its row's features enters, and off when the first of its background's features does.
    So along a walk it is on in an interval, which may be empty.
    """
    n, d = ranks.shape
    contributions = np.zeros((n, d))
    on, off = np.empty(WALKS, np.int16), np.empty(WALKS, np.int16)
    by_player = np.zeros((d, WALKS), np.int16)
    for start in range(0, n, WALKS):
        count = min(WALKS, n - start)
        for i in range(count):
            for player in range(d):
                by_player[player, i] = ranks[start + i, player]
        changes = np.zeros((count, d + 2))  # at ranks -1 .. d, of which the first and the last are no contributions
        for t in range(terms.shape[0]):
            _intervals(terms[t], by_player, on, off)
            for i in range(count):
                if on[i] < off[i]:
                    changes[i, on[i] + 1] += weights[t]
                    changes[i, off[i] + 1] -= weights[t]
        for i in range(count):
            contributions[start + i] = changes[i][ranks[start + i] + 1]
    return contributions
