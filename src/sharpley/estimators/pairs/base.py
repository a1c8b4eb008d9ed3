"""What estimators from pairs share: the choice of pairs within a budget, and odd values.

A pair is a coalition and its complement. Write a coalition as z ∈ {−1, +1}^d. Shapley values depend only on
v_odd(z) = (v(z) − v(−z)) / 2, which is known at z once the coalition and its complement have been evaluated. At z = 1
it is δ = (v(N) − v(∅)) / 2, which is always known.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.pairs.choosing import PairChooser, pairs_per_class


class PairData(NamedTuple):
    """Values of games at chosen pairs; each column is a game, one for each row and output."""

    signs: Floats
    """The smaller coalition of each pair as ±1, (n, d)."""
    odd: Floats
    """Odd values (v(z) − v(−z)) / 2, (n, g)."""
    even: Floats
    """Even values (v(z) + v(−z)) / 2, (n, g)."""
    delta: Floats
    """The odd value δ of the full coalition, (g,)."""

    @property
    def d(self) -> int:
        """Number of players."""
        return self.signs.shape[1]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of players in the smaller coalition of each pair, (n,)."""
        return (self.signs > 0).sum(axis=1)

    def pairs(self, which: slice | NDArray[np.bool_]) -> PairData:
        """Return the data of some of the pairs."""
        return PairData(self.signs[which], self.odd[which], self.even[which], self.delta)

    def games(self, which: NDArray[np.int64]) -> PairData:
        """Return the data of some of the games."""
        return PairData(self.signs, self.odd[:, which], self.even[:, which], self.delta[which])


class PairedEstimator(CoalitionEstimator):
    """Base class of estimators from pairs.

    Subclasses define how pairs are distributed over classes, and how their values are used.
    """

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._chooser = PairChooser(self.d, self._rng)
        self._members: list[Coalitions] = []
        self._positions: list[NDArray[np.int64]] = []
        self._n_pairs = 0

    @property
    @abstractmethod
    def _fewest_pairs(self) -> int:
        """Smallest number of pairs that gives an estimate with an error bar."""

    @abstractmethod
    def _next_pairs(self, wanted: int, budget: Budget) -> Coalitions:
        """Choose at least one of the pairs that are missing from a total of ``wanted``, and return them in order."""

    def _wanted_now(self, wanted: int, budget: Budget) -> int:
        """Return how many of the pairs that the budget pays for are chosen before anything more is learnt."""
        return wanted

    @property
    def least_budget(self) -> int:
        """Number of evaluations for the smallest sample of pairs, at most 2^d."""
        return evaluations_of(self._fewest_pairs, self.d)

    def first_checkpoint(self, most: int) -> int:
        """Return the number of evaluations for 1.5 times the smallest number of pairs."""
        return min(2 + 3 * self._fewest_pairs, 2**self.d)

    def _choose(self, budget: Budget) -> bool:
        """Choose pairs that the budget pays for."""
        wanted = min((budget.now - 2) // 2, int(pairs_per_class(self.d).sum()))
        if wanted <= self._n_pairs:
            return False
        wanted = self._wanted_now(wanted, budget)
        while self._n_pairs < wanted:
            fresh = self._next_pairs(wanted, budget)
            self._members.append(fresh)
            self._positions.append(np.stack([self.store.add(fresh), self.store.add(~fresh)], axis=1))
            self._n_pairs += len(fresh)
        return True

    def _data(self) -> PairData:
        """Return the data of all games with values (r, m, k) at the chosen pairs: r·k columns."""
        signs = np.where(np.concatenate(self._members), 1.0, -1.0)
        return pair_data(self.values, signs, np.concatenate(self._positions))


def evaluations_of(n_pairs: int, d: int) -> int:
    """Return the number of evaluations for a number of pairs of d players, v(∅) and v(N) included."""
    return min(2 + 2 * n_pairs, 2**d)


def pair_data(values: Floats, signs: Floats, positions: NDArray[np.int64]) -> PairData:
    """Return the data of games at pairs.

    Parameters
    ----------
    values : (r, m, k) float
        Values of all games at the coalitions of a store.
    signs : (n, d) float
        The smaller coalition of each pair, ±1.
    positions : (n, 2) int
        Positions in the store of that coalition and of its complement.
    """
    columns = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
    member, complement = columns[positions[:, 0]], columns[positions[:, 1]]
    delta = (columns[FULL] - columns[EMPTY]) / 2.0
    return PairData(signs, (member - complement) / 2.0, (member + complement) / 2.0, delta)


def by_game(columns: Floats, values: Floats) -> Floats:
    """Return results (d, r·k), one column for each game, in the shape (r, d, k) for games with values (r, m, k)."""
    r, _, k = values.shape
    return np.ascontiguousarray(np.moveaxis(columns.reshape(-1, r, k), 0, 1))
