"""The lines of the figures: how each draws n orderings, or estimates without them.

As in the paper, herding and quadrature draw fresh candidates for every trial, and Owen's methods use the
trapezoid rule.

What n orderings are compared with depends on how other methods are counted. By the paper's text, a marginal evaluation
v(S ∪ i) − v(S) costs 1 whatever the method, so n orderings of d players stand for n·d of them. The authors' early code
counts evaluations of v in pairs: n orderings take n(d + 1) evaluations, hence n(d + 1)/2 marginal evaluations, about
half as many. Lines that are counted so have names of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley import METHODS, SAMPLERS, KernelHerding, Mallows, PermutationDesign, Sampler, SequentialBayesianQuadrature
from sharpley._support.typing import Floats
from sharpley.engine.methods import MethodFactory
from sharpley.estimators import OwenEstimator, OwenHalvedEstimator, StratifiedEstimator
from sharpley.permutations.kernels import KERNELS, Kernel, Spearman
from sharpley_experiments.common.constants import MANY_PLAYERS
from sharpley_experiments.paper.constants import CANDIDATES, SCALES

MakeSampler: TypeAlias = Callable[..., Sampler]

BEYOND_THE_PAPER = ("design", "regression", "gp")
"""Methods in the figures that the paper does not have."""

BIASED_METHODS = tuple(name for name in BEYOND_THE_PAPER if not METHODS[name].is_unbiased)
"""Methods among them whose expectation is not the Shapley values."""

ALIASES = {"25 candidates": "herding", "mallows": "herding"}
"""The same method by another name, in the figures where its parameters vary: measured once."""

CASTRO, OUR_ALLOCATION = "stratified (Castro)", "stratified (our allocation)"
WITHOUT_ORDERINGS = ("owen", "owen-halved", CASTRO, OUR_ALLOCATION)
"""Methods known before the paper that do not draw orderings."""
CODE_SUFFIX = ", authors' count"


ON_ORDERINGS = "spearman on orderings"
"""Herding as the authors' early repository has it; "spearman" is herding with the kernel of ranks."""


class SpearmanOnOrderings(Kernel):
    """The dot product of orderings in place of ranks, ``a.dot(b)`` in the authors' early repository.

    Its mean is Spearman's, but it compares who enters at each step by the number on the label: relabelling the players
    changes it.
    """

    def mean(self, d: int) -> float:
        """Return the mean over uniformly random orderings."""
        return Spearman().mean(d)

    def _gram(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
        return np.asarray((a + 1.0) @ (b + 1.0).T)


def scaled(scale: int) -> str:
    """Name of herding with a scale of the Mallows kernel."""
    return f"λ = {scale}"


def with_candidates(count: int) -> str:
    """Name of herding with so many candidates."""
    return f"{count} candidates"


def by_code(series: str) -> str:
    """Name of a line as the authors' early code counts it; for orderings, on which both agree, the name itself."""
    return series + CODE_SUFFIX if series in WITHOUT_ORDERINGS else series


SAMPLERS_OF_SEQUENCES: dict[str, MakeSampler] = {
    **{name: SAMPLERS[name] for name in ("monte-carlo", "antithetic", "orthogonal", "sobol")},
    "herding": partial(KernelHerding, fresh=True),
    "sbq": partial(SequentialBayesianQuadrature, fresh=True),
    **{scaled(scale): partial(KernelHerding, kernel=Mallows(float(scale)), fresh=True) for scale in SCALES},
    **{with_candidates(count): partial(KernelHerding, n_candidates=count, fresh=True) for count in CANDIDATES},
    **{name: partial(KernelHerding, kernel=make(), fresh=True) for name, make in KERNELS.items()},
    ON_ORDERINGS: partial(KernelHerding, kernel=SpearmanOnOrderings(), fresh=True),
}
"""Sequences: the first n orderings of a longer one are what a draw of n would be."""

SAMPLERS_OF_SETS: dict[str, MakeSampler] = {"design": PermutationDesign}
"""Samples made for their number of orderings."""

EARLIER_ESTIMATORS: dict[str, MethodFactory] = {
    "owen": partial(OwenEstimator, rule="trapezoid"),
    "owen-halved": partial(OwenHalvedEstimator, rule="trapezoid"),
    OUR_ALLOCATION: StratifiedEstimator,
}
"""Estimators known before the paper. Castro's own allocation is the function ``castro``."""


def most_orderings(series: str, d: int) -> int:
    """Where a line ends: where it would take long, and for stratified sampling where 2d² marginals are too many."""
    if series == "sbq":
        return 500
    if d > MANY_PLAYERS and series.startswith("stratified"):
        return 0  # as in the paper
    if series.startswith("owen"):
        return 500 if d <= MANY_PLAYERS else 100 if series.endswith(CODE_SUFFIX) else 50
    return 500 if series.startswith("stratified") else 10**9


def marginals(series: str, n: int, d: int) -> int:
    """Marginal evaluations of a method that competes with n orderings."""
    return n * (d + 1) // 2 if series.endswith(CODE_SUFFIX) else n * d


def evaluations(series: str, n: int, d: int) -> int:
    """Evaluations of v that pay for what n orderings stand for."""
    if series.startswith("stratified"):
        return 2 * marginals(series, n, d) + 2  # two for each
    if series.startswith("owen"):
        return marginals(series, n, d) // d * (d + 1) + 2  # one for each player, and one for all of them
    return n * (d - 1) + 2


def fewest_evaluations(series: str, d: int) -> int:
    """What an estimator known before the paper needs: two sweeps of two nodes, or two draws in each stratum."""
    if series.startswith("stratified"):
        return 4 * d * d
    return 2 + 2 * 2 * (2 if series.startswith("owen-halved") else 1) * (d + 1)
