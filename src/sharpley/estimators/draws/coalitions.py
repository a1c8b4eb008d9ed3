"""Estimation from coalitions that every draw has for itself, for games with few draws."""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget, whole_budget
from sharpley.coalitions.enumeration import can_be_enumerated
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.coalitions.request import Request
from sharpley.estimators.base import Block, CoalitionEstimator, Estimator
from sharpley.estimators.draws.pairings import AskedCoalitions, Pairings, Total, chosen, places_of
from sharpley.estimators.exact import ExactEstimator

MAX_EVALUATIONS_AT_ONCE = 2**20  # of all rows of a block: their coalitions and values are in memory together


class MakeEstimator(Protocol):
    """Makes the estimator for a single draw."""

    def __call__(self, d: int, rng: RNG) -> CoalitionEstimator:
        """Return an estimator for d players."""


@final
class OwnCoalitions(Estimator):
    """Shapley values as means over draws, each of which is estimated by itself.

    Parameters
    ----------
    d : int
        Number of players.
    make_estimator : MakeEstimator
        Makes the estimator for a single draw.
    endpoint_cost : int
        How many single draws the values of ∅ and N took.
    rng : int, Generator, SeedSequence or None
        Source of randomness.
    """

    def __init__(self, d: int, make_estimator: MakeEstimator, *, endpoint_cost: int, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._make_estimator, self._endpoint_cost = make_estimator, endpoint_cost
        self._estimators: dict[int, tuple[CoalitionEstimator, Coalitions]] = {}
        self._waiting: list[int] | None = None  # numbers of players that differ, whose draws were not asked for yet

    @property
    def least_budget(self) -> int:
        """What the values of ∅ and N took; the engine knows how many coalitions every draw needs."""
        return self._endpoint_cost

    def rows_at_once(self, block: Block, budget: int) -> int:
        """Return how many rows fit into memory."""
        return max(1, MAX_EVALUATIONS_AT_ONCE // (self._budget_of_draw(block, budget) * block.games.n_draws))

    def start(self, block: Block) -> None:
        """Find out which players differ between rows and draws."""
        self.units, self._block = block.in_units()
        block = self._block
        n, r = block.games.n_draws, len(block.rows)
        orders = block.generator().spawn(2)[1].permuted(np.tile(np.arange(self.d), (n, 1)), axis=1)
        every, draws = np.repeat(np.arange(r), n), np.tile(np.arange(n), r)
        differing = block.games.differing(block.rows[every], draws)
        self._sizes = differing.sum(axis=1)
        self._pairings = Pairings(every, draws, places_of(differing, draws, orders))
        self._spent = np.full(r, self._endpoint_cost)
        self._total = Total(r, self.d, block.n_outputs)

    def choose(self, budget: Budget) -> Request | None:
        """Ask for the draws in which some number of players differ, one number after the other."""
        if self._waiting is None:
            self._budget = self._budget_of_draw(self._block, budget.most)
            self._waiting = np.unique(self._sizes[self._sizes > 0]).tolist()[::-1]
        while self._waiting:
            self._t = self._waiting.pop()
            self._now = self._pairings.some(self._sizes == self._t)
            if self._t > 1:
                return AskedCoalitions(self._now, self._estimator(self._t)[1])
            self._add(exact_moments(np.diff(self._ends_of(self._now), axis=1)), 0)
        return None

    def learn(self, values: Floats) -> None:
        """Estimate every draw that was asked for."""
        estimator, coalitions = self._estimator(self._t)
        values = (values / self.units[0]).reshape(len(self._now.rows), len(coalitions), self._block.n_outputs)
        if self._block.ends_known:
            values = np.concatenate([self._ends_of(self._now), values], axis=1)
        estimator.values = values
        self._add(estimator.estimate(), len(coalitions))

    def _add(self, moments: Moments, evaluations: int) -> None:
        self._total.add(self._now, moments, self._block.weights[self._now.draws])
        self._spent += evaluations * np.bincount(self._now.rows, minlength=len(self._spent))

    def estimate(self) -> Moments:
        """Return the means over all draws."""
        return self._total.moments()

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Nothing is evaluated after the first estimate."""

    @property
    def seen(self) -> Floats:
        """The values of ∅ and N."""
        return self._block.ends

    @property
    def spent(self) -> NDArray[np.int64]:
        """Number of single draws that were evaluated for each row."""
        return self._spent

    def _budget_of_draw(self, block: Block, budget: int) -> int:
        """Return the number of coalitions, ∅ and N included, that every draw may have."""
        return (budget - self._endpoint_cost) // block.games.n_draws + (2 if block.ends_known else 0)

    def _estimator(self, t: int) -> tuple[CoalitionEstimator, Coalitions]:
        """Return the estimator for t players, and the coalitions that it asks for."""
        if t not in self._estimators:
            rng = self._block.generator()
            may_enumerate = can_be_enumerated(t, self._budget)
            estimator = ExactEstimator(t) if may_enumerate else self._make_estimator(t, rng)
            estimator.values = np.empty((0, 2, 1))
            estimator.choose(whole_budget(self._budget))
            self._estimators[t] = estimator, chosen(estimator.store, ends_known=self._block.ends_known)
        return self._estimators[t]

    def _ends_of(self, pairings: Pairings) -> Floats:
        """Return the known values of ∅ and N of pairings, (g, 2, k)."""
        if self._block.facts is None:
            raise ValueError("a game whose draws are unknown has no known values of ∅ and N")
        return np.stack([self._block.facts.empty[pairings.draws], self._block.ends[pairings.rows, 1]], axis=1)
