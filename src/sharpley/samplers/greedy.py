"""Greedy samplers, the common part of kernel herding and sequential Bayesian quadrature.

Both choose the next ordering so as to minimise the discrepancy D² (the paper's Equation 8) of all orderings chosen so
far. The exact minimum over d! orderings is out of reach, so each step draws ``n_candidates`` independent uniform
orderings and keeps the best of them, as in the paper. The first step keeps its first candidate, because there is
nothing to compare it with.

The steps are processed in blocks of fixed length: all candidates of a block are compared with all orderings chosen
before it at once, which is what makes the samplers fast. Blocks are counted from the start of the sequence, so the
result does not depend on how it is divided into calls.

By default the candidates come from one fixed seed, so that the sequence is computed once, cached on disk, and
relabelled at random (see ``relabelling``). With ``fresh=True`` every sample draws new candidates, as in the paper. Both
are unbiased.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpley._support import cache as _cache
from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, Orderings
from sharpley.permutations.kernels import KERNELS, Kernel, Mallows
from sharpley.samplers.base import BlockSampler, random_orderings
from sharpley.samplers.relabelling import RelabelledSequence

VERSION = 1  # of the algorithms; cached files of other versions are ignored
SEED = 2022  # of the candidates unless ``fresh``


class GreedySampler(BlockSampler):
    """A sampler that keeps the best of ``n_candidates`` random orderings at each step.

    Subclasses define ``block_size``, the number of steps in a block, and ``_choose``.
    """

    def __init__(
        self,
        d: int,
        *,
        kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
        n_candidates: int = 25,
        fresh: bool = False,
        replicates: int | None = None,
        rng: RNG = None,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel such as Mallows(4.0), got {kernel!r}")
        self.kernel = kernel
        self.n_candidates = check_count("n_candidates", n_candidates, minimum=1)
        # Other kernels may not be invariant under relabelling, and have no name under which to cache a sequence.
        self.fresh = bool(fresh) or type(kernel) not in KERNELS.values()
        super().__init__(d, replicates=replicates, rng=rng)

    @abstractmethod
    def _choose(self, candidates: Orderings) -> NDArray[np.int64]:
        """Choose one of the candidates at each step of a block: (steps, n_candidates, d) -> indices (steps,).

        Implementations remember their choices for the blocks that follow.
        """

    def _restart(self) -> None:
        super()._restart()
        if not self.fresh:
            self._sequence = RelabelledSequence(self._rng, self.d, self._fixed)

    def _fixed(self, length: int) -> Orderings:
        return fixed_sequence(type(self), self.d, self.kernel, self.n_candidates, length)

    def _random(self, n: int) -> Orderings:
        return super()._random(n) if self.fresh else self._sequence.take(n)

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
        return f"{name}(d={self.d}, kernel={self.kernel}, n_candidates={self.n_candidates}, fresh={self.fresh})"


@lru_cache(maxsize=32)
def fixed_sequence(make: type[GreedySampler], d: int, kernel: Kernel, n_candidates: int, length: int) -> Orderings:
    """Return the first ``length`` orderings, (length, d), of the sequence with fixed candidates.

    The sequence is cached on disk; the result is read-only.
    """
    key = f"{make.__name__}-v{VERSION}-d{d}-n{length}-{kernel}-of{n_candidates}"

    def compute() -> Orderings:
        return make(d, kernel=kernel, n_candidates=n_candidates, fresh=True, rng=SEED).random(length)

    return _cache.cached(key, length, d, compute)
