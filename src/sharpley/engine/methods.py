"""The one table of methods: what is known of each name that ``method=`` accepts, and how its runs are started.

Everything that depends on a method reads it here: the rule of "auto", warnings, the command line, the figures and the
benchmark of the experiments, the tables in the documentation. A new method is one file and one record in ``METHODS``
(and, for type checkers, its name in ``MethodName``).

``method=`` also accepts a class of samplers or estimators, or a ``functools.partial`` of one. ``as_method`` turns
whatever was given into a record, once; everything after it reads attributes of the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from sharpley._support.checks import check_choice
from sharpley._support.typing import RNG
from sharpley.coalitions.budget import Budget
from sharpley.estimators import control, exact, owen, stratified, walks
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.gp import estimator as gp
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.pairs import regression
from sharpley.indices import SHAPLEY, Index
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

AUTO = "auto"

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
    "trees",
    "linear",
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
    make_source = partial(GroupedSource, Orthogonal(d, replicates=FOLDED_REPLICATES, rng=rng))
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
    name : str
        The ``method=`` name or, for a class that has none, the name of the class.
    factory : callable or None
        Starts a run, as ``factory(d, rng=generator)``; None for "auto", which chooses another method, and for closed
        forms.
    summary : str
        What the method does, in one line.
    origin : {"paper", "earlier", "ours"}
        Whether the paper proposes the method, compares its own with it, or does not have it.
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
    largest_order : int
        Largest order of these indices: 1 for values, 2 for interactions of pairs, 3 for interactions of triples.
    is_closed_form : bool
        Whether values are computed from what is known of a model, without sampling.
    colour : str
        Colour of the method in all figures.
    """

    name: str
    factory: MethodFactory | None
    summary: str
    origin: Literal["paper", "earlier", "ours"]
    is_unbiased: bool
    unbiased_form: str | None = None
    faster: str | None = None
    learns_from_rows: bool = False
    keeps_samples: bool = False
    adds_up: bool = True
    can_own_draws: bool = False
    own_coalitions: MethodFactory | None = None
    indices: tuple[str, ...] | None = (SHAPLEY.name,)
    largest_order: int = 1
    is_closed_form: bool = False
    colour: str

    @property
    def sampler(self) -> type[Sampler] | None:
        """The class of samplers that the method is, or has settings for, if it is one."""
        factory: Any = getattr(self.factory, "func", self.factory)  # functools.partial
        return factory if isinstance(factory, type) and issubclass(factory, Sampler) else None

    def least_budget(self, d: int, index: Index = SHAPLEY) -> int:
        """Return the smallest budget, in evaluations, for d players."""
        if self.is_closed_form:
            return 0
        if self.factory is None:  # "auto" chooses "gp" or, with very many players, two orderings
            return min(METHODS[name].least_budget(d) for name in ("gp", "monte-carlo"))
        return self.start(d, 0, index).least_budget

    def orderings_per_step(self, d: int) -> int:
        """Return the number of orderings that a sampler draws at a time: 2 if they are antithetic pairs."""
        # A factory that is no class has to make a sampler before anything is known of it.
        return int((self.sampler or self.start_sampler(d)).step)

    def estimates(self, index: Index) -> bool:
        """Return whether the method estimates an index."""
        return index.order <= self.largest_order and (self.indices is None or index.name in self.indices)

    def start(self, d: int, rng: RNG, index: Index = SHAPLEY, *, in_draw: bool = False) -> CoalitionEstimator:
        """Start a run on games of d players; ``in_draw``, on single draws that have coalitions of their own."""
        factory = self.own_coalitions if in_draw else self.factory
        if factory is None:
            raise ValueError(f"method {self.name!r} makes no estimator: it chooses another method, or samples nothing")
        made: object = factory(d, rng=np.random.default_rng(rng))  # any, if the factory is the user's
        if isinstance(made, Sampler):
            made = walks.PermutationEstimator(d, made.step, partial(GroupedSource, made))
        if not isinstance(made, CoalitionEstimator):
            raise TypeError(f"method must make a Sampler or a CoalitionEstimator, but {self.name} made {made!r}")
        made.index = index
        return made

    def start_sampler(self, d: int, rng: RNG = None) -> Sampler:
        """Return the sampler of a method that is one."""
        made: object = None if self.factory is None else self.factory(d, rng=np.random.default_rng(rng))
        if not isinstance(made, Sampler):
            raise TypeError(f"method must make a Sampler, but {self.name} made {made!r}")
        return made

    def start_source(self, d: int, rng: RNG, expected: int | None = None) -> GroupedSource:
        """Return the source of orderings of a method that is a sampler, for an expected number of them."""
        return GroupedSource(self.start_sampler(d, rng), expected)


def _of_sampler(
    name: str,
    sampler: type[Sampler],
    summary: str,
    *,
    origin: Literal["paper", "earlier", "ours"],
    colour: str,
    keeps_samples: bool = False,
) -> MethodRecord:
    """The record of a method that averages contributions along the orderings of a sampler."""
    return MethodRecord(
        name=name,
        factory=sampler,
        summary=summary,
        origin=origin,
        is_unbiased=True,
        keeps_samples=keeps_samples,
        can_own_draws=True,
        colour=colour,
    )


def _of_closed_form(name: str, summary: str, *, colour: str) -> MethodRecord:
    """The record of a method that computes exact values from what is known of a model."""
    return MethodRecord(
        name=name,
        factory=None,
        summary=summary,
        origin="ours",
        is_unbiased=True,
        indices=None,
        is_closed_form=True,
        colour=colour,
    )


_RECORDS = (
    MethodRecord(
        name="auto",
        factory=None,
        summary="`trees` or `linear` for such models; `exact` if the budget allows; otherwise `gp` or `regression`",
        origin="ours",
        is_unbiased=False,
        learns_from_rows=True,
        can_own_draws=True,
        colour="#D55E00",
    ),
    _of_sampler("monte-carlo", MonteCarlo, "independent orderings", origin="earlier", colour="#0072B2"),
    _of_sampler(
        "antithetic", Antithetic, "independent orderings, each with its reverse", origin="earlier", colour="#333333"
    ),
    _of_sampler(
        "orthogonal",
        Orthogonal,
        "blocks of orderings, those nearest to orthogonal points on a sphere",
        origin="paper",
        colour="#E69F00",
    ),
    _of_sampler(
        "sobol", Sobol, "orderings nearest to a scrambled Sobol' sequence on a sphere", origin="paper", colour="#56B4E9"
    ),
    _of_sampler(
        "herding",
        KernelHerding,
        "orderings chosen greedily for the lowest discrepancy with equal weights",
        origin="paper",
        colour="#009E73",
        keeps_samples=True,
    ),
    _of_sampler(
        "sbq",
        SequentialBayesianQuadrature,
        "orderings chosen greedily for the lowest discrepancy with optimal weights",
        origin="paper",
        colour="#CC79A7",
        keeps_samples=True,
    ),
    _of_sampler(
        "design",
        PermutationDesign,
        "sets of orderings with the lowest discrepancy of all, found once and relabelled at random",
        origin="ours",
        colour="#7F3C8D",
        keeps_samples=True,
    ),
    MethodRecord(
        name="owen",
        factory=owen.OwenEstimator,
        summary="the multilinear extension: random coalitions, with one player joining or leaving",
        origin="earlier",
        is_unbiased=True,
        adds_up=False,
        indices=None,
        largest_order=2,
        colour="#A6761D",
    ),
    MethodRecord(
        name="owen-halved",
        factory=owen.OwenHalvedEstimator,
        summary="the same with complements, over half of the range of probabilities",
        origin="earlier",
        is_unbiased=True,
        adds_up=False,
        indices=("shapley", "banzhaf", "SII", "k-SII", "BII", "FBII"),  # which complements leave as they are
        largest_order=2,
        colour="#999933",
    ),
    MethodRecord(
        name="stratified",
        factory=stratified.StratifiedEstimator,
        summary="strata of player and position, with two-stage allocation",
        origin="earlier",
        is_unbiased=False,
        adds_up=False,
        colour="#999999",
    ),
    MethodRecord(
        name="exact",
        factory=exact.ExactEstimator,
        summary="all 2^d coalitions, for up to 20 players",
        origin="earlier",
        is_unbiased=True,
        indices=None,
        largest_order=3,
        colour="#000000",
    ),
    MethodRecord(
        name="regression",
        factory=regression.RegressionEstimator,
        summary="weighted least squares on coalitions with their complements, with effects of size",
        origin="ours",
        is_unbiased=False,
        faster="antithetic",
        # The mean over many draws has a small variance, compared with which a bias would be large.
        own_coalitions=partial(regression.RegressionEstimator, is_balanced=True),
        colour="#44AA99",
    ),
    MethodRecord(
        name="gp",
        factory=gp.GaussianProcessEstimator,
        summary="Bayesian quadrature over coalitions: the lowest errors on models",
        origin="ours",
        is_unbiased=False,
        unbiased_form="gp-unbiased",
        faster="regression",
        learns_from_rows=True,
        indices=None,
        colour="#D55E00",
    ),
    MethodRecord(
        name="gp-unbiased",
        factory=gp_unbiased,
        summary="orthogonal orderings with a Gaussian process as control variate: what `unbiased=True` means",
        origin="ours",
        is_unbiased=True,
        faster="antithetic",
        learns_from_rows=True,
        colour="#A00000",
    ),
    _of_closed_form("trees", "exact values of a sum of trees, over all background rows", colour="#117733"),
    _of_closed_form("linear", "exact values of a linear model, over all background rows", colour="#88CCEE"),
)
METHODS: dict[str, MethodRecord] = {record.name: record for record in _RECORDS}
"""What is known of every method, by its ``method=`` name."""

SAMPLERS: Mapping[str, type[Sampler]] = {
    name: record.sampler for name, record in METHODS.items() if record.sampler is not None
}
"""Every permutation sampler by its ``method=`` name."""


def as_method(method: AnyMethod) -> MethodRecord:
    """Return the record of a method: of a name, of a class, or of a ``functools.partial`` of a class.

    Of a class that is in no record, it is known only whether it makes samplers.
    """
    if isinstance(method, str):
        return METHODS[check_choice("method", method, METHODS)]
    if not callable(method):
        raise TypeError(
            "method must be a name, or a class of samplers or estimators (or a functools.partial of one), "
            f"got {method!r}"
        )
    factory: Any = getattr(method, "func", method)  # functools.partial
    known = next((record for record in METHODS.values() if record.factory is factory), None)
    if known is not None:
        # A partial has settings of its own, which the unbiased form of the method would not have.
        form = known.unbiased_form if factory is method else None
        return replace(known, name=_name_of(method), factory=method, unbiased_form=form)
    is_sampler = isinstance(factory, type) and issubclass(factory, Sampler)
    return MethodRecord(
        name=_name_of(method),
        factory=method,
        summary="",
        origin="ours",
        is_unbiased=is_sampler,
        learns_from_rows=not is_sampler,
        can_own_draws=is_sampler,
        colour="#000000",
    )


def as_sampler(method: AnyMethod) -> MethodRecord:
    """Return the record of a method that is a sampler; for another name, the error lists the samplers."""
    if isinstance(method, str):
        check_choice("method", method, [name for name, record in METHODS.items() if record.sampler is not None])
    return as_method(method)


def check_estimates(method: MethodRecord, index: Index) -> None:
    """Raise an error, which names the methods that do, if a method does not estimate an index."""
    if not method.estimates(index):
        able = [name for name, record in METHODS.items() if record.estimates(index) and record.factory is not None]
        what = repr(index.name) if index.order == 1 else f"{index.name!r} of order {index.order}"
        raise ValueError(f"method {method.name!r} does not estimate {what}; methods that do: {able}")


def sample_for_budget(method: MethodRecord, d: int, max_evals: int) -> None:
    """Sample the orderings of explanations with this budget, with and without a tolerance, so that they are kept."""
    for may_stop in (False, True):
        estimator = method.start(d, 0)
        estimator.values = np.zeros((1, 2, 1))
        estimator.choose(Budget(max_evals, max_evals, may_stop))


def _name_of(method: MethodFactory) -> str:
    factory: Any = getattr(method, "func", method)  # functools.partial
    return str(getattr(factory, "__name__", factory))
