"""Exact Shapley values: all 2^d coalitions, each weighted by its size (the paper's Equation 1)."""

from __future__ import annotations

from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.estimators.base import Estimator

MAX_ENUMERATED = 20  # players; the million coalitions of 20 take some 250 MB


def all_coalitions(d: int) -> Coalitions:
    """All coalitions of d players, (2^d, d); row i holds the bits of i, player 0's lowest."""
    bits = np.arange(2**d, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(bits, axis=1, count=d, bitorder="little").astype(bool)


@final
class ExactEstimator(Estimator):
    """Enumeration of all coalitions: no error, and 2^d evaluations, for up to 20 players."""

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        if self.d > MAX_ENUMERATED:
            raise ValueError(f"method 'exact' is for at most {MAX_ENUMERATED} players, got {self.d}: sample instead")
        self._positions: NDArray[np.int64] | None = None

    @property
    def minimum(self) -> int:
        """All coalitions."""
        return 2**self.d

    def extend(self, store: CoalitionStore, budget: int, values: Floats | None) -> bool:
        """Register everything at once."""
        if self._positions is not None:
            return False
        self._positions = store.add(all_coalitions(self.d))
        return True

    def estimate(self, values: Floats) -> Moments:
        """φ_i = Σ_{S∌i} |S|! (d−|S|−1)! / d! · (v(S∪i) − v(S))."""
        values = values[:, self._positions]
        index = np.arange(2**self.d)
        sizes = np.bitwise_count(index)
        phi = np.empty((values.shape[0], self.d, values.shape[2]))
        for player in range(self.d):
            without = index[(index >> player) & 1 == 0]
            gains = np.ascontiguousarray(values[:, without | (1 << player)] - values[:, without])
            weights = 1.0 / (self.d * np.array([comb(self.d - 1, s) for s in range(self.d)], dtype=np.float64))
            # One by one, and contiguous: the order of summation is then the same in any company.
            for row, gain in enumerate(gains):
                phi[row, player] = weights[sizes[without]] @ gain
        return Moments(phi, np.zeros_like(phi), np.full_like(phi, np.inf))
