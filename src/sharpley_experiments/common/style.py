"""The common style of all figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharpley.plotting.axes import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which readers with any of the common forms of colour blindness can distinguish.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
SKY, YELLOW, PURPLE = "#56B4E9", "#E69F00", "#CC79A7"
GREY, DARK = "#999999", "#333333"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY)


def new_figure(title: str, note: str, size: tuple[float, float] = (6.4, 4.4)) -> Figure:
    """Make an empty figure with a title and a note in its lower right corner, without pyplot and its global state."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    # The note needs a strip of its own, since the layout engine ignores text that is placed manually.
    figure.get_layout_engine().set(rect=(0, 0.03, 1, 0.97))  # type: ignore[union-attr, call-arg]
    figure.suptitle(title, fontsize=11)
    figure.text(0.99, 0.008, note, ha="right", va="bottom", fontsize=7, color=GREY)
    return figure


def legend_below(ax: Axes, columns: int, title: str = "") -> None:
    """Put a legend below the axes, in one line if ``columns`` is the number of its entries."""
    ax.legend(
        title=title or None,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=columns,
        frameon=False,
        fontsize=9,
        title_fontsize=9,
    )


def log_numbers(ax: Axes, base: int = 10) -> None:
    """Make the x axis logarithmic, with plain numbers that are few enough not to overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log", base=base)
    ax.xaxis.set_major_locator(LogLocator(base=base, subs=(1.0, 2.0, 5.0) if base == 10 else (1.0,), numticks=20))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1000:g}k" if x >= 1000 else f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def panel_grid(figure: Figure, count: int, columns: int) -> list[Axes]:
    """Make ``count`` panels in rows of ``columns``; surplus panels of the last row are hidden."""
    panels = figure.subplots(-(-count // columns), columns, squeeze=False).reshape(-1)
    for panel in panels[count:]:
        panel.set_visible(False)
    return list(panels[:count])


def label_outer(panels: Sequence[Axes], columns: int, xlabel: str, ylabel: str) -> None:
    """Label the x axis of the lowest panel of each column and the y axis of the first panel of each row."""
    for index, panel in enumerate(panels):
        if index + columns >= len(panels):
            panel.set_xlabel(xlabel, fontsize=8)
        if index % columns == 0:
            panel.set_ylabel(ylabel, fontsize=8)
