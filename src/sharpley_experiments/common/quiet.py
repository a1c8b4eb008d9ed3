"""Estimates without a progress bar, and without warnings that they take long, which is known."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import sharpley
from sharpley.engine.methods import AnyMethod
from sharpley.engine.options import Draws


@contextmanager
def without_time_warnings() -> Iterator[None]:
    """Do not warn of long runs, or of estimators that take longer than the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sharpley.EstimatorTimeWarning)
        warnings.simplefilter("ignore", sharpley.LongRunWarning)
        yield


def estimated(
    games: sharpley.Games,
    method: AnyMethod,
    max_evals: int | None,
    rng: int | np.random.SeedSequence,
    *,
    draws: Draws = "auto",
    max_predictions: int | None = None,
    unbiased: bool = False,
) -> sharpley.ShapleyEstimate:
    """Estimate the Shapley values of all games by a method."""
    with without_time_warnings():
        return sharpley.estimate(
            games,
            method=method,  # type: ignore[arg-type]
            max_evals=max_evals,
            rng=rng,
            draws=draws,
            max_predictions=max_predictions,
            unbiased=unbiased,
            progress=False,
        )
