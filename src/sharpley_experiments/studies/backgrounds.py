"""How far the Shapley values of one row depend on which 100 background rows are drawn.

    python -m sharpley_experiments.studies.backgrounds --data ../shared/data --out docs/results

The model is XGBoost on cal_housing. For ten random backgrounds of 100 rows, the values are exact. For all 2,000 rows
that these are drawn from, the values are those of ``sharpley.Explainer`` with its default budget, with 95% intervals,
beside the exact ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sharpley
from sharpley.games import TreeGame
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.models import make_task, margin, train_xgboost
from sharpley_experiments.common.quiet import without_time_warnings
from sharpley_experiments.common.style import DARK, GREY, new_figure
from sharpley_experiments.studies.common import QUICK_DATA_SETS, add_data_option, add_out_option, study_parser

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

DATA_SET = "cal_housing"
POPULATION, FEW_ROWS, BACKGROUNDS = 2000, 100, 10
EXACT, ESTIMATED = "all rows, exact", "all rows, estimated"
DPI = 175


def values_of_a_row(dataset: Dataset) -> DataFrame:
    """Return the values of every player under every background: columns player, background, value, low and high."""
    import pandas as pd

    population = min(POPULATION, len(dataset.X) - 1)
    task = make_task(dataset, train_xgboost(dataset), rows=1, background=population, seed=SEED)
    samples = [sharpley.Background.sample(task.background, FEW_ROWS, rng=seed).rows for seed in range(BACKGROUNDS)]
    exact = {f"100 rows, {k + 1}": TreeGame(task.model, rows, task.rows) for k, rows in enumerate(samples)}
    exact[EXACT] = TreeGame(task.model, task.background, task.rows)
    with without_time_warnings():
        explainer = sharpley.Explainer(margin(task.model), task.background, rng=SEED)
        estimate = explainer.estimate(task.rows, progress=False)
    low, high = estimate.interval(0.95)
    found = {name: (game.shapley_values()[0],) * 3 for name, game in exact.items()}
    found[ESTIMATED] = (estimate.values[0], low[0], high[0])
    parts = [
        pd.DataFrame({"player": dataset.feature_names, "background": name, "value": value, "low": low, "high": high})
        for name, (value, low, high) in found.items()
    ]
    return pd.concat(parts, ignore_index=True)


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the values of all players: a dot for each background of 100 rows, and an interval for all rows."""
    figure = new_figure("One prediction, explained with different background rows", note, (8.0, 3.8))
    panel = figure.subplots()
    players = list(dict.fromkeys(table["player"]))
    places = np.arange(len(players))
    few = table[~table["background"].isin((EXACT, ESTIMATED))]
    spread = np.linspace(-0.3, 0.0, few["background"].nunique())
    for shift, (_, mine) in zip(spread, few.groupby("background", sort=False), strict=True):
        label = "exact values for 100 random rows, ten times" if shift == spread[0] else None
        panel.scatter(places + shift, mine["value"], s=12, color=GREY, label=label)
    exact, ours = (table[table["background"] == name] for name in (EXACT, ESTIMATED))
    panel.scatter(places + 0.25, exact["value"], s=60, marker="_", color=DARK, label="exact values for all rows")
    errors = np.stack([ours["value"] - ours["low"], ours["high"] - ours["value"]])
    panel.errorbar(
        places + 0.25,
        ours["value"],
        yerr=errors,
        fmt="o",
        markersize=4,
        capsize=3,
        color=sharpley.METHODS["auto"].colour,
        label="sharpley for all rows, with 95% intervals",
    )
    panel.axhline(0.0, color=GREY, linewidth=0.6)
    panel.set_xticks(places, players, fontsize=8)
    panel.set_ylabel("Shapley value", fontsize=9)
    panel.legend(fontsize=8, frameon=False)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="generated data")
    add_data_option(parser)
    add_out_option(parser, Path("backgrounds"), "folder for the table and the figure")
    options = parser.parse_args(arguments)
    name = QUICK_DATA_SETS[0] if options.quick else DATA_SET
    table = values_of_a_row(load(name, options.data))
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out / "backgrounds.csv", index=False, float_format="%.4g", lineterminator="\n")
    figure = draw(table, f"XGBoost, {name}: {len(set(table['player']))} features")
    figure.savefig(options.out / "backgrounds.png", dpi=DPI, metadata={"Software": None})


if __name__ == "__main__":
    main()
