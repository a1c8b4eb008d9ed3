"""The default path under stress: errors, intervals and tolerances on models and backgrounds made to break them.

    python -m sharpley_experiments.studies.stress --out docs/results

Every model of ``sharpley_experiments.battery.models`` is explained with all of its background, by ``Explainer(model,
background)`` with nothing but a seed, with budgets of 10 d, 100 d and 1,000 d predictions for each row and with the
default budget. The true values over all background rows are known. An interval may miss a value by 1e-9 of the largest
one (rounding), and a value is *wrong without an error* if its standard error is 0 and it is off by more than that.

A tolerance is judged by its promise, that no value is off by more than twice the tolerance, and by what it costs,
relative to the cheaper of draws="own" and draws="shared". Linear and multilinear models are also explained by shap's
KernelExplainer with ``shap.kmeans(X, 20)`` and the same number of predictions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley_experiments.battery.models import StressModel, stress_models
from sharpley_experiments.common.quiet import without_time_warnings
from sharpley_experiments.studies.common import (
    add_out_option,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

if TYPE_CHECKING:
    from pandas import DataFrame

BUDGETS: dict[str, int | None] = {"10 d": 10, "100 d": 100, "1000 d": 1000, "default": None}
"""Predictions for each row as multiples of the number of players; None for the default."""
INSTANCES = (100, 101)  # no setting was chosen on them
SEEDS, QUICK_SEEDS = 6, 2
TOLERANCES = (0.2, 0.05)
CENTRES = 20
SIMPLE = ("linear", "multilinear")
LEAST_COVERAGE = {"10 d": 0.75, "100 d": 0.85, "1000 d": 0.85, "default": 0.85}
ROUNDING = 1e-9


@cache
def exact(instance: int, position: int) -> Floats:
    """Return the true values of a model, (r, d)."""
    return stress_models(instance)[position].exact()


def measured(
    instances: Sequence[int], seeds: int, budgets: Sequence[str], positions: Sequence[int] | None = None
) -> DataFrame:
    """Return a line for each model, budget, instance and seed."""
    import pandas as pd

    lines = []
    for position in positions or range(len(stress_models(instances[0]))):
        for instance in instances:
            model, truth = stress_models(instance)[position], exact(instance, position)
            for budget in budgets:
                for seed in range(seeds):
                    found = explained(model, BUDGETS[budget], seed)
                    lines.append({"budget": budget, "instance": instance, "seed": seed} | _facts(model, truth, found))
        print(model.name, flush=True)
    return pd.DataFrame(lines)


def explained(model: StressModel, multiple: int | None, seed: int, **options: Any) -> sharpley.ShapleyEstimate:
    """Explain all rows of a model, by default with nothing but a seed."""
    budget = None if multiple is None else multiple * model.d
    tol = options.pop("tol", None)
    explainer = sharpley.Explainer(model.predict, model.background, method="auto", rng=seed, **options)
    with without_time_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a tolerance that was missed, which is counted
        return explainer.estimate(model.rows, max_predictions=budget, tol=tol, progress=False)


def _predictions(found: sharpley.ShapleyEstimate) -> Floats:
    """Return the number of predictions for each row."""
    return np.asarray(found.n_predictions, dtype=np.float64)


def _facts(model: StressModel, truth: Floats, found: sharpley.ShapleyEstimate) -> dict[str, Any]:
    """Return relative squared error, coverage and the share of values that are wrong without an error."""
    slack, mine = ROUNDING * np.abs(truth).max(), model.varying
    lower, upper = found.interval(0.95)
    covered = (lower - slack <= truth) & (truth <= upper + slack)
    wrong = (found.standard_errors == 0.0) & (np.abs(found.values - truth) > slack)
    return {
        "model": model.name,
        "kind": model.kind,
        "method": found.method,
        "predictions": float(_predictions(found).mean()),
        "error": float(((found.values - truth) ** 2).sum() / (truth**2).sum()),
        "variance": float((found.standard_errors**2).sum() / (truth**2).sum()),
        "coverage": float(covered[mine].mean()),
        "wrong": float(wrong[mine].mean()),
    }


def tolerances(instances: Sequence[int], seeds: int, positions: Sequence[int] | None = None) -> DataFrame:
    """Return a line for each model, tolerance, instance and seed."""
    import pandas as pd

    lines = []
    for position in positions or range(len(stress_models(instances[0]))):
        for instance in instances:
            model, truth = stress_models(instance)[position], exact(instance, position)
            for tol in TOLERANCES:
                for seed in range(seeds):
                    runs = {
                        draws: explained(model, None, seed, tol=tol, draws=draws) for draws in ("auto", "own", "shared")
                    }
                    lines.append({"model": model.name, "tol": tol, "seed": seed} | _kept(truth, tol, runs))
        print(model.name, flush=True)
    return pd.DataFrame(lines)


def _kept(truth: Floats, tol: float, runs: dict[str, sharpley.ShapleyEstimate]) -> dict[str, Any]:
    """Return how many rows converged and kept the promise, and the cost of a row relative to the cheaper way."""
    found = runs["auto"]
    error = np.abs(found.values - truth).max(axis=1) / np.ptp(truth, axis=1)
    costs = {draws: np.where(run.converged, _predictions(run), np.inf) for draws, run in runs.items()}
    least = np.minimum(costs["own"], costs["shared"])
    comparable = np.isfinite(least)
    return {
        "rows": len(truth),
        "converged": int(np.sum(found.converged)),
        "kept": int((np.asarray(found.converged) & (error <= 2 * tol)).sum()),
        "predictions": float(_predictions(found).mean()),
        "own": float(_predictions(runs["own"]).mean()),
        "shared": float(_predictions(runs["shared"]).mean()),
        "cost": float((_predictions(found)[comparable] / least[comparable]).mean()) if comparable.any() else 1.0,
    }


def peers(instances: Sequence[int], seeds: int, budgets: Sequence[str]) -> DataFrame:
    """Return errors on simple models beside shap's KernelExplainer on k-means, a line for each model and budget."""
    import pandas as pd

    lines = []
    for position, first in enumerate(stress_models(instances[0])):
        if first.kind not in SIMPLE:
            continue
        for instance in instances:
            model, truth = stress_models(instance)[position], exact(instance, position)
            for budget in budgets:
                for seed in range(seeds):
                    ours = explained(model, BUDGETS[budget], seed)
                    theirs = _of_kmeans(model, int(_predictions(ours).mean()), seed)
                    if theirs is not None:
                        both = [((values - truth) ** 2).sum() / (truth**2).sum() for values in (ours.values, theirs)]
                        lines.append((model.name, budget, instance, seed, *both))
        print(model.name, flush=True)
    return pd.DataFrame(lines, columns=["model", "budget", "instance", "seed", "ours", "k-means"])


def _of_kmeans(model: StressModel, predictions: int, seed: int) -> Floats | None:
    """Return the values by KernelExplainer with 20 centres; None if the predictions do not pay for 2 d coalitions."""
    import shap

    n_samples = predictions // CENTRES - 2
    if n_samples < min(2 * model.d, 2**model.d - 2):
        return None
    np.random.seed(seed)  # noqa: NPY002 (the explainer uses numpy's global state)
    explainer = shap.KernelExplainer(model.predict, shap.kmeans(model.background, CENTRES))
    return np.asarray(explainer.shap_values(model.rows, nsamples=n_samples, l1_reg=False, silent=True))


def summary(table: DataFrame, stopping: DataFrame, simple: DataFrame) -> list[str]:
    """Return the page: intervals by budget, the worst cells, tolerances, and simple models."""
    lines = markdown_head(["predictions", "mean coverage", "lowest", "cells below", "wrong without an error"])
    cells = table.groupby(["model", "budget"], sort=False)["coverage"].mean()
    for budget in table["budget"].unique():
        mine = cells.xs(budget, level="budget")
        low = int((mine < LEAST_COVERAGE[budget]).sum())
        wrong = table[table["budget"] == budget]["wrong"].mean()
        lines.append(
            markdown_row(
                [
                    budget,
                    f"{mine.mean():.3f}",
                    f"{mine.min():.2f}",
                    f"{low} of {len(mine)} below {LEAST_COVERAGE[budget]}",
                    f"{wrong:.2%}",
                ]
            )
        )
    lines += ["", *_worst(cells), "", *_stopping(stopping), "", *_simple(simple)]
    return lines


def _worst(cells: Any) -> Iterator[str]:
    """Name the cells whose intervals cover too little."""
    low = [
        f"{model} at {budget} {share:.2f}"
        for (model, budget), share in cells.sort_values().items()
        if share < LEAST_COVERAGE[budget]
    ]
    yield f"The lowest coverages: {'; '.join(low) or 'none below the limits'}."


def _stopping(table: DataFrame) -> Iterator[str]:
    """Say what became of tolerances."""
    for tol, mine in table.groupby("tol"):
        stopped, kept = int(mine["converged"].sum()), int(mine["kept"].sum())
        cost = mine.groupby("model")["cost"].mean()
        yield (
            f"With tol={tol}, {stopped} of {int(mine['rows'].sum())} rows converged, {kept / max(stopped, 1):.1%} of "
            f"them with no error above twice the tolerance, at {np.exp(np.log(cost).mean()):.2f} times the predictions "
            f"of the cheaper of own and shared draws in the geometric mean of the models, and at most "
            f"{cost.max():.2f} times ({cost.idxmax()})."
        )
        yield ""


def _simple(table: DataFrame) -> Iterator[str]:
    """Compare errors with k-means."""
    yield from markdown_head(["model", "predictions", "sharpley", "k-means 20"], n_text=2)
    for (model, budget), mine in table.groupby(["model", "budget"], sort=False):
        yield markdown_row([model, budget, f"{mine['ours'].mean():.1e}", f"{mine['k-means'].mean():.1e}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one instance, two seeds, and no tolerances on more than three models")
    add_out_option(parser, Path("stress"), "folder for the tables")
    parser.add_argument("--instances", type=int, nargs="+", default=None, help="random parameters of the models")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    instances = options.instances or (INSTANCES[:1] if options.quick else INSTANCES)
    seeds = QUICK_SEEDS if options.quick else SEEDS
    table = measured(instances, seeds, tuple(BUDGETS))
    stopping = tolerances(instances, 1, range(0, len(stress_models(instances[0])), 8) if options.quick else None)
    simple = peers(instances, 1, tuple(BUDGETS)[1:])
    for name, part in {"stress": table, "stress_tolerance": stopping, "stress_simple": simple}.items():
        part.to_csv(options.out / f"{name}.csv", index=False, float_format="%.4g", lineterminator="\n")
    write_lines(options.out / "stress.md", summary(table, stopping, simple))


if __name__ == "__main__":
    main()
