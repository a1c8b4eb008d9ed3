"""Estimators and samplers of a method that may be a name or a factory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sharpley._support.checks import check_choice
from sharpley._support.typing import RNG
from sharpley.coalitions.budget import Budget
from sharpley.engine.facts import NOT_A_METHOD, is_sampler, method_name, record_of
from sharpley.engine.methods import METHODS, AnyMethod, MethodFactory
from sharpley.estimators import walks
from sharpley.estimators.base import CoalitionEstimator
from sharpley.indices import SHAPLEY, Index
from sharpley.samplers import Sampler
from sharpley.samplers.replicates import GroupedSource


def least_budget(method: AnyMethod, d: int, rng: RNG, index: Index = SHAPLEY) -> int:
    """The smallest budget of a method for d players.

    That of a factory with settings of its own, or for interactions, is asked of its estimator, started with ``rng``.
    """
    record = record_of(method)
    if record is None or isinstance(method, partial) or index.order > 1:
        return make_estimator(method, d, rng, index).least_budget
    return record.least_budget(d)


def orderings_per_step(method: AnyMethod, d: int) -> int:
    """Number of orderings that a sampler draws at a time: 2 if they are antithetic pairs."""
    factory = _factory(method)
    sampler: Any = getattr(factory, "func", factory)  # functools.partial
    # A factory that is no class has to make a sampler before anything is known of it.
    return int(sampler.step) if is_sampler(factory) else make_sampler(method, d).step


def make_estimator(method: AnyMethod, d: int, rng: RNG, index: Index = SHAPLEY) -> CoalitionEstimator:
    """Start a run of a method on games of d players."""
    estimator = _as_estimator(_factory(method), d, rng)
    estimator.index = index
    return estimator


def make_estimator_of_draw(method: AnyMethod, d: int, rng: RNG) -> CoalitionEstimator:
    """Start the estimate of a single draw from coalitions of its own."""
    record = record_of(method)
    if record is None or record.own_coalitions is None:
        raise ValueError(f"method {method_name(method)!r} does not choose coalitions for single draws")
    return _as_estimator(record.own_coalitions, d, rng)


def make_source(method: AnyMethod, d: int, rng: RNG, expected: int | None = None) -> GroupedSource:
    """Return the source of orderings of a method that is a sampler, for an expected number of them."""
    return GroupedSource(make_sampler(method, d, rng=rng), expected)


def make_sampler(method: AnyMethod, d: int, *, rng: RNG = None) -> Sampler:
    """Make a sampler by its name or by a factory; a name that is not a sampler's is an error that lists those."""
    if isinstance(method, str):
        check_choice("method", method, [name for name, record in METHODS.items() if record.sampler is not None])
    elif not callable(method):
        raise TypeError(NOT_A_METHOD.format(method))
    made = _factory(method)(d, rng=np.random.default_rng(rng))
    if not isinstance(made, Sampler):
        raise TypeError(f"method must make a Sampler, but {method_name(method)} made {made!r}")
    return made


def sample_for_budget(method: str, d: int, max_evals: int) -> None:
    """Sample the orderings of explanations with this budget, with and without a tolerance, so that they are kept."""
    for may_stop in (False, True):
        estimator = make_estimator(method, d, 0)
        estimator.values = np.zeros((1, 2, 1))
        estimator.choose(Budget(max_evals, max_evals, may_stop))


def _as_estimator(factory: MethodFactory, d: int, rng: RNG) -> CoalitionEstimator:
    made = factory(d, rng=np.random.default_rng(rng))
    if isinstance(made, Sampler):
        return walks.PermutationEstimator(d, made.step, partial(GroupedSource, made))
    if not isinstance(made, CoalitionEstimator):
        raise TypeError(f"method must make a Sampler or a CoalitionEstimator, but {method_name(factory)} made {made!r}")
    return made


def _factory(method: AnyMethod) -> MethodFactory:
    factory = METHODS[method].factory if isinstance(method, str) else method
    if factory is None:
        raise ValueError(f"method {method!r} chooses another one; it makes no estimator itself")
    return factory
