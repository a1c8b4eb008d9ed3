"""Random samples from fixed sets of orderings, by random relabelling of the players.

Let τ be a uniformly random permutation of the players. For every ordering σ = (σ_1, …, σ_d), the relabelled ordering
(τ(σ_1), …, τ(σ_d)) is uniform over all orderings, so the mean over a relabelled set with equal weights is unbiased. The
numbers of discordant pairs within the set do not change, and neither do its discrepancy and its optimal weights. A set
that is expensive to find is therefore computed only once, and each sample of it costs a single look-up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Orderings

MIN_LENGTH_COMPUTED = 16  # orderings of a sequence, however few are needed


def random_labels(rng: np.random.Generator, d: int) -> NDArray[np.int64]:
    """Return a uniformly random relabelling τ, (d,); ``τ[orderings]`` are the relabelled orderings."""
    return rng.permutation(d)


def length_to_compute(n: int) -> int:
    """Return a length of at least n and at most 25% more (at least 16), so that few lengths are ever computed.

    A sequence that is extended call by call is then recomputed only a few times.
    """
    if n <= MIN_LENGTH_COMPUTED:
        return MIN_LENGTH_COMPUTED
    step = 2 ** (n.bit_length() - 3)
    return -(-n // step) * step


class RelabelledSequence:
    """A fixed sequence of orderings, relabelled once and returned piece by piece.

    Parameters
    ----------
    rng : Generator
        Source of the relabelling.
    d : int
        Number of players.
    sequence : callable
        Maps a length to the first ``length`` orderings of the fixed sequence, (length, d).
    """

    def __init__(self, rng: np.random.Generator, d: int, sequence: Callable[[int], Orderings]) -> None:
        self._labels = random_labels(rng, d)
        self._sequence = sequence
        self._taken = 0

    def take(self, n: int) -> Orderings:
        """Return the next n orderings, (n, d)."""
        stop = self._taken + n
        orderings = self._labels[self._sequence(length_to_compute(stop))[self._taken : stop]]
        self._taken = stop
        return orderings
