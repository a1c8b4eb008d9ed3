"""Games at chosen pairs, scaled to unit size."""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Floats
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import class_weights


def unit_sized(data: PairData) -> tuple[PairData, Floats]:
    """Games scaled to unit size, and the root mean squares (g,) that their odd values were divided by."""
    magnitudes = _root_mean_square(np.concatenate([data.odd, data.delta[None]]))
    even = data.even - data.even.mean(axis=0)
    unit = PairData(data.signs, data.odd / magnitudes, even / _root_mean_square(even), data.delta / magnitudes)
    return unit, magnitudes


def with_full_coalition(data: PairData) -> tuple[Floats, Floats, Floats]:
    """Coalitions, odd values and inverse weights of all pairs and, last, of the full coalition, which has no noise."""
    signs = np.concatenate([data.signs, np.ones((1, data.d))])
    noise = np.append(1.0 / class_weights(data.sizes, data.d), 0.0)
    return signs, np.concatenate([data.odd, data.delta[None]]), noise


def _root_mean_square(columns: Floats) -> Floats:
    """Root mean square of each column; 1 where it is 0."""
    magnitudes = np.sqrt((columns**2).mean(axis=0))
    return np.where(magnitudes == 0.0, 1.0, magnitudes)
