"""What every sampler of permutations has in common."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.permutations.orderings import as_orderings


class Sampler(ABC):
    """A sequence of random orderings of d players, each of them uniformly distributed.

    Samplers work like the engines of ``scipy.stats.qmc``. ``random(n)`` continues the sequence where the
    last call stopped, so ``random(5)`` twice gives what ``random(10)`` gives; ``reset`` goes back to its start.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    rng : int, Generator, SeedSequence or None
        Normalised by ``np.random.default_rng``. A Generator is drawn from, not copied: the next sampler
        made with the same Generator gives other orderings.

    Attributes
    ----------
    unit : int or None
        Runs of ``unit`` orderings, counted from the start of the sequence, are independent of each other.
        None: every ordering depends on those before it, and only ``spawn`` gives independent ones.
    step : int
        Orderings that belong together, 2 for pairs: users of a sample take or drop them as a whole.

    Notes
    -----
    **Subclassing.** Define ``_random(n)`` for n ≥ 1. Settings are stored before ``super().__init__`` is
    called. State of the sequence other than ``self._rng`` is set in ``_restart``. A complete sampler:

    >>> class Shifts(Sampler):
    ...     '''Random rotations of the identity.'''
    ...     unit = 1
    ...     def _random(self, n):
    ...         shifts = self._rng.integers(self.d, size=(n, 1))
    ...         return (np.arange(self.d) + shifts) % self.d
    >>> Shifts(4, rng=0).random(2)
    array([[3, 0, 1, 2],
           [2, 3, 0, 1]])
    """

    unit: int | None = None
    step: int = 1

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        self.d = check_count("d", d, minimum=1)
        self._begin(np.random.default_rng(rng))

    def random(self, n: int = 1) -> Orderings:
        """Return the next n orderings of the sequence, int (n, d)."""
        n = check_count("n", n, minimum=0)
        return self._random(n) if n else np.empty((0, self.d), dtype=np.int64)

    def weights(self, orderings: ArrayLike) -> Floats:
        """Quadrature weights of orderings drawn from this sampler, (n,), summing to 1."""
        n = len(as_orderings(orderings))
        return np.full(n, 1.0 / max(1, n))

    def spawn(self, k: int) -> list[Self]:
        """Return k independent samplers with the same settings, as ``Generator.spawn`` does."""
        k = check_count("k", k, minimum=0)
        return [copy.copy(self)._begin(rng) for rng in self._rng.spawn(k)]

    def for_groups(self, size: int | None) -> Sampler:
        """The nested sampler to draw independent groups from, of ``size`` orderings each if that is known."""
        return self

    def reset(self) -> Self:
        """Go back to the start of the sequence: the same orderings come again."""
        return self._begin(copy.deepcopy(self._rng_at_start))

    def _begin(self, rng: np.random.Generator) -> Self:
        self._rng = rng
        self._rng_at_start = copy.deepcopy(rng)
        self._restart()
        return self

    def _restart(self) -> None:
        """Forget what was drawn."""
        return

    @abstractmethod
    def _random(self, n: int) -> Orderings:
        """Return the next n ≥ 1 orderings."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self.d})"


class BlockSampler(Sampler):
    """A sampler that draws whole blocks of orderings.

    What a call leaves of a block is kept for the next call, so that calls may stop anywhere.
    """

    @property
    @abstractmethod
    def block_size(self) -> int:
        """Orderings in a block."""

    @abstractmethod
    def _blocks(self, count: int) -> Orderings:
        """Return the next ``count`` blocks, (count · block_size, d)."""

    def _restart(self) -> None:
        self._left = np.empty((0, self.d), dtype=np.int64)

    def _random(self, n: int) -> Orderings:
        missing = n - len(self._left)
        orderings = self._left
        if missing > 0:
            fresh = self._blocks(-(-missing // self.block_size))
            orderings = np.concatenate([orderings, fresh]) if len(orderings) else fresh
        self._left = orderings[n:].copy()
        return orderings[:n]


def random_orderings(rng: np.random.Generator, n: int, d: int) -> Orderings:
    """N independent uniform orderings, (n, d); row by row, so that calls can be split anywhere."""
    orderings = np.tile(np.arange(d), (n, 1))
    return rng.permuted(orderings, axis=1, out=orderings)
