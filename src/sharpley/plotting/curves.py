"""Plots of convergence curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import ArrayLike
from sharpley.plotting.axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence(
    n_orderings: ArrayLike, curves: Mapping[str, ArrayLike], *, ylabel: str, ax: Axes | None = None
) -> Axes:
    """Draw one curve for each method over the number of orderings, on logarithmic axes.

    Parameters
    ----------
    n_orderings : (k,) int
        Numbers of orderings.
    curves : mapping of str to (k,) float
        For each method, the value at each number of orderings.
    ylabel : str
        Label of the vertical axis.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import sharpley
    >>> from sharpley import plotting
    >>> numbers = [10, 20, 50]
    >>> curves = {
    ...     name: [sharpley.discrepancy(sharpley.SAMPLERS[name](6, rng=0).random(n)) for n in numbers]
    ...     for name in ("monte-carlo", "antithetic")
    ... }
    >>> ax = plotting.convergence(numbers, curves, ylabel="discrepancy")
    >>> [line.get_label() for line in ax.get_lines()]
    ['monte-carlo', 'antithetic']
    """
    ax = new_axes(ax)
    from matplotlib.ticker import LogLocator, NullFormatter

    for name, values in curves.items():
        ax.loglog(n_orderings, values, marker="o", markersize=4, label=name)
    ax.set_xticks(n_orderings, [str(n) for n in np.asarray(n_orderings)])
    ax.xaxis.minorticks_off()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("orderings")
    ax.set_ylabel(ylabel)
    ax.grid(which="both", alpha=0.25)
    ax.legend(title="method")
    return ax
