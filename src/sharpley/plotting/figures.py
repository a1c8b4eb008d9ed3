"""Plots: functions ``(data, ax=None) -> ax`` that draw and compute nothing; they need ``sharpley[plot]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import ArrayLike
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def require_matplotlib() -> None:
    """Without matplotlib say what to install."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'sharpley[plot]'") from error


def new_axes(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure; without matplotlib say what to install."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(6.4, 4.2), layout="constrained").subplots()  # no pyplot: no global state


def save(ax: Axes, path: Path) -> None:
    """Save the figure that holds ``ax``."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("these axes are in no figure")
    figure.savefig(path, dpi=150, bbox_inches="tight")


def from_pyplot(draw: Callable[[], object], *, size: tuple[float, float]) -> Axes:
    """Let a function that can only draw with pyplot, such as shap's plots, draw on a figure of its own.

    The user's backend, interactive mode and open figures are as before afterwards.

    Parameters
    ----------
    draw : callable
        Draws on pyplot's current figure, and does not call ``show``.
    size : (width, height) in inches
    """
    require_matplotlib()
    from matplotlib import pyplot as plt

    with _off_screen(), plt.ioff():
        figure = plt.figure()
        try:
            draw()
            figure.set_size_inches(*size)  # only now: shap sets its own
            return figure.axes[0]
        finally:
            plt.close(figure)  # pyplot forgets the figure; its axes stay usable


@contextmanager
def _off_screen() -> Iterator[None]:
    """Let pyplot draw without windows, and then give it the backend it had."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    before = mpl.get_backend()
    plt.switch_backend("agg")
    try:
        yield
    finally:
        with suppress(ImportError):  # one that cannot be loaded here was not in use
            plt.switch_backend(before)


def intervals(
    estimate: ShapleyEstimate,
    names: Sequence[str],
    *,
    exact: ArrayLike | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the values of one game with their confidence intervals, the largest on top.

    Parameters
    ----------
    estimate : ShapleyEstimate
        Of one game with one output: values (d,).
    names : sequence of d str
    exact : (d,) float, optional
        True values, drawn beside the estimates.
    level : float, default 0.95
    ax : Axes, optional
        A new figure's by default.
    """
    ax = new_axes(ax)
    order = np.argsort(np.abs(estimate.values))
    values, rows = estimate.values[order], np.arange(len(order))
    low, high = (limit[order] for limit in estimate.interval(level))
    ax.axvline(0, color="0.6", linewidth=0.8)
    ax.hlines(rows, low, high, colors="C0", linewidth=7, alpha=0.35, label=f"{level:.0%} interval")
    ax.scatter(values, rows, c="C0", s=14, zorder=3, label="estimate")
    if exact is not None:
        ax.scatter(np.asarray(exact)[order], rows, marker="|", c="black", s=150, zorder=4, label="exact")
    ax.set_yticks(rows, [names[i] for i in order])
    ax.set_xlabel("Shapley value")
    ax.grid(axis="x", alpha=0.25)
    ax.legend()
    return ax


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
    from matplotlib.ticker import LogLocator, NullFormatter

    for name, values in curves.items():
        ax.loglog(sizes, values, marker="o", markersize=4, label=name)
    ax.set_xticks(sizes, [str(n) for n in np.asarray(sizes)])
    ax.xaxis.minorticks_off()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("orderings")
    ax.set_ylabel(ylabel)
    ax.grid(which="both", alpha=0.25)
    ax.legend(title="method")
    return ax
