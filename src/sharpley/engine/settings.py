"""The arguments of a run, checked, and what they amount to for games of a given size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG
from sharpley.engine.auto import Problem, fits
from sharpley.engine.methods import Method, check_method, make_estimator, method_name, resolve

EVALS_PER_PLAYER = 20  # default budget without a tolerance: ten pairs of orderings
EVALS_PER_PLAYER_WITH_TOL = 1000


@dataclass(frozen=True)
class Settings:
    """How a run is done, apart from the game."""

    method: Method
    max_evals: int | None
    tol: float | None
    seed: NDArray[np.uint32]
    n_jobs: int | None = None
    progress: bool | None = None
    unbiased: bool = False


def make_settings(
    method: Method,
    max_evals: int | None,
    tol: float | None,
    rng: RNG,
    n_jobs: int | None = None,
    progress: bool | None = None,
    *,
    unbiased: bool = False,
) -> Settings:
    """Check the arguments of a run and draw its seed."""
    check_method(method)
    if max_evals is not None:
        max_evals = check_count("max_evals", max_evals, minimum=2)
    if tol is not None and not (isinstance(tol, int | float | np.number) and np.isfinite(tol) and tol > 0):
        raise ValueError(f"tol must be a positive number, such as 0.01, got {tol!r}")
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a number of workers, -1 for all cores, or None; got {n_jobs!r}")
    seed = np.random.default_rng(rng).integers(2**32, size=4, dtype=np.uint32)
    return Settings(method, max_evals, tol, seed, n_jobs, progress, bool(unbiased))


class Plan(NamedTuple):
    """What is done for games of so many players that matter."""

    method: Method
    budget: int
    adaptive: bool
    may_enumerate: bool
    """Whether to evaluate all coalitions rather than stop short of the tolerance."""


def make_plan(settings: Settings, d: int, rows: int, patterns: int, predictions_per_value: int) -> Plan:
    """Settle method and budget; a budget that is too small is an error."""
    per_player = EVALS_PER_PLAYER if settings.tol is None else EVALS_PER_PLAYER_WITH_TOL
    budget = settings.max_evals if settings.max_evals is not None else per_player * d + 2
    problem = Problem(d, budget, rows, predictions_per_value, may_stop=settings.tol is not None, patterns=patterns)
    method = resolve(settings.method, problem, unbiased=settings.unbiased)
    if d < 2:  # nothing to estimate
        return Plan(method, 2, adaptive=False, may_enumerate=False)
    trial = make_estimator(method, d, np.random.default_rng(0))
    if settings.max_evals is None:
        budget = max(budget, trial.minimum)
    if budget < trial.minimum:
        raise ValueError(
            f"max_evals={budget} is too small for method {method_name(method)!r} with {d} players: "
            f"it needs at least {trial.minimum}"
        )
    may_enumerate = settings.tol is not None and fits(d, budget)
    return Plan(method, min(budget, 2**d), trial.adaptive, may_enumerate)
