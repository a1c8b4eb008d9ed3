"""The estimator of "gp" for tiny budgets.

A coalition for each player comes first. Then hyperparameters are learnt, further coalitions are chosen by what they
tell about the Shapley values, a fifth of those known at a time, and so on until the budget is spent. All rows share
their coalitions, which are chosen by hyperparameters that pilot games share.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.gp.unpaired.choosing import candidates, first_coalitions, most_informative
from sharpley.estimators.gp.unpaired.errors import Stage
from sharpley.estimators.gp.unpaired.fitting import WholeData, estimate_whole, learn_pilots, normalised
from sharpley.estimators.gp.unpaired.kernel import WholeScales
from sharpley.estimators.pairs.base import by_game


class Learnt(NamedTuple):
    """What was learnt from the values of a run."""

    data: WholeData
    """Normalised games."""
    scales: WholeScales
    """Hyperparameters that the pilot games share."""


def least_budget(d: int) -> int:
    """Return the smallest budget for games of d players: ∅, N and a coalition for each player, at most 2^d."""
    return min(d + 2, 2**d)


def stage_size(n_known: int, d: int, settings: GPSettings = DEFAULT_SETTINGS) -> int:
    """Return how many coalitions are chosen at a time once ``n_known`` are known."""
    return max(1, int(settings.unpaired.growth * n_known), int(settings.unpaired.growth_per_player * d))


@final
class UnpairedProcess(CoalitionEstimator):
    """Bayesian quadrature over coalitions that are evaluated without their complements.

    Parameters
    ----------
    d : int
        Number of players.
    settings : GPSettings, optional
        Settings of the Gaussian process.
    rng : int, Generator, SeedSequence or None
        Source of randomness.
    """

    choices_depend_on = "rows"

    def __init__(self, d: int, *, settings: GPSettings = DEFAULT_SETTINGS, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._settings = settings
        self._members = np.array([[False] * self.d, [True] * self.d])
        self._positions: NDArray[np.int64] = np.array([EMPTY, FULL])
        self._stages: list[Stage] = []
        self._learnt: Learnt | None = None

    @property
    def least_budget(self) -> int:
        """One evaluation for each player, and those of ∅ and N."""
        return least_budget(self.d)

    def first_checkpoint(self, most: int) -> int:
        """Return two evaluations for each player, of which the second half was foreseen."""
        return min(2 * self.d + 2, 2**self.d)

    def _choose(self, budget: Budget) -> bool:
        """Choose the first coalitions or, given what was learnt from them, the next ones."""
        missing = min(budget.now, 2**self.d) - len(self._members)
        if missing <= 0:
            return False
        if self._learnt is None:
            fresh = first_coalitions(self.d, self._rng)[:missing]
        else:
            fresh = self._informative(
                min(missing, stage_size(len(self._members), self.d, self._settings)), self._learnt
            )
        self._members = np.concatenate([self._members, fresh])
        self._positions = np.concatenate([self._positions, self.store.add(fresh)])
        return len(fresh) > 0

    def _informative(self, count: int, learnt: Learnt) -> Coalitions:
        """Choose the most informative coalitions, and note by which hyperparameters."""
        mine, known = self._settings.unpaired, self._members
        pool = candidates(self.d, known, self._rng, mine.pool)
        fresh = most_informative(known, pool, learnt.scales, count, mine.constant_variance)
        self._stages.append(Stage(len(known), len(known) + len(fresh), learnt.scales))
        return fresh

    def _learn(self) -> None:
        """Learn the hyperparameters that the pilot games share, starting from those found in the stage before."""
        data = self._data()
        start = self._stages[-1].scales if self._stages else None
        self._learnt = Learnt(data, learn_pilots(data, self._settings, start))

    @property
    def _known(self) -> Learnt:
        if self._learnt is None:
            self._learn()
        assert self._learnt is not None
        return self._learnt

    def estimate(self) -> Moments:
        """Compute the posterior mean of the Shapley values of all games, and their variances."""
        known, values = self._known, self.values
        found = estimate_whole(known.data, known.scales, self._stages, self._settings)
        magnitudes = known.data.magnitudes
        degrees_of_freedom = np.broadcast_to(found.degrees_of_freedom, found.values.shape)
        return Moments(
            by_game(found.values * magnitudes, values),
            by_game(found.variances * magnitudes**2, values),
            by_game(degrees_of_freedom, values),
        )

    def _data(self) -> WholeData:
        columns = np.moveaxis(self.values, 1, 0).reshape(self.values.shape[1], -1)
        return normalised(np.where(self._members, 1.0, -1.0), columns[self._positions])
