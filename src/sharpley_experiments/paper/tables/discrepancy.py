"""The paper's Table 4: discrepancy and time of every method at d = 10, 50, 200 and n = 10, 100, 1000.

The cells of sequential Bayesian quadrature at n = 1000, which the paper omits because of their run time, are included.
Herding and quadrature draw fresh candidates for every trial, as in the paper. Permutation designs are shown in addition
to the paper's methods; their discrepancy does not vary, and their time is that of computing a design, not of reusing
a stored one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sharpley
from sharpley import SAMPLERS
from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.kernels import Mallows
from sharpley.permutations.quadrature import discrepancy
from sharpley.samplers.greedy import GreedySampler
from sharpley.samplers.minimise import minimised
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import REVISION
from sharpley_experiments.common.style import GREY, new_figure
from sharpley_experiments.paper.constants import TABLE_ORDERINGS, TABLE_PLAYERS
from sharpley_experiments.paper.exhibits import Context, Exhibit
from sharpley_experiments.paper.tables.claims import DESIGN, findings, seconds_note
from sharpley_experiments.paper.tables.printed import METHODS, Printed, discrepancies

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

TITLE = "Discrepancy of permutation samples (Mallows kernel, λ = 4)"
KERNEL = Mallows(4.0)
COLOURS = {method: sharpley.METHODS[method].colour for method in (*METHODS, DESIGN)}
MARKERS = dict(zip((*METHODS, DESIGN), "osD^v*", strict=True))


def timed_sample(d: int, n: int, method: str, seed: int) -> tuple[Orderings, Floats | None, float]:
    """Draw a sample as the paper does; return it with its weights and the seconds that both took."""
    start = time.perf_counter()
    if method == DESIGN:
        orderings = minimised("design", d, n, KERNEL.scale, paired=False)
        weights = None
    else:
        fresh = {"fresh": True} if issubclass(SAMPLERS[method], GreedySampler) else {}
        sampler = SAMPLERS[method](d, rng=seed, **fresh)
        orderings = sampler.random(n)
        weights = sampler.weights(orderings)
    return orderings, weights, time.perf_counter() - start


def measure(d: int, n: int, method: str, seed: int) -> tuple[float, float]:
    """Discrepancy of one sample, and the seconds to draw it."""
    orderings, weights, seconds = timed_sample(d, n, method, seed)
    return discrepancy(orderings, weights, kernel=KERNEL), seconds


@cache
def warm(method: str) -> None:
    """Compile and import what a method needs, once per process, so that no measured time includes it."""
    timed_sample(10, 10, method, seed=0)


def measure_cell(d: int, n: int, method: str, trial: int, jobs: int) -> Rows:
    """Measure one trial, as a row."""
    warm(method)
    value, seconds = measure(d, n, method, trial)
    return [{"discrepancy": value, "seconds": seconds, "jobs": jobs}]


def cells(dimensions: Sequence[int], numbers: Sequence[int], trials: int) -> list[Cell]:
    """All trials of the table; designs do not vary, and have two trials for their times only."""
    return [
        {"d": d, "n": n, "method": method, "trial": trial}
        for d, n, method in itertools.product(dimensions, numbers, (*METHODS, DESIGN))
        for trial in range(min(trials, 2) if method == DESIGN else trials)
    ]


def measured(dimensions: Sequence[int], numbers: Sequence[int], trials: int, folder: Path, jobs: int = 1) -> DataFrame:
    """One row for each trial: d, n, method, trial, discrepancy, seconds, jobs.

    ``numbers`` are numbers of orderings; ``jobs`` is the number of processes that shared the machine when the times
    were measured.
    """
    from pandas import DataFrame

    wanted = cells(dimensions, numbers, trials)
    description = "Table of discrepancies"
    return DataFrame(
        run_cells(measure_cell, wanted, folder, jobs=jobs, description=description, context={"jobs": jobs})
    )


def compute(context: Context) -> DataFrame:
    """Compute the part of the table that the preset includes."""
    preset, folder = context.preset, context.folder / f"table-discrepancy-revision-{REVISION}"
    dimensions = [d for d in TABLE_PLAYERS if d <= preset.table_d]
    numbers = [n for n in TABLE_ORDERINGS if n <= preset.table_n]
    return measured(dimensions, numbers, preset.table_trials, folder, context.jobs)


def summary(table: DataFrame) -> DataFrame:
    """One row for each cell: mean, standard deviation, median seconds, and the paper's (NaN where it has none)."""
    grouped = table.groupby(["d", "n", "method"], sort=False)
    cells = grouped.agg(
        discrepancy_mean=("discrepancy", "mean"),
        discrepancy_std=("discrepancy", "std"),
        seconds=("seconds", "median"),
    ).reset_index()
    missing = Printed(float("nan"), float("nan"), float("nan"))
    printed = [discrepancies().get((d, n, method), missing) for d, n, method in zip(*_keys(cells), strict=True)]
    for column, values in zip(("paper_mean", "paper_std", "paper_seconds"), zip(*printed, strict=True), strict=True):
        cells[column] = values
    return cells


def _keys(cells: DataFrame) -> tuple[list[int], list[int], list[str]]:
    return cells["d"].tolist(), cells["n"].tolist(), cells["method"].tolist()


HEADINGS = ("d", "n", "method", "discrepancy", "sd", "seconds", "paper", "paper's sd", "paper's seconds")


def tabulate(table: DataFrame) -> DataFrame:
    """Format the summary as text."""
    from pandas import DataFrame, isna

    rows = [
        [str(d), str(n), method, *(f"{value:.4f}" for value in ours), *("–" if isna(v) else f"{v:.3f}" for v in theirs)]
        for d, n, method, *values in summary(table).itertuples(index=False)
        for ours, theirs in [(values[:3], values[3:])]
    ]
    return DataFrame(rows, columns=list(HEADINGS))


def markdown(table: DataFrame) -> str:
    """Return the page ``docs/results/table_discrepancy.md``; the lowest mean of each (d, n) is bold."""
    best = set(summary(table).groupby(["d", "n"])["discrepancy_mean"].idxmin())
    lines = [
        f"Means and standard deviations over {table['trial'].nunique()} trials; seconds are medians over trials. "
        f"Designs do not vary.{seconds_note(table)}",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for index, (d, n, method, mean, *others) in enumerate(tabulate(table).itertuples(index=False)):
        shown = f"**{mean}**" if index in best else mean
        lines.append("| " + " | ".join([d, n, method, shown, *others]) + " |")
    return "\n".join(lines) + "\n"


def write(table: DataFrame, out: Path) -> list[Path]:
    """Write the summary as CSV and the page as Markdown."""
    out.mkdir(parents=True, exist_ok=True)
    lines, page = out / "table_discrepancy.csv", out / "table_discrepancy.md"
    summary(table).to_csv(lines, index=False, float_format="%.6g", lineterminator="\n")
    page.write_text(markdown(table), encoding="utf-8")
    return [lines, page]


def draw(table: DataFrame, note: str) -> Figure:
    """Draw discrepancy against n, a column for each d: as it is, and relative to that of random orderings.

    Hollow markers are the paper's means; where none are visible, they lie under ours.
    """
    cells = summary(table)
    dimensions = sorted(cells["d"].unique())
    figure = new_figure(TITLE, note, size=(3.2 * len(dimensions) + 0.8, 7.0))
    axes = figure.subplots(2, len(dimensions), squeeze=False, sharex=True, sharey="row")
    for (above, below), d in zip(axes.T, dimensions, strict=True):
        part = cells[cells["d"] == d]
        random = ((1 - KERNEL.mean(int(d))) / part["n"]) ** 0.5
        _lines(above, part, part["n"] ** 0.0)
        _lines(below, part, 1 / random)
        above.set(title=f"d = {d}", yscale="log")
        below.axhline(1, color=GREY, linewidth=1, linestyle="--")
        below.set(xlabel="orderings n", ylim=(0, 1.12))
        numbers = sorted(cells["n"].unique())
        below.set_xticks(numbers, [str(n) for n in numbers])
        below.minorticks_off()
        above.minorticks_off()
    first = axes[0, 0]
    first.set_ylabel("discrepancy")
    ticks = [y for y in (0.01, 0.02, 0.05, 0.1, 0.2) if y > cells["discrepancy_mean"].min()]
    first.set_yticks(ticks, [f"{y:g}" for y in ticks])
    axes[1, 0].set_ylabel("… / discrepancy of random orderings")
    first.plot([], [], "o", color=GREY, markersize=8, markerfacecolor="none", label="paper")
    first.legend(loc="lower left", frameon=False, fontsize=8.5)
    return figure


def _lines(ax: Axes, cells: DataFrame, factor: Series) -> None:
    """Draw a line for each method: its means times ``factor``."""
    for method, part in cells.groupby("method", sort=False):
        colour, marker, scale = COLOURS[method], MARKERS[method], factor[part.index]
        ax.plot(part["n"], part["discrepancy_mean"] * scale, marker + "-", color=colour, markersize=4, label=method)
        ax.plot(part["n"], part["paper_mean"] * scale, marker, color=colour, markersize=9, markerfacecolor="none")
    ax.set_xscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.6)


DISCREPANCY = Exhibit(
    name="table-discrepancy",
    title=TITLE,
    paper="Means and standard deviations over 25 trials and seconds on a Xeon E5-2698, without sequential Bayesian "
    "quadrature at n = 1000. Herding and quadrature are best at d = 10, orthogonal and Sobol' samples at d = 200.",
    compute=compute,
    draw=draw,
    tabulate=tabulate,
    findings=findings,
    source="Table 4",
    rule="an interval of the difference of two means (Welch) that excludes 0 agrees or contradicts",
)
