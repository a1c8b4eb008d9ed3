"""Figures of the evaluation: errors against marginal evaluations, and against λ, with a panel for each data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from sharpley import METHODS
from sharpley_experiments.common.intervals import Interval, geometric_mean_of_means
from sharpley_experiments.common.panels import draw_line, draw_panels, log_log
from sharpley_experiments.common.style import GREY, PURPLE, SERIES, log_numbers
from sharpley_experiments.paper.constants import MAX_MARGINALS
from sharpley_experiments.paper.evaluation.compare import IN_RANGE, chosen_reference, datasets_of, named
from sharpley_experiments.paper.evaluation.models import KINDS, RAW_NETWORK
from sharpley_experiments.paper.evaluation.series import (
    BEYOND_THE_PAPER,
    CASTRO,
    CODE_SUFFIX,
    OUR_ALLOCATION,
    by_code,
)
from sharpley_experiments.paper.rules import FEWEST_TRIALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE = "antithetic"
METHOD_OF = {CASTRO: "stratified"}
END_OF_RANGE = f"end of the paper's range ({MAX_MARGINALS:,})"


def draw_curves(table: DataFrame, note: str, *, title: str, series: Sequence[str]) -> Figure:
    """Draw mean squared errors against marginal evaluations.

    Means are geometric over experiments, and bands their 95% intervals for trials. Methods that the paper does not have
    are dashed; dotted lines are methods as the authors' early code counts them.
    """
    looks = _looks(series)
    lines = [*series, *(by_code(line) for line in series if by_code(line) != line)]

    def draw_panel(panel: Axes, mine: DataFrame) -> None:
        mine = mine.assign(marginal_evals=mine["n"] * mine["d"])
        for line in lines:
            _draw_line(panel, mine[mine["series"] == line], "marginal_evals", line, looks)
        if mine["marginal_evals"].max() > MAX_MARGINALS:
            panel.axvline(MAX_MARGINALS, color=GREY, linewidth=1.0, linestyle=(0, (1, 2)), label=END_OF_RANGE)
        log_log(panel)

    return _panels(table, note, title, "marginal evaluations for a row", draw_panel)


def draw_scales(table: DataFrame, note: str, *, title: str) -> Figure:
    """Draw mean squared errors of herding against λ."""
    from matplotlib.ticker import MaxNLocator

    looks = {"mean squared error of herding": {"color": METHODS["herding"].colour}}

    def draw_panel(panel: Axes, mine: DataFrame) -> None:
        scales = mine.assign(scale=mine["series"].str.removeprefix("λ = ").astype(float))
        _draw_line(panel, scales, "scale", "mean squared error of herding", looks)
        log_numbers(panel, base=2)
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 5, 10]))  # two digits show these exactly
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:.1e}" if value else "0")

    return _panels(table, note, title, "λ", draw_panel)


def _panels(
    table: DataFrame, note: str, title: str, xlabel: str, draw_panel: Callable[[Axes, DataFrame], None]
) -> Figure:
    """Draw a panel for each kind of model and data set from its part of the table."""
    table = chosen_reference(table)
    panels = {f"{kind} {name}": (kind, name) for kind in dict.fromkeys(table["kind"]) for name in datasets_of(table)}

    def draw_dataset(panel: Axes, key: str) -> str:
        kind, name = panels[key]
        mine = table[(table["dataset"] == name) & (table["kind"] == kind)]
        draw_panel(panel, mine)
        herded = f", n = {mine['n'].iloc[0]}" if mine["n"].nunique() == 1 else ""
        inputs = ", raw inputs" if kind == RAW_NETWORK else ""
        against = "" if mine["reference"].iloc[0] == "exact" else "\nerrors against the mean of trials"
        return f"{named(mine, name)}, d = {mine['d'].iloc[0]}{herded}{inputs}{against}"

    return draw_panels(
        title, f"{note}: {size_of(table)}", list(panels), draw_dataset, axes=(xlabel, "mean squared error"),
        legend_columns=4,
    )  # fmt: skip


def size_of(table: DataFrame) -> str:
    """Say how many experiments there are, and how many trials in each, of which slow methods have fewer."""
    parts = []
    for kind, part in table.groupby("kind", sort=False):
        experiments = part["experiment"].nunique()
        trials = " or ".join(map(str, sorted(set(part.groupby("series")["trial"].nunique()))))
        parts.append(f"{experiments} experiments with {KINDS[str(kind)]}, {trials} trials in each")
    return "; ".join(parts)


def _looks(series: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colours and styles: each method in its colour, the baseline thick, what goes beyond the paper dashed."""
    # Variants of one method, such as herding with other kernels, are distinguished by colours of their own.
    methods = {line: METHOD_OF.get(line, line) for line in series}
    variants = dict(zip((line for line in series if methods[line] not in METHODS), cycle(SERIES), strict=False))
    variants[OUR_ALLOCATION] = PURPLE
    looks: dict[str, dict[str, Any]] = {
        line: {"color": METHODS[method].colour if method in METHODS else variants[line]}
        for line, method in methods.items()
    }
    for line, look in looks.items():
        if line == BASELINE:
            look["linewidth"] = 2.0
        if line in (*BEYOND_THE_PAPER, OUR_ALLOCATION):
            look["linestyle"] = "--"
    dotted = {by_code(line): {**look, "linestyle": ":"} for line, look in looks.items() if by_code(line) != line}
    return {**looks, **dotted}


def _draw_line(panel: Axes, mine: DataFrame, x: str, line: str, looks: dict[str, dict[str, Any]]) -> None:
    if mine.empty:
        return
    points = [(value, over_experiments(group)) for value, group in mine.groupby(x)]
    at, intervals = zip(*points, strict=True)
    means = [i.value for i in intervals]
    is_plain = line.endswith(CODE_SUFFIX) or _trials(mine) < FEWEST_TRIALS
    ends = (means, means) if is_plain else ([i.low for i in intervals], [i.high for i in intervals])
    draw_line(panel, at, means, ends, label=line, look=looks[line])


def over_experiments(mine: DataFrame) -> Interval:
    """Geometric mean over experiments of the mean errors; its interval covers trials. Without trials, it is a point."""
    groups = [group.to_numpy() for _, group in mine.groupby("experiment")["mse"]]
    if min(map(len, groups)) < 2:
        groups = [group[[0, 0]] for group in groups]  # no spread
    return geometric_mean_of_means(groups)


def _trials(mine: DataFrame) -> int:
    return len(mine[["experiment", "trial"]].drop_duplicates())


def means_table(table: DataFrame, *, series: Sequence[str]) -> DataFrame:
    """Mean errors at the largest number of orderings in the paper's range that all methods have on a data set."""
    import pandas as pd

    table = chosen_reference(table)
    lines = []
    for (kind, name), mine in table.groupby(["kind", "dataset"], sort=False):
        there = [line for line in series if (mine["series"] == line).any()]
        common = sorted(set.intersection(*(set(mine[mine["series"] == line]["n"]) for line in there)))
        d = int(mine["d"].iloc[0])
        n = max((n for n in common if IN_RANGE.includes(int(n), d)), default=common[0])
        cells = {line: _cell(mine[(mine["series"] == line) & (mine["n"] == n)]) for line in there}
        inputs = " raw" if kind == RAW_NETWORK else ""
        lines.append(
            {"data set": named(mine, str(name)) + inputs, "n": n, **{line: cells.get(line, "–") for line in series}}
        )
    return pd.DataFrame(lines)


def _cell(mine: DataFrame) -> str:
    """Mean error, and the factor by which its interval reaches up and down; none with few trials."""
    interval = over_experiments(mine)
    if _trials(mine) < FEWEST_TRIALS or interval.high == interval.value:
        return f"{interval.value:.2e}"
    return f"{interval.value:.2e} ×÷ {interval.high / interval.value:.2f}"
