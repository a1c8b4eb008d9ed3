"""What herding and sequential Bayesian quadrature share: the best of a few random candidates, step by step.

Both choose the next ordering to lower the discrepancy of all chosen so far. The exact best is out of reach
(d! choices), so each step draws ``n_candidates`` fresh uniform orderings and keeps the best of them, as in
the paper. The first step has nothing to compare with and keeps its first candidate.

Steps are worked off in blocks of fixed length: the candidates of a block are compared with everything chosen before
it at once, which is what makes it fast. Blocks are counted from the start of the sequence, so results
do not depend on how calls divide it.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from sharpley._checks import check_count
from sharpley._typing import RNG, Orderings
from sharpley.kernels import Kernel, Mallows
from sharpley.samplers.base import BlockSampler, random_orderings


class GreedySampler(BlockSampler):
    """A sampler that keeps, at each step, the best of a few random candidates.

    Subclasses define ``block_size``, the number of steps in a block, and ``_choose``.
    """

    def __init__(
        self,
        d: int,
        *,
        kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
        n_candidates: int = 25,
        rng: RNG = None,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel such as Mallows(4.0), got {kernel!r}")
        self.kernel = kernel
        self.n_candidates = check_count("n_candidates", n_candidates, minimum=1)
        super().__init__(d, rng=rng)

    @abstractmethod
    def _choose(self, candidates: Orderings) -> NDArray[np.int64]:
        """Choose one of the candidates at each step of a block: (steps, n_candidates, d) -> (steps,).

        The choices are remembered for the blocks to come.
        """

    def _blocks(self, count: int) -> Orderings:
        shape = (self.block_size, self.n_candidates, self.d)
        chosen = np.empty((count, self.block_size, self.d), dtype=np.int64)
        for block in chosen:
            drawn = random_orderings(self._rng, shape[0] * shape[1], self.d)
            candidates = drawn.reshape(shape)
            block[:] = candidates[np.arange(self.block_size), self._choose(candidates)]
        return chosen.reshape(-1, self.d)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(d={self.d}, kernel={self.kernel}, n_candidates={self.n_candidates})"
