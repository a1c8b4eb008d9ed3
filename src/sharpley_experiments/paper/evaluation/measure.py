"""One cell: a line of a figure for one data set, experiment and trial, at all its numbers of orderings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sharpley import METHODS
from sharpley._support.typing import Floats
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.paper.constants import CURVE_SIZES
from sharpley_experiments.paper.evaluation.castro import castro
from sharpley_experiments.paper.evaluation.counting import estimate_every_time
from sharpley_experiments.paper.evaluation.games import CurveGames, curve_games
from sharpley_experiments.paper.evaluation.series import (
    CASTRO,
    CODE_SUFFIX,
    EARLIER_ESTIMATORS,
    SAMPLERS_OF_SEQUENCES,
    SAMPLERS_OF_SETS,
    WITHOUT_ORDERINGS,
    evaluations,
    fewest_evaluations,
    marginals,
    most_orderings,
)


def measure(
    *,
    kind: str,
    dataset: str,
    experiment: int,
    series: str,
    trial: int,
    largest: int,
    rows: int,
    background: int,
    n_train: int,
    data: str | None,
    folder: str,
    only_largest: int = 0,
    data_rows: int = 0,
    made_with: str = "",
) -> list[dict[str, Any]]:
    """Errors of one trial; estimates themselves where the Shapley values are not known.

    The last two do nothing but make other cells of other data, models or methods.
    """
    games = curve_games(kind, dataset, experiment, rows, background, n_train, data, folder)
    most = min(largest, most_orderings(series, games.d))
    sizes = [largest] if only_largest else [n for n in CURVE_SIZES if n <= most]
    seed = np.random.SeedSequence([experiment, trial, *series.encode()])
    return [_row(games, n, estimate) for n, estimate in _estimates(games, series, seed, sizes)]


def _row(games: CurveGames, n: int, estimate: Floats) -> dict[str, Any]:
    row: dict[str, Any] = {"n": n}
    if games.exact is not None:
        return {**row, "mse": float(((estimate - games.exact) ** 2).mean())}
    return {**row, "estimate": [float(f"{value:.8g}") for value in estimate.reshape(-1)]}


def _estimates(
    games: CurveGames, series: str, seed: np.random.SeedSequence, sizes: list[int]
) -> Iterator[tuple[int, Floats]]:
    """Shapley values (rows, d) at every number of orderings."""
    if series in SAMPLERS_OF_SEQUENCES:
        yield from _nested(games, series, seed, sizes)
        return
    for n, child in zip(sizes, seed.spawn(len(sizes)), strict=True):
        if series in SAMPLERS_OF_SETS:
            sampler = SAMPLERS_OF_SETS[series](games.d, rng=child)
            yield n, games.contributions(sampler.random(n)).mean(axis=1)
        elif (found := _estimated(games, series, n, child)) is not None:
            yield n, found


def _nested(
    games: CurveGames, series: str, seed: np.random.SeedSequence, sizes: list[int]
) -> Iterator[tuple[int, Floats]]:
    """Draw and evaluate the longest sequence once; the others are its beginnings."""
    if not sizes:
        return
    sampler = SAMPLERS_OF_SEQUENCES[series](games.d, rng=seed)
    orderings = sampler.random(sizes[-1])
    contributions = games.contributions(orderings)
    for n in sizes:
        yield n, np.einsum("n,rnd->rd", sampler.weights(orderings[:n]), contributions[:, :n])


def _estimated(games: CurveGames, series: str, n: int, seed: np.random.SeedSequence) -> Floats | None:
    """None where the number of evaluations is too small for the method, or as large as that of all coalitions."""
    budget, method = evaluations(series, n, games.d), series.removesuffix(CODE_SUFFIX)
    if method in WITHOUT_ORDERINGS:
        if budget < fewest_evaluations(series, games.d):
            return None
        if method == CASTRO:
            return castro(games.games, marginals(series, n, games.d), np.random.default_rng(seed))
        return estimate_every_time(games.games, EARLIER_ESTIMATORS[method], budget, seed)
    if budget < METHODS[series].least_budget(games.d) or budget >= 2**games.d:
        return None
    return estimated(games.games, series, budget, seed).values
