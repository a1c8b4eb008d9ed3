"""Tables of errors: all trials of some methods, on all data sets and experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import MANY_PLAYERS, PLAYERS, revision_of
from sharpley_experiments.common.datasets import number_of_rows
from sharpley_experiments.common.versions import with_version
from sharpley_experiments.paper.evaluation.measure import measure
from sharpley_experiments.paper.evaluation.models import TRAINED_BY, TREES
from sharpley_experiments.paper.evaluation.series import (
    ALIASES,
    BEYOND_THE_PAPER,
    BIASED_METHODS,
    CODE_SUFFIX,
    WITHOUT_ORDERINGS,
)
from sharpley_experiments.paper.exhibits import Context, Preset

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["kind", "dataset", "data_rows", "d", "experiment", "series", "n", "trial", "reference", "mse"]


def errors(
    context: Context,
    *,
    kinds: Sequence[str],
    series: Sequence[str],
    datasets: Sequence[str] = (),
    only: int = 0,
    as_far_as_ours: bool = False,
) -> DataFrame:
    """Return the errors of all trials as a tidy table; ``only`` is the one number of orderings, if there is one.

    With ``as_far_as_ours``, all methods end where those of this library do.
    """
    import pandas as pd

    measured = {ALIASES.get(line, line): line for line in series}
    settings = [(kind, name) for kind in kinds for name in datasets or PLAYERS]
    cells = [cell for kind, name in settings for cell in _cells(context, kind, name, list(measured), only)]
    where = {
        "data": None if context.data is None else str(context.data.resolve()),
        "folder": str(context.folder.resolve()),
    }
    description = " and ".join(kinds) + (" λ" if only else "")
    rows = run_cells(measure, cells, context.folder, jobs=context.jobs, description=description, context=where)
    table = pd.DataFrame(_with_errors([{**row, "series": measured[row["series"]]} for row in rows]))
    table["mse"] = [float(f"{mse:.4g}") for mse in table["mse"]]  # the other digits would only make files larger
    return table.loc[table["n"] <= context.preset.n_ours if as_far_as_ours else slice(None), COLUMNS]


def _cells(context: Context, kind: str, dataset: str, series: list[str], only: int) -> list[Cell]:
    """Cells of a data set, sorted by experiment, so that a process makes the games of each once."""
    preset, d = context.preset, PLAYERS[dataset]
    settings: dict[str, Any] = {
        "kind": kind,
        "dataset": dataset,
        "only_largest": int(bool(only)),
        "rows": preset.n_rows,
        "background": preset.n_background,
        "n_train": preset.n_train,
        "data_rows": number_of_rows(dataset, context.data),
    }
    return [
        {
            **settings,
            "largest": only or _largest(preset, kind, d, line),
            "experiment": experiment,
            "series": line,
            "trial": trial,
            "made_with": f"{revision_of(line)}, {with_version(TRAINED_BY[kind])}",
        }
        for experiment in range(preset.n_experiments if kind == TREES else preset.n_network_experiments)
        for line in series
        for trial in range(_trials(preset, line))
    ]


def _largest(preset: Preset, kind: str, d: int, series: str) -> int:
    """Largest number of orderings of a method on a data set."""
    largest = preset.n_many_players if d > MANY_PLAYERS else preset.n_few_players
    if kind != TREES:
        largest = min(largest, preset.n_network)
    return min(largest, preset.n_ours) if series in BEYOND_THE_PAPER else largest


def _trials(preset: Preset, series: str) -> int:
    """Number of trials in each experiment: fewer of methods whose estimates take seconds."""
    is_slow = series.removesuffix(CODE_SUFFIX) in (*WITHOUT_ORDERINGS, *BEYOND_THE_PAPER)
    return max(1, preset.n_trials // 5) if is_slow else preset.n_trials


def _with_errors(rows: Rows) -> Rows:
    """Errors against the exact values where these are known, otherwise against means over trials."""
    out = [{**row, "d": PLAYERS[row["dataset"]], "reference": "exact"} for row in rows if "mse" in row]
    games: dict[tuple[str, str, int], dict[tuple[str, int], Rows]] = {}
    for row in rows:
        if "estimate" in row:
            game = games.setdefault((row["kind"], row["dataset"], row["experiment"]), {})
            game.setdefault((row["series"], row["n"]), []).append(row)
    for lines in games.values():
        common = _common_mean(lines)
        for (series, _), trials in lines.items():
            out += _against_the_mean(trials, common if series in BIASED_METHODS or len(trials) == 1 else None)
    return out


def _common_mean(lines: dict[tuple[str, int], Rows]) -> Floats:
    """Mean over the trials of all unbiased methods, each at its largest number of orderings."""
    largest = {
        series: max(n for other, n in lines if other == series) for series, _ in lines if series not in BIASED_METHODS
    }
    return np.mean([row["estimate"] for key in largest.items() for row in lines[key]], axis=0)


def _against_the_mean(trials: Rows, common: Floats | None) -> Rows:
    """Errors as in the paper where no exact values are known: against the mean of the method's own trials.

    The factor T/(T−1) corrects for the mean being over the same T trials. These errors would hide a bias, so methods
    that may have one, and single trials, are compared with ``common``, the mean of those that have none.
    """
    estimates = np.array([row["estimate"] for row in trials])
    if common is None:
        squares = ((estimates - estimates.mean(axis=0)) ** 2).mean(axis=1) * len(trials) / (len(trials) - 1)
    else:
        squares = ((estimates - common) ** 2).mean(axis=1)
    d = PLAYERS[trials[0]["dataset"]]
    return [
        {**row, "d": d, "reference": "mean of trials", "mse": float(mse)}
        for row, mse in zip(trials, squares, strict=True)
    ]
