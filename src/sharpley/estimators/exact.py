"""Exact Shapley values: all 2^d coalitions, each weighted by its size (the paper's Equation 1)."""

from __future__ import annotations

from math import comb
from typing import final

import numpy as np

from sharpley._typing import Coalitions, Floats
from sharpley.estimators.base import Estimator
from sharpley.evaluation import CoalitionStore
from sharpley.statistics import Moments


def all_coalitions(d: int) -> Coalitions:
    """All coalitions of d players, (2^d, d); row i holds the bits of i, player 0's lowest."""
    return ((np.arange(2**d)[:, None] >> np.arange(d)) & 1).astype(bool)


@final
class ExactEstimator(Estimator):
    """Enumeration of all coalitions: no error, and 2^d evaluations."""

    @property
    def minimum(self) -> int:
        """All coalitions."""
        return 2**self.d

    def extend(self, store: CoalitionStore, budget: int, values: Floats | None) -> bool:
        """Register everything at once."""
        if store.is_complete:
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
            gains = values[:, without | (1 << player)] - values[:, without]
            weights = 1.0 / (self.d * np.array([comb(self.d - 1, s) for s in range(self.d)], dtype=np.float64))
            phi[:, player] = np.einsum("m,rmk->rk", weights[sizes[without]], gains)
        return Moments(phi, np.zeros_like(phi), np.full_like(phi, np.inf))
