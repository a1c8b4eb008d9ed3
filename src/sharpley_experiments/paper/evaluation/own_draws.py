"""The paper's samplers with a background row of its own for each ordering, which the paper does not have.

In the paper, the contributions along every ordering are means over all of 100 background rows ("shared"). Here errors
are those against the values for a population of 20 times as many rows, relative to their mean square, at equal numbers
of predictions. With shared rows they cannot fall below the error that 100 random rows have even with exact values.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sharpley import METHODS, SAMPLERS, Background, MarginalGame
from sharpley._support.typing import Floats
from sharpley.games import TreeGame
from sharpley_experiments.common.cells import Cell, run_cells
from sharpley_experiments.common.constants import SEED, revision_of
from sharpley_experiments.common.datasets import number_of_rows
from sharpley_experiments.common.intervals import Interval, mean_interval
from sharpley_experiments.common.models import Task, make_task, margin, train_xgboost
from sharpley_experiments.common.panels import draw_line, draw_panels, log_log
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.common.versions import with_version
from sharpley_experiments.paper.data import load_for_paper, rows_to_train_on
from sharpley_experiments.paper.exhibits import Context, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

DATASETS = ("cal_housing", "make_regression", "bank")
SERIES = tuple(SAMPLERS)
OWN, SHARED = "own", "shared"
POPULATION_FACTOR = 20  # rows of the population for each of the rows that are shared
MULTIPLES = (2, 5, 10, 20, 50)
ORDERINGS_PER_MULTIPLE = 50  # of the other figures: a budget of 20 d stands for their 1,000 orderings
TITLE = "Beyond the paper: orderings with background rows of their own"


class _Population(NamedTuple):
    """A model with the rows to explain and a population of background rows, and the exact values for all of these."""

    task: Task
    exact: Floats
    """(rows, d)."""


def compute(context: Context) -> DataFrame:
    """Return the errors of all trials as a tidy table."""
    import pandas as pd

    preset = context.preset
    cells: list[Cell] = [
        {
            "dataset": dataset,
            "series": series,
            "draws": draws,
            "trial": trial,
            "largest": preset.n_few_players // ORDERINGS_PER_MULTIPLE,
            "rows": preset.n_rows,
            "background": preset.n_background,
            "n_train": preset.n_train,
            "data_rows": number_of_rows(dataset, context.data),
            "made_with": f"{revision_of('auto')}, {with_version('xgboost')}",
        }
        for dataset in DATASETS
        for trial in range(preset.n_own_trials)
        for series in SERIES
        for draws in (OWN, SHARED)
    ]
    where = {"data": None if context.data is None else str(context.data.resolve())}
    rows = run_cells(measure, cells, context.folder, jobs=context.jobs, description="own draws", context=where)
    columns = ["dataset", "d", "series", "draws", "population", "predictions", "trial", "relative_mse"]
    return pd.DataFrame(rows)[columns]


def measure(
    *,
    dataset: str,
    series: str,
    draws: str,
    trial: int,
    largest: int,
    rows: int,
    background: int,
    n_train: int,
    data: str | None,
    data_rows: int = 0,
    made_with: str = "",
) -> list[dict[str, Any]]:
    """Errors of one trial at all budgets. The last two do nothing but make other cells of other data or methods."""
    whole = dataset, rows, POPULATION_FACTOR * background, n_train, data
    task, exact = _population(*whole)
    found: list[dict[str, Any]] = []
    for multiple in (m for m in MULTIPLES if m <= largest):
        evals, seed = multiple * task.d + 2, np.random.SeedSequence([trial, multiple, *series.encode()])
        if draws == OWN:
            values = _own(task, series, evals * background, seed)
        elif evals >= METHODS[series].least_budget(task.d):
            values = estimated(_shared_rows(*whole, background, trial), series, evals, seed).values
        else:
            continue
        error = float(((values - exact) ** 2).mean() / (exact**2).mean())
        spent = {"d": task.d, "population": len(task.background), "predictions": evals * background}
        found.append({**spent, "relative_mse": error})
    return found


def _own(task: Task, series: str, predictions: int, seed: np.random.SeedSequence) -> Floats:
    games = MarginalGame(margin(task.model), task.background, task.rows)
    return estimated(games, series, None, seed, draws="own", max_predictions=predictions).values


@lru_cache(maxsize=1)  # cells come sorted by data set: a process makes each once
def _population(dataset: str, rows: int, population: int, n_train: int, data: str | None) -> _Population:
    loaded = rows_to_train_on(load_for_paper(dataset, None if data is None else Path(data)), n_train)
    background = min(population, len(loaded.X) - rows)
    task = make_task(loaded, train_xgboost(loaded), rows=rows, background=background, seed=SEED)
    return _Population(task, TreeGame(task.model, task.background, task.rows).shapley_values())


@lru_cache(maxsize=1)  # all methods of a trial share these rows, and reading the trees takes longer than the methods
def _shared_rows(
    dataset: str, rows: int, population: int, n_train: int, data: str | None, background: int, trial: int
) -> TreeGame:
    task = _population(dataset, rows, population, n_train, data).task
    return TreeGame(task.model, Background.sample(task.background, background, rng=trial).rows, task.rows)


def draw(table: DataFrame, note: str) -> Figure:
    """Draw relative errors with 95% intervals: rows of their own as solid lines, shared rows dotted."""

    def draw_dataset(panel: Axes, name: str) -> str:
        mine = table[table["dataset"] == name]
        for (series, draws), line in mine.groupby(["series", "draws"], sort=False):
            _draw_line(panel, line, str(series), is_own=draws == OWN)
        log_log(panel)
        return f"{name}, d = {mine['d'].iloc[0]}, {mine['population'].iloc[0]:,} background rows"

    axes = ("predictions for a row", "relative mean squared error")
    return draw_panels(TITLE, note, list(dict.fromkeys(table["dataset"])), draw_dataset, axes=axes)


def _draw_line(panel: Axes, line: DataFrame, series: str, *, is_own: bool) -> None:
    points = {predictions: _error(group) for predictions, group in line.groupby("predictions")}
    ends = [i.low for i in points.values()], [i.high for i in points.values()]
    first_shared = series == "antithetic"
    label = series if is_own else "shared rows (dotted)" if first_shared else "_not in the legend"
    look = {"color": METHODS[series].colour, "linestyle": "-" if is_own else ":"}
    means = [i.value for i in points.values()]
    draw_line(panel, list(points), means, ends, label=label, look=look, opacity=0.12 if is_own else 0.0)


def _error(group: DataFrame) -> Interval:
    return mean_interval(group["relative_mse"].to_numpy())


def means_table(table: DataFrame) -> DataFrame:
    """Mean relative errors at the largest number of predictions."""
    import pandas as pd

    lines = []
    for (dataset, draws), mine in table.groupby(["dataset", "draws"], sort=False):
        largest = mine[mine["predictions"] == mine["predictions"].max()]
        errors = {series: _error(group) for series, group in largest.groupby("series")}
        shown = {series: f"{errors[series].value:.1e}" if series in errors else "–" for series in SERIES}
        lines.append({"data set": dataset, "rows": draws, "predictions": largest["predictions"].iloc[0], **shown})
    return pd.DataFrame(lines)


OWN_DRAWS = Exhibit(
    "own-draws",
    TITLE,
    "It has no such figure: its orderings share all background rows, and its errors are those for these rows alone. "
    "Here errors are those for 20 times as many background rows. With rows of their own, orderings have equal weights.",
    compute,
    draw=draw,
    tabulate=means_table,
)
