"""Every name that ``method=`` takes, and what it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sharpley._support.checks import check_choice
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.auto import Problem, choose
from sharpley.estimators import ESTIMATORS, CrossFittedEstimator, Estimator, PermutationEstimator
from sharpley.samplers import SAMPLERS, Sampler
from sharpley.samplers.replicates import GroupedSource

AUTO = "auto"

UNBIASED = ("owen", "owen-halved", "exact")  # beside the samplers of orderings
FOLDED_REPLICATES = 6  # three in each fold

METHODS: tuple[str, ...] = (AUTO, *SAMPLERS, *ESTIMATORS)
"""Every name that ``method=`` takes."""

Method: TypeAlias = "str | Callable[..., Sampler | Estimator]"
"""A name in ``METHODS``, or a factory called as ``factory(d, rng=generator)``."""


def check_method(method: Method) -> Method:
    """Return ``method`` if it is a known name or a factory."""
    if isinstance(method, str):
        return check_choice("method", method, METHODS)
    if not callable(method):
        raise TypeError(f"method must be a name or a sampler class (or a functools.partial of one), got {method!r}")
    return method


def resolve(method: Method, problem: Problem, *, unbiased: bool) -> Method:
    """Turn "auto" into the method that suits the problem, and a method into its unbiased form if that is wanted."""
    chosen = choose(problem) if method == AUTO else method
    return _unbiased(chosen, problem, is_free=method == AUTO) if unbiased else chosen


def _unbiased(method: Method, problem: Problem, *, is_free: bool) -> Method:
    """The unbiased form of a method, or of another one if the choice is free."""
    factory = getattr(method, "func", method)  # functools.partial
    is_sampler = isinstance(factory, type) and issubclass(factory, Sampler)
    if is_sampler or method in (*SAMPLERS, *UNBIASED):
        return method
    if is_free:
        generator = np.random.default_rng(0)
        fits = method == "gp" and problem.budget >= gp_unbiased(problem.d, rng=generator).minimum
        return gp_unbiased if fits else "antithetic"
    if method == "gp":
        return gp_unbiased
    name = method_name(method)
    raise ValueError(f"method {name!r} has no unbiased form; use 'gp', a sampler of orderings, or 'auto'")


def gp_unbiased(d: int, *, rng: np.random.Generator) -> Estimator:
    """Orthogonal orderings, with the process as a cross-fitted control variate."""
    return CrossFittedEstimator(d, GroupedSource(SAMPLERS["orthogonal"](d, rng=rng), replicates=FOLDED_REPLICATES))


def method_name(method: Method) -> str:
    """Name of a method for results and messages."""
    if isinstance(method, str):
        return method
    factory = getattr(method, "func", method)  # functools.partial
    return "gp-unbiased" if factory is gp_unbiased else str(getattr(factory, "__name__", factory))


def make_estimator(method: Method, d: int, rng: np.random.Generator) -> Estimator:
    """Start a run of a method on games of d players."""
    factory = (SAMPLERS.get(method) or ESTIMATORS[method]) if isinstance(method, str) else method
    made = factory(d, rng=rng)
    if isinstance(made, Sampler):
        return PermutationEstimator(d, GroupedSource(made))
    if not isinstance(made, Estimator):
        raise TypeError(f"method must make a Sampler or an Estimator, but {method_name(method)} made {made!r}")
    return made


def draw_for_budget(method: str, d: int, max_evals: int) -> None:
    """Draw the orderings that explanations with a budget use, with and without a tolerance, so that they are kept."""
    for may_stop in (False, True):
        estimator = make_estimator(method, d, np.random.default_rng(0))
        estimator.prepare(max_evals, may_stop=may_stop)
        estimator.extend(CoalitionStore(d), max_evals, None)
