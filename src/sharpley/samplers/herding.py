"""Kernel herding: orderings chosen one by one to fill the space of permutations evenly.

The paper's Equation 5 maximises E[K(σ, ·)] − 1/(n+1) Σ_i K(σ, σ_i). The first term is the same for every σ, so the
next ordering is the one with the smallest Σ_i K(σ, σ_i).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.samplers.greedy import GreedySampler


@final
class KernelHerding(GreedySampler):
    """Orderings that greedily minimise the discrepancy with equal weights.

    Parameters
    ----------
    d : int
        Number of players.
    kernel : Kernel, default Mallows(4.0)
        Mallows and Kendall are compared by bit sets; other kernels through their ``gram``, which is slower.
    n_candidates : int, default 25
        Random orderings at each step, of which the best is kept.
    fresh : bool, default False
        Whether every sample draws candidates of its own, as in the paper. By default the sequence is that of
        one fixed seed, found once, kept in the user's cache folder and relabelled at random for each sample.
    rng : int, Generator, SeedSequence or None

    Notes
    -----
    n orderings take O(n² · n_candidates · d²/64) time, once, unless ``fresh``. Each ordering by itself is
    uniform in both cases: relabelling makes it so, and fresh candidates do by symmetry.

    Examples
    --------
    >>> KernelHerding(4, rng=0).random(2)
    array([[2, 3, 1, 0],
           [0, 1, 3, 2]])
    """

    block_size = 32

    def _restart(self) -> None:
        super()._restart()
        self._chosen: NDArray[Any] | None = None  # packed, or as they are for kernels without a table

    def _choose(self, candidates: Orderings) -> NDArray[np.int64]:
        table = self.kernel.discordance_table(self.d)
        flat = candidates.reshape(-1, self.d)
        if table is None:
            picks = self._choose_by_gram(flat)
            codes: NDArray[Any] = flat
        else:
            from sharpley.permutations import _bits
            from sharpley.samplers._herd import herd

            codes = _bits.pack(flat)
            before = codes[:0] if self._chosen is None else self._chosen
            picks = herd(before, codes, self.n_candidates, table)
        fresh = codes[np.arange(len(picks)) * self.n_candidates + picks]
        self._chosen = fresh if self._chosen is None else np.concatenate([self._chosen, fresh])
        return picks

    def _choose_by_gram(self, candidates: Orderings) -> NDArray[np.int64]:
        """Choose with any kernel: sums over earlier blocks at once, then step by step."""
        sums: Floats = np.zeros(len(candidates))
        if self._chosen is not None:
            sums += self.kernel.gram(self._chosen, candidates).sum(axis=0)
        picks = np.zeros(len(candidates) // self.n_candidates, dtype=np.int64)
        for step in range(len(picks)):
            first = step * self.n_candidates
            picks[step] = np.argmin(sums[first : first + self.n_candidates])
            best = candidates[[first + picks[step]]]
            sums += self.kernel.gram(best, candidates)[0]
        return picks
