"""What estimators on pairs, coalitions with their complements, share: choosing them within a budget, and odd values.

Write a coalition as z ∈ {−1, +1}^d. Shapley values depend on v_odd(z) = (v(z) − v(−z)) / 2 alone, which is
known at z once the coalition and its complement are. At z = 1 it is δ = (v(N) − v(∅)) / 2, which is known
exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.store import EMPTY, FULL, CoalitionStore
from sharpley.estimators.base import Budget, Estimator
from sharpley.estimators.pairs.choosing import PairChooser, class_sizes


class PairData(NamedTuple):
    """Values of games at chosen pairs; games are columns, one for each row and output."""

    signs: Floats
    """(n, d), ±1: a member of each pair, the smaller one."""
    odd: Floats
    """(n, g): (v(z) − v(−z)) / 2."""
    even: Floats
    """(n, g): (v(z) + v(−z)) / 2."""
    delta: Floats
    """(g,): the odd part at the full coalition."""

    @property
    def d(self) -> int:
        """Number of players."""
        return self.signs.shape[1]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Players in the smaller member of each pair, (n,)."""
        return (self.signs > 0).sum(axis=1)

    def pairs(self, which: slice) -> PairData:
        """Some of the pairs."""
        return PairData(self.signs[which], self.odd[which], self.even[which], self.delta)

    def games(self, which: NDArray[np.int64]) -> PairData:
        """Some of the games."""
        return PairData(self.signs, self.odd[:, which], self.even[:, which], self.delta[which])


class PairedEstimator(Estimator):
    """An estimator from pairs that were chosen for it.

    Subclasses say how pairs are spread over classes, and what is made of their values.
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
        """Number of pairs that gives an estimate with an error bar."""

    @abstractmethod
    def _choose(self, wanted: int, learnt: Any) -> Coalitions:
        """Choose, in order, some of the pairs that are missing to a total of ``wanted``: at least one."""

    @property
    def least_budget(self) -> int:
        """As many pairs as are needed, or all there are."""
        return evaluations_of(self._fewest_pairs, self.d)

    def first_checkpoint(self, most: int) -> int:
        """Half as many pairs again."""
        return min(2 + 3 * self._fewest_pairs, 2**self.d)

    def choose(self, store: CoalitionStore, budget: Budget, learnt: Any = None) -> bool:
        """Choose further pairs, all at once."""
        wanted = min((budget.now - 2) // 2, int(class_sizes(self.d).sum()))
        if wanted <= self._n_pairs:
            return False
        while self._n_pairs < wanted:
            fresh = self._choose(wanted, learnt)
            self._members.append(fresh)
            self._positions.append(np.stack([store.add(fresh), store.add(~fresh)], axis=1))
            self._n_pairs += len(fresh)
        return True

    def _data(self, values: Floats) -> PairData:
        """Values of all games at the pairs: (r, m, k) -> data with r·k columns."""
        signs = np.where(np.concatenate(self._members), 1.0, -1.0)
        return pair_data(values, signs, np.concatenate(self._positions))


def evaluations_of(n_pairs: int, d: int) -> int:
    """Evaluations that pay for pairs of d players, v(∅) and v(N) included."""
    return min(2 + 2 * n_pairs, 2**d)


def pair_data(values: Floats, signs: Floats, positions: NDArray[np.int64]) -> PairData:
    """Values of all games (r, m, k) at pairs with members ``signs`` (n, d), found at ``positions`` (n, 2)."""
    columns = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
    member, complement = columns[positions[:, 0]], columns[positions[:, 1]]
    delta = (columns[FULL] - columns[EMPTY]) / 2.0
    return PairData(signs, (member - complement) / 2.0, (member + complement) / 2.0, delta)


def as_games(columns: Floats, values: Floats) -> Floats:
    """Results of columns (d, g) back in the shape of games with values (r, m, k): (r, d, k)."""
    r, _, k = values.shape
    return np.ascontiguousarray(np.moveaxis(columns.reshape(-1, r, k), 0, 1))
