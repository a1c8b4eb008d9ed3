"""What is computed once for a background and used by every explanation: its predictions, and what derives from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Floats
from sharpley.games.base import Kept
from sharpley.games.noisy import NOISE

Predict: TypeAlias = Callable[[NDArray[np.int64]], Floats]
"""Returns the predictions for background rows, given by their numbers: (n,) -> (n, k)."""

REPEATED_ROWS = 4  # background rows that are predicted twice, to notice models that are random


class RandomModelWarning(RuntimeWarning):
    """Warning that two predictions of the model for the same row differ.

    Examples
    --------
    >>> import warnings, sharpley
    >>> warnings.simplefilter("error", sharpley.RandomModelWarning)  # stop if the model is random
    """


class KnownBackground:
    """Predictions for the rows of a background, computed when they are first needed, and kept.

    Parameters
    ----------
    watch : bool, default True
        Whether to predict a few of the rows again for every game, and to forget everything if the model has changed
        since: it may have been fitted again.

    Attributes
    ----------
    kept : Kept
        What estimators derived from the background.
    exact : object
        The model in closed form, if it has one, which is compared with the model in every call.
    """

    def __init__(self, *, watch: bool = True) -> None:
        self._watch = watch
        self._predictions: Floats | None = None
        self.kept = Kept()
        self.exact: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "exact": None}  # read again where it is needed: it is large, and quickly made

    def predictions(self, n: int, predict: Predict, name: str) -> Floats:
        """Return the predictions for all n background rows, (n, k); ``name`` is that of the model in the warning."""
        some = np.unique(np.linspace(0, n - 1, REPEATED_ROWS).astype(np.int64))
        if self._predictions is not None and not (
            self._watch and _differ(self._predictions, some, predict(some)).any()
        ):
            return self._predictions
        self._predictions = predict(np.arange(n))
        _warn_if_random(self._predictions, some, predict(some), name)
        return self._predictions


def _differ(predictions: Floats, rows: NDArray[np.int64], again: Floats) -> NDArray[np.bool_]:
    """Return which of the predictions for some rows differ from those that were made again, (rows, k)."""
    if predictions.shape[1] != again.shape[1]:
        return np.ones(again.shape, dtype=bool)
    first = predictions[rows]
    return np.asarray(np.abs(first - again) > NOISE * np.maximum(np.ptp(predictions), np.abs(first)))


def _warn_if_random(predictions: Floats, rows: NDArray[np.int64], again: Floats, name: str) -> None:
    differ = _differ(predictions, rows, again)
    if not differ.any():
        return
    row, output = np.argwhere(differ)[0]
    warnings.warn(
        f"{name} is random: for background row {rows[row]} it returned {predictions[rows[row], output]:.6g} and then "
        f"{again[row, output]:.6g}. Switch it to its evaluation mode or fix its seed; otherwise the error bars "
        "include its noise only in part",
        RandomModelWarning,
        stacklevel=stacklevel_outside(),
    )
