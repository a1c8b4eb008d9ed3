"""Fixed sets of orderings as random samples: players are relabelled at random.

Let τ be a uniformly random permutation of the players. Whatever the ordering σ, its relabelled version
(τ(σ_1), …, τ(σ_d)) is uniform over all orderings, so equal-weight means over a relabelled set are unbiased.
The numbers of discordant pairs within the set do not change, and so neither do its discrepancy or its best
weights. A set that took long to find is therefore found once, and every sample of it costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Orderings

SMALLEST = 16


def random_labels(rng: np.random.Generator, d: int) -> NDArray[np.int64]:
    """A uniformly random relabelling: τ, so that ``τ[orderings]`` are the relabelled orderings."""
    return rng.permutation(d)


def size_to_compute(n: int) -> int:
    """A size of at least n, at most a quarter more: sequences that grow are not computed anew at every step."""
    if n <= SMALLEST:
        return SMALLEST
    step = 2 ** (n.bit_length() - 3)
    return -(-n // step) * step


class RelabelledSequence:
    """A fixed sequence of orderings, relabelled once and handed out piece by piece.

    Parameters
    ----------
    rng : Generator
        One relabelling is drawn from it.
    d : int
    sequence : callable
        The fixed sequence: size -> its first ``size`` orderings.
    """

    def __init__(self, rng: np.random.Generator, d: int, sequence: Callable[[int], Orderings]) -> None:
        self._labels = random_labels(rng, d)
        self._sequence = sequence
        self._taken = 0

    def take(self, n: int) -> Orderings:
        """The next n orderings."""
        stop = self._taken + n
        orderings = self._labels[self._sequence(size_to_compute(stop))[self._taken : stop]]
        self._taken = stop
        return orderings
