"""What a surrogate gains: errors, intervals and own time of own draws with ``surrogate="auto"`` and without.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.surrogates --data ../shared/data --out docs/results/surrogates.md

Both have (m d + 2)·100 predictions for each row. Errors are squared differences from the exact values for all
background rows, divided by the mean square of these; "ratio" is the error with a surrogate divided by that without,
with a 95% bootstrap interval over rows and seeds; "coverage" is that of 95% intervals; "own s" is the
processor time for a row outside the model, without a surrogate and with one.

Without a surrogate, 1/ratio times the predictions would have the same error. So a surrogate pays if one prediction
takes longer than "pays from": the additional own time divided by the predictions that are saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley.games import TreeGame
from sharpley.games.trees.closed_form import coded, tree_values
from sharpley.games.trees.regressors import read_regressor
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.models import choose_rows, margin, train_mlp, train_xgboost
from sharpley_experiments.common.quiet import without_time_warnings
from sharpley_experiments.common.timed import Timed
from sharpley_experiments.studies.common import (
    add_data_option,
    add_out_option,
    bootstrap_ratio,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

PREDICTIONS_PER_EVAL = 100
COLUMNS = (
    *("model", "data set", "d", "background", "m"),
    *("error without", "with", "ratio", "coverage without", "with", "own s without", "with", "pays from"),
)


class Case(NamedTuple):
    """A model, its background, and the budgets with which it is explained."""

    kind: str
    name: str
    n_background: int
    multiples: tuple[int, ...]
    n_rows: int
    n_seeds: int


CASES = (
    Case("xgboost", "cal_housing", 8000, (5, 20, 100), 5, 6),
    Case("mlp", "cal_housing", 2000, (20,), 5, 4),
    Case("forest", "cal_housing", 2000, (20,), 5, 2),
    Case("xgboost", "bank", 20_000, (20,), 5, 4),
    Case("xgboost", "breast_cancer", 560, (5, 20), 4, 2),
    Case("xgboost", "adult", 20_000, (10,), 3, 2),
    Case("xgboost", "year", 2000, (10,), 3, 1),
)
QUICK_CASES = (Case("xgboost", "make_regression", 500, (5,), 2, 2),)


class Problem(NamedTuple):
    """A function to explain, with exact Shapley values."""

    predict: Callable[[Any], Floats]
    background: Floats
    rows: Floats
    exact: Floats


class Outcome(NamedTuple):
    """What was measured with a surrogate, or without."""

    errors: Floats
    """Relative squared error of each row with each seed."""
    coverage: float
    seconds: float
    """Processor time for a row outside the model."""
    predictions: float
    """Predictions for a row."""


def train_forest(dataset: Dataset) -> Any:
    """Train a random forest, small enough to be fast."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_estimators=50, max_depth=8, random_state=SEED).fit(dataset.X, dataset.y)


def make_problem(case: Case, data: Path) -> Problem:
    """Train a model, choose its rows, and compute their exact values."""
    dataset = load(case.name, data)
    model = {"xgboost": train_xgboost, "mlp": train_mlp, "forest": train_forest}[case.kind](dataset)
    n = min(case.n_background, len(dataset.X) - case.n_rows)
    rows, background = choose_rows(dataset, rows=case.n_rows, background=n, seed=SEED)
    return Problem(margin(model), background, rows, _exact(case.kind, model, rows, background))


def _exact(kind: str, model: Any, rows: Floats, background: Floats) -> Floats:
    """Return exact Shapley values: in closed form for trees, from all coalitions for networks."""
    if kind == "xgboost":
        return TreeGame(model, background, rows).shapley_values()
    if kind == "forest":
        d = rows.shape[1]
        forest, weights = (
            read_regressor(model, rows.astype(np.float32)),
            np.full(len(background), 1.0 / len(background)),
        )
        given = coded(forest, background), weights, coded(forest, rows), np.arange(d), d
        return tree_values(forest, *given)[0][:, :, 0]
    games = sharpley.MarginalGame(margin(model), background, rows)
    return np.asarray(sharpley.estimate(games, method="exact", draws="shared", progress=False).values)


def measure(problem: Problem, multiple: int, n_seeds: int, *, assisted: bool) -> Outcome:
    """Explain all rows with every seed."""
    timed = Timed(problem.predict)
    d, size = problem.rows.shape[1], float((problem.exact**2).mean())
    varying = (problem.rows[:, None] != problem.background).any(axis=1)
    errors, covered, seconds, predictions = [], [], 0.0, []
    for seed in range(n_seeds):
        explainer = sharpley.Explainer(timed, problem.background, draws="own", rng=seed)
        with without_time_warnings():
            _warm_up(explainer, problem.rows[:1])
            timed.reset()
            start = thread_time()
            found = explainer.estimate(
                problem.rows,
                max_predictions=(multiple * d + 2) * PREDICTIONS_PER_EVAL,
                surrogate="auto" if assisted else None,
                progress=False,
            )
        seconds += thread_time() - start - timed.thread_seconds
        low, high = found.interval(0.95)
        errors.append(((found.values - problem.exact) ** 2).mean(axis=1) / size)
        covered.append(((low <= problem.exact) & (problem.exact <= high))[varying])
        predictions.append(np.mean(np.asarray(found.n_predictions)))
    n = n_seeds * len(problem.rows)
    return Outcome(
        np.concatenate(errors), float(np.concatenate(covered).mean()), seconds / n, float(np.mean(predictions))
    )


def _warm_up(explainer: sharpley.Explainer, row: Floats) -> None:
    """Predict the background, and compile what surrogates need."""
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(max_depth=2)
    explainer.estimate(row, max_predictions=4 * row.shape[1], surrogate=tree, progress=False)


def line(case: Case, problem: Problem, multiple: int) -> str:
    """Measure a budget, and return a line of the table."""
    without, assisted = (measure(problem, multiple, case.n_seeds, assisted=assisted) for assisted in (False, True))
    ratio = bootstrap_ratio(assisted.errors, without.errors)
    saved = (1.0 / ratio.value - 1.0) * without.predictions
    pays = f"{1e6 * (assisted.seconds - without.seconds) / saved:.0f} µs" if ratio.high < 1.0 else "–"
    return markdown_row(
        [
            *(case.kind, case.name, problem.rows.shape[1], f"{len(problem.background):,}", multiple),
            *(f"{without.errors.mean():.1e}", f"{assisted.errors.mean():.1e}"),
            f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]",
            *(f"{without.coverage:.3f}", f"{assisted.coverage:.3f}"),
            *(f"{without.seconds:.2f}", f"{assisted.seconds:.2f}", pays),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one small case")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    lines = markdown_head(COLUMNS, n_text=2)
    print("\n".join(lines), flush=True)
    for case in QUICK_CASES if options.quick else CASES:
        problem = make_problem(case, options.data)
        for multiple in case.multiples:
            lines.append(line(case, problem, multiple))
            print(lines[-1], flush=True)
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
