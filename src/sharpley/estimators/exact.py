"""Exact values: all 2^d coalitions, by the definition of the index."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Floats
from sharpley.coalitions.enumeration import MAX_ENUMERATED, all_coalitions
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.store import CoalitionStore
from sharpley.estimators.base import Budget, Estimator
from sharpley.indices import SHAPLEY, Index


def least_budget(d: int) -> int:
    """All coalitions; more than 20 players are an error."""
    if d > MAX_ENUMERATED:
        raise ValueError(f"method 'exact' is for at most {MAX_ENUMERATED} players, got {d}: sample instead")
    return 2**d


@final
class ExactEstimator(Estimator):
    """Enumeration of all coalitions: no error, 2^d evaluations, at most 20 players.

    Parameters
    ----------
    d : int
    index : Index
        What is computed; Shapley values by default.
    rng : ignored
        Nothing is random.
    """

    def __init__(self, d: int, *, index: Index = SHAPLEY, rng: RNG = None) -> None:
        super().__init__(d)
        self._least_budget = least_budget(self.d)
        self._index = index
        self._positions: NDArray[np.int64] | None = None

    @property
    def least_budget(self) -> int:
        """All coalitions."""
        return self._least_budget

    def choose(self, store: CoalitionStore, budget: Budget, learnt: Any = None) -> bool:
        """Register everything at once."""
        if self._positions is not None:
            return False
        self._positions = store.add(all_coalitions(self.d))
        return True

    def estimate(self, values: Floats, learnt: Any = None) -> Moments:
        """The index by its definition, without error."""
        return exact_moments(self._index.of_all_values(values[:, self._positions], self.d))
