"""Compiled loops over the terms of a tree game. It imports numba: import it inside functions only.

A term is a row of features: first those that must come from the explained row, then, from ``width`` on, those
that must come from the background; each half is sorted and filled up with ``NONE``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NONE = 2**15 - 1


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
def pack_terms(terms, d):
    """Terms as bit sets of features that must be present, and that must be absent: uint64 (t, words) each."""
    width = terms.shape[1] // 2
    present = np.zeros((terms.shape[0], (d + 63) // 64), np.uint64)
    absent = np.zeros_like(present)
    for t in range(terms.shape[0]):
        for k in range(2 * width):
            f = terms[t, k]
            if f != NONE:
                half = present if k < width else absent
                half[t, f >> 6] |= np.uint64(1) << np.uint64(f & 63)
    return present, absent


@njit(cache=True)
def coalition_values(present, absent, weights, coalitions):
    """Sum of the weights of the terms that are on in each coalition, (m,)."""
    m, d = coalitions.shape
    n_words = present.shape[1]
    values = np.zeros(m)
    members = np.zeros(n_words, np.uint64)
    for i in range(m):
        members[:] = 0
        for f in range(d):
            if coalitions[i, f]:
                members[f >> 6] |= np.uint64(1) << np.uint64(f & 63)
        for t in range(len(weights)):
            amiss = np.uint64(0)
            for w in range(n_words):
                amiss |= (present[t, w] & ~members[w]) | (absent[t, w] & members[w])
            if amiss == 0:
                values[i] += weights[t]
    return values


@njit(cache=True)
def _interval(term, ranks):
    """First rank at which a term is on, and first at which it is off again; -1 and d for the ends of the walk."""
    width = len(term) // 2
    on, off = -1, len(ranks)
    for k in range(width):
        if term[k] == NONE:
            break
        on = max(on, ranks[term[k]])
    for k in range(width, 2 * width):
        if term[k] == NONE:
            break
        off = min(off, ranks[term[k]])
    return on, off


@njit(cache=True)
def walk_contributions(terms, weights, ranks):
    """Contributions of all players along orderings, given by their ranks: (n, d).

    A term goes on when the last of its row's features enters, and off when the first of its background's features does.
    So along a walk it is on in an interval, which may be empty.
    """
    n, d = ranks.shape
    contributions = np.zeros((n, d))
    at_rank = np.empty(d)
    for i in range(n):
        at_rank[:] = 0.0
        for t in range(terms.shape[0]):
            on, off = _interval(terms[t], ranks[i])
            if on < off:
                if on >= 0:
                    at_rank[on] += weights[t]
                if off < d:
                    at_rank[off] -= weights[t]
        contributions[i] = at_rank[ranks[i]]
    return contributions
