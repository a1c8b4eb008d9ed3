"""Error, coverage and own time of ``gp`` for the same rows, explained in calls of 10 to 10,000 rows.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.gp_rows --data ../shared/data --out docs/results/gp_rows.md

XGBoost models, 100 background rows, exact values in closed form. The first rows of each data set are explained in calls
of 10 and of 40 of them, and together with further rows. "error" is the mean squared error of these rows, divided by the
mean of their φ²; "ratio" compares it with calls of 10 rows, with a 95% bootstrap interval over blocks of ten rows and
seeds; "coverage" is that of 95% intervals. Time is processor time for all rows of the calls, with the games of trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.games import TreeGame
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import choose_rows, train_xgboost
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

BLOCK = 10  # rows in the smallest calls
BACKGROUND = 100


class Case(NamedTuple):
    """A data set, a budget, and the calls in which its first rows are explained."""

    name: str
    budget: int
    n_judged: int
    """Number of rows whose errors are compared, a multiple of ``BLOCK``."""
    sizes: tuple[int, ...]
    """Numbers of rows in a call, of which the first is ``BLOCK``."""
    n_seeds: int


CASES = (
    Case("cal_housing", 102, 120, (10, 40, 200, 1000, 10_000), 4),
    Case("bank", 322, 120, (10, 40, 200, 1000), 4),
    Case("breast_cancer", 602, 120, (10, 40, 200, 469), 2),  # the data set has 569 rows, 100 of them the background
    Case("breast_cancer", 1502, 120, (10, 40, 200, 469), 2),
    Case("adult", 1072, 40, (10, 40, 200), 1),
)
QUICK_CASES = (Case("make_regression", 102, 20, (10, 110), 2),)
COLUMNS = ("data set", "d", "evaluations", "rows in a call", "error", "ratio", "coverage", "ms a row")


class Problem(NamedTuple):
    """A model, its background, the rows that it is explained for, and their exact Shapley values."""

    model: Any
    background: Floats
    rows: Floats
    exact: Floats
    """Shapley values, (r, d)."""


class Outcome(NamedTuple):
    """What was measured with calls of one size."""

    errors: Floats
    """Mean squared error of each block of rows with each seed, (blocks · seeds,)."""
    coverage: float
    seconds: float
    """Processor seconds for a row."""


def make_problem(case: Case, data: Path) -> Problem:
    """Train a model, and compute the Shapley values of its rows."""
    dataset = load(case.name, data)
    model = train_xgboost(dataset)
    rows, background = choose_rows(dataset, rows=max(case.sizes), background=BACKGROUND)
    judged = TreeGame(model, background, rows[: case.n_judged])
    return Problem(model, background, rows, judged.shapley_values())


def measure(problem: Problem, case: Case, size: int) -> Outcome:
    """Explain the judged rows in calls of ``size`` rows, together with others if there are fewer of them."""
    errors, covered, seconds, n_rows = [], [], 0.0, 0
    for start in range(0, case.n_judged, size):
        explained = problem.rows[start : start + size]
        game = TreeGame(problem.model, problem.background, explained)
        judged = min(size, case.n_judged - start)
        for seed in range(case.n_seeds):
            began = process_time()
            found = estimated(game, "gp", case.budget, seed, draws="shared")
            seconds, n_rows = seconds + process_time() - began, n_rows + len(explained)
            off = found.values[:judged] - problem.exact[start : start + judged]
            errors.append((off**2).reshape(judged // BLOCK, -1).mean(axis=1))
            low, high = found.interval(0.95)
            covered.append(np.abs(off) <= ((high - low) / 2.0)[:judged] + 1e-9)
    scale = float((problem.exact**2).mean())
    return Outcome(np.concatenate(errors) / scale, float(np.concatenate(covered).mean()), seconds / n_rows)


def lines_of(case: Case, data: Path) -> Iterator[str]:
    """Yield a line of the table for every size of the calls."""
    problem = make_problem(case, data)
    d = problem.exact.shape[1]
    alone = measure(problem, case, BLOCK)
    for size in case.sizes:
        found = alone if size == BLOCK else measure(problem, case, size)
        ratio = bootstrap_ratio(found.errors, alone.errors)
        interval = "1" if size == BLOCK else f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
        numbers = f"{found.errors.mean():.1e}", interval, f"{found.coverage:.3f}", f"{1e3 * found.seconds:.1f}"
        yield markdown_row([case.name, d, f"{case.budget:,}", f"{size:,}", *numbers])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one small case")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="data sets to measure (default: all)")
    options = parser.parse_args(arguments)
    lines = markdown_head(COLUMNS)
    print("\n".join(lines), flush=True)
    for case in QUICK_CASES if options.quick else CASES:
        if options.only is None or case.name in options.only:
            for line in lines_of(case, options.data):
                lines.append(line)
                print(line, flush=True)
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
