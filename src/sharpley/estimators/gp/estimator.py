"""The estimator of method "gp": which of its two forms a budget calls for.

Up to ``GPSettings.unpaired_evals_per_player`` evaluations for each player, coalitions are evaluated without their
complements, and chosen by what they tell about the Shapley values (``unpaired``). With more, pairs (``of_pairs``) are
more accurate on games with few distinct values, such as votes, and cost fewer calls of the model and less linear
algebra. The rule depends on the numbers of players and evaluations alone.
"""

from __future__ import annotations

from typing import final

from sharpley._support.typing import RNG
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.gp import of_pairs, unpaired
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings


def least_budget(d: int, settings: GPSettings = DEFAULT_SETTINGS) -> int:
    """Return the smallest budget of "gp" for games of d players: that of pairs if there are very many players."""
    least = unpaired.least_budget(d)
    return least if is_unpaired(d, least, settings) else of_pairs.least_budget(d)


def is_unpaired(d: int, budget: int, settings: GPSettings = DEFAULT_SETTINGS) -> bool:
    """Return whether coalitions are evaluated without their complements in a run with this budget.

    They also are if the budget is too small for pairs, unless there are so many players that even the smallest sample
    exceeds ``most_unpaired``.
    """
    limit = min(settings.unpaired_evals_per_player * d, settings.most_unpaired)
    return budget <= limit or (unpaired.least_budget(d) <= limit and budget < of_pairs.least_budget(d))


@final
class GaussianProcessEstimator(CoalitionEstimator):
    """Bayesian quadrature over coalitions: accurate from few evaluations, at the cost of some linear algebra.

    Parameters
    ----------
    d : int
        Number of players.
    settings : GPSettings, optional
        Settings of the Gaussian process.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0, 8.0, 8.0, 9.0))
    >>> found = sharpley.shapley_values(game, method=GaussianProcessEstimator, max_evals=40, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 0.1)
    True
    """

    choices_depend_on = "rows"

    def __init__(self, d: int, *, settings: GPSettings = DEFAULT_SETTINGS, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._settings = settings
        self._form: CoalitionEstimator | None = None

    @property
    def least_budget(self) -> int:
        """One evaluation for each player and those of ∅ and N, or more if there are very many players."""
        return least_budget(self.d, self._settings)

    def first_checkpoint(self, most: int) -> int:
        """Return the budget from which on the error bar of the form that ``most`` calls for is reliable enough."""
        return self._for(most).first_checkpoint(most)

    def _choose(self, budget: Budget) -> bool:
        """Choose coalitions in the form that the budget of the whole run calls for."""
        return self._for(budget.most)._choose(budget)

    def _learn(self) -> None:
        """Learn the hyperparameters that the games of all rows share."""
        self._chosen._learn()

    def estimate(self) -> Moments:
        """Compute the posterior mean and variance of the Shapley values of all games."""
        return self._chosen.estimate()

    def _for(self, most: int) -> CoalitionEstimator:
        """Return the form for a run with this budget; a run does not change its form."""
        if self._form is None:
            is_small = is_unpaired(self.d, most, self._settings)
            form = unpaired.UnpairedProcess if is_small else of_pairs.ProcessOnPairs
            self._form = form(self.d, settings=self._settings, rng=self._rng)
            self._form.store = self.store
        return self._form

    @property
    def _chosen(self) -> CoalitionEstimator:
        if self._form is None:
            raise RuntimeError("choose coalitions first")  # a defect of the caller
        self._form.values = self.values
        return self._form
