"""Games whose Shapley values are known in closed form: for tests, teaching and benchmarks."""

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
    """Share the cost of a runway: v(S) is the cost of the longest runway that anyone in S needs.

    Parameters
    ----------
    costs : sequence of float
        Cost of the runway that each player needs, at least 0.

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
        """Value of each coalition."""
        return np.asarray(np.where(coalitions, np.asarray(self.costs), 0.0).max(axis=1, initial=0.0))

    def shapley_values(self) -> Floats:
        """Each further stretch of runway is shared equally by those who need it."""
        costs = np.asarray(self.costs)
        order = np.argsort(costs)
        stretches = np.diff(costs[order], prepend=0.0)
        shares = np.empty(self.d)
        shares[order] = np.cumsum(stretches / np.arange(self.d, 0, -1))
        return shares


@final
@dataclass(frozen=True)
class Glove:
    """A market of gloves: players hold one left or one right glove, v(S) is the number of pairs in S.

    Parameters
    ----------
    left, right : int
        Numbers of players with a left and with a right glove; the left ones come first.

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
        """Value of each coalition."""
        lefts = coalitions[:, : self.left].sum(axis=1)
        return np.minimum(lefts, coalitions[:, self.left :].sum(axis=1)).astype(np.float64)

    def shapley_values(self) -> Floats:
        """A player adds a pair if the other glove is in excess among those before: a hypergeometric probability."""
        return np.repeat([_excess(self.left, self.right), _excess(self.right, self.left)], [self.left, self.right])


def _excess(mine: int, others: int) -> float:
    """Mean over sizes s of P(fewer than s/2 of s random predecessors hold my glove)."""
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
    """A vote: v(S) is 1 if the weights in S reach the quota, else 0.

    Parameters
    ----------
    weights : sequence of int
        Votes of each player, at least 0.
    quota : int
        Votes needed to win, at least 1.

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
        """Value of each coalition."""
        return (coalitions @ np.asarray(self.weights) >= self.quota).astype(np.float64)

    def shapley_values(self) -> Floats:
        """Shapley–Shubik indices: coalitions without a player, counted by size and weight by dynamic programming."""
        return np.array([self._pivotal(player) for player in range(self.d)])

    def _pivotal(self, player: int) -> float:
        """Probability that the player's vote turns a random queue's coalition into a winning one."""
        counts = [[0] * self.quota for _ in range(self.d)]  # counts[size][weight] below the quota, exact integers
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
    """A sum of interactions: v(S) = Σ_t coefficient_t · [all members of term t are in S].

    Every game is such a sum. The order of an interaction is the number of its members.

    Parameters
    ----------
    members : (t, d) bool
    coefficients : (t,) float

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
        """Draw terms of order 1 .. ``max_order`` with standard normal coefficients."""
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
        """Value of each coalition."""
        missing = ~np.asarray(coalitions, dtype=bool) @ self.members.T.astype(np.int64)
        return np.asarray((missing == 0) @ self.coefficients)

    def shapley_values(self) -> Floats:
        """Each term is shared equally by its members."""
        return np.asarray((self.coefficients / self.members.sum(axis=1)) @ self.members)
