"""One look for all figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley.plotting import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart by readers with any of the common forms of colour blindness.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
SKY, YELLOW, PURPLE = "#56B4E9", "#E69F00", "#CC79A7"
GREY, DARK = "#999999", "#333333"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY)


def new_figure(title: str, note: str, size: tuple[float, float] = (6.4, 4.4)) -> Figure:
    """An empty figure with a title and, in its lower right corner, a note; no pyplot, so no global state."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    # The note needs a strip of its own: the layout does not know of texts placed by hand.
    figure.get_layout_engine().set(rect=(0, 0.03, 1, 0.97))  # type: ignore[union-attr, call-arg]
    figure.suptitle(title, fontsize=11)
    figure.text(0.99, 0.008, note, ha="right", va="bottom", fontsize=7, color=GREY)
    return figure


def legend_below(ax: Axes, columns: int, title: str = "") -> None:
    """A legend under the axes, in one line if ``columns`` is the number of its entries."""
    ax.legend(
        title=title or None,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=columns,
        frameon=False,
        fontsize=9,
        title_fontsize=9,
    )
