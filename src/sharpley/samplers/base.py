"""The interface that all samplers of orderings share.

A sampler produces orderings σ_1, σ_2, … with weights w_i, so that Σ_i w_i f(σ_i) estimates the mean 1/d! Σ_σ f(σ) of a
function of an ordering. Every σ_i by itself is uniformly distributed over all d! orderings, hence the mean with equal
weights is unbiased. Samplers differ in the dependence between the σ_i, which determines the variance.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.permutations.orderings import as_orderings


class Sampler(ABC):
    """A sequence of random orderings of d players, each of which is uniformly distributed.

    Samplers work like the engines of ``scipy.stats.qmc``. ``random(n)`` continues the sequence after the last call, so
    two calls of ``random(5)`` return the same orderings as ``random(10)``; ``reset`` goes back to the start.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    replicates : int, optional
        Number of independent copies of the sampler that an estimate uses in turn. Its standard error is then estimated
        from the spread between the copies. None, the default, uses one sample, as published, which is more accurate.
        ``random`` always continues a single sequence.
    rng : int, Generator, SeedSequence or None
        Passed to ``np.random.default_rng``. A Generator is used directly, not copied: the next sampler created with
        the same Generator returns other orderings.

    Attributes
    ----------
    unit : int or None
        Length of the independent runs: runs of ``unit`` consecutive orderings, counted from the start of the sequence,
        are independent of each other. None if every ordering depends on all orderings before it; only ``spawn`` yields
        independent orderings then.
    step : int
        Number of consecutive orderings that belong together, 2 for antithetic pairs. A sample is to be extended or
        truncated by whole steps.
    replicates : int or None
        Number of independent copies that an estimate uses, or None for one sample.

    Notes
    -----
    **Subclassing.** Define ``_random(n)`` for n ≥ 1. Store settings before ``super().__init__`` is called, and set the
    state of the sequence other than ``self._rng`` in ``_restart``.

    Examples
    --------
    A complete sampler:

    >>> class SortedKeys(Sampler):
    ...     '''Independent uniform orderings, by sorting random keys.'''
    ...     unit = 1
    ...     def _random(self, n):
    ...         return np.argsort(self._rng.random((n, self.d)), axis=1)
    >>> SortedKeys(4, rng=0).random(2)
    array([[3, 2, 1, 0],
           [2, 3, 0, 1]])
    """

    unit: int | None = None
    step: int = 1

    def __init__(self, d: int, *, replicates: int | None = None, rng: RNG = None) -> None:
        self.d = check_count("d", d, minimum=1)
        self.replicates = None if replicates is None else check_count("replicates", replicates, minimum=2)
        self._begin(np.random.default_rng(rng))

    def random(self, n: int = 1) -> Orderings:
        """Return the next n ≥ 0 orderings of the sequence, int (n, d)."""
        n = check_count("n", n, minimum=0)
        if n == 0:
            return np.empty((0, self.d), dtype=np.int64)
        orderings = self._random(n)
        if orderings.shape != (n, self.d) or orderings.dtype.kind not in "iu":
            raise ValueError(
                f"{type(self).__name__}._random must return integers of shape ({n}, {self.d}), "
                f"got {orderings.dtype} of shape {orderings.shape}"
            )
        return orderings

    def weights(self, orderings: ArrayLike) -> Floats:
        """Return the quadrature weights, (n,), of orderings drawn from this sampler, (n, d); they sum to 1."""
        n = len(as_orderings(orderings))
        return np.full(n, 1.0 / max(1, n))

    def spawn(self, k: int) -> list[Self]:
        """Return k independent samplers with the same settings, seeded by ``Generator.spawn``."""
        k = check_count("k", k, minimum=0)
        return [copy.copy(self)._begin(rng) for rng in self._rng.spawn(k)]

    def as_sequence(self) -> Sampler:
        """Return the sampler of a sequence that may stop at any time."""
        return self

    def whole(self, n: int) -> int | None:
        """Return how many of n orderings one call of ``random`` must draw; None if any number of calls will do.

        Only samplers that make a sample for its number of orderings return a number.
        """
        return None

    def reset(self) -> Self:
        """Go back to the start of the sequence, so that the same orderings are returned again; return the sampler."""
        return self._begin(copy.deepcopy(self._rng_at_start))

    def _begin(self, rng: np.random.Generator) -> Self:
        self._rng = rng
        self._rng_at_start = copy.deepcopy(rng)
        self._restart()
        return self

    def _restart(self) -> None:
        """Set the state of the sequence to its start."""
        return

    @abstractmethod
    def _random(self, n: int) -> Orderings:
        """Return the next n ≥ 1 orderings, int64 (n, d)."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self.d})"


class BlockSampler(Sampler):
    """A sampler that draws whole blocks of orderings.

    The orderings of a block that a call does not use are saved for the next call, so that a call may end within a
    block.
    """

    @property
    @abstractmethod
    def block_size(self) -> int:
        """Number of orderings in a block."""

    @abstractmethod
    def _blocks(self, count: int) -> Orderings:
        """Return the next ``count`` blocks, (count · block_size, d)."""

    def _restart(self) -> None:
        self._unused = np.empty((0, self.d), dtype=np.int64)

    def _random(self, n: int) -> Orderings:
        missing = n - len(self._unused)
        orderings = self._unused
        if missing > 0:
            fresh = self._blocks(-(-missing // self.block_size))
            orderings = np.concatenate([orderings, fresh]) if len(orderings) else fresh
        self._unused = orderings[n:].copy()
        return orderings[:n]


def random_orderings(rng: np.random.Generator, n: int, d: int) -> Orderings:
    """Draw n independent uniform orderings, (n, d), one after the other, so that split calls return the same ones."""
    orderings = np.tile(np.arange(d), (n, 1))
    return rng.permuted(orderings, axis=1, out=orderings)
