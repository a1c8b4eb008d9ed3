"""Figures of the evaluation: errors against marginal evaluations, and against λ, with a panel for each data set."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import TYPE_CHECKING, Any

from sharpley import METHODS
from sharpley_experiments.common.intervals import mean_interval
from sharpley_experiments.common.panels import draw_line, draw_panels, log_log
from sharpley_experiments.common.style import SERIES, log_numbers
from sharpley_experiments.paper.evaluation.compare import chosen_reference, datasets_of, named
from sharpley_experiments.paper.evaluation.series import BEYOND_THE_PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE = "antithetic"


def draw_curves(table: DataFrame, note: str, *, title: str, series: tuple[str, ...]) -> Figure:
    """Draw mean squared errors with 95% intervals; methods that the paper does not have are dashed or dotted."""
    looks = _looks(series)

    def draw_panel(panel: Axes, mine: DataFrame) -> None:
        for line in series:
            _draw_line(panel, mine[mine["series"] == line], "marginal_evals", line, looks[line])
        log_log(panel)

    return _panels(table, note, title, "marginal evaluations for a row", draw_panel)


def draw_scales(table: DataFrame, note: str, *, title: str) -> Figure:
    """Draw mean squared errors of herding against λ."""

    def draw_panel(panel: Axes, mine: DataFrame) -> None:
        scales = mine.assign(scale=mine["series"].str.removeprefix("λ = ").astype(float))
        _draw_line(panel, scales, "scale", "mean squared error of herding", {"color": METHODS["herding"].colour})
        log_numbers(panel, base=2)
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:.1e}" if value else "0")

    return _panels(table, note, title, "λ", draw_panel)


def _panels(
    table: DataFrame, note: str, title: str, xlabel: str, draw_panel: Callable[[Axes, DataFrame], None]
) -> Figure:
    """Draw a panel for each data set from its part of the table."""
    table = chosen_reference(table)

    def draw_dataset(panel: Axes, name: str) -> str:
        mine = table[table["dataset"] == name]
        draw_panel(panel, mine)
        herded = f", n = {mine['n'].iloc[0]}" if mine["n"].nunique() == 1 else ""
        against = "" if mine["reference"].iloc[0] == "exact" else "\nerrors against the mean"
        return f"{named(mine, name)}, d = {mine['d'].iloc[0]}{herded}{against}"

    return draw_panels(title, note, datasets_of(table), draw_dataset, axes=(xlabel, "mean squared error"))


def _looks(series: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Colours and styles: each method in its colour, the baseline thick, what goes beyond the paper dashed."""
    # Variants of one method, such as herding with other kernels, are distinguished by colours of their own.
    variants = dict(zip((line for line in series if line not in METHODS), cycle(SERIES), strict=False))
    looks: dict[str, dict[str, Any]] = {
        line: {"color": METHODS[line].colour if line in METHODS else variants[line]} for line in series
    }
    looks.setdefault(BASELINE, {"color": METHODS[BASELINE].colour})["linewidth"] = 2.0
    for line in BEYOND_THE_PAPER:
        looks.setdefault(line, {"color": METHODS[line].colour})["linestyle"] = "--"
    return looks


def _draw_line(panel: Axes, mine: DataFrame, x: str, label: str, look: dict[str, Any]) -> None:
    if mine.empty:
        return
    points = [(value, mean_interval(group["mse"].to_numpy())) for value, group in mine.groupby(x)]
    at, intervals = zip(*points, strict=True)
    ends = [i.low for i in intervals], [i.high for i in intervals]
    draw_line(panel, at, [i.value for i in intervals], ends, label=label, look=look)


def means_table(table: DataFrame, *, series: tuple[str, ...]) -> DataFrame:
    """Mean errors at the largest number of orderings that all methods have on a data set."""
    import pandas as pd

    table = chosen_reference(table)
    lines = []
    for name in datasets_of(table):
        mine = table[table["dataset"] == name]
        there = [line for line in series if (mine["series"] == line).any()]
        n = max(set.intersection(*(set(mine[mine["series"] == line]["n"]) for line in there)))
        cells = {line: _cell(mine[(mine["series"] == line) & (mine["n"] == n)]) for line in there}
        lines.append({"data set": named(mine, name), "n": n, **{line: cells.get(line, "–") for line in series}})
    return pd.DataFrame(lines)


def _cell(mine: DataFrame) -> str:
    interval = mean_interval(mine["mse"].to_numpy())
    if interval.value == 0.0:
        return "0"
    return f"{interval.value:.2e} ± {(interval.high - interval.low) / 2 / interval.value:.0%}"
