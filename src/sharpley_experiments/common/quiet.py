"""Estimates without a progress bar, and without a note that they take longer than the game, which is known."""

from __future__ import annotations

import warnings

import numpy as np

from sharpley.engine.rows import estimate_rows
from sharpley.engine.settings import make_settings
from sharpley.engine.timing import EstimatorTimeWarning
from sharpley.protocols import RowGames
from sharpley.result import ShapleyEstimate


def estimated(
    games: RowGames, method: str, max_evals: int, rng: int | np.random.SeedSequence, *, unbiased: bool = False
) -> ShapleyEstimate:
    """Estimate all rows by a method."""
    settings = make_settings(method, max_evals, None, rng, progress=False, unbiased=unbiased)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimatorTimeWarning)
        return estimate_rows(games, settings)
