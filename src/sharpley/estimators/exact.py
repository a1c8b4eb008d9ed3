"""Exact values, from all 2^d coalitions, by the definition of the index."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.enumeration import MAX_ENUMERATED_PLAYERS, all_coalitions
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.estimators.base import CoalitionEstimator


@final
class ExactEstimator(CoalitionEstimator):
    """Enumerate all coalitions: exact, at the cost of 2^d evaluations, for at most 20 players.

    Parameters
    ----------
    d : int
        Number of players.
    rng : ignored
        Present for a uniform interface; nothing is random.

    Examples
    --------
    >>> import sharpley
    >>> found = sharpley.shapley_values(lambda S: S.sum(axis=1) ** 2.0, 3, method=ExactEstimator)
    >>> found.values, found.n_evals
    (array([3., 3., 3.]), 8)
    """

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        super().__init__(d)
        if d > MAX_ENUMERATED_PLAYERS:
            raise ValueError(
                f"method 'exact' is for at most {MAX_ENUMERATED_PLAYERS} players, got {d}; use another method, such as "
                "'gp'"
            )
        self._positions: NDArray[np.int64] | None = None

    @property
    def least_budget(self) -> int:
        """Number of all coalitions."""
        return 2**self.d

    def _choose(self, budget: Budget) -> bool:
        """Register all coalitions in the first call."""
        if self._positions is not None:
            return False
        self._positions = self.store.add(all_coalitions(self.d))
        return True

    def estimate(self) -> Moments:
        """Compute the index by its definition, without error."""
        return exact_moments(self.index.of_all_values(self.values[:, self._positions], self.d))
