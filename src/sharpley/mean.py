"""The mean of any function of an ordering over all d! orderings, with its standard error.

The mean μ = 1/d! Σ_σ f(σ) is estimated by Σ_i w_i f(σ_i) from a sample of n weighted orderings. The paper's samples
and error bounds apply to every bounded function of a permutation, not to Shapley values alone: a rank statistic, the
length of a tour, the cost of a schedule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.coalitions.moments import group_totals, group_weights, grouped_moments
from sharpley.engine.methods import MethodFactory, SamplerName, as_sampler
from sharpley.samplers.replicates import draw_groups


class PermutationMean(NamedTuple):
    """The result of ``permutation_mean``: an estimate and its standard error.

    Examples
    --------
    The rank of a player is on average (d − 1)/2, and antithetic pairs estimate it without error:

    >>> result = permutation_mean(lambda x: x.argsort(axis=1), 5, n=10, method="antithetic", rng=0)
    >>> result.mean.round(9)
    array([2., 2., 2., 2., 2.])
    >>> result.standard_error.round(9)
    array([0., 0., 0., 0., 0.])
    """

    mean: Floats
    """Estimated mean, () or (k,)."""
    standard_error: Floats
    """Standard error of the mean, () or (k,); NaN if n is too small for two independent groups."""


def permutation_mean(
    f: Callable[[Orderings], ArrayLike],
    d: int,
    *,
    n: int,
    method: SamplerName | MethodFactory = "orthogonal",
    rng: RNG = None,
) -> PermutationMean:
    """Estimate the mean of a function over all orderings of d players from a sample of n orderings.

    Parameters
    ----------
    f : callable
        Accepts orderings, int (n, d), and returns finite numbers, (n,) or (n, k) for k functions at once. It is
        called once, with all n orderings.
    d : int
        Number of players, at least 1.
    n : int
        Number of orderings, at least 1.
    method : str or factory, default "orthogonal"
        A name in ``sharpley.SAMPLERS``, or a class of samplers or a ``functools.partial`` of one.
    rng : int, Generator, SeedSequence or None
        Seed of the sampler.

    Returns
    -------
    PermutationMean
        ``mean`` and ``standard_error``, () or (k,). The standard error is estimated from the variation between
        independent groups of orderings: single orderings (monte-carlo), antithetic pairs (antithetic), or the
        contributions of five independent samplers (all others).

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
    orderings, weights, groups = draw_groups(as_sampler(method).start_sampler(d, rng), n)
    values = _values(f(orderings), n)
    weighted = weights.reshape(-1, *[1] * (values.ndim - 1)) * values
    moments = grouped_moments(group_totals(weighted, groups), group_weights(weights, groups))
    return PermutationMean(moments.values, np.sqrt(moments.variances))


def _values(raw: ArrayLike, n: int) -> Floats:
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n:
        raise ValueError(f"f must return shape ({n},) or ({n}, k) for {n} orderings, got {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise ValueError(f"f must return finite numbers, got {values[row]} for ordering {row}")
    return values
