"""Games whose Shapley values have closed forms, for tests, teaching and benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Self, final

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, ArrayLike, Coalitions, Floats


@final
@dataclass(frozen=True)
class Airport:
    """The airport game, sharing the cost of a runway: v(S) = max_{i ∈ S} c_i, the cost of the longest runway needed.

    Parameters
    ----------
    costs : sequence of float
        Cost c_i ≥ 0 of the runway that each player needs, (d,).

    Examples
    --------
    >>> Airport((1.0, 2.0, 4.0)).shapley_values().round(3)
    array([0.333, 0.833, 2.833])
    """

    costs: tuple[float, ...]

    @property
    def d(self) -> int:
        """Number of players."""
        return len(self.costs)

    def __call__(self, coalitions: Coalitions) -> Floats:
        """Return the value of each coalition, bool (m, d) -> float (m,)."""
        return np.asarray(np.where(coalitions, np.asarray(self.costs), 0.0).max(axis=1, initial=0.0))

    def shapley_values(self) -> Floats:
        """Return the exact Shapley values, (d,): each further stretch of runway is shared equally by those who need it.

        With costs in ascending order and c_0 = 0, φ_i = Σ_{k≤i} (c_k − c_{k−1}) / (d − k + 1).
        """
        costs = np.asarray(self.costs)
        order = np.argsort(costs)
        stretches = np.diff(costs[order], prepend=0.0)
        shares = np.empty(self.d)
        shares[order] = np.cumsum(stretches / np.arange(self.d, 0, -1))
        return shares


@final
@dataclass(frozen=True)
class Glove:
    """The glove game: v(S) = min(l, r) if players in S have l left-hand and r right-hand gloves.

    Each player has one glove, and the value of a coalition is its number of matching gloves.

    Parameters
    ----------
    left, right : int
        Number of players with a left-hand and with a right-hand glove. Players with a left-hand glove come first.

    Examples
    --------
    >>> Glove(1, 2).shapley_values().round(3)
    array([0.667, 0.167, 0.167])
    """

    left: int
    right: int

    @property
    def d(self) -> int:
        """Number of players."""
        return self.left + self.right

    def __call__(self, coalitions: Coalitions) -> Floats:
        """Return the value of each coalition, bool (m, d) -> float (m,)."""
        lefts = coalitions[:, : self.left].sum(axis=1)
        return np.minimum(lefts, coalitions[:, self.left :].sum(axis=1)).astype(np.float64)

    def shapley_values(self) -> Floats:
        """Return the exact Shapley values, (d,).

        A player adds 1 if gloves of the other hand are in the majority among the players before it; the number of these
        gloves has a hypergeometric distribution.
        """
        return np.repeat([_excess(self.left, self.right), _excess(self.right, self.left)], [self.left, self.right])


def _excess(mine: int, others: int) -> float:
    """Return the mean over s = 0 .. d−1 of P(fewer than s/2 of s random predecessors have a glove of the same hand)."""
    d = mine + others
    if mine == 0:
        return 0.0
    favourable = [
        sum(comb(mine - 1, a) * comb(others, s - a) for a in range(min(mine, s + 1)) if 2 * a < s) / comb(d - 1, s)
        for s in range(d)
    ]
    return sum(favourable) / d


@final
@dataclass(frozen=True)
class WeightedVoting:
    """A weighted voting game: v(S) = [Σ_{i ∈ S} w_i ≥ q], which is 1 for a winning coalition and 0 otherwise.

    Parameters
    ----------
    weights : sequence of int
        Number of votes w_i ≥ 0 of each player, (d,).
    quota : int
        Number of votes q ≥ 1 needed to win.

    Examples
    --------
    >>> WeightedVoting((3, 2, 2), quota=4).shapley_values().round(3)
    array([0.333, 0.333, 0.333])
    """

    weights: tuple[int, ...]
    quota: int

    @property
    def d(self) -> int:
        """Number of players."""
        return len(self.weights)

    def __call__(self, coalitions: Coalitions) -> Floats:
        """Return the value of each coalition, bool (m, d) -> float (m,)."""
        return (coalitions @ np.asarray(self.weights) >= self.quota).astype(np.float64)

    def shapley_values(self) -> Floats:
        """Return the exact Shapley values (Shapley–Shubik power indices), (d,).

        Dynamic programming counts the coalitions without a player by their size and their number of votes.
        """
        return np.array([self._pivotal(player) for player in range(self.d)])

    def _pivotal(self, player: int) -> float:
        """Return the probability that the player turns the coalition of its predecessors into a winning one."""
        counts = [[0] * self.quota for _ in range(self.d)]  # counts[size][votes] for votes < quota, exact integers
        counts[0][0] = 1
        for other, weight in enumerate(self.weights):
            if other == player:
                continue
            for size in range(self.d - 2, -1, -1):
                for total in range(self.quota - weight):
                    counts[size + 1][total + weight] += counts[size][total]
        needed = max(0, self.quota - self.weights[player])
        return sum(sum(counts[size][needed:]) / comb(self.d - 1, size) for size in range(self.d)) / self.d


@final
@dataclass(frozen=True)
class UnanimitySum:
    """A sum of unanimity games: v(S) = Σ_t c_t [T_t ⊆ S].

    Every game with v(∅) = 0 is such a sum. The order of the interaction T_t is its number of members.

    Parameters
    ----------
    members : (t, d) bool
        Members of the coalition T_t of each term; at least one.
    coefficients : (t,) float
        Coefficient c_t of each term.

    Examples
    --------
    >>> game = UnanimitySum.random(4, n_terms=6, max_order=3, rng=0)
    >>> bool(np.isclose(game.shapley_values().sum(), game(np.ones((1, 4), bool))[0]))
    True
    """

    members: Coalitions
    coefficients: Floats

    @classmethod
    def random(cls, d: int, *, n_terms: int, max_order: int, rng: RNG = None) -> Self:
        """Return a random sum of unanimity games with standard normal coefficients.

        Parameters
        ----------
        d : int
            Number of players, at least 1.
        n_terms : int
            Number of terms.
        max_order : int
            Largest order of an interaction; orders are uniform over 1 .. min(max_order, d).
        rng : int, Generator, SeedSequence or None
            Passed to ``np.random.default_rng``.
        """
        d = check_count("d", d, minimum=1)
        generator = np.random.default_rng(rng)
        members = np.zeros((n_terms, d), dtype=bool)
        for row in members:
            order = generator.integers(1, min(max_order, d) + 1)
            row[generator.choice(d, size=order, replace=False)] = True
        return cls(members, generator.standard_normal(n_terms))

    @property
    def d(self) -> int:
        """Number of players."""
        return int(self.members.shape[1])

    def __call__(self, coalitions: ArrayLike) -> Floats:
        """Return the value of each coalition, bool (m, d) -> float (m,)."""
        missing = ~np.asarray(coalitions, dtype=bool) @ self.members.T.astype(np.int64)
        return np.asarray((missing == 0) @ self.coefficients)

    def shapley_values(self) -> Floats:
        """Return the exact Shapley values, (d,): each coefficient is shared equally by the members of its term."""
        return np.asarray((self.coefficients / self.members.sum(axis=1)) @ self.members)
