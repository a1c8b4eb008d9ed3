"""Means over trials, and ratios and differences of means, with 95% confidence intervals from Student's t.

Mean squared errors are positive, and their spread is proportional to their magnitude, so their means and ratios have
intervals on the logarithmic scale. A bootstrap with two or three trials would declare equal methods different in a
fifth of all cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats


class Interval(NamedTuple):
    """A mean, or a ratio or difference of means, with its 95% interval."""

    value: float
    low: float
    high: float


def mean_interval(values: Floats) -> Interval:
    """Mean of independent, positive trials, with an interval on the logarithmic scale."""
    mean = float(np.mean(values))
    half = _half_width([_relative_variance(values)], [len(values)])
    return Interval(mean, mean * np.exp(-half), mean * np.exp(half))


def ratio_interval(above: Floats, below: Floats) -> Interval:
    """Ratio of the means of two methods' independent, positive trials, with an interval on the logarithmic scale."""
    ratio = float(np.mean(above) / np.mean(below))
    half = _half_width([_relative_variance(above), _relative_variance(below)], [len(above), len(below)])
    return Interval(ratio, ratio * np.exp(-half), ratio * np.exp(half))


def mean_of(values: Floats) -> Interval:
    """Mean of independent numbers of any sign."""
    mean = float(np.mean(values))
    half = _half_width([float(np.var(values, ddof=1)) / len(values)], [len(values)])
    return Interval(mean, mean - half, mean + half)


def geometric_mean_interval(logarithms: Floats) -> Interval:
    """Geometric mean of independent positive numbers, given their logarithms, with its interval."""
    return Interval(*(float(np.exp(value)) for value in mean_of(logarithms)))


def geometric_mean_of_means(groups: list[Floats]) -> Interval:
    """Geometric mean of the means of groups of trials, with an interval that covers the trials, not the groups."""
    logs = [float(np.log(np.mean(group))) for group in groups]
    variances = [_relative_variance(group) / len(groups) ** 2 for group in groups]
    half = _half_width(variances, [len(group) for group in groups])
    mean = float(np.mean(logs))
    return Interval(float(np.exp(mean)), float(np.exp(mean - half)), float(np.exp(mean + half)))


def difference_interval(first: Floats, second: Floats) -> Interval:
    """Difference of the means of two methods over independent trials (Welch)."""
    value = float(np.mean(first) - np.mean(second))
    half = _half_width([float(np.var(x, ddof=1)) / len(x) for x in (first, second)], [len(first), len(second)])
    return Interval(value, value - half, value + half)


def _relative_variance(values: Floats) -> float:
    """Variance of a mean divided by its square, which is about the variance of its logarithm (delta method)."""
    mean = np.mean(values)
    return float(np.var(values, ddof=1) / mean**2 / len(values)) if mean else 0.0


def _half_width(variances: list[float], counts: list[int]) -> float:
    """Half-width of the interval of a sum of means with these variances (Welch); 0 if all variances are 0."""
    from scipy.special import stdtrit

    parts = np.array(variances)
    if not parts.sum():
        return 0.0
    freedom = parts.sum() ** 2 / (parts**2 / (np.array(counts) - 1)).sum()
    return float(stdtrit(freedom, 0.975) * np.sqrt(parts.sum()))
