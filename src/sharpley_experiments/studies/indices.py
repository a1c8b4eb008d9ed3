"""How indices other than Shapley values are best sampled, at equal evaluations.

    python -m sharpley_experiments.studies.indices --out docs/results/indices.md

"owen" draws q from the measure of the index, "owen-halved" each coalition with its complement, too. Contributions along
antithetic or orthogonal orderings, weighted by how often the index would have the player enter at that position, are
the alternative for single players. Errors are mean squared errors over those of "owen", over the components of the
largest sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import CallableGame, UnanimitySum, WeightedVoting
from sharpley.indices import Index, index_by_name
from sharpley.samplers import Antithetic, Orthogonal, Sampler
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines

MULTIPLES = {"banzhaf": 20, "beta(4, 1)": 20, "beta(16, 1)": 20, "SII": 50, "BII": 50}
"""Evaluations for each player, by index."""
WEIGHTED: dict[str, type[Sampler]] = {"weighted antithetic": Antithetic, "weighted orthogonal": Orthogonal}
SEEDS, BACKGROUND, ROW = 40, 30, 3


@cache
def games() -> dict[str, Floats]:
    """Return the values of all coalitions of each game."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.svm import SVR

    x, y = load_diabetes(return_X_y=True)
    models = {"forest": RandomForestRegressor(40, random_state=0), "support vectors": SVR(C=1000.0)}
    found = {
        name: sharpley.MarginalGame(model.fit(x, y).predict, x[:BACKGROUND], x[ROW : ROW + 1])(all_coalitions(10))
        for name, model in models.items()
    }
    found["sum of interactions"] = UnanimitySum.random(12, n_terms=40, max_order=4, rng=0)(all_coalitions(12))
    found["vote"] = WeightedVoting(tuple(range(1, 13)), quota=40)(all_coalitions(12))
    return found


def error(values: Floats, index: Index, method: Any, seed: int) -> float:
    """Return the mean squared error of a method on the game with these values, (2^d,)."""
    d = len(values).bit_length() - 1
    truth = index.of_all_values(values[None, :, None], d)[0, :, 0]
    budget = MULTIPLES[index.name] * d + 2
    if method in WEIGHTED:
        found = _weighted(values, index, WEIGHTED[method](d, rng=seed), budget)
    else:
        game = CallableGame(lambda coalitions: values[coalitions @ (1 << np.arange(d))], d)
        found = sharpley.estimate(game, index=index, method=method, max_evals=budget, rng=seed).values[0]
    largest = [position for position, label in enumerate(index.labels(d)) if len(label) == index.order]
    return float(np.mean((found - truth)[largest] ** 2))


def _weighted(values: Floats, index: Index, sampler: Sampler, budget: int) -> Floats:
    """Return mean contributions along orderings, weighted by position."""
    d = sampler.d
    orderings = sampler.random((budget - 2) // (d - 1) // 2 * 2)
    numbers = np.concatenate([np.zeros((len(orderings), 1), np.int64), np.cumsum(1 << orderings, axis=1)], axis=1)
    steps = np.diff(values[numbers], axis=1) * (d * index.measure.sizes(d - 1))
    return np.take_along_axis(steps, np.argsort(orderings, axis=1), axis=1).mean(axis=0)


def table(seeds: int) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = markdown_head(["game", "index", "evaluations", *WEIGHTED, "owen-halved"])
    for game, values in games().items():
        for name, multiple in MULTIPLES.items():
            index = index_by_name(name)
            able = list(WEIGHTED) if index.order == 1 else []
            able += ["owen-halved"] if sharpley.METHODS["owen-halved"].estimates(index) else []
            means = {
                method: np.mean([error(values, index, method, seed) for seed in range(seeds)])
                for method in ["owen", *able]
            }
            cells = [
                f"{means[each] / means['owen']:.2g}" if each in means else "–" for each in (*WEIGHTED, "owen-halved")
            ]
            lines.append(markdown_row([game, name, f"{multiple} d", *cells]))
            print(lines[-1], flush=True)
    return [f'Mean squared error divided by the error of "owen"; {seeds} seeds.', "", *lines]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="two seeds")
    add_out_option(parser, Path("indices.md"), "file for the table")
    options = parser.parse_args(arguments)
    write_lines(options.out, table(2 if options.quick else SEEDS))


if __name__ == "__main__":
    main()
