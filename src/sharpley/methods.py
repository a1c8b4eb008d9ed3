"""Every name that ``method=`` takes, and what it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sharpley._checks import check_choice
from sharpley.estimators import ESTIMATORS, Estimator, PermutationEstimator
from sharpley.estimators.exact import MAX_ENUMERATED
from sharpley.evaluation import CoalitionStore
from sharpley.samplers import SAMPLERS, Sampler
from sharpley.samplers.replicates import GroupedSource

AUTO = "auto"
SAMPLED = "antithetic"  # what "auto" takes when enumeration does not fit the budget

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


def resolve(method: Method, d: int, budget: int, *, sampled: bool) -> Method:
    """Turn "auto" into "exact" if all 2^d coalitions fit the budget, else (or if ``sampled``) into a sampled method."""
    if method != AUTO:
        return method
    return "exact" if 2**d <= budget and d <= MAX_ENUMERATED and not sampled else SAMPLED


def method_name(method: Method) -> str:
    """Name of a method for results and messages."""
    if isinstance(method, str):
        return method
    factory = getattr(method, "func", method)  # functools.partial
    return str(getattr(factory, "__name__", factory))


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
