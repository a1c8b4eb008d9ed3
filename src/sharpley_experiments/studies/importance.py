"""Errors of importance by loss at equal numbers of predictions, beside sage-importance.

    pip install sage-importance
    python -m sharpley_experiments.studies.importance --data ../shared/data --out docs/results/importance.md

XGBoost is fitted to half of the rows of each data set, and importance estimated on at most 1,000 of the others, which
are the background too. sage's estimators take 16, 64, 128 or 512 of these as background rows. The error is the mean
over seeds of the squared error of all values, divided by the sum of squares of the reference, which comes from 16 times
as many predictions with 32 background rows for a visit; the tests compare the same estimator with enumeration.

"new rows" is how often the 95% interval for the population, from a sample of rows, covers the importance of all rows
that the model was not fitted to; "these rows" how often the interval for these rows covers the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.models import train_xgboost
from sharpley_experiments.studies.common import (
    add_data_option,
    add_out_option,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

DATA_SETS = ("cal_housing", "bank", "breast_cancer")
PREDICTIONS = 400_000
MOST_ROWS = 1000
BACKGROUNDS = (16, 64, 128, 512)
SEEDS = 4
REFERENCE = 16  # times as many predictions
REFERENCE_ROWS = 32  # of the background, in a visit of the reference


class Problem(NamedTuple):
    """A fitted model, and rows that it was not fitted to."""

    predict: Callable[[Floats], Floats]
    """Numbers, or the probability of class 1."""
    X: Floats
    y: Floats
    others: tuple[Floats, Floats]
    """Further rows, for coverage."""
    loss: str


def problem(name: str, data: Path) -> Problem:
    """Fit XGBoost to half of the rows of a data set, and choose some of the others."""
    dataset = load(name, data)
    order = np.random.default_rng(0).permutation(len(dataset.X))
    train, test = np.array_split(order, 2)
    model = train_xgboost(Dataset(name, dataset.X[train], dataset.y[train], (), dataset.is_classification))

    def predict(rows: Floats) -> Floats:
        found = model.predict_proba(rows)[:, 1] if dataset.is_classification else model.predict(rows)
        return np.asarray(found, dtype=np.float64)

    mine, others = test[:MOST_ROWS], test[MOST_ROWS:]
    loss = "log_loss" if dataset.is_classification else "squared_error"
    return Problem(predict, dataset.X[mine], dataset.y[mine], (dataset.X[others], dataset.y[others]), loss)


def reference(given: Problem, *, factor: int) -> Floats:
    """Return the importance that estimates are compared with."""
    return sharpley.importance(
        *(given.predict, given.X, given.y),
        loss=given.loss,
        max_predictions=factor * PREDICTIONS,
        visit_rows=REFERENCE_ROWS,
        rng=12345,
    ).values


def ours(given: Problem, predictions: int, seed: int) -> Any:
    """Return our estimate."""
    return sharpley.importance(given.predict, given.X, given.y, loss=given.loss, max_predictions=predictions, rng=seed)


def of_sage(given: Problem, kind: str, m: int, predictions: int, seed: int) -> Floats:
    """Return an estimate of sage-importance with m background rows; full batches make it use somewhat more."""
    sage: Any = import_module("sage")  # pip install sage-importance

    rows = np.random.default_rng(seed).choice(len(given.X), size=min(m, len(given.X)), replace=False)
    is_classes = given.loss == "log_loss"

    def model(x: Floats) -> Floats:
        found = given.predict(x)
        return np.stack([1.0 - found, found], axis=1) if is_classes else found

    imputer = sage.MarginalImputer(model, given.X[rows])
    loss = "cross entropy" if is_classes else "mse"
    y = given.y.astype(np.int64) if is_classes else given.y
    if kind == "permutation":
        count = max(2, predictions // (given.X.shape[1] * len(rows)))
        made = sage.PermutationEstimator(imputer, loss, random_state=seed)
        options = {"n_permutations": count, "batch_size": min(32, count)}
    else:
        count = max(64, predictions // (2 * len(rows)))
        made = sage.KernelEstimator(imputer, loss, random_state=seed)
        options = {"n_samples": count, "batch_size": min(32, count)}
    return np.asarray(made(given.X, y, detect_convergence=False, bar=False, **options).values)


def relative(found: Floats, truth: Floats) -> float:
    """Return the squared error of all values relative to the sum of their squares."""
    return float(((found - truth) ** 2).sum() / (truth**2).sum())


def coverage(given: Problem, truth: Floats, estimates: Sequence[Any]) -> float:
    """Return how often intervals for these rows cover the reference."""
    intervals = [found.interval(of="rows") for found in estimates]
    return float(np.mean([(lower <= truth) & (truth <= upper) for lower, upper in intervals]))


def coverage_of_population(given: Problem, predictions: int, seeds: int) -> float:
    """Return how often intervals from samples of half of the rows cover the importance of many other rows."""
    x, y = np.concatenate([given.X, given.others[0]]), np.concatenate([given.y, given.others[1]])
    every = given._replace(X=x, y=y)
    background = given.X
    truth = sharpley.importance(
        *(every.predict, every.X, every.y),
        background=background,
        loss=given.loss,
        max_predictions=20 * predictions,
        visit_rows=REFERENCE_ROWS,
        rng=54321,
    )
    covered = []
    for seed in range(seeds):
        rows = np.random.default_rng([seed, 7]).choice(len(x), size=min(500, len(x) // 4), replace=False)
        found = sharpley.importance(
            *(every.predict, x[rows], y[rows]),
            background=background,
            loss=given.loss,
            max_predictions=predictions,
            rng=seed,
        )
        lower, upper = found.interval()
        covered.append((lower <= truth.values) & (truth.values <= upper))
    return float(np.mean(covered))


def lines_of(name: str, data: Path, *, quick: bool) -> str:
    """Return the line of one data set."""
    given, seeds = problem(name, data), 2 if quick else SEEDS
    predictions = PREDICTIONS // (4 if quick else 1)
    truth = reference(given, factor=2 if quick else REFERENCE)
    mine = [ours(given, predictions, seed) for seed in range(seeds)]
    error = float(np.mean([relative(found.values, truth) for found in mine]))
    theirs = {
        (kind, m): float(
            np.mean([relative(of_sage(given, kind, m, predictions, seed), truth) for seed in range(seeds)])
        )
        for kind in ("permutation", "kernel")
        for m in BACKGROUNDS
    }
    best = min(theirs, key=lambda key: theirs[key])
    usual = theirs["permutation", 128]
    return markdown_row(
        [
            name,
            f"{error:.1e}",
            f"{theirs[best]:.1e} ({best[0]}, {best[1]} rows)",
            f"{usual:.1e}",
            f"{theirs[best] / error:.1f}",
            f"{usual / error:.1f}",
            f"{coverage(given, truth, mine):.2f}",
            f"{coverage_of_population(given, predictions // 4, 2 * seeds):.2f}",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="two seeds, a quarter of the predictions")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    parser.add_argument("--only", choices=DATA_SETS, action="append", help="data sets (default: all)")
    options = parser.parse_args(arguments)
    columns = ["data", "sharpley", "best of sage", "sage, 128 rows", "best ÷ ours", "128 rows ÷ ours"]
    lines = markdown_head([*columns, "these rows", "new rows"])
    for name in options.only or DATA_SETS:
        lines.append(lines_of(name, options.data, quick=options.quick))
        print(lines[-1], flush=True)
    if options.out is not None:
        write_lines(options.out, [f"Relative squared errors at {PREDICTIONS:,} predictions.", "", *lines])


if __name__ == "__main__":
    main()
