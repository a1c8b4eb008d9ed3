"""Shared draws or own draws: where each has the lower error at the same number of predictions, and what "auto" does.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.draws_rule --data ../shared/data --out docs/results

XGBoost models, exact values in closed form. (m d + 2)·N predictions for each row pay for m d + 2 coalitions on all N
background rows, by "gp", for antithetic pairs of orderings, each with a background row of its own, or for other
coalitions in every background row, by "regression". The table has the mean squared errors of the last two, divided by
that of the first: below 1, own draws are better. What "auto" chooses is bold; where nothing is, it is "gp". The file
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
from sharpley.engine.methods import as_method
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

ALL_MULTIPLES = (4, 5, 8, 12, 16, 20, 25, 30, 40)
OWN = {"antithetic": "orderings", "regression": "coalitions"}
"""Methods with own draws, and what has draws of its own."""


class Case(NamedTuple):
    """A model, and the budgets that are compared."""

    name: str
    n_background: int
    multiples: tuple[int, ...] = ALL_MULTIPLES
    n_rows: int = 6
    n_seeds: int = 2


CASES = (
    *(Case("make_regression", n) for n in (30, 100, 300)),
    *(Case("bank", n) for n in (30, 100, 300)),
    *(Case("breast_cancer", n) for n in (30, 100, 300)),
    Case("year", 100, (5, 12, 20), 3, 1),
    Case("adult", 100, (5, 12, 20), 3, 1),
)
QUICK_CASES = (Case("make_regression", 50, (5, 12), 2, 2),)


class Cell(NamedTuple):
    """What was measured with one budget and one way to use own draws."""

    name: str
    d: int
    n_background: int
    multiple: int
    own: str
    error: float
    shared: float
    """Error of "gp" with shared draws."""
    ratio: float
    low: float
    high: float
    coverage: float

    @property
    def is_chosen(self) -> bool:
        """Whether "auto" chooses it."""
        problem = Problem(self.d, self.multiple * self.d + 2, draws=self.n_background)
        auto = resolve(as_method("auto"), problem, unbiased=False)
        return auto.own_draws and OWN[auto.method.name] == self.own


def cells_of(case: Case, data: Path) -> Iterator[Cell]:
    """Yield what was measured, for every budget that does not pay for nearly all coalitions."""
    dataset = load(case.name, data)
    model = train_xgboost(dataset)
    rows, background = choose_rows(dataset, rows=case.n_rows, background=case.n_background, seed=SEED)
    trees, d = TreeGame(model, background, rows), rows.shape[1]
    games, exact = sharpley.MarginalGame(margin(model), background, rows), trees.shapley_values()
    varying, seeds = games.varying(), range(case.n_seeds)
    for multiple in case.multiples:
        evals = multiple * d + 2
        if NEARLY_ALL * evals >= 2**d:
            continue
        shared = np.concatenate([_errors(estimated(trees, "gp", evals, seed), exact) for seed in seeds])
        for method, own in OWN.items():
            budget = evals * len(background)
            found = [estimated(games, method, None, seed, draws="own", max_predictions=budget) for seed in seeds]
            errors = np.concatenate([_errors(one, exact) for one in found])
            ratio = bootstrap_ratio(errors, shared)
            yield Cell(
                *(case.name, d, len(background), multiple, own, float(errors.mean()), float(shared.mean())),
                *(*ratio, float(np.mean([_coverage(one, exact, varying) for one in found]))),
            )


def _coverage(found: sharpley.ShapleyEstimate, exact: Floats, varying: Any) -> float:
    """Return the share of the 95% intervals that contain the exact value."""
    low, high = found.interval(0.95)
    return float(((low <= exact) & (exact <= high))[varying].mean())


def _errors(found: sharpley.ShapleyEstimate, exact: Floats) -> Floats:
    """Return the squared error of each row, divided by the mean square of all values."""
    return np.asarray(((found.values - exact) ** 2).mean(axis=1) / (exact**2).mean())


def line(cells: Sequence[Cell], multiples: Sequence[int]) -> str:
    """Return one line of the table: the ratios of one model."""
    by_multiple = {cell.multiple: _bold(f"{cell.ratio:.2f}", cell.is_chosen) for cell in cells}
    first = cells[0]
    ratios = [by_multiple.get(multiple, "") for multiple in multiples]
    coverage = f"{min(cell.coverage for cell in cells):.2f} to {max(cell.coverage for cell in cells):.2f}"
    return markdown_row([first.name, first.d, first.n_background, first.own, *ratios, coverage])


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def table_of(cells: Sequence[Cell]) -> list[str]:
    """Return the table: two lines for every model and background."""
    multiples = sorted({cell.multiple for cell in cells})
    columns = ["data set", "d", "background", "own", *(f"m = {m}" for m in multiples), "coverage"]
    lines = markdown_head(columns)
    groups = dict.fromkeys((cell.name, cell.n_background, cell.own) for cell in cells)
    for group in groups:
        lines.append(line([cell for cell in cells if (cell.name, cell.n_background, cell.own) == group], multiples))
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    import pandas as pd

    parser = study_parser(__doc__, quick="one small case")
    add_data_option(parser)
    add_out_option(parser, Path("draws_rule"), "folder for the table and all errors")
    parser.add_argument("--table", type=Path, help="draws_rule.csv of an earlier run, to write the table from")
    options = parser.parse_args(arguments)
    cells: list[Cell] = []
    if options.table is not None:
        earlier = pd.read_csv(options.table)[list(Cell._fields)]
        cells = [Cell(*values) for values in earlier.itertuples(index=False)]
    else:
        for case in QUICK_CASES if options.quick else CASES:
            cells += cells_of(case, options.data)
            print("\n".join(table_of(cells)[-len(OWN) :]), flush=True)
    write_lines(options.out / "draws_rule.md", table_of(cells))
    table = pd.DataFrame(cells, columns=Cell._fields)
    table.to_csv(options.out / "draws_rule.csv", index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    main()
