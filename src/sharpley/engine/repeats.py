"""Notice of functions that return different values for the same coalition."""

from __future__ import annotations

import warnings

import numpy as np

from sharpley._support.checks import stacklevel_outside
from sharpley.engine.evaluation import Evaluation
from sharpley.games.marginal.known import ROUNDING
from sharpley.games.noisy import NoisyGameWarning


def warn_if_noisy(evaluation: Evaluation) -> None:
    """Evaluate a coalition of about half of the players once more, and warn if its value has changed.

    The values of ∅ and N are often not random when all others are, as where absent features are drawn at random.
    """
    coalitions = evaluation.store.since(0)
    position = int(np.abs(coalitions.sum(axis=1) - evaluation.store.d / 2.0).argmin())
    known = (evaluation.values * evaluation.units)[0]
    value, again = known[position], evaluation.again(position)
    size = np.where(np.ptp(known, axis=0) > 0, np.ptp(known, axis=0), np.abs(value))
    differs = np.flatnonzero(np.abs(again - value) > ROUNDING * size)
    if len(differs):
        output = differs[0]
        warnings.warn(
            f"the game is noisy: for the same coalition, of {int(coalitions[position].sum())} of "
            f"{evaluation.store.d} players, it returned {value[output]:.6g} and then {again[output]:.6g}. Standard "
            "errors of one value for each coalition may be too small, and are 0 if all coalitions were evaluated; "
            "sharpley.estimate(sharpley.games.NoisyGame(function, d)) has standard errors that include the noise",
            NoisyGameWarning,
            stacklevel=stacklevel_outside(),
        )
