"""What method="auto" stands for: a rule on the problem's size alone, so that the same inputs give the same numbers.

It was derived from measurements, which are on the page about choosing a method (``sharpley bench`` makes them):

1. If all 2^d coalitions fit the budget, enumerate them: "exact". With a tolerance, which may be met long before, not.
2. "gp" has the lowest error of all methods on every model that was measured, and on most games, from 5d to 50d
   evaluations; it needs 2d + 6. It is taken unless its own work is out of proportion.
3. Otherwise "regression", which is next, or "antithetic" if the budget is too small even for that.

Work is counted, not timed: the operations of gp's linear algebra against the predictions that the model will make.
The cheapest models take about a microsecond for one, in which a core does ``PER_PREDICTION`` operations; and
ten seconds in all are nothing to worry about.
"""

from __future__ import annotations

from typing import NamedTuple

from sharpley.estimators import GaussianProcessEstimator, RegressionEstimator
from sharpley.estimators.exact import MAX_ENUMERATED

PER_PREDICTION = 2e4
NEGLIGIBLE = 2e11  # about ten seconds


class Problem(NamedTuple):
    """What the choice depends on."""

    d: int
    budget: int
    rows: int = 1
    predictions_per_value: int = 1
    """Of the model, behind one value of a coalition: the background's size."""
    may_stop: bool = False
    """Whether a tolerance was given."""
    patterns: int = 1
    """Sets of players that can matter; rows of each are explained together."""

    @property
    def predictions(self) -> float:
        """Of the model, in all."""
        return float(self.budget) * self.rows * self.predictions_per_value


def choose(problem: Problem) -> str:
    """The method that "auto" stands for."""
    d, budget = problem.d, problem.budget
    if fits(d, budget) and not problem.may_stop:
        return "exact"
    if d < 2:
        return "antithetic"  # nothing to estimate: any method will do
    work = problem.patterns * GaussianProcessEstimator.work(d, budget, -(-problem.rows // problem.patterns))
    if budget >= GaussianProcessEstimator(d).minimum and work <= NEGLIGIBLE + PER_PREDICTION * problem.predictions:
        return "gp"
    return "regression" if budget >= RegressionEstimator(d).minimum else "antithetic"


def fits(d: int, budget: int) -> bool:
    """Whether all coalitions can be enumerated."""
    return 2**d <= budget and d <= MAX_ENUMERATED
