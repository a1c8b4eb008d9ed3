"""The compiled loop that mixes rows with background rows. It imports numba: import it inside functions only."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def blend(foreground, which, masks, background, out):  # type: ignore[no-untyped-def]
    """Write, for each pair p, background rows with the masked columns taken from row ``which[p]`` of the foreground.

    All arrays but the bool ``masks`` (p, c) hold unsigned integers, views of the true values: bits are merged by masks
    of bits, which vectorises for every type of number. ``out`` has shape (p, b, c).
    """
    n_columns = masks.shape[1]
    keep = np.empty(n_columns, out.dtype)
    take = np.empty(n_columns, out.dtype)
    zero = out.dtype.type(0)
    for p in range(masks.shape[0]):
        for j in range(n_columns):
            all_ones = ~zero if masks[p, j] else zero
            keep[j] = ~all_ones
            take[j] = foreground[which[p], j] & all_ones
        for b in range(background.shape[0]):
            for j in range(n_columns):
                out[p, b, j] = (background[b, j] & keep[j]) | take[j]
