"""Plots of confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import ArrayLike
from sharpley.plotting.axes import new_axes
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def intervals(
    estimate: ShapleyEstimate,
    names: Sequence[str],
    *,
    exact: ArrayLike | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the Shapley values of one game with their confidence intervals, the largest at the top.

    Parameters
    ----------
    estimate : ShapleyEstimate
        The estimate for one game with a single output: values (d,).
    names : sequence of d str
        Names of the players.
    exact : (d,) float, optional
        Exact values, drawn in addition to the estimates.
    level : float, default 0.95
        Confidence level of the intervals.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import sharpley
    >>> from sharpley import plotting
    >>> game = sharpley.games.Airport((1.0, 4.0, 2.0, 9.0))
    >>> estimate = sharpley.shapley_values(game, method="antithetic", max_evals=14, rng=0)
    >>> ax = plotting.intervals(estimate, ["a", "b", "c", "d"], exact=game.shapley_values())
    >>> [label.get_text() for label in ax.get_yticklabels()]  # from the bottom to the top
    ['a', 'c', 'b', 'd']
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
