"""Shared draws or own draws: where each has the lower error at the same number of predictions, and what "auto" does.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.draws_rule --data ../shared/data --out docs/results

XGBoost models, exact values in closed form. (m d + 2)·N predictions for each row pay for m d + 2 coalitions on all N
background rows, by "gp", or for antithetic pairs of orderings, each with a background row of its own. The table has the
ratio of the mean squared errors, own draws divided by shared ones: below 1, own draws are better. Cells in which "auto"
chooses own draws are bold. "equal at" is the m at which both have the same error, by interpolation. The file
``draws_rule.csv`` has the errors and 95% bootstrap intervals of the ratios over rows and seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley.engine.auto import NEARLY_ALL, Problem, resolve
from sharpley.games import TreeGame
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import choose_rows, margin, train_xgboost
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.studies.common import (
    add_data_option,
    add_out_option,
    bootstrap_ratio,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

ALL_MULTIPLES = (5, 8, 12, 16, 20, 25, 30, 40)


class Case(NamedTuple):
    """A model, and the budgets that are compared."""

    name: str
    n_background: int
    multiples: tuple[int, ...] = ALL_MULTIPLES
    n_rows: int = 6
    n_seeds: int = 3


CASES = (
    *(Case("make_regression", n) for n in (30, 100, 300)),
    *(Case("bank", n) for n in (30, 100, 300)),
    *(Case("breast_cancer", n, n_seeds=2) for n in (30, 100, 300)),
    Case("year", 100, (5, 10, 20), 3, 1),
    Case("adult", 100, (5, 10, 20), 3, 1),
)
QUICK_CASES = (Case("make_regression", 50, (5, 12), 2, 2),)


class Cell(NamedTuple):
    """What was measured with one budget."""

    name: str
    d: int
    n_background: int
    multiple: int
    shared: float
    own: float
    ratio: float
    low: float
    high: float
    auto_owns: bool


def cells_of(case: Case, data: Path) -> Iterator[Cell]:
    """Yield what was measured, for every budget that does not pay for nearly all coalitions."""
    dataset = load(case.name, data)
    model = train_xgboost(dataset)
    rows, background = choose_rows(dataset, rows=case.n_rows, background=case.n_background, seed=SEED)
    trees, d = TreeGame(model, background, rows), rows.shape[1]
    games, exact = sharpley.MarginalGame(margin(model), background, rows), trees.shapley_values()
    for multiple in case.multiples:
        evals = multiple * d + 2
        if NEARLY_ALL * evals >= 2**d:
            continue
        predictions = evals * len(background)
        shared, own = [], []
        for seed in range(case.n_seeds):
            shared.append(_errors(estimated(trees, "gp", evals, seed), exact))
            of_own = estimated(games, "antithetic", None, seed, draws="own", max_predictions=predictions)
            own.append(_errors(of_own, exact))
        ratio = bootstrap_ratio(np.concatenate(own), np.concatenate(shared))
        problem = Problem(d, evals, len(rows), len(background))
        owns = resolve("auto", problem, unbiased=False).own_draws
        yield Cell(
            *(case.name, d, len(background), multiple, float(np.mean(shared)), float(np.mean(own))),
            *(*ratio, owns),
        )


def _errors(found: sharpley.ShapleyEstimate, exact: Floats) -> Floats:
    """Return the squared error of each row, divided by the mean square of all values."""
    return np.asarray(((found.values - exact) ** 2).mean(axis=1) / (exact**2).mean())


def crossover(cells: Sequence[Cell]) -> str:
    """Return the m at which the ratio becomes 1, interpolated between logarithms."""
    logs = [float(np.log(cell.ratio)) for cell in cells]
    for before, after, low, high in zip(cells, cells[1:], logs, logs[1:], strict=False):
        if low < 0 <= high:
            share = -low / (high - low)
            return f"{np.exp((1 - share) * np.log(before.multiple) + share * np.log(after.multiple)):.0f}"
    return f"> {cells[-1].multiple}" if logs[-1] < 0 else f"< {cells[0].multiple}"


def line(cells: Sequence[Cell], multiples: Sequence[int]) -> str:
    """Return one line of the table: the ratios of one model."""
    by_multiple = {cell.multiple: f"**{cell.ratio:.2f}**" if cell.auto_owns else f"{cell.ratio:.2f}" for cell in cells}
    first = cells[0]
    ratios = [by_multiple.get(multiple, "") for multiple in multiples]
    return markdown_row([first.name, first.d, first.n_background, *ratios, crossover(cells)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    import pandas as pd

    parser = study_parser(__doc__, quick="one small case")
    add_data_option(parser)
    add_out_option(parser, Path("draws_rule"), "folder for the table and all errors")
    options = parser.parse_args(arguments)
    cases = QUICK_CASES if options.quick else CASES
    multiples = sorted({multiple for case in cases for multiple in case.multiples})
    lines = markdown_head(["data set", "d", "background", *(f"m = {m}" for m in multiples), "equal at"])
    print("\n".join(lines), flush=True)
    found: list[Any] = []
    for case in cases:
        cells = list(cells_of(case, options.data))
        found += cells
        lines.append(line(cells, multiples))
        print(lines[-1], flush=True)
    write_lines(options.out / "draws_rule.md", lines)
    table = pd.DataFrame(found, columns=Cell._fields)
    table.to_csv(options.out / "draws_rule.csv", index=False, float_format="%.3g", lineterminator="\n")


if __name__ == "__main__":
    main()
