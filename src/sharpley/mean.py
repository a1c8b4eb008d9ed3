"""The mean of any function of an ordering, with its standard error.

The paper's samples and error bounds serve every bounded function of a permutation, not Shapley values alone: a ranking
statistic, a tour's length, a scheduling cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._checks import check_count
from sharpley._typing import RNG, ArrayLike, Floats, Orderings
from sharpley.samplers import sampler_by_name
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
    method: str = "orthogonal",
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
    method : str, default "orthogonal"
        A name in ``sharpley.SAMPLERS``.
    rng : int, Generator, SeedSequence or None

    Returns
    -------
    PermutationMean
        ``mean`` and ``standard_error``. The error is estimated between independent groups of orderings: single ones
        (monte-carlo), pairs (antithetic), blocks (orthogonal), or, where there are fewer than five of these,
        five independent replicates of n/5 orderings.

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
    orderings, weights, groups = draw_groups(sampler_by_name(method, d, rng=rng), n)
    return PermutationMean(*grouped_mean(_values(f(orderings), n), weights, groups))


def _values(raw: ArrayLike, n: int) -> Floats:
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n:
        raise ValueError(f"f must return shape ({n},) or ({n}, k) for {n} orderings, got {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise ValueError(f"f must return finite numbers, got {values[row]} for ordering {row}")
    return values


def grouped_mean(values: Floats, weights: Floats, groups: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Weighted mean over axis 0, and its standard error from the spread between independent groups.

    With W_g the weight of group g, m_g its mean and G groups, SE² = G/(G−1) Σ_g W_g² (m_g − m)²: for equal
    weights the usual variance of a mean of G numbers.
    """
    mean = np.tensordot(weights, values, axes=(0, 0))
    n_groups = int(groups[-1]) + 1
    if n_groups < 2:
        return mean, np.full_like(mean, np.nan)
    deviations = np.zeros((n_groups, *values.shape[1:]))
    np.add.at(deviations, groups, weights.reshape(-1, *[1] * mean.ndim) * (values - mean))
    variance = n_groups / (n_groups - 1) * (deviations**2).sum(axis=0)
    return mean, np.sqrt(variance)
