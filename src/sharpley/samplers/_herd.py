"""The compiled loop of kernel herding: at each step, argmin_σ Σ_i K(σ, σ_i) over the candidates σ of that step.

This module imports numba: import it inside functions only.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sharpley._support.typing import Codes, Floats
from sharpley.permutations._bits import distance


@njit(cache=True)
def herd(chosen: Codes, candidates: Codes, n_candidates: int, table: Floats) -> NDArray[np.int64]:
    """Return, for each step, the candidate with the smallest sum of kernel values to all orderings chosen before it.

    Parameters
    ----------
    chosen : (n, words) uint64
        Packed orderings that were chosen in earlier blocks.
    candidates : (steps · n_candidates, words) uint64
        Packed candidates of this block, step by step.
    n_candidates : int
        Number of candidates at each step.
    table : (C(d, 2) + 1,) float
        Kernel value for each number of discordant pairs.

    Returns
    -------
    (steps,) int
        Indices in 0 .. n_candidates−1.
    """
    steps = candidates.shape[0] // n_candidates
    picks = np.zeros(steps, np.int64)
    sums = np.empty(n_candidates)
    for step in range(steps):
        first = step * n_candidates
        sums[:] = 0.0
        # The inner loop runs over the candidates, which are few enough to stay in the processor's cache.
        for i in range(chosen.shape[0]):
            for c in range(n_candidates):
                sums[c] += table[distance(chosen, i, candidates, first + c)]
        for earlier in range(step):
            i = earlier * n_candidates + picks[earlier]
            for c in range(n_candidates):
                sums[c] += table[distance(candidates, i, candidates, first + c)]
        picks[step] = np.argmin(sums)
    return picks
