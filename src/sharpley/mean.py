"""The mean of any function of an ordering, with its standard error.

The paper's samples and error bounds serve every bounded function of a permutation, not Shapley values alone: a ranking
statistic, a tour's length, a scheduling cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.coalitions.moments import group_totals, group_weights, grouped_moments
from sharpley.engine.methods import Method, make_sampler
from sharpley.samplers.replicates import draw_groups


class PermutationMean(NamedTuple):
    """Result of ``permutation_mean``."""

    mean: Floats
    """Estimate, () or (k,)."""
    standard_error: Floats
    """Its standard error, of the same shape; NaN if n is too small for two independent groups."""


def permutation_mean(
    f: Callable[[Orderings], ArrayLike],
    d: int,
    *,
    n: int,
    method: Method = "orthogonal",
    rng: RNG = None,
) -> PermutationMean:
    """Mean of a function over all orderings of d players, estimated from n of them.

    Parameters
    ----------
    f : callable
        Takes orderings (m, d) and returns (m,) or (m, k) finite numbers. Called once, with all n.
    d : int
        Number of players.
    n : int
        Number of orderings, at least 1.
    method : str or factory, default "orthogonal"
        A name in ``sharpley.SAMPLERS``, or a class of samplers or a ``functools.partial`` of one.
    rng : int, Generator, SeedSequence or None

    Returns
    -------
    PermutationMean
        ``mean`` and ``standard_error``. The error is estimated between independent groups of orderings: single ones
        (monte-carlo), pairs (antithetic), or what each of five independent samplers contributes (all others).

    Examples
    --------
    The first player to enter among 0, 1, 2 is as often one as another:

    >>> def zero_leads(orderings):
    ...     ranks = orderings.argsort(axis=1)
    ...     return ranks[:, 0] == ranks[:, :3].min(axis=1)
    >>> mean, error = permutation_mean(zero_leads, 6, n=600, rng=0)
    >>> bool(abs(mean - 1 / 3) < 3 * error)
    True
    """
    n = check_count("n", n, minimum=1)
    orderings, weights, groups = draw_groups(make_sampler(method, d, rng=rng), n)
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
