"""Error bars of rows in which no player was seen to change anything.

If all n coalitions that were evaluated have the same value, every sample is without spread, and every estimate is 0
with an error of 0. Others may nevertheless have another value: by the rule of succession, the next one does with
probability p = 1 / (n + 2). A Shapley value is the difference between means of coalitions with and without a player. If
values differ by a with probability p, the means of n/2 coalitions each have a variance of 2 p a² / n, and the
difference has twice that: 4 a² / (n (n + 2)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments
from sharpley.statistics.unseen import ROUNDING, unseen_variance


def is_exact(moments: Moments) -> NDArray[np.bool_]:
    """Return where an estimate has no error."""
    return np.asarray(np.isinf(moments.degrees_of_freedom) & (moments.variances == 0.0))


def blind_errors(n_evals: NDArray[np.int64] | int) -> Floats:
    """Return the standard error if n evaluations showed no change, in units of what a change may be."""
    return np.sqrt(unseen_variance(2.0**2, np.asarray(n_evals, dtype=np.float64)))


def with_blind_errors(moments: Moments, values: Floats, n_evals: NDArray[np.int64] | int) -> Moments:
    """Return the moments with error bars for the rows and outputs that have none though not everything was evaluated.

    Parameters
    ----------
    moments : Moments
        The estimate, of shape (r, components, k).
    values : (r, m, k) float
        Values of coalitions, which tell how large a change may be.
    n_evals : int or (r,) int
        Number of evaluated coalitions.
    """
    nothing = (moments.values == 0.0) & (moments.variances == 0.0) & ~is_exact(moments)
    blind = nothing.all(axis=1, keepdims=True)
    if not blind.any():
        return moments
    errors = blind_errors(n_evals).reshape(-1, 1, 1) * _possible_changes(values)
    return moments._replace(variances=np.where(blind, errors**2, moments.variances))


def _possible_changes(values: Floats) -> Floats:
    """Return how much a value may change, (r, 1, k): by the range seen, else by its own size, or by 1 if that is 0.

    So a vote that nobody won, or everybody, may change by 1.
    """
    ranges, sizes = np.ptp(values, axis=1, keepdims=True), np.abs(values).max(axis=1, keepdims=True)
    return np.asarray(np.where(ranges > ROUNDING * sizes, ranges, np.where(sizes > 0, sizes, 1.0)))
