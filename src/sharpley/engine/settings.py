"""The checked arguments of an estimate, and the method and budget that they imply for a number of players."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count, check_flag
from sharpley.coalitions.enumeration import MAX_ENUMERATED_PLAYERS, can_be_enumerated
from sharpley.engine.auto import Problem, resolve, unbiased_evals_per_draw
from sharpley.engine.methods import AUTO, METHODS, MethodRecord, as_method, check_estimates
from sharpley.engine.options import DEFAULTS, Draws, Options
from sharpley.estimators.draws.surrogate import SurrogateChoice, check_surrogate
from sharpley.games.base import Games
from sharpley.indices import SHAPLEY, Index, index_by_name

EVALS_PER_PLAYER = 20  # in the default budget without a tolerance: ten antithetic pairs of orderings
EVALS_PER_PLAYER_WITH_TOL = 1000  # in the default budget with a tolerance
MAX_PLAYERS = 2**15  # two walks through coalitions of so many players take 270 MB
MANY_PLAYERS = 100  # from which on messages recommend groups
DRAWS_PER_EVAL = 100  # predictions that one of max_evals pays for, if there are at least as many draws


@dataclass(frozen=True)
class Settings:
    """All arguments of an estimate except the games."""

    method: MethodRecord
    max_evals: int | None
    tol: float | None
    seed: NDArray[np.uint32]
    n_jobs: int | None = None
    progress: bool | None = None
    unbiased: bool = False
    index: Index = SHAPLEY
    draws: Draws = "auto"
    max_predictions: int | None = None
    surrogate: SurrogateChoice = None
    independent_rows: bool = False

    @property
    def may_stop(self) -> bool:
        """Whether a run may end before its budget is spent."""
        return self.tol is not None

    @property
    def has_budget(self) -> bool:
        """Whether a budget was given."""
        return self.max_evals is not None or self.max_predictions is not None

    def generator(self) -> np.random.Generator:
        """Return a new generator, seeded in the same way every time."""
        return np.random.default_rng(self.seed)


def make_settings(options: Options, index: str | Index = SHAPLEY, order: int | None = None) -> Settings:
    """Check the options of an estimate and draw its seed."""
    given: dict[str, Any] = {**dict.fromkeys(Options.__annotations__), **DEFAULTS, **options}
    surrogate, draws, tol, n_jobs = (given[name] for name in ("surrogate", "draws", "tol", "n_jobs"))
    if surrogate is not None:
        check_surrogate(surrogate)
    if draws == "shared" and surrogate is not None:
        raise ValueError("a surrogate learns from orderings with draws of their own; omit it, or draws='shared'")
    check_choice("draws", draws, ("auto", "shared", "own"))
    limits = {
        name: None if given[name] is None else check_count(name, given[name], minimum=2)
        for name in ("max_evals", "max_predictions")
    }
    if tol is not None and not (isinstance(tol, int | float | np.number) and 0 < tol < 1):
        raise ValueError(
            f"tol must lie between 0 and 1, got {tol!r}: it is a share of the range of a row's values, such as 0.01"
        )
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a number of workers, -1 for all cores, or None; got {n_jobs!r}")
    return Settings(
        method=as_method(given["method"]),
        **limits,
        tol=None if tol is None else float(tol),
        seed=np.random.default_rng(given["rng"]).integers(2**32, size=4, dtype=np.uint32),
        n_jobs=None if n_jobs is None else int(n_jobs),
        progress=given["progress"],
        unbiased=check_flag("unbiased", given["unbiased"]),
        index=index_by_name(index, order),
        draws=draws,
        surrogate=surrogate,
        independent_rows=check_flag("independent_rows", given["independent_rows"]),
    )


class Plan(NamedTuple):
    """Method and budget for games with a given number of players that can matter."""

    method: MethodRecord
    """The method to use."""
    own_draws: bool
    """Whether each ordering has a draw of its own."""
    budget: int
    """Maximum number of distinct coalitions or, with own draws, of single draws."""
    endpoint_cost: int
    """What the values of ∅ and N take of the budget."""
    may_enumerate: bool = False
    """Whether to evaluate all coalitions if the tolerance is not met."""
    draws: int = 1
    """Single draws that one evaluation stands for."""
    endpoint_draws: int = 2
    """Single draws that the values of ∅ and N take if every coalition is evaluated for all draws."""

    def n_evals(self, spent: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what was spent in the unit of ``max_evals``."""
        return -(-spent // self.draws) if self.own_draws else spent

    def n_predictions(self, spent: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what was spent as a number of single draws."""
        return spent if self.own_draws else (spent - 2) * self.draws + self.endpoint_draws


class _Budget(NamedTuple):
    """What may be spent on a game."""

    evals: int
    """Distinct coalitions, each evaluated for all draws."""
    predictions: int
    """Single draws."""


def _budget(settings: Settings, games: Games, d: int) -> _Budget:
    """Return the budget in both units: one of ``max_evals`` pays for all draws, or at most DRAWS_PER_EVAL of them."""
    per_player = EVALS_PER_PLAYER_WITH_TOL if settings.may_stop else EVALS_PER_PLAYER
    n, limits = games.draws_per_value, []
    if settings.max_evals is not None or settings.max_predictions is None:
        evals = settings.max_evals if settings.max_evals is not None else per_player * d + 2
        limits.append(evals * _predictions_per_eval(settings, games))
    if settings.max_predictions is not None:
        limits.append(settings.max_predictions)
    predictions = min(limits)
    return _Budget(max(2, (predictions - games.endpoint_draws) // n + 2), predictions)


def make_plan(settings: Settings, games: Games, d: int, rows: int, patterns: int, outputs: int = 1) -> Plan:
    """Determine method and budget for games of d players; raise an error if the budget is too small."""
    if d > MAX_PLAYERS:
        raise ValueError(
            f"{d} players are too many: at most {MAX_PLAYERS} are possible, since two walks through coalitions of more "
            "would not fit into memory. Let several play as one, by groups= or by a game of fewer players"
        )
    budget = _budget(settings, games, d)
    problem = Problem(
        d,
        budget.evals,
        rows,
        games.n_draws,
        may_stop=settings.may_stop,
        tol=settings.tol,
        patterns=patterns,
        outputs=outputs,
    )
    if games.draws_are_endless:
        _check_endless(settings)
    if settings.independent_rows:  # the same choice for a row, however many others there are
        problem = problem._replace(rows=1, patterns=1, is_one_of_many=True)
    method, own_draws = resolve(
        settings.method, problem, unbiased=settings.unbiased, index=settings.index, draws=settings.draws
    )
    check_estimates(method, settings.index)
    if d < 2:  # there is nothing to estimate, and v(∅) is known of the background, unless draws are shared
        ends = games.endpoint_draws if settings.draws == "shared" else _endpoint_cost(games)
        return Plan(method, False, 2, 2, draws=games.draws_per_value, endpoint_draws=ends)
    if own_draws:
        return _own_plan(settings, games, d, method, budget.predictions)
    least = method.least_budget(d, settings.index)
    evals = budget.evals if settings.has_budget else max(budget.evals, least)
    if evals < least:
        raise ValueError(_too_small(settings, games, d, method))
    may_enumerate = settings.may_stop and can_be_enumerated(d, evals)
    return Plan(method, False, min(evals, 2**d), 2, may_enumerate, games.draws_per_value, games.endpoint_draws)


def _check_endless(settings: Settings) -> None:
    """Raise an error unless orderings can have draws of their own."""
    if settings.index.name != SHAPLEY.name:
        raise ValueError(f"draws that are never exhausted give Shapley values only, not index {settings.index.name!r}")
    is_able = settings.method.can_own_draws
    if settings.draws == "shared" or not is_able:
        able = [name for name, record in METHODS.items() if record.can_own_draws]
        raise ValueError(
            "draws that are never exhausted cannot be shared: every ordering has one of its own. Use draws='own' and "
            f"method='auto' or one of {able}; got draws={settings.draws!r} and method {settings.method.name!r}"
        )


def _own_plan(settings: Settings, games: Games, d: int, method: MethodRecord, predictions: int) -> Plan:
    """Determine the plan for own draws: single orderings if antithetic pairs are too expensive."""
    if method.own_coalitions is not None and settings.may_stop:
        raise ValueError(
            f"method {method.name!r} with draws='own' cannot stop at a tolerance; omit tol, or use "
            "draws='shared' or a method that samples orderings"
        )
    least = _least_predictions(settings, games, d, method)
    if predictions < least and settings.method.name == AUTO:
        method = METHODS["monte-carlo"]
        least = _least_predictions(settings, games, d, method)
    if not settings.has_budget:
        predictions = max(predictions, least)
    if predictions < least:
        raise ValueError(_too_small(settings, games, d, method))
    return Plan(method, True, predictions, _endpoint_cost(games), draws=draws_per_eval(games))


def _least_predictions(settings: Settings, games: Games, d: int, method: MethodRecord) -> int:
    """Return the least number of single draws of a method with own draws.

    Two steps of orderings need one draw each, and own coalitions the least number of them in every draw.
    """
    known = games.draws_are_known
    if method.own_coalitions is not None:
        least = unbiased_evals_per_draw(d) if settings.unbiased else method.least_budget(d)
        return _endpoint_cost(games) + games.n_draws * (least - (2 if known else 0))
    return _endpoint_cost(games) + 2 * method.orderings_per_step(d) * (d - 1 if known else d + 1)


def _endpoint_cost(games: Games) -> int:
    """Return what v(∅) and v(N) cost: the prediction for the row itself, if v_b(∅) is known for every draw."""
    return 1 if games.draws_are_known else games.endpoint_draws


def _too_small(settings: Settings, games: Games, d: int, method: MethodRecord) -> str:
    """Say what the budget must be at least: for the method that was asked for, and for the one that needs the least."""
    given = "max_evals" if settings.max_predictions is None else "max_predictions"
    value = settings.max_evals if settings.max_predictions is None else settings.max_predictions
    instead = [record for record in METHODS.values() if record.name != AUTO and _fits(settings, record, d)]
    least = {record.name: _least(settings, games, record, d) for record in instead}
    cheapest = min(least, key=lambda name: least[name])
    if settings.method.name == AUTO:
        remedy = f"the least budget is {given}={least[cheapest]}"
    else:
        needed = _least(settings, games, method, d)
        others = f"; the least of all is {least[cheapest]}, of method {cheapest!r}" if least[cheapest] < needed else ""
        remedy = f"it needs at least {needed}{others}"
    groups = "" if d < MANY_PLAYERS else "; groups= lets several columns play as one"
    return f"{given}={value} is too small for method {settings.method.name!r} with {d} players: {remedy}{groups}"


def _fits(settings: Settings, method: MethodRecord, d: int) -> bool:
    """Return whether a method could be used instead."""
    able = method.estimates(settings.index) and (method.name != "exact" or d <= MAX_ENUMERATED_PLAYERS)
    return able and not method.is_closed_form and (not settings.unbiased or method.is_unbiased)


def _least(settings: Settings, games: Games, method: MethodRecord, d: int) -> int:
    """Return the least budget of a method, in the unit in which the budget was given."""
    evals = method.least_budget(d, settings.index)
    predictions = (evals - 2) * games.draws_per_value + games.endpoint_draws
    must_own = method.own_coalitions is not None and settings.draws == "own"
    if settings.draws != "shared" and games.n_draws > 1 and (method.can_own_draws or must_own):
        own = _least_predictions(settings, games, d, method)
        predictions = own if must_own else min(predictions, own)
    if settings.max_predictions is not None:
        return predictions
    return max(2, -(-predictions // _predictions_per_eval(settings, games)))


def _predictions_per_eval(settings: Settings, games: Games) -> int:
    """Return how many single draws one of ``max_evals`` pays for."""
    must_share = settings.draws == "shared" or games.n_draws == 1
    return games.draws_per_value if must_share else draws_per_eval(games)


def draws_per_eval(games: Games) -> int:
    """Return how many single draws one of ``max_evals`` pays for if draws are not shared."""
    return 1 if games.draws_are_endless else min(games.n_draws, DRAWS_PER_EVAL)
