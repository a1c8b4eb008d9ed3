"""The results of the study ``design_error``: as CSV, as a table and as a picture."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import sharpley
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.common.panels import draw_line, log_log
from sharpley_experiments.common.style import panel_grid
from sharpley_experiments.studies.common import DATA_SETS, markdown_head, markdown_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("antithetic", "orthogonal", "sobol", "herding", "sbq", "design")
"""In the order of the table's columns."""

CSV_COLUMNS = ("data_set", "d", "n", "method", "mse", "mse_low", "mse_high")
PANELS_A_ROW = 3


class Line(NamedTuple):
    """Mean squared error of a method with n orderings on a data set."""

    data_set: str
    d: int
    n: int
    method: str
    error: Interval


def write_csv(path: Path, lines: Iterable[Line]) -> None:
    """Write lines with six significant digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        writer.writerows([*line[:-1], *(f"{value:.6g}" for value in line.error)] for line in lines)


def read_csv(path: Path) -> list[Line]:
    """Read what ``write_csv`` wrote, in the order of data sets and numbers of orderings."""
    with path.open() as stream:
        rows = list(csv.reader(stream))[1:]
    lines = [
        Line(name, int(d), int(n), method, Interval(float(error), float(low), float(high)))
        for name, d, n, method, error, low, high in rows
    ]
    return sorted(lines, key=lambda line: (DATA_SETS.index(line.data_set), line.n))


def table(lines: Sequence[Line], n_seeds: int) -> Iterator[str]:
    """Yield the Markdown table of sorted lines; the lowest error of each of its lines is bold."""
    yield (
        f"Mean squared errors over {n_seeds} seeds, with half the width of their 95% intervals; the lowest of each "
        "line is bold. The last columns are the design's error over that of the best other method, and over "
        "orthogonal's."
    )
    yield ""
    yield from markdown_head(["data set", "d", "n", *METHODS, "÷ best other", "÷ orthogonal"])
    for case, group in itertools.groupby(lines, key=lambda line: line[:3]):
        errors = {line.method: line.error for line in group}
        best = min(errors, key=lambda method: errors[method].value)
        cells = [_error_text(errors[method], is_best=method == best) for method in METHODS]
        design = errors["design"].value
        best_other = min(error.value for method, error in errors.items() if method != "design")
        ratios = f"{design / best_other:.2f}", f"{design / errors['orthogonal'].value:.2f}"
        yield markdown_row([*case, *cells, *ratios])


def _error_text(error: Interval, *, is_best: bool) -> str:
    text = f"{error.value:.1e} ±{(error.high - error.low) / 2 / error.value:.0%}"
    return f"**{text}**" if is_best else text


def draw(lines: Sequence[Line]) -> Figure:
    """Draw the error against the number of orderings, in a panel for each data set."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(line.data_set for line in lines))
    figure = Figure(figsize=(9.0, 2.9 * -(-len(names) // PANELS_A_ROW)), layout="constrained")
    panels = panel_grid(figure, len(names), PANELS_A_ROW)
    for name, panel in zip(names, panels, strict=True):
        _draw_panel(panel, [line for line in lines if line.data_set == name])
    panels[0].set_ylabel("mean squared error")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS), frameon=False)
    return figure


def _draw_panel(panel: Axes, lines: Sequence[Line]) -> None:
    for method in METHODS:
        mine = [line for line in lines if line.method == method]
        n = [line.n for line in mine]
        mean, low, high = zip(*(line.error for line in mine), strict=True)
        width = 2.2 if method == "design" else 1.1
        look = {"color": sharpley.METHODS[method].colour, "linewidth": width}
        draw_line(panel, n, mean, (low, high), label=method, look=look)
    log_log(panel)
    panel.set(title=f"{lines[0].data_set} (d = {lines[0].d})", xlabel="orderings")
