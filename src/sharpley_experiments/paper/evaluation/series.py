"""The lines of the figures: how each draws n orderings, or estimates without them.

As in the paper, herding and quadrature draw fresh candidates for every trial, and Owen's methods use the
trapezoid rule.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from sharpley import METHODS, SAMPLERS, KernelHerding, Mallows, PermutationDesign, Sampler, SequentialBayesianQuadrature
from sharpley.engine.methods import MethodFactory
from sharpley.estimators import OwenEstimator, OwenHalvedEstimator, StratifiedEstimator
from sharpley.permutations.kernels import KERNELS
from sharpley_experiments.common.constants import MANY_PLAYERS
from sharpley_experiments.paper.constants import CANDIDATES, SCALES

MakeSampler: TypeAlias = Callable[..., Sampler]

BEYOND_THE_PAPER = ("design", "regression", "gp")
"""Methods in the figures that the paper does not have."""

BIASED_METHODS = tuple(name for name in BEYOND_THE_PAPER if not METHODS[name].is_unbiased)
"""Methods among them whose expectation is not the Shapley values."""

ALIASES = {"25 candidates": "herding", "mallows": "herding"}
"""The same method by another name, in the figures where its parameters vary: measured once."""


def scaled(scale: int) -> str:
    """Name of herding with a scale of the Mallows kernel."""
    return f"λ = {scale}"


def with_candidates(count: int) -> str:
    """Name of herding with so many candidates."""
    return f"{count} candidates"


SAMPLERS_OF_SEQUENCES: dict[str, MakeSampler] = {
    **{name: SAMPLERS[name] for name in ("monte-carlo", "antithetic", "orthogonal", "sobol")},
    "herding": partial(KernelHerding, fresh=True),
    "sbq": partial(SequentialBayesianQuadrature, fresh=True),
    **{scaled(scale): partial(KernelHerding, kernel=Mallows(float(scale)), fresh=True) for scale in SCALES},
    **{with_candidates(count): partial(KernelHerding, n_candidates=count, fresh=True) for count in CANDIDATES},
    **{name: partial(KernelHerding, kernel=make(), fresh=True) for name, make in KERNELS.items()},
}
"""Sequences: the first n orderings of a longer one are what a draw of n would be."""

SAMPLERS_OF_SETS: dict[str, MakeSampler] = {"design": PermutationDesign}
"""Samples made for their number of orderings."""

EARLIER_ESTIMATORS: dict[str, MethodFactory] = {
    "owen": partial(OwenEstimator, rule="trapezoid"),
    "owen-halved": partial(OwenHalvedEstimator, rule="trapezoid"),
    "stratified": StratifiedEstimator,
}
"""Estimators known before the paper; "regression" and "gp", which go beyond it, are called by their names."""


def most_orderings(series: str, d: int) -> int:
    """Where a line ends: quadrature takes cubic time, gp needs no more, and stratified sampling needs 2d² marginals."""
    if series == "sbq":
        return 1000
    if series in ("gp", "regression"):
        return 50
    if d > MANY_PLAYERS and series == "stratified":
        return 0  # as in the paper
    return 10**9


def evaluations(series: str, n: int, d: int) -> int:
    """Distinct coalitions that pay for n · d marginal evaluations."""
    if series == "stratified":
        return 2 * n * d + 2  # two for each
    return n * (d + 1) + 2 if series.startswith("owen") else n * (d - 1) + 2


def fewest_evaluations(series: str, d: int) -> int:
    """What an estimator known before the paper needs: two sweeps of two nodes, or two draws in each stratum."""
    if series == "stratified":
        return 4 * d * d
    return 2 + 2 * 2 * (2 if series == "owen-halved" else 1) * (d + 1)
