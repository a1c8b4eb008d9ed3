"""Kernel herding: orderings chosen one by one so that they fill the space of permutations evenly.

Given σ_1, …, σ_n, the next ordering maximises E[K(σ, ·)] − 1/(n+1) Σ_i K(σ, σ_i) (the paper's Equation 6). The first
term is the same for every σ, so the next ordering is the one with the smallest Σ_i K(σ, σ_i) among the candidates. This
is also the one that minimises the discrepancy of the n + 1 orderings with equal weights.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.kernels import SummableKernel
from sharpley.samplers.greedy import GreedySampler


@final
class KernelHerding(GreedySampler):
    """Orderings that greedily minimise the discrepancy with equal weights.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    kernel : Kernel, default Mallows(4.0)
        Kernel of the discrepancy. Mallows and Kendall are evaluated on bit sets; Spearman, Hamming and Adjacency by a
        running sum of their features, in O(nd) time; other kernels through ``gram``, which is slower.
    n_candidates : int, default 25
        Number of random orderings at each step, of which the best is kept.
    fresh : bool, default False
        Whether every sample draws new candidates, as in the paper. By default the sequence comes from one fixed seed:
        it is computed once, stored in the user's cache folder, and relabelled at random for each sample. Kernels other
        than those in ``sharpley.permutations.kernels.KERNELS`` always use new candidates.
    replicates : int, optional
        Number of independent copies that an estimate uses; see ``Sampler``.
    rng : int, Generator, SeedSequence or None
        Passed to ``np.random.default_rng``; the seed of the relabelling, or of the candidates if ``fresh``.

    Notes
    -----
    n orderings take O(n² · n_candidates · d²/64) time, only once unless ``fresh``. Each ordering by itself is uniform
    in both cases: by relabelling, or, with new candidates, by symmetry.

    Examples
    --------
    >>> KernelHerding(4, rng=0).random(2)
    array([[2, 3, 1, 0],
           [0, 1, 3, 2]])
    """

    block_size = 32

    def _restart(self) -> None:
        super()._restart()
        self._chosen: NDArray[Any] | None = None  # packed, except for kernels without a look-up table
        self._total: Floats | float = 0.0  # of the features of all orderings chosen so far, if the kernel has these

    def _choose(self, candidates: Orderings) -> NDArray[np.int64]:
        if isinstance(self.kernel, SummableKernel):
            return self._choose_by_total(candidates, self.kernel)
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

    def _choose_by_total(self, candidates: Orderings, kernel: SummableKernel) -> NDArray[np.int64]:
        """Choose with a kernel of few features: the sum over all chosen orderings is one look-up for each candidate."""
        picks = np.zeros(len(candidates), dtype=np.int64)
        total = self._total + kernel.total(candidates[0, :0])
        for step, mine in enumerate(candidates):
            picks[step] = np.argmin(kernel.sums(mine, total))
            total += kernel.total(mine[picks[step]][None])
        self._total = total
        return picks

    def _choose_by_gram(self, candidates: Orderings) -> NDArray[np.int64]:
        """Choose with any kernel: add up kernel values to earlier blocks at once, then step by step."""
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
