"""Shapley values, by their definition (the paper's Equation 1)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.indices.base import Index, Label


@final
class ShapleyValues(Index):
    """Shapley values: the mean contribution of each player over all orderings.

    There is one component for each player::

        φ_i = Σ_{S∌i} |S|! (d−|S|−1)! / d! · (v(S∪i) − v(S))

    Examples
    --------
    >>> both_needed = np.array([0.0, 0.0, 0.0, 6.0]).reshape(1, 4, 1)  # v(∅), v({0}), v({1}), v({0, 1})
    >>> ShapleyValues().of_all_values(both_needed, 2)[0, :, 0]
    array([3., 3.])
    """

    name = "shapley"

    def labels(self, d: int) -> Sequence[Label]:
        """Return one label for each player."""
        return [(player,) for player in range(d)]

    def n_components(self, d: int) -> int:
        """Return the number of players."""
        return d

    def positions(self, players: NDArray[np.int64], d: int) -> NDArray[np.int64]:
        """Return the players themselves."""
        return players

    def of_all_values(self, values: Floats, d: int) -> Floats:
        """Return the Shapley values of games, given their values at all coalitions: (r, 2^d, k) -> (r, d, k)."""
        numbers = np.arange(2**d)
        sizes = np.bitwise_count(numbers)
        weights = 1.0 / (d * np.array([comb(d - 1, size) for size in range(d)], dtype=np.float64))
        phi = np.empty((values.shape[0], d, values.shape[2]))
        for player in range(d):
            without = numbers[(numbers >> player) & 1 == 0]
            gains = np.ascontiguousarray(values[:, without | (1 << player)] - values[:, without])
            # Row by row, and contiguous, so that the order of summation does not depend on the rows explained together.
            for row, gain in enumerate(gains):
                phi[row, player] = weights[sizes[without]] @ gain
        return phi
