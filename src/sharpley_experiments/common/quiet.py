"""Estimates without a progress bar, and without the warning that they take longer than the game, which is known."""

from __future__ import annotations

import warnings

import numpy as np

import sharpley
from sharpley.engine.methods import AnyMethod


def estimated(
    games: sharpley.Games, method: AnyMethod, max_evals: int, rng: int | np.random.SeedSequence
) -> sharpley.ShapleyEstimate:
    """Estimate the Shapley values of all games by a method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sharpley.EstimatorTimeWarning)
        return sharpley.estimate(games, method=method, max_evals=max_evals, rng=rng, progress=False)  # type: ignore[arg-type]
