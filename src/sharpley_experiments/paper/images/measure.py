"""One cell: the Shapley values of one image by one method in one trial."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sharpley import METHODS
from sharpley._support.typing import Floats
from sharpley.engine.auto import Problem, choose
from sharpley.engine.evaluation import walk_contributions
from sharpley.games import TileGame
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.paper.evaluation.series import SAMPLERS_OF_SEQUENCES, SAMPLERS_OF_SETS
from sharpley_experiments.paper.images.networks import load_classifier
from sharpley_experiments.paper.images.photographs import load_photographs


@lru_cache(maxsize=1)  # cells come sorted by image: a process makes each once
def image_game(network: str, photographs: str, count: int, image: int, tile: int, data: str | None) -> TileGame:
    """Return the game of a photograph: log-odds of the class that the network predicts, absent tiles black."""
    classifier = load_classifier(network, data)
    pixels = load_photographs(photographs, count, data)[image].pixels
    return TileGame(
        classifier.model, pixels, tile=tile, class_names=classifier.class_names, transform=classifier.transform
    )


def measure(
    *,
    network: str,
    photographs: str,
    count: int,
    image: int,
    tile: int,
    n: int,
    series: str,
    trial: int,
    data: str | None,
    photograph: str = "",
    made_with: str = "",
) -> list[dict[str, Any]]:
    """Estimate of one trial. The last two do nothing but make other cells of other images, methods and networks."""
    game = image_game(network, photographs, count, image, tile, data)
    values = _estimate(game, series, n, np.random.SeedSequence([trial, image, *series.encode()]))
    return [] if values is None else [{"d": game.d, "estimate": [float(f"{value:.6g}") for value in values]}]


def _estimate(game: TileGame, series: str, n: int, seed: np.random.SeedSequence) -> Floats | None:
    """Shapley values (d,) from n orderings, or from as many evaluations; None where a method would take too long."""
    if series in SAMPLERS_OF_SEQUENCES or series in SAMPLERS_OF_SETS:
        sampler = {**SAMPLERS_OF_SEQUENCES, **SAMPLERS_OF_SETS}[series](game.d, rng=seed)
        orderings = sampler.random(n)
        return np.asarray(np.einsum("n,nd->d", sampler.weights(orderings), walk_contributions(game, orderings)[0, 0]))
    budget = n * (game.d - 1) + 2
    too_long = series == "gp" and choose(Problem(game.d, budget)) not in ("gp", "exact")
    if too_long or budget < METHODS[series].least_budget(game.d):
        return None
    return estimated(game, series, budget, seed).values[0]
