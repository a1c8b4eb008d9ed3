"""The compiled loop that mixes rows with background rows. It imports numba: import it inside functions only."""

from __future__ import annotations

import numpy as np
from numba import njit

REWRITE_SHARE = 8  # from a change of 1/8 of the columns on, writing whole rows is faster than single columns


@njit(cache=True)
def _change_columns(row, mask, last_mask, background, out):  # type: ignore[no-untyped-def]
    for j in range(len(mask)):
        if mask[j] and not last_mask[j]:
            out[:, j] = row[j]
        elif last_mask[j] and not mask[j]:
            out[:, j] = background[:, j]


@njit(cache=True)
def _write_rows(row, mask, background, out, keep, take):  # type: ignore[no-untyped-def]
    zero = out.dtype.type(0)
    for j in range(len(mask)):
        all_ones = ~zero if mask[j] else zero
        keep[j] = ~all_ones
        take[j] = row[j] & all_ones
    for b in range(background.shape[0]):
        for j in range(len(mask)):
            out[b, j] = (background[b, j] & keep[j]) | take[j]


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
    for p in range(masks.shape[0]):
        changed = np.sum(masks[p] != last_masks[p])
        if rows[p] == last_rows[p] and changed * REWRITE_SHARE <= n_columns:
            _change_columns(foreground[which[p]], masks[p], last_masks[p], background, out[p])
        else:
            _write_rows(foreground[which[p]], masks[p], background, out[p], keep, take)
        last_rows[p] = rows[p]
        last_masks[p] = masks[p]
