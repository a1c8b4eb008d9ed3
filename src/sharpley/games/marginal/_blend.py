"""The compiled loop that mixes rows with background rows; it imports numba, so import it only inside functions."""

from __future__ import annotations

import numpy as np
from numba import njit

MIN_COLUMNS_PER_CHANGE = 8  # if more than 1 in 8 columns change, rewriting whole rows is faster than single columns


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
    """Fill ``out[p]`` with the background rows, with the masked columns replaced by those of a foreground row.

    In consecutive calls, the mask of slot p often changes little: along a walk, one player joins at a time. Then only
    the columns that changed are written, which avoids most of the memory traffic at d = 100.

    Parameters
    ----------
    foreground : (f, c) uint
        Rows to explain. These, the background and the output are the numbers reinterpreted as unsigned integers of the
        same width: they are merged by bit masks, which vectorises for every type of number.
    which, rows : (p,) int
        For each slot, the row in ``foreground``, and the number that identifies this row across calls.
    masks : (p, c) bool
        Columns to take from the foreground row.
    background : (b, c) uint
        Background rows.
    out : (slots, b, c) uint
        The output, which still holds what the last call wrote. Updated.
    last_rows, last_masks : (slots,) int and (slots, c) bool
        Row and mask that each slot holds; row -1 if it is empty. Updated.
    """
    n_columns = masks.shape[1]
    keep = np.empty(n_columns, out.dtype)
    take = np.empty(n_columns, out.dtype)
    for p in range(masks.shape[0]):
        changed = np.sum(masks[p] != last_masks[p])
        if rows[p] == last_rows[p] and changed * MIN_COLUMNS_PER_CHANGE <= n_columns:
            _change_columns(foreground[which[p]], masks[p], last_masks[p], background, out[p])
        else:
            _write_rows(foreground[which[p]], masks[p], background, out[p], keep, take)
        last_rows[p] = rows[p]
        last_masks[p] = masks[p]
