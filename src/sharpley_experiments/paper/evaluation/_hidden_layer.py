"""The compiled loop that evaluates networks along walks; it imports numba, so import it only inside functions."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, fastmath=True)  # sums of 100 terms in any order, which the processor may then add eight at a time
def walk_values(rows, background, weights, biases, out_weights, toggles, values):  # type: ignore[no-untyped-def]
    """Add to ``values[r, t, k]`` the output of row r after k toggles of walk t, summed over background rows.

    A toggle takes a column from the explained row instead of the background row, or gives it back. Either changes the
    inputs of the hidden units by a multiple of one row of ``weights``, so a step costs O(h) instead of O(d h).

    Parameters
    ----------
    rows, background : (r, d) and (b, d) float
    weights, biases, out_weights : (d, h), (h,) and (h,) float
        Of a network with one hidden layer of rectified linear units; the bias of its output is not included.
    toggles : (t, k) int
        Columns in the order in which they are toggled.
    values : (r, t, k + 1) float
        Updated.
    """
    hidden = np.empty(len(biases))
    is_present = np.zeros(rows.shape[1], np.bool_)
    for b in range(len(background)):
        start = biases + background[b] @ weights
        for r in range(len(rows)):
            difference = rows[r] - background[b]
            for t in range(len(toggles)):
                hidden[:] = start
                is_present[:] = False
                output = 0.0
                for h in range(len(hidden)):
                    output += out_weights[h] * max(hidden[h], 0.0)
                values[r, t, 0] += output
                for k in range(toggles.shape[1]):
                    i = toggles[t, k]
                    change = -difference[i] if is_present[i] else difference[i]
                    is_present[i] = not is_present[i]
                    if change != 0.0:
                        output = 0.0
                        for h in range(len(hidden)):
                            hidden[h] += change * weights[i, h]
                            output += out_weights[h] * max(hidden[h], 0.0)
                    values[r, t, k + 1] += output
