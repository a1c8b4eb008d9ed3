"""The one table of methods: what is known of each name that ``method=`` accepts.

Everything that depends on a method reads it here: the rule of "auto", warnings, the command line, the figures and the
benchmark of the experiments, the tables in the documentation. A new method is one file and one line in ``METHODS``
(and, for type checkers, its name in ``MethodName``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

from sharpley._support.typing import RNG
from sharpley.estimators import control, exact, owen, stratified, walks
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.gp import estimator as gp
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.pairs import regression
from sharpley.indices import SHAPLEY
from sharpley.samplers import (
    Antithetic,
    KernelHerding,
    MonteCarlo,
    Orthogonal,
    PermutationDesign,
    Sampler,
    SequentialBayesianQuadrature,
    Sobol,
)
from sharpley.samplers.replicates import GroupedSource

SamplerName: TypeAlias = Literal["monte-carlo", "antithetic", "orthogonal", "sobol", "herding", "sbq", "design"]
"""The names in ``SAMPLERS``."""

MethodName: TypeAlias = Literal[
    "auto",
    SamplerName,
    "owen",
    "owen-halved",
    "stratified",
    "exact",
    "regression",
    "gp",
    "gp-unbiased",
]
"""The names in ``METHODS``."""


class MethodFactory(Protocol):
    """What starts a run of a method: a class of samplers or estimators, or a ``functools.partial`` of one."""

    def __call__(self, d: int, *, rng: Any = ...) -> Sampler | CoalitionEstimator:
        """Return a sampler, or an estimator, for games of d players."""


Method: TypeAlias = MethodName | MethodFactory
"""What ``method=`` accepts: a name in ``METHODS``, or a factory called as ``factory(d, rng=generator)``."""

AnyMethod: TypeAlias = str | MethodFactory
"""The same where the name comes from a file, a command line, or a table that was added to at run time."""

FOLDED_REPLICATES = 6  # three in each fold


def gp_unbiased(d: int, *, settings: GPSettings = DEFAULT_SETTINGS, rng: RNG = None) -> CoalitionEstimator:
    """Orthogonal orderings, with the Gaussian process as a cross-fitted control variate."""
    make_source = partial(GroupedSource, Orthogonal(d, rng=rng), replicates=FOLDED_REPLICATES)
    return control.CrossFittedEstimator(d, make_source, partial(gp.process_fit, settings=settings))


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """What is known of a method; ``sharpley.METHODS`` has a record for each name.

    Examples
    --------
    >>> import sharpley
    >>> record = sharpley.METHODS["antithetic"]
    >>> record.summary, record.origin, record.least_budget(10)
    ('independent orderings, each with its reverse', 'earlier', 38)
    >>> [name for name, record in sharpley.METHODS.items() if record.keeps_samples]
    ['herding', 'sbq', 'design']

    Attributes
    ----------
    factory : callable or None
        Starts a run, as ``factory(d, rng=generator)``; None for "auto", which chooses another method.
    summary : str
        What the method does, in one line.
    origin : {"paper", "earlier", "ours"}
        Whether the paper proposes the method, compares its own with it, or does not have it.
    least_budget : callable
        The smallest budget, in evaluations, for d players.
    is_unbiased : bool
        Whether the mean over all random choices is the Shapley value.
    unbiased_form : str or None
        The name of the method that ``unbiased=True`` stands for, if this one is biased.
    faster : str or None
        A method that takes less time of its own, and is less accurate at the same number of evaluations.
    learns_from_rows : bool
        Whether the values of a row depend, within their errors, on the rows explained with it.
    keeps_samples : bool
        Whether its samples are computed once and kept in the user's cache folder.
    adds_up : bool
        Whether the values always sum to v(N) − v(∅).
    can_own_draws : bool
        Whether its orderings can have draws of their own, instead of all draws for every coalition.
    own_coalitions : callable or None
        Starts the estimate of a single draw from coalitions of its own, as ``factory`` does, if the method can do so.
    indices : tuple of str or None
        Names of the indices that the method estimates; None if it estimates any.
    colour : str
        Colour of the method in all figures.
    """

    factory: MethodFactory | None
    summary: str
    origin: Literal["paper", "earlier", "ours"]
    least_budget: Callable[[int], int]
    is_unbiased: bool
    unbiased_form: str | None = None
    faster: str | None = None
    learns_from_rows: bool = False
    keeps_samples: bool = False
    adds_up: bool = True
    can_own_draws: bool = False
    own_coalitions: MethodFactory | None = None
    indices: tuple[str, ...] | None = (SHAPLEY.name,)
    colour: str

    @property
    def sampler(self) -> type[Sampler] | None:
        """The class of samplers that the method is, if it is one."""
        factory: Any = self.factory
        return factory if isinstance(factory, type) and issubclass(factory, Sampler) else None


def _of_sampler(
    sampler: type[Sampler],
    summary: str,
    *,
    origin: Literal["paper", "earlier", "ours"],
    colour: str,
    keeps_samples: bool = False,
) -> MethodRecord:
    """The record of a method that averages contributions along the orderings of a sampler."""
    return MethodRecord(
        factory=sampler,
        summary=summary,
        origin=origin,
        least_budget=partial(walks.least_budget, step=sampler.step),
        is_unbiased=True,
        keeps_samples=keeps_samples,
        can_own_draws=True,
        colour=colour,
    )


def _least_of_auto(d: int) -> int:
    """Return the smallest budget of "auto": that of "gp" or, with very many players, of two orderings."""
    return min(gp.least_budget(d), walks.least_budget(d, step=1))


METHODS: dict[str, MethodRecord] = {
    "auto": MethodRecord(
        factory=None,
        summary="`exact` if the budget allows; otherwise `gp`, or `regression` where that would take too long",
        origin="ours",
        least_budget=_least_of_auto,
        is_unbiased=False,
        learns_from_rows=True,
        can_own_draws=True,
        colour="#D55E00",
    ),
    "monte-carlo": _of_sampler(MonteCarlo, "independent orderings", origin="earlier", colour="#0072B2"),
    "antithetic": _of_sampler(
        Antithetic, "independent orderings, each with its reverse", origin="earlier", colour="#333333"
    ),
    "orthogonal": _of_sampler(
        Orthogonal,
        "blocks of orderings, those nearest to orthogonal points on a sphere",
        origin="paper",
        colour="#E69F00",
    ),
    "sobol": _of_sampler(
        Sobol, "orderings nearest to a scrambled Sobol' sequence on a sphere", origin="paper", colour="#56B4E9"
    ),
    "herding": _of_sampler(
        KernelHerding,
        "orderings chosen greedily for the lowest discrepancy with equal weights",
        origin="paper",
        colour="#009E73",
        keeps_samples=True,
    ),
    "sbq": _of_sampler(
        SequentialBayesianQuadrature,
        "orderings chosen greedily for the lowest discrepancy with optimal weights",
        origin="paper",
        colour="#CC79A7",
        keeps_samples=True,
    ),
    "design": _of_sampler(
        PermutationDesign,
        "sets of orderings with the lowest discrepancy of all, found once and relabelled at random",
        origin="ours",
        colour="#7F3C8D",
        keeps_samples=True,
    ),
    "owen": MethodRecord(
        factory=owen.OwenEstimator,
        summary="the multilinear extension: random coalitions, with one player joining or leaving",
        origin="earlier",
        least_budget=partial(owen.least_budget, copies=1),
        is_unbiased=True,
        adds_up=False,
        colour="#A6761D",
    ),
    "owen-halved": MethodRecord(
        factory=owen.OwenHalvedEstimator,
        summary="the same with complements, over half of the range of probabilities",
        origin="earlier",
        least_budget=partial(owen.least_budget, copies=2),
        is_unbiased=True,
        adds_up=False,
        colour="#999933",
    ),
    "stratified": MethodRecord(
        factory=stratified.StratifiedEstimator,
        summary="strata of player and position, with two-stage allocation",
        origin="earlier",
        least_budget=stratified.least_budget,
        is_unbiased=False,
        adds_up=False,
        colour="#999999",
    ),
    "exact": MethodRecord(
        factory=exact.ExactEstimator,
        summary="all 2^d coalitions, for up to 20 players",
        origin="earlier",
        least_budget=exact.least_budget,
        is_unbiased=True,
        indices=None,
        colour="#000000",
    ),
    "regression": MethodRecord(
        factory=regression.RegressionEstimator,
        summary="weighted least squares on coalitions with their complements, with effects of size",
        origin="ours",
        least_budget=regression.least_budget,
        is_unbiased=False,
        faster="antithetic",
        # The mean over many draws has a small variance, compared with which a bias would be large.
        own_coalitions=partial(regression.RegressionEstimator, is_balanced=True),
        colour="#44AA99",
    ),
    "gp": MethodRecord(
        factory=gp.GaussianProcessEstimator,
        summary="Bayesian quadrature over coalitions: the lowest errors on models",
        origin="ours",
        least_budget=gp.least_budget,
        is_unbiased=False,
        unbiased_form="gp-unbiased",
        faster="regression",
        learns_from_rows=True,
        colour="#D55E00",
    ),
    "gp-unbiased": MethodRecord(
        factory=gp_unbiased,
        summary="orthogonal orderings with a Gaussian process as control variate: what `unbiased=True` means",
        origin="ours",
        least_budget=control.least_budget,
        is_unbiased=True,
        faster="antithetic",
        learns_from_rows=True,
        colour="#A00000",
    ),
}
"""What is known of every method, by its ``method=`` name."""

AUTO = "auto"

SAMPLERS: Mapping[str, type[Sampler]] = {
    name: record.sampler for name, record in METHODS.items() if record.sampler is not None
}
"""Every permutation sampler by its ``method=`` name."""
