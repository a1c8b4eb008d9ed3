"""Games that are a function of a weighted sum of their members: voting, steps, bankruptcy, products of two kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats


@final
@dataclass(frozen=True)
class SumGame:
    """v(S) = f(Σ_{i ∈ S} w_i) with integer weights, which may be negative.

    Parameters
    ----------
    weights : sequence of int
        Weight w_i of each player, (d,).
    function : callable
        Maps sums (m,) to values (m,).

    Examples
    --------
    >>> SumGame((1, 1, -1), lambda total: (total >= 1).astype(float)).shapley_values().round(3)
    array([ 0.667,  0.667, -0.333])
    """

    weights: tuple[int, ...]
    function: Callable[[Floats], Any]

    @property
    def d(self) -> int:
        """Number of players."""
        return len(self.weights)

    def __call__(self, coalitions: Coalitions) -> Floats:
        """Return the value of each coalition, bool (m, d) -> float (m,)."""
        sums = coalitions.astype(np.float64) @ np.asarray(self.weights, dtype=np.float64)
        return np.asarray(self.function(sums))

    def shapley_values(self) -> Floats:
        """Return the exact Shapley values, (d,), from the distribution of sums among coalitions of each size."""
        weights = np.asarray(self.weights, dtype=np.int64)
        lowest, highest = int(weights[weights < 0].sum()), int(weights[weights > 0].sum())
        values = np.asarray(self.function(np.arange(lowest, highest + 1, dtype=np.float64)))
        return np.array([self._value_of(player, weights, lowest, values) for player in range(self.d)])

    def _value_of(self, player: int, weights: NDArray[np.int64], lowest: int, values: Floats) -> float:
        shares = shares_of_sums(np.delete(weights, player), lowest, len(values))
        # Sums without the player stay in range after it joins, so nothing wraps around.
        joined = np.roll(shares, int(weights[player]), axis=1)
        return float(((joined - shares) @ values).mean())


def shares_of_sums(weights: NDArray[np.int64], lowest: int, n_sums: int) -> Floats:
    """Return the shares of the coalitions of each size that have each sum, (d+1, n_sums), from ``lowest`` on.

    Adding one player after another keeps shares instead of counts, which would overflow: of the coalitions of size s
    among n players, s/n contain the last one.
    """
    shares = np.zeros((len(weights) + 1, n_sums))
    shares[0, -lowest] = 1.0
    sizes = np.arange(len(weights) + 1.0)[:, None]
    for n, weight in enumerate(weights.tolist(), start=1):
        with_last = np.roll(np.roll(shares, 1, axis=0), weight, axis=1)
        shares = (n - sizes) / n * shares + sizes / n * with_last
        shares[n + 1 :] = 0.0
    return shares
