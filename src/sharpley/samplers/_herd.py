"""The compiled loop of kernel herding. It imports numba: import it inside functions only."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sharpley._support.typing import Codes, Floats
from sharpley.permutations._bits import distance


@njit(cache=True)
def herd(chosen: Codes, candidates: Codes, n_candidates: int, table: Floats) -> NDArray[np.int64]:
    """Candidate with the smallest sum of kernel values to all chosen before it, at each step.

    Parameters
    ----------
    chosen : (n, words)
        Packed orderings of earlier blocks.
    candidates : (steps · n_candidates, words)
        Packed candidates of this block.
    n_candidates : int
    table : (C(d, 2) + 1,)
        Kernel value for each number of discordant pairs.
    """
    steps = candidates.shape[0] // n_candidates
    picks = np.zeros(steps, np.int64)
    sums = np.empty(n_candidates)
    for step in range(steps):
        first = step * n_candidates
        sums[:] = 0.0
        # Rows of `chosen` outside, candidates inside: the candidates stay in the cache.
        for i in range(chosen.shape[0]):
            for c in range(n_candidates):
                sums[c] += table[distance(chosen, i, candidates, first + c)]
        for earlier in range(step):
            i = earlier * n_candidates + picks[earlier]
            for c in range(n_candidates):
                sums[c] += table[distance(candidates, i, candidates, first + c)]
        picks[step] = np.argmin(sums)
    return picks
