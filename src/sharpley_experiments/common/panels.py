"""Figures with a panel for each game: means as lines, their intervals as bands, and one legend below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from sharpley_experiments.common.style import label_outer, log_numbers, new_figure, panel_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

COLUMNS = 3
WIDTH = 10.0  # inches
HEIGHT_OF_LEGEND = 0.8  # inches

PanelDrawer: TypeAlias = "Callable[[Axes, str], str]"
"""Accepts a panel and the name of its game, draws the lines of the game and returns the title of the panel."""


def draw_panels(
    title: str,
    note: str,
    names: Sequence[str],
    draw_panel: PanelDrawer,
    *,
    axes: tuple[str, str],
    row_height: float = 3.1,
    legend_columns: int = 5,
    width: float = WIDTH,
) -> Figure:
    """Draw a panel for each game.

    Parameters
    ----------
    title, note : str
        See ``new_figure``.
    names : sequence of str
        Games, in the order of their panels.
    draw_panel : callable
        See ``PanelDrawer``.
    axes : (str, str)
        Labels of the x axes and of the y axes.
    row_height : float
        Height of a row of panels in inches.
    legend_columns : int
        Number of columns of the legend, which has one entry for every label that occurs in any panel.
    width : float
        Width of the figure in inches.
    """
    rows = -(-len(names) // COLUMNS)
    figure = new_figure(title, note, (width, row_height * rows + HEIGHT_OF_LEGEND))
    panels = panel_grid(figure, len(names), COLUMNS)
    for name, panel in zip(names, panels, strict=True):
        panel.set_title(draw_panel(panel, name), fontsize=9)
        panel.tick_params(which="both", labelsize=7)
    entries = {
        label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        entries.values(),
        entries.keys(),
        loc="outside lower center",
        borderaxespad=2.0,  # above the note
        ncols=legend_columns,
        frameon=False,
        fontsize=8,
    )
    label_outer(panels, COLUMNS, *axes)
    return figure


def draw_line(
    panel: Axes,
    x: ArrayLike,
    means: ArrayLike,
    interval: tuple[ArrayLike, ArrayLike],
    *,
    label: str,
    look: dict[str, Any],
    opacity: float = 0.18,
) -> None:
    """Draw means as a line with markers, and a band between the lower and the upper ends of their intervals."""
    panel.plot(x, means, marker="o", markersize=2.5, label=label, **{"linewidth": 1.3, **look})
    panel.fill_between(x, *interval, color=look["color"], alpha=opacity, linewidth=0)


def log_log(panel: Axes) -> None:
    """Make both axes logarithmic, the x axis with plain numbers."""
    log_numbers(panel)
    panel.set_yscale("log")
