"""The rule behind method="auto" and draws="auto".

It depends only on numbers of players, rows, draws, evaluations and the like, so that the same inputs give the same
results. It was derived from measurements, which are on the page about choosing a method (``sharpley bench`` reproduces
them):

0. Games with a closed form, such as those of sums of trees and of linear models, are not sampled at all
   (``Games.closed_form``); ``engine.run`` asks for it before it plans anything.
1. If all 2^d coalitions fit the budget, they are enumerated ("exact"), unless a tolerance is given, which may be met
   long before.
2. If the budget does not pay for all draws of enough coalitions, draws are not shared (draws="own"). Of up to 300
   draws, each has coalitions of its own ("regression"), if the budget pays for 5 d of them in every draw. Otherwise
   each ordering has a draw of its own ("antithetic"). How many coalitions are enough depends on the number of draws:
   28 d for 100 draws, for instance, or 1.5 d² if that is less (``SHARED_EVALS_OF_COALITIONS``). With fewer, own draws
   had lower errors (``sharpley_experiments.studies.draws_rule``); with more, "gp" learns the mean over all draws to
   many digits.
   With a tolerance, the budget is a limit that is rarely reached, and own draws meet the tolerance with fewer
   predictions unless draws are few or the tolerance is tight (``sharpley_experiments.studies.stress``).
3. Otherwise every coalition is evaluated for all draws. "gp" has the lowest error of all methods on every model that
   was measured, and on most games, from 2d to 50d evaluations; it needs at least d + 2. It is chosen unless its linear
   algebra is out of proportion.
4. Otherwise "regression" is chosen, which is the next best, "antithetic" if the budget is too small for that or its
   algebra too is out of proportion, or "monte-carlo" if it is too small even for two antithetic pairs.

Work is counted, not timed: the number of operations in the linear algebra of "gp" is compared with the number of model
predictions. The cheapest models take about a microsecond for a prediction, in which a core does
``OPERATIONS_PER_PREDICTION`` operations. A total of ten seconds is considered negligible, unless rows have to be
independent of each other: then the choice for a row must not depend on their number.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from sharpley.coalitions.enumeration import can_be_enumerated
from sharpley.engine.methods import AUTO, METHODS, MethodRecord
from sharpley.engine.options import Draws
from sharpley.estimators.gp.work import work
from sharpley.estimators.pairs.regression import work as work_of_regression
from sharpley.games.base import ENDLESS
from sharpley.indices import SHAPLEY, Index

OPERATIONS_PER_PREDICTION = 2e4  # operations of "gp" that are acceptable for each model prediction
NEGLIGIBLE_OPERATIONS = 2e11  # about ten seconds
NEARLY_ALL = 4  # a budget for more than one in so many of all coalitions: walks that share draws coincide often
MANY_DRAWS = 300  # up to this many draws have coalitions of their own
OWN_EVALS_PER_PLAYER = 5  # if these are at least so many for each player
# With a tolerance, more draws than these are not shared. Own draws take at least 75 antithetic pairs, "gp" about 6 d
# coalitions for all draws; below a tolerance of about LOOSE, own draws need more, in proportion to 1 / tol².
FEW_DRAWS, LOOSE = 25, 0.02
# Evaluations of all draws for each player from which on "gp" with shared draws is more accurate than own draws: at most
# so many, and fewer with few players, as multiples of their number; for up to each number of draws. Measured on XGBoost
# models with 10 to 107 players and on networks with 10 and 16, with own coalitions and with own orderings.
SHARED_EVALS_OF_COALITIONS = {30: (20.0, 1.0), 100: (28.0, 1.5), MANY_DRAWS: (38.0, 2.0)}
SHARED_EVALS_OF_ORDERINGS = {100: (20.0, 1.0), inf: (25.0, 1.5)}


class Problem(NamedTuple):
    """What the choice of the method depends on."""

    d: int
    """Number of players."""
    budget: int
    """Maximum number of distinct coalitions for each row, each evaluated for all draws."""
    rows: int = 1
    """Number of rows."""
    draws: int = 1
    """Number of model predictions for each value of a coalition, which is the number of background rows."""
    may_stop: bool = False
    """Whether a tolerance was given."""
    outputs: int = 1
    """Number of outputs, each of which is a game of its own."""
    tol: float | None = None
    """The tolerance."""
    patterns: int = 1
    """Number of different sets of players that can matter; rows with the same set are explained together."""
    is_one_of_many: bool = False
    """Whether the rows are some of an unknown number, each explained by itself: no time is negligible then."""

    @property
    def predictions(self) -> float:
        """Number of model predictions."""
        return float(self.budget) * self.rows * self.draws


class Choice(NamedTuple):
    """A method, and whether its orderings have draws of their own, or draws coalitions of their own."""

    method: MethodRecord
    own_draws: bool


def choose(problem: Problem) -> str:
    """Return the method that "auto" chooses for a problem whose coalitions are evaluated for all draws."""
    d, budget = problem.d, problem.budget
    if can_be_enumerated(d, budget) and not problem.may_stop:
        return "exact"
    if d < 2:
        return "antithetic"  # nothing to estimate: any method will do
    operations = problem.patterns * work(d, budget, problem.outputs * -(-problem.rows // problem.patterns))
    negligible = 0.0 if problem.is_one_of_many else NEGLIGIBLE_OPERATIONS
    affordable = negligible + OPERATIONS_PER_PREDICTION * problem.predictions
    if budget >= METHODS["gp"].least_budget(d) and operations <= affordable:
        return "gp"
    in_order = ["regression", "antithetic", "monte-carlo"][0 if work_of_regression(d, budget) <= affordable else 1 :]
    return next((name for name in in_order if budget >= METHODS[name].least_budget(d)), "antithetic")


def resolve(
    method: MethodRecord, problem: Problem, *, unbiased: bool, index: Index = SHAPLEY, draws: Draws = "auto"
) -> Choice:
    """Choose what was left to be chosen: the method, its unbiased form, and whether draws are not shared."""
    if _owns_draws(method, problem, draws, index):
        return Choice(METHODS[_own_method(problem)] if method.name == AUTO else method, own_draws=True)
    return Choice(_shared_method(method, problem, unbiased=unbiased, index=index), own_draws=False)


def _owns_draws(method: MethodRecord, problem: Problem, draws: Draws, index: Index) -> bool:
    """Return whether each ordering has a draw of its own."""
    if problem.draws >= ENDLESS:
        return problem.d >= 2
    if draws == "shared":
        return False
    if draws == "own":
        _check_own(method, problem, index)
        return True
    if problem.draws == 1 or problem.d < 2 or not method.can_own_draws or index.name != SHAPLEY.name:
        return False
    if problem.may_stop:  # the budget is then a limit, which is rarely reached
        shared = METHODS["gp"] if method.name == AUTO else method
        too_small = problem.budget < shared.least_budget(problem.d)
        return too_small or problem.draws > _most_draws_to_share(problem.tol)
    least = (METHODS["antithetic"] if method.name == AUTO else method).least_budget(problem.d)
    if can_be_enumerated(problem.d, NEARLY_ALL * problem.budget) and problem.budget >= least:
        return False
    if method.name != AUTO:
        return True
    of_coalitions = _own_method(problem) == "regression"
    limits = SHARED_EVALS_OF_COALITIONS if of_coalitions else SHARED_EVALS_OF_ORDERINGS
    most, per_player = next(limit for draws_at_most, limit in limits.items() if problem.draws <= draws_at_most)
    return problem.budget < min(most, per_player * problem.d) * problem.d


def _most_draws_to_share(tol: float | None) -> float:
    """Return the number of draws up to which sharing them meets a tolerance with fewer predictions."""
    return FEW_DRAWS * max(1.0, (LOOSE / tol) ** 2) if tol is not None else FEW_DRAWS


def _own_method(problem: Problem) -> str:
    """Return the method that "auto" chooses for own draws: own coalitions if the budget pays for them in every draw."""
    if problem.may_stop or problem.draws > MANY_DRAWS or problem.budget < unbiased_evals_per_draw(problem.d):
        return "antithetic"
    return "regression"


def unbiased_evals_per_draw(d: int) -> int:
    """Return the number of evaluations in a single draw from which on the regression in every draw is unbiased."""
    return max(OWN_EVALS_PER_PLAYER * d, METHODS["regression"].least_budget(d))


def _check_own(method: MethodRecord, problem: Problem, index: Index) -> None:
    """Raise an error unless the orderings of a method can have draws of their own."""
    if index.name != SHAPLEY.name:
        raise ValueError(f"draws='own' gives Shapley values only, not index {index.name!r}; use draws='shared'")
    if problem.draws == 1:
        raise ValueError(
            "draws='own' needs games with several draws, such as background rows, but these have one; omit draws"
        )
    if not method.can_own_draws and method.own_coalitions is None:
        able = [name for name, record in METHODS.items() if record.can_own_draws or record.own_coalitions is not None]
        raise ValueError(
            f"draws='own' is for methods that sample orderings, and for 'regression': {able}; got {method.name!r}"
        )


def _sampling_of_q(problem: Problem, index: Index) -> MethodRecord:
    """Return the method for an index that only sampling of q estimates: with complements if these serve it.

    Complements had lower errors than without on models and on sums of interactions, but not on Banzhaf values of a
    vote (``sharpley_experiments.studies.indices``).
    """
    halved = METHODS["owen-halved"]
    is_able = halved.estimates(index) and problem.budget >= halved.least_budget(problem.d, index)
    return halved if is_able else METHODS["owen"]


def _shared_method(method: MethodRecord, problem: Problem, *, unbiased: bool, index: Index) -> MethodRecord:
    """Replace "auto" by the method chosen for the problem and, if ``unbiased``, a method by its unbiased form."""
    chosen = METHODS[choose(problem)] if method.name == AUTO else method
    if method.name == AUTO and not chosen.estimates(index):
        enumerable = can_be_enumerated(problem.d, problem.budget)
        chosen = METHODS["exact"] if enumerable else _sampling_of_q(problem, index)
    if not unbiased or chosen.is_unbiased:
        return chosen
    form = None if chosen.unbiased_form is None else METHODS[chosen.unbiased_form]
    if method.name == AUTO and (form is None or problem.budget < form.least_budget(problem.d)):
        pairs = METHODS["antithetic"]
        return pairs if problem.budget >= pairs.least_budget(problem.d) else METHODS["monte-carlo"]
    if form is None:
        raise ValueError(f"method {method.name!r} has no unbiased form; use 'gp', a sampler of orderings, or 'auto'")
    return form
