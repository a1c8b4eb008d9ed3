"""Estimates with their variances, and means of independent groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.statistics import unseen

DIGITS = 9  # to which values must differ to be distinct
ROUNDING = unseen.ROUNDING
MAX_EXPONENT = 300  # values up to 2 to this power, or down to its inverse, are computed with as they are


class Moments(NamedTuple):
    """An estimate and the variance of its error; all arrays have the same shape, or broadcast to it."""

    values: Floats
    """The estimate."""
    variances: Floats
    """Estimated variance of ``values``: 0 if they are exact, NaN if it is unknown."""
    degrees_of_freedom: Floats
    """Degrees of freedom behind ``variances``; infinite if these are exact."""

    def rows(self, which: NDArray[np.bool_]) -> Moments:
        """Return the moments of some rows, which are the first axis."""
        return Moments(*(part[which] for part in self))


def exact_moments(values: Floats) -> Moments:
    """Return the moments of values that have no error."""
    return Moments(values, np.zeros_like(values), np.full_like(values, np.inf))


def half_widths(moments: Moments, level: float) -> Floats:
    """Return half the width of confidence intervals: the standard error times a quantile of Student's t distribution.

    Examples
    --------
    >>> float(half_widths(Moments(np.array(5.0), np.array(4.0), np.array(np.inf)), 0.95).round(2))
    3.92
    """
    from scipy.special import ndtri, stdtrit

    probability = 0.5 + level / 2
    degrees_of_freedom = np.maximum(moments.degrees_of_freedom, np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        student_t = stdtrit(degrees_of_freedom, probability)
        quantile = np.where(np.isinf(degrees_of_freedom), ndtri(probability), student_t)
        return np.where(moments.variances == 0.0, 0.0, quantile * np.sqrt(moments.variances))


def joined(parts: Iterable[Moments]) -> Moments:
    """Concatenate the moments of consecutive blocks of rows."""
    return Moments(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def grouped_moments(totals: Floats, weights: Floats) -> Moments:
    """Return the mean over independent groups, with its variance estimated from the spread between them.

    Parameters
    ----------
    totals : (G, ...) float
        Weighted sum W_g m_g of each group's values.
    weights : (G,) float
        Weight W_g of each group; they sum to 1.

    Returns
    -------
    Moments
        Arrays of shape (...); the variance is NaN if there is only one group.

    Notes
    -----
    With m = Σ W_g m_g, the variance is Σ W_g² (m_g − m)² / (1 − Σ W_g²), which is unbiased if a group's variance is
    inversely proportional to its weight. For G equal weights it is the usual s²/G. The degrees of freedom are
    1/Σ W_g² − 1, that is, G − 1 for equal weights.

    Examples
    --------
    >>> mean, variance, degrees_of_freedom = grouped_moments(np.array([1.0, 2.0]) / 2, np.array([0.5, 0.5]))
    >>> float(mean), float(variance), float(degrees_of_freedom)
    (1.5, 0.25, 1.0)
    """
    mean = totals.sum(axis=0)
    concentration = float((weights**2).sum())
    if len(weights) < 2:
        unknown = np.full_like(mean, np.nan)
        return Moments(mean, unknown, np.zeros_like(mean))
    spread = totals - weights.reshape(-1, *[1] * mean.ndim) * mean
    variance = (spread**2).sum(axis=0) / (1.0 - concentration)
    return Moments(mean, np.asarray(variance), np.full_like(mean, 1.0 / concentration - 1.0))


def group_totals(weighted: Floats, groups: NDArray[np.int64]) -> Floats:
    """Return the sum of ``weighted`` (n, ...) over each group, given by ``groups`` (n,): (G, ...)."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return np.asarray(np.add.reduceat(weighted[order], starts, axis=0))


def group_weights(weights: Floats, groups: NDArray[np.int64]) -> Floats:
    """Return the total weight of each group, (G,)."""
    return np.asarray(np.bincount(groups, weights=weights), dtype=np.float64)


def n_distinct(values: Floats) -> NDArray[np.int64]:
    """Return the number of distinct values of games (n, g), up to rounding, (g,)."""
    scale = np.abs(values).max(axis=0)
    rounded = np.round(values / np.where(scale > 0, scale, 1.0), DIGITS)
    return np.array([len(np.unique(column)) for column in rounded.T])


def mean_steps(values: Floats) -> Floats:
    """Return the mean distance between neighbouring distinct values of games (n, g), (g,); 0 if all are equal."""
    return np.asarray(np.ptp(values, axis=0) / np.maximum(n_distinct(values) - 1, 1))


def units_of(values: Floats) -> Floats:
    """Return the unit of each row and output, (r, 1, k), from values (r, m, k), or of each output, from (m, k).

    It is 1, unless values are so large or so small that their squares are not finite, or 0; then a power of 2, so that
    the digits do not change.
    """
    _, exponents = np.frexp(np.abs(values).max(axis=-2, keepdims=True))
    return np.ldexp(1.0, np.where(np.abs(exponents) > MAX_EXPONENT, exponents, 0))
