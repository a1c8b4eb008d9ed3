"""Plots of values with their confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Floats
from sharpley.plotting.axes import literal, new_axes
from sharpley.presentation.labelled import Labelled
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SERIES = 8  # rows and outputs in one picture
INCHES_PER_PLAYER = 0.3
INCHES_PER_LINE = 0.14  # of each further row or output
INCHES_AROUND = 1.1


def intervals(
    estimate: ShapleyEstimate,
    names: Sequence[str] | None = None,
    *,
    exact: ArrayLike | None = None,
    level: float = 0.95,
    max_display: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw values with their confidence intervals, the players with the largest values at the top.

    Several rows and outputs are drawn below each other, each in its colour.

    Parameters
    ----------
    estimate : ShapleyEstimate
        The estimate, of at most 8 combinations of a row and an output; ``estimate[:8]`` selects rows.
    names : sequence of d str, optional
        Names of the players. By default, those of the estimate.
    exact : float, of the shape of the values, optional
        Exact values, drawn in addition to the estimates.
    level : float, default 0.95
        Confidence level of the intervals.
    max_display : int, default 20
        Maximum number of players to draw; the picture's height grows with their number.
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
    result = estimate.labelled(level)
    n, d, k = result.values.shape
    labels = result.players if names is None else list(names)
    if len(labels) != d:
        raise ValueError(f"names must have one name for each of {d} players, got {len(labels)}")
    if n * k > MOST_SERIES:
        raise ValueError(
            f"{n} rows and {k} outputs are too many for one picture, which has space for {MOST_SERIES}; "
            "select some, as in estimate[:8] or estimate[..., 0], or use shap.plots.beeswarm"
        )
    shown = _largest(result.values, check_count("max_display", max_display, minimum=1))
    true = None if exact is None else np.asarray(exact, dtype=np.float64).reshape(n, d, k)
    lines = len(shown) * (INCHES_PER_PLAYER + INCHES_PER_LINE * (n * k - 1))
    own_figure = ax is None
    ax = new_axes(ax, height=max(2.0, INCHES_AROUND + lines))
    _draw(ax, result, shown, true, level, own_figure=own_figure)
    ax.set_yticks(np.arange(len(shown)), [literal(str(labels[player])) for player in shown])
    ax.set_ylim(-0.6, len(shown) - 0.4)
    left_out = d - len(shown)
    ax.set_xlabel(result.noun if left_out == 0 else f"{result.noun} ({left_out} smaller ones are not shown)")
    return ax


def _largest(values: Floats, most: int) -> NDArray[np.int64]:
    """Return the players with the largest values in any row and output, the largest last: (rows, d, k) -> (m,)."""
    return np.argsort(np.abs(values).max(axis=(0, 2)), kind="stable")[-most:]


def _draw(
    ax: Axes, result: Labelled, shown: NDArray[np.int64], exact: Floats | None, level: float, *, own_figure: bool
) -> None:
    """Draw one interval and point for each player, row and output, and a legend."""
    series = [(row, output) for row in range(len(result.values)) for output in range(len(result.outputs))]
    many, step = len(series) > 1, 0.8 / len(series)
    ax.axvline(0, color="0.6", linewidth=0.8)
    for number, (row, output) in enumerate(series):
        at = np.arange(len(shown)) + step * ((len(series) - 1) / 2 - number)
        colour, title = f"C{number}", literal(result.block_title(row, output))
        values, low, high = (part[row, shown, output] for part in (result.values, result.lower, result.upper))
        width = 7 if not many else 4
        ax.hlines(
            at,
            low,
            high,
            colors=colour,
            linewidth=width,
            alpha=0.35,
            label="_nolegend_" if many else f"{level:.0%} interval",
        )
        ax.scatter(values, at, c=colour, s=14, zorder=3, label=title if many else "estimate")
        if exact is not None:
            label, size = "exact" if number == 0 else None, 40 if many else 150
            ax.scatter(exact[row, shown, output], at, marker="|", c="black", s=size, zorder=4, label=label)
    for between in np.arange(len(shown) - 1) + 0.5 if many else ():
        ax.axhline(between, color="0.85", linewidth=0.8)
    ax.grid(axis="x", alpha=0.25)
    if many and own_figure:  # beside the axes, since no corner is free of so many points
        ax.legend(title=f"{level:.0%} intervals", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        ax.legend(title=f"{level:.0%} intervals" if many else None)
