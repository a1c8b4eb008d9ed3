"""What each mechanism of the estimators is worth: errors, coverage and own time with it switched off.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.ablation --data ../shared/data --cells CELLS --out docs/results

Every mechanism of ``ablation_switches`` is switched off, one at a time, with the same games, budgets and seeds as with
everything on. The suites are

- models: XGBoost and networks with 8 to 107 players, 100 background rows that all coalitions share;
- rough: the battery of rough games, on instances that no setting was chosen on;
- rows: the same models with 120 or 200 rows in a call;
- many: budgets beyond the number of pairs that the process is conditioned on;
- population: 2,000 background rows, draws of their own.

A number above 1 says that the mechanism helps. "error" is the geometric mean over cells of the ratio of mean squared
errors, without the mechanism to with it, with a 95% bootstrap interval over seeds within cells. "worse" counts the
cells whose own interval lies wholly above 1.02 (the mechanism helps there), "better" those wholly below 0.98.
Names in brackets are no part of the defaults, and are switched on instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.games import TreeGame
from sharpley_experiments.battery.games import battery
from sharpley_experiments.bench.population.problems import problem
from sharpley_experiments.bench.population.references import reference
from sharpley_experiments.common.cells import run_cells
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.lookup import network_games
from sharpley_experiments.common.models import make_task, train_mlp, train_xgboost
from sharpley_experiments.common.quiet import without_time_warnings
from sharpley_experiments.studies.ablation_switches import ANY, GP, OWN, Mechanism, mechanisms
from sharpley_experiments.studies.common import (
    add_data_option,
    add_out_option,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

if TYPE_CHECKING:
    from pandas import DataFrame

ROUNDING = 1e-9
RESAMPLES = 2000
NOTICED = 1.02  # ratios of errors within this factor of 1 count as equal


class Case(NamedTuple):
    """Games, a budget and how often it is run."""

    suite: str
    name: str
    multiple: int
    """Evaluations for each player."""
    seeds: int
    rows: int


SMALL = ("xgboost-cal_housing", "xgboost-make_regression", "xgboost-bank", "mlp-cal_housing", "mlp-bank")
CASES: tuple[Case, ...] = (
    *(Case("models", name, m, 6, 4) for name in SMALL for m in (3, 5, 10, 20, 50)),
    *(Case("models", "xgboost-breast_cancer", m, 4, 4) for m in (5, 10, 20, 50)),
    *(Case("models", name, m, 2, 2) for name in ("xgboost-year", "xgboost-adult") for m in (5, 10, 20)),
    *(Case("rough", str(i), m, 2, 3) for i in range(len(battery(0))) for m in (5, 10, 20, 50)),
    Case("rows", "xgboost-cal_housing", 12, 3, 200),
    Case("rows", "xgboost-bank", 20, 2, 200),
    Case("rows", "xgboost-breast_cancer", 20, 1, 120),
    Case("many", "xgboost-bank", 500, 4, 4),
    Case("many", "xgboost-breast_cancer", 300, 3, 4),
    *(
        Case("population", name, m, 4, 4)
        for name in ("xgboost-cal_housing", "xgboost-bank", "mlp-cal_housing", "forest-cal_housing", "pipeline-bank")
        for m in (2, 5, 20)
    ),
    *(Case("population", "xgboost-breast_cancer", m, 3, 4) for m in (2, 5, 20)),
    *(Case("population", name, m, 2, 4) for name in ("xgboost-adult", "xgboost-year") for m in (2, 5)),
    *(Case("hundred", name, m, 4, 4) for name in ("xgboost-bank", "mlp-cal_housing", "mlp-bank") for m in (6, 10, 20)),
)
QUICK_CASES = (Case("models", "xgboost-make_regression", 10, 2, 2), Case("rough", "0", 10, 1, 2))
SUITES = {
    GP: ("models", "rough", "rows", "many"),
    OWN: ("population", "hundred"),
    ANY: ("models", "rough", "population"),
    "antithetic": ("rough",),
}


class Solved(NamedTuple):
    """Games with their Shapley values."""

    games: Any
    exact: Floats
    """(rows, d)."""


@lru_cache(maxsize=4)
def _of_model(name: str, rows: int, background: int, data: str, folder: str) -> Solved:
    kind, _, data_set = name.partition("-")
    dataset = load(data_set, Path(data))
    model = train_xgboost(dataset) if kind == "xgboost" else train_mlp(dataset)
    task = make_task(dataset, model, rows=rows, background=background, seed=SEED)
    if kind == "xgboost":
        trees = TreeGame(task.model, task.background, task.rows)
        return Solved(trees, trees.shapley_values())
    games, exact = network_games(task, Path(folder) / f"{name}-{rows}.npz")
    if exact is None:
        raise ValueError(f"{name} has too many players for a table")
    return Solved(games, exact)


@lru_cache(maxsize=4)
def _of_population(name: str, rows: int, background: int, data: str, folder: str) -> Solved:
    chosen = problem(name, data)
    table = chosen.numbers
    if background:
        some = np.random.default_rng(SEED).choice(len(table.population), background, replace=False)
        games = sharpley.MarginalGame(chosen.fast, table.population[some], table.rows[:rows])
        exact = (
            TreeGame(chosen.trees, table.population[some], table.rows[:rows]).shapley_values()
            if chosen.trees is not None
            else _enumerated(games)
        )
        return Solved(games, exact)
    known = reference(chosen, Path(folder))
    return Solved(sharpley.MarginalGame(chosen.fast, table.population, table.rows[:rows]), known.values[:rows])


def _enumerated(games: Any) -> Floats:
    return sharpley.estimate(games, method="exact", draws="shared", max_evals=2**games.d, progress=False).values


def solved(case: Case, seed: int, data: str, folder: str) -> Solved:
    """Return the games of a case; rough games are others for each seed."""
    if case.suite == "rough":
        game = battery(100 + seed)[int(case.name)]
        return Solved(game.games, game.exact[None])
    if case.suite == "population":
        return _of_population(case.name, case.rows, 0, data, folder)
    if case.suite == "hundred":
        return _of_population(case.name, case.rows, 100, data, folder)
    return _of_model(case.name, case.rows, 100, data, folder)


def measure(
    *, suite: str, name: str, multiple: int, seeds: int, rows: int, mechanism: str, method: str, data: str, folder: str
) -> list[dict[str, Any]]:
    """Run a case with a mechanism switched off: a line for each seed."""
    case = Case(suite, name, multiple, seeds, rows)
    switch = next(each for each in mechanisms() if each.name == mechanism)
    lines: list[dict[str, Any]] = []
    for seed in range(seeds):
        known = solved(case, seed, data, folder)
        repeats = range(rows) if suite == "rough" else range(1)
        for repeat in repeats:
            lines += _run(case, known, switch, method, 100 * seed + repeat)
    return lines


def _run(case: Case, known: Solved, switch: Mechanism, method: str, seed: int) -> Iterator[dict[str, Any]]:
    d = known.games.d
    budget = case.multiple * d + 2
    if case.suite in ("models", "rough") and budget >= 0.9 * 2**d:
        return
    options: dict[str, Any] = dict(switch.options)
    if case.suite in ("population", "hundred"):
        options |= {"max_predictions": 100 * budget}
    else:
        options |= {"max_evals": budget, "method": _method(method, switch)}
    with ExitStack() as stack:
        stack.enter_context(without_time_warnings())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", RuntimeWarning)
        stack.enter_context(switch.off())
        began = process_time()
        found = sharpley.estimate(known.games, rng=seed, progress=False, **options)
        seconds = process_time() - began
    margin = ROUNDING * np.abs(known.exact).max()
    lower, upper = found.interval(0.95)
    covered = (lower - margin <= known.exact) & (known.exact <= upper + margin)
    matters = np.asarray(known.games.varying())
    yield {
        "error": float(((found.values - known.exact) ** 2).sum() / max((known.exact**2).sum(), 1e-300)),
        "coverage": float(covered[matters].mean()) if matters.any() else 1.0,
        "width": float((upper - lower)[matters].mean()) if matters.any() else 0.0,
        "seconds": seconds,
        "d": d,
    }


def _method(method: str, switch: Mechanism) -> Any:
    if method != GP:
        return method
    return partial(GaussianProcessEstimator, settings=GPSettings(**switch.settings))


def cells_of(cases: Sequence[Case], only: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return all cells: those with everything on, and those with each mechanism off in the suites it takes part in."""
    every = mechanisms()
    found = []
    for switch in every:
        if only is not None and switch.name not in only and switch.name != every[0].name:
            continue
        for case in cases:
            for method in _methods(switch, case):
                found.append({**case._asdict(), "mechanism": switch.name, "method": method})
    return found


def _methods(switch: Mechanism, case: Case) -> list[str]:
    """Return the methods that a case is run with if a mechanism is off."""
    if case.suite in ("population", "hundred"):
        return ["auto"] if switch.method in (OWN, ANY) else []
    if switch.name == "correction beyond most_pairs":
        return [GP] if case.suite == "many" else []
    if case.suite == "many":
        return [GP] if switch.name == "everything on" else []
    if switch.method == "antithetic":
        return ["antithetic"] if case.suite == "rough" else []
    if switch.name == "everything on":
        return [GP, "regression", "antithetic"] if case.suite == "rough" else [GP]
    if switch.method == ANY:
        return ["regression", GP] if case.suite == "rough" else []
    return [GP] if switch.method == GP and case.suite in SUITES[GP] else []


def compared(table: DataFrame) -> DataFrame:
    """Return a line for each mechanism and suite: ratios of errors with intervals, coverage, time."""
    import pandas as pd

    keys = ["suite", "method", "name", "multiple"]
    base = dict(iter(table[table["mechanism"] == "everything on"].groupby(keys)))
    lines = []
    for (name, suite, method), mine in table.groupby(["mechanism", "suite", "method"], sort=False):
        if name == "everything on":
            continue
        logs, worse, better = [], 0, 0
        coverage, before, seconds = [], [], []
        for key, off in mine.groupby(keys):
            on = base[key]
            if len(off) != len(on):
                continue
            value, resampled = _ratio(off["error"].to_numpy(), on["error"].to_numpy())
            logs.append(np.append(resampled, value))
            low, high = np.quantile(resampled, [0.025, 0.975])
            worse, better = worse + (low > np.log(NOTICED)), better + (high < -np.log(NOTICED))
            coverage.append(off["coverage"].mean())
            before.append(on["coverage"].mean())
            seconds.append(off["seconds"].sum() / on["seconds"].sum())
        if not logs:
            continue
        mean = np.mean(logs, axis=0)
        low, high = np.quantile(mean[:-1], [0.025, 0.975])
        lines.append(
            (
                name,
                suite,
                method,
                len(logs),
                float(np.exp(mean[-1])),
                float(np.exp(low)),
                float(np.exp(high)),
                int(worse),
                int(better),
                float(np.mean(before)),
                float(np.mean(coverage)),
                float(np.min(before)),
                float(np.min(coverage)),
                float(np.exp(np.mean(np.log(seconds)))),
            )
        )
    columns = ["mechanism", "suite", "method", "cells", "error", "low", "high", "worse", "better", "coverage_on"]
    columns += ["coverage_off", "least_on", "least_off", "seconds"]
    return pd.DataFrame(lines, columns=columns)


def _ratio(above: Floats, below: Floats) -> tuple[float, Floats]:
    """Return the logarithm of the ratio of means, and those of resamples over runs."""
    tiny = 1e-30
    picks = np.random.default_rng(0).integers(len(above), size=(RESAMPLES, len(above)))
    resampled = np.log((above[picks].mean(axis=1) + tiny) / (below[picks].mean(axis=1) + tiny))
    return float(np.log((above.mean() + tiny) / (below.mean() + tiny))), resampled


def page(lines: DataFrame) -> Iterator[str]:
    """Yield the lines of the page."""
    sizes = {each.name: each.lines for each in mechanisms()}
    columns = ("mechanism", "lines", "suite", "cells", "error without", "helps", "harms", "coverage with", "without")
    yield from markdown_head((*columns, "least with", "without", "time without"), n_text=1)
    for line in lines.itertuples():
        ratio = f"{line.error:.2f} [{line.low:.2f}, {line.high:.2f}]"
        method = "" if line.method in (GP, "auto") else f", {line.method}"
        cells = [line.mechanism, sizes.get(line.mechanism, 0) or "", f"{line.suite}{method}", line.cells, ratio]
        cells += [line.worse, line.better, f"{line.coverage_on:.3f}", f"{line.coverage_off:.3f}"]
        yield markdown_row([*cells, f"{line.least_on:.2f}", f"{line.least_off:.2f}", f"{line.seconds:.2f}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    import pandas as pd

    parser = study_parser(__doc__, quick="two small cases")
    add_data_option(parser)
    parser.add_argument("--cells", type=Path, default=Path("ablation-cells"), help="folder of finished cells")
    parser.add_argument("--only", nargs="+", metavar="MECHANISM", help="mechanisms to switch off (default: all)")
    parser.add_argument("--suites", nargs="+", metavar="SUITE", help="suites to run (default: all)")
    parser.add_argument("--jobs", type=int, default=1)
    add_out_option(parser, None, "folder to write ablation.md and ablation.csv to")
    options = parser.parse_args(arguments)
    cases = [
        case for case in (QUICK_CASES if options.quick else CASES) if not options.suites or case.suite in options.suites
    ]
    context = {"data": str(options.data), "folder": str(options.cells)}
    cells = cells_of(cases, options.only)
    rows = run_cells(measure, cells, options.cells, jobs=options.jobs, description="Ablation", context=context)
    lines = compared(pd.DataFrame(rows))
    text = list(page(lines))
    print("\n".join(text))
    if options.out is not None:
        write_lines(options.out / "ablation.md", text)
        lines.to_csv(options.out / "ablation.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
