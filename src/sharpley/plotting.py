"""Plots: functions ``(data, ax=None) -> ax`` that draw and compute nothing; they need ``sharpley[plot]``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sharpley._typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure; without matplotlib say what to install."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'sharpley[plot]'") from error
    return Figure(figsize=(7, 4.2), layout="constrained").subplots()  # no pyplot: no global state


def save(ax: Axes, path: Path) -> None:
    """Save the figure that holds ``ax``."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("these axes are in no figure")
    figure.savefig(path, dpi=150)


def convergence(sizes: ArrayLike, curves: Mapping[str, ArrayLike], *, ylabel: str, ax: Axes | None = None) -> Axes:
    """Draw one curve for each method over the number of orderings, both axes logarithmic.

    Parameters
    ----------
    sizes : (k,) int
    curves : mapping of method name to (k,) float
    ylabel : str
    ax : Axes, optional
        A new figure's by default.
    """
    ax = new_axes(ax)
    for name, values in curves.items():
        ax.loglog(sizes, values, marker="o", markersize=4, label=name)
    ax.set_xlabel("orderings")
    ax.set_ylabel(ylabel)
    ax.grid(which="both", alpha=0.25)
    ax.legend(title="method")
    return ax
