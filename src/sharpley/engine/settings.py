"""The checked arguments of an estimate, and the method and budget that they imply for a number of players."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG
from sharpley.coalitions.enumeration import MAX_ENUMERATED_PLAYERS, can_be_enumerated
from sharpley.engine.auto import Problem, least_budget_of_auto, resolve
from sharpley.engine.methods import AUTO, METHODS, AnyMethod, check_estimates, check_method, least_budget, method_name
from sharpley.indices import SHAPLEY, Index, index_by_name

EVALS_PER_PLAYER = 20  # in the default budget without a tolerance: ten antithetic pairs of orderings
EVALS_PER_PLAYER_WITH_TOL = 1000  # in the default budget with a tolerance


@dataclass(frozen=True)
class Settings:
    """All arguments of an estimate except the games."""

    method: AnyMethod
    max_evals: int | None
    tol: float | None
    seed: NDArray[np.uint32]
    n_jobs: int | None = None
    progress: bool | None = None
    unbiased: bool = False
    index: Index = SHAPLEY

    @property
    def may_stop(self) -> bool:
        """Whether a run may end before its budget is spent."""
        return self.tol is not None

    def generator(self) -> np.random.Generator:
        """Return a new generator, seeded in the same way every time."""
        return np.random.default_rng(self.seed)


def make_settings(
    method: AnyMethod,
    max_evals: int | None,
    tol: float | None,
    rng: RNG,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
    unbiased: bool = False,
    index: str | Index = SHAPLEY,
) -> Settings:
    """Check the arguments of an estimate and draw its seed."""
    check_method(method)
    if max_evals is not None:
        max_evals = check_count("max_evals", max_evals, minimum=2)
    if tol is not None and not (isinstance(tol, int | float | np.number) and np.isfinite(tol) and tol > 0):
        raise ValueError(f"tol must be a positive number, such as 0.01, got {tol!r}")
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a number of workers, -1 for all cores, or None; got {n_jobs!r}")
    seed = np.random.default_rng(rng).integers(2**32, size=4, dtype=np.uint32)
    return Settings(method, max_evals, tol, seed, n_jobs, progress, bool(unbiased), index_by_name(index))


class Plan(NamedTuple):
    """Method and budget for games with a given number of players that can matter."""

    method: AnyMethod
    """The method to use."""
    budget: int
    """Maximum number of distinct coalitions."""
    may_enumerate: bool
    """Whether to evaluate all coalitions if the tolerance is not met."""


def _too_small(settings: Settings, d: int, budget: int, least: int) -> str:
    """Say which budget the method that was asked for needs, and which one is the least of all."""
    if settings.method == AUTO:
        least = least_budget_of_auto(d, unbiased=settings.unbiased)
    message = (
        f"max_evals={budget} is too small for method {method_name(settings.method)!r} with {d} players: "
        f"it needs at least {least}"
    )
    # Which method is the cheapest does not change beyond the players that "exact" is defined for.
    cheapest = min(
        (name for name in METHODS if name != AUTO),
        key=lambda name: METHODS[name].least_budget(min(d, MAX_ENUMERATED_PLAYERS)),
    )
    fewest = METHODS[cheapest].least_budget(d)
    return message if fewest >= least else f"{message}; the least of all is {fewest}, of method {cheapest!r}"


def make_plan(settings: Settings, d: int, rows: int, patterns: int, draws: int) -> Plan:
    """Determine method and budget for games of d players; raise an error if the budget is too small."""
    per_player = EVALS_PER_PLAYER_WITH_TOL if settings.may_stop else EVALS_PER_PLAYER
    budget = settings.max_evals if settings.max_evals is not None else per_player * d + 2
    problem = Problem(d, budget, rows, draws, may_stop=settings.may_stop, patterns=patterns)
    method = resolve(settings.method, problem, unbiased=settings.unbiased, index=settings.index)
    check_estimates(method, settings.index)
    if d < 2:  # there is nothing to estimate
        return Plan(method, 2, may_enumerate=False)
    least = least_budget(method, d, settings.generator())
    if settings.max_evals is None:
        budget = max(budget, least)
    if budget < least:
        raise ValueError(_too_small(settings, d, budget, least))
    may_enumerate = settings.may_stop and can_be_enumerated(d, budget)
    return Plan(method, min(budget, 2**d), may_enumerate)
