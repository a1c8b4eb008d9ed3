"""The rule behind method="auto".

It depends only on numbers of players, rows, evaluations and the like, so that the same inputs give the same results. It
was derived from measurements, which are on the page about choosing a method (``sharpley bench`` reproduces them):

1. If all 2^d coalitions fit the budget, they are enumerated ("exact"), unless a tolerance is given, which may be met
   long before.
2. "gp" has the lowest error of all methods on every model that was measured, and on most games, from 5d to 50d
   evaluations; it needs at least 2d + 6. It is chosen unless its linear algebra is out of proportion.
3. Otherwise "regression" is chosen, which is the next best, or "antithetic" if the budget is too small for that too.

Work is counted, not timed: the number of operations in the linear algebra of "gp" is compared with the number of model
predictions. The cheapest models take about a microsecond for a prediction, in which a core does
``OPERATIONS_PER_PREDICTION`` operations. A total of ten seconds is considered negligible.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from sharpley.coalitions.enumeration import can_be_enumerated
from sharpley.engine.methods import AUTO, METHODS, AnyMethod, estimates, is_unbiased, method_name, record_of
from sharpley.estimators.gp.work import work
from sharpley.indices import SHAPLEY, Index

OPERATIONS_PER_PREDICTION = 2e4  # operations of "gp" that are acceptable for each model prediction
NEGLIGIBLE_OPERATIONS = 2e11  # about ten seconds


class Problem(NamedTuple):
    """What the choice of the method depends on."""

    d: int
    """Number of players."""
    budget: int
    """Maximum number of distinct coalitions for each row."""
    rows: int = 1
    """Number of rows."""
    draws: int = 1
    """Number of model predictions for each value of a coalition, which is the number of background rows."""
    may_stop: bool = False
    """Whether a tolerance was given."""
    patterns: int = 1
    """Number of different sets of players that can matter; rows with the same set are explained together."""

    @property
    def predictions(self) -> float:
        """Number of model predictions."""
        return float(self.budget) * self.rows * self.draws


def choose(problem: Problem) -> str:
    """Return the method that "auto" chooses for a problem."""
    d, budget = problem.d, problem.budget
    if can_be_enumerated(d, budget) and not problem.may_stop:
        return "exact"
    if d < 2:
        return "antithetic"  # nothing to estimate: any method will do
    operations = problem.patterns * work(d, budget, -(-problem.rows // problem.patterns))
    affordable = NEGLIGIBLE_OPERATIONS + OPERATIONS_PER_PREDICTION * problem.predictions
    if budget >= METHODS["gp"].least_budget(d) and operations <= affordable:
        return "gp"
    return "regression" if budget >= METHODS["regression"].least_budget(d) else "antithetic"


def resolve(method: AnyMethod, problem: Problem, *, unbiased: bool, index: Index = SHAPLEY) -> AnyMethod:
    """Replace "auto" by the method chosen for the problem and, if ``unbiased``, a method by its unbiased form."""
    chosen = choose(problem) if method == AUTO else method
    if method == AUTO and not estimates(chosen, index) and can_be_enumerated(problem.d, problem.budget):
        chosen = "exact"
    if not unbiased or is_unbiased(chosen):
        return chosen
    # A partial has settings of its own, which another method would not have.
    record = None if isinstance(chosen, partial) else record_of(chosen)
    form = None if record is None else record.unbiased_form
    if method == AUTO and (form is None or problem.budget < METHODS[form].least_budget(problem.d)):
        return "antithetic"
    if form is None:
        name = method_name(method)
        raise ValueError(f"method {name!r} has no unbiased form; use 'gp', a sampler of orderings, or 'auto'")
    return form


def least_budget_of_auto(d: int, *, unbiased: bool) -> int:
    """Return the smallest budget with which "auto" finds a method for d players."""
    return METHODS["antithetic" if unbiased else AUTO].least_budget(d)
