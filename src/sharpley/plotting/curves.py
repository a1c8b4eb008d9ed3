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


def detection(values: Mapping[str, ArrayLike], is_bad: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw how many of the bad training rows are found if rows are inspected from the lowest value on.

    Parameters
    ----------
    values : mapping of str to (n,) float
        For each way of valuing them, the values of all rows.
    is_bad : (n,) bool
        Which rows are bad, such as those with a wrong label.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sharpley import plotting
    >>> ax = plotting.detection({"shapley": [0.1, -0.2, 0.3, 0.2]}, [False, True, False, False])
    >>> ax.get_lines()[0].get_ydata().tolist()  # the bad row has the lowest value
    [0.0, 1.0, 1.0, 1.0, 1.0]
    """
    bad = np.asarray(is_bad, dtype=bool)
    if bad.ndim != 1 or not bad.any():
        raise ValueError(f"is_bad must name at least one bad row, got {bad.sum()} of shape {bad.shape}")
    ax = new_axes(ax)
    shares = np.arange(len(bad) + 1) / len(bad)
    for name, each in values.items():
        numbers = np.asarray(each, dtype=np.float64)
        if numbers.shape != bad.shape:
            raise ValueError(f"values of {name!r} must have shape {bad.shape}, as is_bad has, got {numbers.shape}")
        found = np.cumsum(bad[np.argsort(numbers, kind="stable")]) / bad.sum()
        ax.plot(shares, np.append(0.0, found), label=name)
    ax.plot([0, bad.mean(), 1], [0, 1, 1], color="0.6", linestyle="dashed", label="all bad rows first")
    ax.plot([0, 1], [0, 1], color="0.6", linestyle="dotted", label="random order")
    ax.set_xlabel("share of rows inspected, lowest values first")
    ax.set_ylabel("share of bad rows found")
    ax.grid(alpha=0.25)
    ax.legend()
    return ax
