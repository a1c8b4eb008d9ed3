"""Means over trials, and ratios of means, with 95% bootstrap intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpley._typing import Floats

RESAMPLES = 4000


class Interval(NamedTuple):
    """A mean, or a ratio or difference of means, and its 95% interval."""

    value: float
    low: float
    high: float


def mean_interval(values: Floats) -> Interval:
    """Mean of independent trials."""
    low, high = np.quantile(_means(values, seed=0), [0.025, 0.975])
    return Interval(float(np.mean(values)), float(low), float(high))


def ratio_interval(above: Floats, below: Floats) -> Interval:
    """Ratio of the means of two methods' independent trials."""
    ratios = _means(above, seed=0) / _means(below, seed=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return Interval(float(np.mean(above) / np.mean(below)), float(low), float(high))


def _means(values: Floats, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.choice(values, size=(RESAMPLES, len(values))).mean(axis=1))
