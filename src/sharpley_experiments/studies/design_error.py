"""Mean squared errors of Shapley values from orderings: designs compared with every other sampler, on six data sets.

    python -m sharpley_experiments.studies.design_error --data ../shared/data --out docs/results

XGBoost with default settings (100 rounds, log-odds for classes), 100 background rows, 10 explained rows, and exact
values in closed form. Every method gets the same number n of orderings, all in one sample (no replicates). Herding
and SBQ draw fresh candidates for every seed. A second table compares variants of designs. Intervals are 95% bootstrap
intervals of the mean over seeds. A run takes half an hour on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from sharpley import SAMPLERS, Orthogonal, PermutationDesign
from sharpley._support.typing import Floats, Orderings
from sharpley.games import TreeGame
from sharpley.samplers.greedy import GreedySampler
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import train_xgboost
from sharpley_experiments.studies.common import (
    DATA_SETS,
    QUICK_DATA_SETS,
    add_data_option,
    add_out_option,
    bootstrap_mean,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)
from sharpley_experiments.studies.design_error_report import METHODS, Line, draw, read_csv, table, write_csv
from sharpley_experiments.studies.design_internals import design_without_negatives

SIZES, SIZES_OF_VARIANTS = (10, 32, 100, 316, 1000), (10, 100)
"""Numbers of orderings."""

N_ROWS, N_BACKGROUND = 10, 100
SEEDS, QUICK_SEEDS = 25, 2
VARIANTS: dict[str, Callable[[int, int, np.random.Generator], Orderings]] = {
    "orthogonal": lambda d, n, rng: Orthogonal(d, rng=rng).random(n),
    "design": lambda d, n, rng: PermutationDesign(d, rng=rng).random(n),
    "paired": lambda d, n, rng: PermutationDesign(d, paired=True, rng=rng).random(n),
    "without negatives": lambda d, n, rng: rng.permutation(d)[design_without_negatives(d, n)],
    "nested": lambda d, n, rng: PermutationDesign(d, nested=True, rng=rng).random(n),
    "nested pairs": lambda d, n, rng: PermutationDesign(d, nested=True, paired=True, rng=rng).random(n),
    "scale 1": lambda d, n, rng: PermutationDesign(d, scale=1.0, rng=rng).random(n),
    "scale 2": lambda d, n, rng: PermutationDesign(d, scale=2.0, rng=rng).random(n),
    "scale 8": lambda d, n, rng: PermutationDesign(d, scale=8.0, rng=rng).random(n),
    "scale 16": lambda d, n, rng: PermutationDesign(d, scale=16.0, rng=rng).random(n),
}
"""Samples of n orderings of d players; errors are divided by those of the first."""

REFERENCE, *COMPARED = VARIANTS


def make_game(name: str, data: Path) -> TreeGame:
    """Return the games of ten rows of a data set, explained by XGBoost against 100 background rows.

    Rows are not chosen by ``models.choose_rows``, which would choose others and so change the published numbers: here
    the background and the explained rows are drawn one after the other, and may overlap.
    """
    dataset = load(name, data)
    rng = np.random.default_rng(0)
    background, rows = (dataset.X[rng.choice(len(dataset.X), n, replace=False)] for n in (N_BACKGROUND, N_ROWS))
    return TreeGame(train_xgboost(dataset), background, rows)


def errors(game: TreeGame, exact: Floats, method: str, seed: int) -> list[float]:
    """Return the mean squared error at each of ``SIZES``; nested samples are evaluated once, to the largest size."""
    if method == "design":
        design = PermutationDesign(game.d, rng=seed)
        means = [game.contributions(design.random(n)).mean(axis=1) for n in SIZES]
    else:
        options: dict[str, Any] = {"fresh": True} if issubclass(SAMPLERS[method], GreedySampler) else {}
        sampler = SAMPLERS[method](game.d, rng=seed, **options)
        orderings = sampler.random(max(SIZES))
        contributions = game.contributions(orderings)
        weights = [sampler.weights(orderings[:n]) for n in SIZES]
        means = [np.einsum("n,rnd->rd", w, contributions[:, : len(w)]) for w in weights]
    return [float(((mean - exact) ** 2).mean()) for mean in means]


def measure(name: str, game: TreeGame, n_seeds: int) -> list[Line]:
    """Measure all methods on the games of a data set."""
    lines = []
    exact = game.shapley_values()
    for method in METHODS:
        runs = [errors(game, exact, method, seed) for seed in track(range(n_seeds), description=f"{name} {method}")]
        for n, values in zip(SIZES, np.array(runs).T, strict=True):
            lines.append(Line(name, game.d, n, method, bootstrap_mean(values)))
    return lines


def compare_variants(name: str, game: TreeGame, n_seeds: int) -> list[str]:
    """Compare variants of designs on the games of a data set, and return a line of the table for each size."""
    exact = game.shapley_values()
    lines = []
    for n in SIZES_OF_VARIANTS:
        mse = {
            variant: _variant_error(game, exact, variant, n, n_seeds)
            for variant in track(VARIANTS, description=f"{name} variants")
        }
        lines.append(markdown_row([name, game.d, n, *(f"{mse[variant] / mse[REFERENCE]:.2f}" for variant in COMPARED)]))
    return lines


def _variant_error(game: TreeGame, exact: Floats, variant: str, n: int, n_seeds: int) -> float:
    samples = [VARIANTS[variant](game.d, n, np.random.default_rng(seed)) for seed in range(n_seeds)]
    return float(np.mean([(game.contributions(sample).mean(axis=1) - exact) ** 2 for sample in samples]))


def run(data: Path, out: Path, names: Iterable[str], n_seeds: int) -> None:
    """Measure methods and variants on data sets, and write ``design_error.csv`` and the table of variants."""
    lines: list[Line] = []
    variants: list[str] = []
    for name in names:
        game = make_game(name, data)
        lines += measure(name, game, n_seeds)
        variants += compare_variants(name, game, n_seeds)
    write_csv(out / "design_error.csv", lines)
    write_lines(out / "design_variants_error.md", [*markdown_head(["data set", "d", "n", *COMPARED]), *variants])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="two seeds on generated data")
    add_data_option(parser)
    add_out_option(parser, Path("docs/results"), "folder to write to")
    parser.add_argument("--redraw", action="store_true", help="only make the table and the picture from the CSV file")
    options = parser.parse_args(arguments)
    names, n_seeds = (QUICK_DATA_SETS, QUICK_SEEDS) if options.quick else (DATA_SETS, SEEDS)
    if not options.redraw:
        run(options.data, options.out, names, n_seeds)
    lines = read_csv(options.out / "design_error.csv")
    draw(lines).savefig(options.out / "design_error.png", dpi=110)
    write_lines(options.out / "design_error.md", table(lines, n_seeds))


if __name__ == "__main__":
    main()
