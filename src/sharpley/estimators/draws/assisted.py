"""Estimation from single draws with the help of surrogates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.estimators.draws.population import Population, VisitedSteps
from sharpley.estimators.draws.surrogate import FOLDS, LEAVES, TREES, Explained, Surrogates, default_surrogate
from sharpley.estimators.draws.walked import Walked

LEAST_DRAWS_TO_LEARN = 100  # visited draws from which on "auto" fits surrogates
MAX_LEAVES_TIMES_DRAWS = 2e9  # up to which "auto" fits surrogates; so many take some seconds for a row
PAYS = 0.9  # "auto" uses the surrogates of a row if its variance is below this share of the variance without them


@dataclass(frozen=True)
class AssistedDraws:
    """The estimate for all draws from those that were visited, with surrogates or without.

    Parameters
    ----------
    population : Population
        The estimate without surrogates.
    surrogates : Surrogates or None
        The surrogates, if there are any.
    always : bool
        Whether to use the surrogates even if they do not lower the variance.
    """

    population: Population
    surrogates: Surrogates | None
    always: bool

    def estimate(
        self,
        walked: Walked,
        probabilities: Floats | None,
        varying: Coalitions,
        rows: NDArray[np.int64],
        ends: Floats,
    ) -> Moments:
        """Estimate Shapley values as means over all draws, (r, d, k).

        Parameters
        ----------
        walked : Walked
            What was found along the walks of r rows.
        probabilities : (n_draws,) float or None
            The probability of each draw to be visited; None if draws are never exhausted.
        varying : (r, d) bool
            Which players can matter in any draw.
        rows : (r,) int
            The rows.
        ends : (r, 2, k) float
            Means over all draws of v_b(∅) and v_b(N).
        """
        steps = VisitedSteps(walked.steps.draws, probabilities)
        moments = self.population.estimate(walked.contributions, steps, walked.differing, varying, rows, ends)
        if self.surrogates is None or not (self.always or _enough(walked.steps.draws)):
            return moments
        explained = [
            self.surrogates.explain(int(row), walked.walks_of(i), walked.values[i]) for i, row in enumerate(rows)
        ]
        parts = [
            self._assisted(walked, steps, i, varying[i], int(rows[i]), ends[i], one) for i, one in enumerate(explained)
        ]
        assisted = Moments(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        if self.always:
            return assisted
        helps = assisted.variances.sum(axis=1) < PAYS * moments.variances.sum(axis=1)
        return Moments(*(np.where(helps[:, None], one, other) for one, other in zip(assisted, moments, strict=True)))

    def _assisted(
        self,
        walked: Walked,
        steps: VisitedSteps,
        i: int,
        varying: Coalitions,
        row: int,
        ends: Floats,
        explained: Explained,
    ) -> Moments:
        """Return the estimate of one row, the i-th: what its surrogates explain, and what the walks find beyond."""
        missed = self.population.estimate(
            walked.contributions[i : i + 1] - explained.contributions,
            steps,
            walked.differing[i : i + 1],
            varying[None],
            np.array([row]),
            np.stack([ends[0] + explained.values.sum(axis=0), ends[1]])[None],
        )
        return missed._replace(values=missed.values + explained.values)


def with_surrogate(choice: Any, population: Population, k: int, seed: NDArray[np.uint32]) -> AssistedDraws:
    """Return the estimate with the surrogate that was chosen, for k outputs; "auto" is none if it would take long."""
    is_auto = isinstance(choice, str)
    facts = population.facts
    if choice is None or (is_auto and TREES * LEAVES * FOLDS * k * population.n_draws > MAX_LEAVES_TIMES_DRAWS):
        return AssistedDraws(population, None, always=False)
    if facts is None or population.weights is None or facts.columns.shape[1] == 0:
        if is_auto:
            return AssistedDraws(population, None, always=False)
        raise ValueError(
            "a surrogate needs games that know their draws by numbers, such as those of a table's background rows; "
            "sparse matrices and games without DrawFacts have none. Omit surrogate"
        )
    regressor = default_surrogate() if is_auto else choice
    surrogates = Surrogates(regressor, facts, population.weights, seed)
    if not is_auto:
        surrogates.try_out()
    return AssistedDraws(population, surrogates, always=not is_auto)


def _enough(draws: NDArray[np.int64]) -> bool:
    return len(np.unique(draws)) >= LEAST_DRAWS_TO_LEARN
