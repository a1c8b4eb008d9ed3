"""Values of games at chosen pairs, normalised to a root mean square of 1."""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import ROUNDING
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import class_weights


def normalised(data: PairData) -> tuple[PairData, Floats]:
    """Normalise games.

    Returns
    -------
    PairData
        Odd values divided by their root mean square, and even values, centred and divided by theirs.
    (g,) float
        The root mean squares that the odd values were divided by.
    """
    magnitudes = _root_mean_square(np.concatenate([data.odd, data.delta[None]]))
    even = data.even - data.even.mean(axis=0)
    # An even part that is nothing but rounding has nothing to tell.
    even[:, np.abs(even).max(axis=0, initial=0.0) < ROUNDING * np.abs(data.odd).max(axis=0, initial=0.0)] = 0.0
    unit = PairData(data.signs, data.odd / magnitudes, even / _root_mean_square(even), data.delta / magnitudes)
    return unit, magnitudes


def with_full_coalition(data: PairData) -> tuple[Floats, Floats, Floats]:
    """Return coalitions (n+1, d), odd values (n+1, g) and inverse weights (n+1,) of n pairs and the full coalition.

    The full coalition is last. Its value is exact, and its inverse weight, which multiplies the noise, is 0.
    """
    signs = np.concatenate([data.signs, np.ones((1, data.d))])
    noise = np.append(1.0 / class_weights(data.sizes, data.d), 0.0)
    return signs, np.concatenate([data.odd, data.delta[None]]), noise


def _root_mean_square(columns: Floats) -> Floats:
    """Return the root mean square of each column, (g,); 1 where it is 0."""
    magnitudes = np.sqrt((columns**2).mean(axis=0))
    return np.where(magnitudes == 0.0, 1.0, magnitudes)
