"""The mean of any function of an ordering over all d! orderings, with an interval; and which sampler estimates it best.

The mean μ = 1/d! Σ_σ f(σ) is estimated by Σ_i w_i f(σ_i) from a sample of n weighted orderings. The paper's samples
and error bounds apply to every bounded function of a permutation, not to Shapley values alone: a rank statistic, the
length of a tour, the cost of a schedule. But a low discrepancy bounds the error in the worst case, and does not rank
samplers on a given function: reverses help only if f changes its direction with the ordering.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count, stacklevel_outside
from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.coalitions.moments import Moments, group_totals, group_weights, grouped_moments, half_widths
from sharpley.engine.methods import MethodFactory, SamplerName, as_method, as_sampler
from sharpley.permutations.one_sample import one_sample_errors, ordering_candidates
from sharpley.samplers import Sampler
from sharpley.samplers.replicates import GroupedOrderings, GroupedSource, draw_sample

if TYPE_CHECKING:
    from pandas import DataFrame

Function: TypeAlias = Callable[[Orderings], ArrayLike]

LEAST_WITH_PILOT = 32  # orderings: below this, "auto" is "orthogonal"
PILOT_SHARE = 0.1  # of the orderings that "auto" spends on antithetic pairs to choose between two methods
PILOT_PAIRS = (5, 50)  # at least and at most
FIRST_LOOK, GROWTH = 64, 1.5  # orderings before a tolerance is first checked, and factor to the next look
LEVEL = 0.95  # of the intervals that a tolerance limits
RESAMPLES = 2000  # of the bootstrap intervals of ``compare``


@dataclass(frozen=True)
class PermutationMean:
    """The result of ``permutation_mean``: an estimate with its standard error, which it unpacks into.

    Attributes
    ----------
    mean : (...) float
        Estimated mean, with the shape of one value of f.
    standard_error : (...) float
        Standard error of the mean; NaN if n is too small to tell.
    degrees_of_freedom : (...) float
        Degrees of freedom behind the standard error.
    n : int
        Number of orderings that f was called with.
    method : str
        The sampler, also the one that "auto" chose.
    converged : bool
        Whether the tolerance was met; True without a tolerance.

    Examples
    --------
    The rank of a player is on average (d − 1)/2, and antithetic pairs estimate it without error:

    >>> mean, error = permutation_mean(lambda x: x.argsort(axis=1), 5, n=10, method="antithetic", rng=0)
    >>> mean.round(9), error.round(9)
    (array([2., 2., 2., 2., 2.]), array([0., 0., 0., 0., 0.]))
    """

    mean: Floats
    standard_error: Floats
    degrees_of_freedom: Floats
    n: int
    method: str
    converged: bool = True

    def __iter__(self) -> Iterator[Floats]:
        """Yield the mean and its standard error."""
        return iter((self.mean, self.standard_error))

    def interval(self, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return the limits of confidence intervals, by Student's t distribution.

        Examples
        --------
        >>> found = permutation_mean(lambda x: x[:, 0] == 0, 4, n=200, method="monte-carlo", rng=0)
        >>> low, high = found.interval()
        >>> bool(low < 0.25 < high)
        True
        """
        half = half_widths(Moments(self.mean, self.standard_error**2, self.degrees_of_freedom), level)
        return self.mean - half, self.mean + half


def permutation_mean(
    f: Function,
    d: int,
    *,
    n: int,
    method: Literal["auto"] | SamplerName | MethodFactory = "auto",
    tol: float | None = None,
    replicates: int | None = None,
    rng: RNG = None,
) -> PermutationMean:
    """Estimate the mean of a function over all orderings of d players from a sample of n orderings.

    Parameters
    ----------
    f : callable
        Accepts orderings, int (n, d), and returns n finite numbers or arrays, (n, ...). It is called with all n
        orderings at once, or with further orderings at each look if there is a tolerance or a pilot.
    d : int
        Number of players, at least 1.
    n : int
        Number of orderings, at least 1; with ``tol``, the maximum number.
    method : str or factory, default "auto"
        "auto", a name in ``sharpley.SAMPLERS``, or a class of samplers or a ``functools.partial`` of one. "auto" spends
        a tenth of the orderings on antithetic pairs, and then continues with "orthogonal" if f is negatively
        correlated with f of the reverse, otherwise with "monte-carlo". With fewer than 32 orderings it is "orthogonal".
    tol : float, optional
        Stop as soon as no 95% interval is wider than ± ``tol``, at two consecutive looks. The sample then grows, so
        "design" uses its nested sequence.
    replicates : int, optional
        Number of independent samplers that share the orderings. By default there is one sample, as published.
    rng : int, Generator, SeedSequence or None
        Seed of the sampler.

    Returns
    -------
    PermutationMean
        ``mean, standard_error = permutation_mean(...)`` unpacks it, and ``interval`` returns confidence limits. The
        standard error comes from the spread between independent groups of orderings: single orderings (monte-carlo),
        antithetic pairs (antithetic), ten or more blocks (orthogonal), or replicates. Otherwise the sample is
        dependent, and kernel models that are fitted to the values of f judge its error.

    Notes
    -----
    Antithetic pairs, and therefore "antithetic" and "orthogonal", are *worse* than independent orderings for functions
    that reversal does not change, such as the length of a tour: f of the reverse is then no news. "auto" avoids them.
    A lower discrepancy bounds the worst case and does not rank samplers; ``compare`` ranks them on your function.

    Examples
    --------
    Each of the players 0, 1 and 2 is equally likely to enter before the other two:

    >>> def zero_leads(orderings):
    ...     ranks = orderings.argsort(axis=1)
    ...     return ranks[:, 0] == ranks[:, :3].min(axis=1)
    >>> mean, error = permutation_mean(zero_leads, 6, n=600, rng=0)
    >>> bool(abs(mean - 1 / 3) < 3 * error)
    True
    """
    n = check_count("n", n, minimum=1)
    if tol is not None and not tol > 0:
        raise ValueError(f"tol must be above 0, got {tol}; leave it out to use all n orderings")
    pilots, rest = np.random.default_rng(rng).spawn(2) if method == "auto" else (None, rng)
    pilot = None if pilots is None or n < LEAST_WITH_PILOT else _pilot(f, d, n, pilots)
    name = ("orthogonal" if pilot is None else pilot.advice) if method == "auto" else method
    sampler = _sampler(name, d, replicates, rest)
    found = _Found(pilot, [], [], [])
    met = _sample(f, sampler, n, found) if tol is None else _stream(f, sampler, n, tol, found)
    moments = found.moments()
    shape = found.shape
    mean, variance, freedom = (part.reshape(shape) for part in moments)
    if not met:
        warnings.warn(
            f"permutation_mean did not reach tol={tol} with {n} orderings; the largest 95% interval is "
            f"±{half_widths(moments, LEVEL).max():.3g}; raise n",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
    return PermutationMean(mean, np.sqrt(variance), freedom, found.n, as_method(name).name, met)


def _sampler(method: Any, d: int, replicates: int | None, rng: RNG) -> Sampler:
    record = as_sampler(method)
    if replicates is not None:
        factory: Any = record.factory
        record = as_method(partial(factory, replicates=replicates))
    return record.start_sampler(d, rng)


@dataclass(frozen=True)
class _Pilot:
    """Antithetic pairs that "auto" starts with."""

    values: Floats
    moments: Moments
    advice: SamplerName
    shape: tuple[int, ...]


def _pilot(f: Function, d: int, n: int, rng: np.random.Generator) -> _Pilot:
    """Estimate the mean from antithetic pairs, and whether they are better than independent orderings."""
    pairs = int(np.clip(PILOT_SHARE * n / 2, *PILOT_PAIRS))
    sample = draw_sample(_sampler("antithetic", d, None, rng), 2 * pairs)
    values, shape = _values(f(sample.orderings), 2 * pairs)
    both = values.reshape(pairs, 2, -1)
    deviations = both - values.mean(axis=0)
    variances = (deviations**2).mean(axis=(0, 1))
    correlations = deviations.prod(axis=1).mean(axis=0)[variances > 0] / variances[variances > 0]
    advice: SamplerName = "monte-carlo" if correlations.size and correlations.mean() > 0 else "orthogonal"
    return _Pilot(values, _moments(values, sample), advice, shape)


@dataclass
class _Found:
    """The values of f along one sample, after those of a pilot."""

    pilot: _Pilot | None
    values: list[Floats]
    shapes: list[tuple[int, ...]]
    sample: list[GroupedOrderings]

    def add(self, raw: ArrayLike, sample: GroupedOrderings) -> None:
        """Add the values of the orderings that are new in a sample."""
        values, shape = _values(raw, len(sample.orderings) - sum(map(len, self.values)))
        self.values.append(values)
        self.shapes.append(shape)
        self.sample = [sample]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one value of f."""
        return self.shapes[0]

    @property
    def n(self) -> int:
        """Number of orderings, with those of the pilot."""
        return sum(map(len, self.values)) + (0 if self.pilot is None else len(self.pilot.values))

    def moments(self) -> Moments:
        """Return the mean over pilot and sample, by their numbers of orderings, which do not depend on values."""
        values = np.concatenate(self.values)
        found = _moments(values, self.sample[0])
        if self.pilot is None:
            return found
        shares = np.array([[self.n - len(values)], [len(values)]]) / self.n
        means, variances, freedoms = (np.stack(both) for both in zip(self.pilot.moments, found, strict=True))
        parts = shares**2 * variances
        total = parts.sum(axis=0)
        squares = (parts**2 / np.maximum(freedoms, 1e-9)).sum(axis=0)
        freedom = np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1.0), np.inf)  # Satterthwaite
        return Moments((shares * means).sum(axis=0), total, freedom)


def _sample(f: Function, sampler: Sampler, n: int, found: _Found) -> bool:
    """Add one sample of all orderings that are left."""
    sample = draw_sample(sampler, n - (0 if found.pilot is None else len(found.pilot.values)))
    found.add(f(sample.orderings), sample)
    return True


def _stream(f: Function, sampler: Sampler, n: int, tol: float, found: _Found) -> bool:
    """Add orderings of one sequence until two consecutive looks meet the tolerance; return whether they do."""
    source = GroupedSource(sampler, None)
    most = max(1, (n - (0 if found.pilot is None else len(found.pilot.values))) // source.step)
    steps, streams = np.empty((0, source.step, sampler.d), dtype=np.int64), np.empty(0, dtype=np.int64)
    was_small, count = False, min(most, FIRST_LOOK // source.step)
    while True:
        fresh = source.take(count - len(steps))
        steps, streams = np.concatenate([steps, fresh[0]]), np.concatenate([streams, fresh[1]])
        sample = source.label(steps.reshape(-1, sampler.d), np.repeat(streams, source.step))
        found.add(f(fresh[0].reshape(-1, sampler.d)), sample)
        is_small = bool((half_widths(found.moments(), LEVEL) <= tol).all())
        if (is_small and was_small) or count == most:
            return is_small and was_small
        was_small, count = is_small, min(most, int(GROWTH * count) + 1)


def _moments(values: Floats, sample: GroupedOrderings) -> Moments:
    """Return the weighted mean of values (n, k), with its variance from groups or from kernel models."""
    if sample.groups is not None:
        totals = group_totals(sample.weights[:, None] * values, sample.groups)
        return grouped_moments(totals, group_weights(sample.weights, sample.groups))
    means = sample.weights @ values
    kernels = [partial(ordering_candidates, sample.orderings)]
    variances, freedoms = one_sample_errors(values[:, None, :], sample.weights, kernels)
    return Moments(means, variances[0], freedoms[0])


def _values(raw: ArrayLike, n: int) -> tuple[Floats, tuple[int, ...]]:
    """Return the values of n orderings as (n, k), and the shape of one of them."""
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim == 0 or len(values) != n:
        raise ValueError(f"f must return shape ({n},) or ({n}, ...) for {n} orderings, got {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise ValueError(f"f must return finite numbers, got {values[row]} for ordering {row}")
    return values.reshape(n, -1), values.shape[1:]


@dataclass(frozen=True)
class Comparison:
    """The result of ``compare``: squared errors of several samplers on one function.

    Attributes
    ----------
    methods : tuple of str
        Names of the samplers.
    squared_errors : (samplers, repeats) float
        Squared errors of the mean, averaged over the components of f.
    n : int
        Number of orderings in each sample.
    """

    methods: tuple[str, ...]
    squared_errors: Floats
    n: int

    def to_frame(self) -> DataFrame:
        """Return root mean squared errors, and their ratios to the first sampler's, with 95% bootstrap intervals."""
        import pandas as pd

        picks = np.random.default_rng(0).integers(
            self.squared_errors.shape[1], size=(RESAMPLES, self.squared_errors.shape[1])
        )
        resampled = np.sqrt(self.squared_errors[:, picks].mean(axis=2))  # (samplers, RESAMPLES)
        errors = np.sqrt(self.squared_errors.mean(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios, resampled_ratios = errors / errors[0], resampled / resampled[0]
        columns = {"error": errors}
        columns["error_low"], columns["error_high"] = np.quantile(resampled, [0.025, 0.975], axis=1)
        columns["ratio"] = ratios
        columns["ratio_low"], columns["ratio_high"] = np.quantile(resampled_ratios, [0.025, 0.975], axis=1)
        return pd.DataFrame(columns, index=pd.Index(self.methods, name="method"))


def compare(
    samplers: Sequence[SamplerName | MethodFactory],
    f: Function,
    d: int,
    n: int,
    *,
    truth: ArrayLike | None = None,
    repeats: int = 50,
    rng: RNG = None,
) -> Comparison:
    """Compare samplers by their errors on a function of your own.

    Parameters
    ----------
    samplers : sequence of str or factory
        Names in ``sharpley.SAMPLERS``, classes of samplers, or ``functools.partial`` of them. Ratios are to the first.
    f : callable
        As for ``permutation_mean``.
    d, n : int
        Number of players, and of orderings in each sample.
    truth : (...) float, optional
        The mean of f over all orderings, if you know it. By default, errors are deviations of the repeats from their
        mean, since all samplers are unbiased.
    repeats : int, default 50
        Number of independent samples of each sampler.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Returns
    -------
    Comparison
        ``to_frame()`` is a table of errors and ratios with 95% intervals; ``sharpley.plotting.comparison`` draws it.

    Examples
    --------
    The length of a tour does not change when it is reversed, so antithetic pairs are wasteful:

    >>> import numpy as np
    >>> distances = np.random.default_rng(0).random((8, 8))
    >>> length = lambda x: (distances + distances.T)[x[:, :-1], x[:, 1:]].sum(axis=1)
    >>> found = compare(["monte-carlo", "antithetic"], length, 8, 50, repeats=300, rng=0)
    >>> bool(found.to_frame().loc["antithetic", "ratio_low"] > 1)
    True
    """
    repeats, n = check_count("repeats", repeats, minimum=2), check_count("n", n, minimum=1)
    streams = np.random.default_rng(rng).spawn(len(samplers))
    errors = []
    for method, stream in zip(samplers, streams, strict=True):
        drawn = [draw_sample(_sampler(method, d, None, child), n) for child in stream.spawn(repeats)]
        means = np.array([sample.weights @ _values(f(sample.orderings), n)[0] for sample in drawn])
        if truth is None:
            squares: NDArray[np.float64] = (means - means.mean(axis=0)) ** 2 * repeats / (repeats - 1)
        else:
            squares = (means - np.asarray(truth, dtype=np.float64).reshape(1, -1)) ** 2
        errors.append(squares.mean(axis=1))
    return Comparison(tuple(_label(method) for method in samplers), np.array(errors), n)


def _label(method: SamplerName | MethodFactory) -> str:
    """Return the name of a sampler, with the settings of a partial."""
    settings = getattr(method, "keywords", None)
    name = as_method(method).name
    return name if not settings else f"{name}({', '.join(f'{key}={value}' for key, value in settings.items())})"
