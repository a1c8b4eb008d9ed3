"""The compiled loop that mixes rows with background rows. It imports numba: import it inside functions only."""

from __future__ import annotations

import numpy as np
from numba import njit

REWRITE_SHARE = 8  # from a change of 1/8 of the columns on, writing whole rows is faster than single columns


@njit(cache=True)
def blend(foreground, which, rows, masks, background, out, last_rows, last_masks):  # type: ignore[no-untyped-def]
    """Fill ``out[p]`` with the background rows, the masked columns taken from a row of the foreground.

    Consecutive calls often ask slot p for nearly the same mask as before: along a walk only one player joins. Then only
    the columns that changed are written, which at d = 100 spares most of the memory traffic.

    Parameters
    ----------
    foreground : (f, c) uint
        Rows to explain. All tables are views of the true numbers as unsigned integers of their size: bits are merged by
        masks of bits, which vectorises for every type of number.
    which, rows : (p,) int
        For each slot the row in ``foreground``, and what identifies it from call to call.
    masks : (p, c) bool
    background : (b, c) uint
    out : (slots, b, c) uint
        Holds what the last call wrote.
    last_rows, last_masks : (slots,) int and (slots, c) bool
        What each slot holds; -1 for nothing. Updated.
    """
    n_columns = masks.shape[1]
    keep = np.empty(n_columns, out.dtype)
    take = np.empty(n_columns, out.dtype)
    zero = out.dtype.type(0)
    for p in range(masks.shape[0]):
        changed = 0
        for j in range(n_columns):
            changed += masks[p, j] != last_masks[p, j]
        if rows[p] == last_rows[p] and changed * REWRITE_SHARE <= n_columns:
            for j in range(n_columns):
                if masks[p, j] and not last_masks[p, j]:
                    for b in range(background.shape[0]):
                        out[p, b, j] = foreground[which[p], j]
                elif last_masks[p, j] and not masks[p, j]:
                    for b in range(background.shape[0]):
                        out[p, b, j] = background[b, j]
        else:
            for j in range(n_columns):
                all_ones = ~zero if masks[p, j] else zero
                keep[j] = ~all_ones
                take[j] = foreground[which[p], j] & all_ones
            for b in range(background.shape[0]):
                for j in range(n_columns):
                    out[p, b, j] = (background[b, j] & keep[j]) | take[j]
        last_rows[p] = rows[p]
        last_masks[p] = masks[p]
