"""Plots of interactions with their errors: a matrix and a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import Floats
from sharpley.plotting.axes import figure_of, new_axes
from sharpley.presentation.labelled import ROUNDING
from sharpley.result import InteractionEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 12  # players up to which every cell has its number
INCHES_PER_CELL, INCHES_AROUND, TALLEST = 0.45, 1.6, 5.8  # as wide as a page, a matrix is no taller
WIDEST = 14.0  # line of the largest interaction, in points
LARGEST_NODE = 900.0  # area of the largest main effect, in square points
POSITIVE, NEGATIVE, UNSURE = "#B2182B", "#2166AC", "0.55"


class _Shown(NamedTuple):
    """The players that are drawn, with the matrices of their interactions."""

    names: list[str]
    values: Floats
    lower: Floats
    upper: Floats
    left_out: int

    @property
    def is_sure(self) -> NDArray[np.bool_]:
        """Where the interval excludes 0, by more than rounding."""
        return np.asarray((self.values != 0.0) & ((self.lower > 0) | (self.upper < 0)))


def _shown(estimate: InteractionEstimate, names: Sequence[str] | None, level: float, most: int) -> _Shown:
    """Return the players with the largest interactions, in their order."""
    if not isinstance(estimate, InteractionEstimate):
        raise TypeError(f"expected an InteractionEstimate, got {type(estimate).__name__}; see explainer.interactions")
    if estimate.values.ndim > 1:
        raise ValueError(
            f"one picture shows one game and output, got values of shape {estimate.values.shape}; select one, as in "
            "estimate[0] or estimate[0, :, 'yes']"
        )
    labels = estimate.player_names if names is None else [str(name) for name in names]
    if len(labels) != estimate.d:
        raise ValueError(f"names must have one name for each of {estimate.d} players, got {len(labels)}")
    values = estimate.matrix()
    rounding = ROUNDING * max(float(np.abs(values).max(initial=0.0)), abs(float(estimate.base_values)))
    values = np.where(np.abs(values) < rounding, 0.0, values)
    pairs = np.abs(values) * (1.0 - np.eye(estimate.d))
    order = np.lexsort((np.arange(estimate.d), -np.abs(np.diag(values)), -pairs.max(axis=1, initial=0.0)))
    kept = np.sort(order[: check_count("max_display", most, minimum=2)])
    lower, upper = (estimate.matrix(side, level=level) for side in ("lower", "upper"))
    values, lower, upper = (matrix[np.ix_(kept, kept)] for matrix in (values, lower, upper))
    return _Shown([labels[player] for player in kept], values, lower, upper, estimate.d - len(kept))


def interaction_matrix(
    estimate: InteractionEstimate,
    names: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    max_display: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the interactions of pairs as a matrix; those whose interval includes 0 are hatched.

    Parameters
    ----------
    estimate : InteractionEstimate
        The estimate of one game and output; ``estimate[0]`` selects a row.
    names : sequence of d str, optional
        Names of the players. By default, those of the estimate.
    level : float, default 0.95
        Confidence level of the intervals.
    max_display : int, default 20
        Maximum number of players to draw: those with the largest interactions.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import sharpley
    >>> from sharpley import plotting
    >>> found = sharpley.estimate(sharpley.games.Airport((1.0, 2.0, 4.0)), index="SII").row(0)
    >>> ax = plotting.interaction_matrix(found, ["a", "b", "c"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b', 'c']
    """
    shown = _shown(estimate, names, level, max_display)
    m = len(shown.names)
    ax = new_axes(ax, height=min(TALLEST, INCHES_AROUND + INCHES_PER_CELL * m))
    below = np.tril(np.ones((m, m), dtype=bool), -1)
    largest = float(np.abs(shown.values[below]).max(initial=0.0)) or 1.0
    picture = ax.imshow(np.where(below, shown.values, np.nan), cmap="RdBu_r", vmin=-largest, vmax=largest)
    unsure = np.argwhere(below & ~shown.is_sure)
    _hatch(ax, unsure)
    if m <= MOST_NUMBERS:
        _write_numbers(ax, shown, largest)
    size = 9 if m <= MOST_NUMBERS else 7
    ax.set_xticks(range(m), shown.names, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    ax.set_yticks(range(m), shown.names, fontsize=size)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    figure_of(ax).colorbar(picture, ax=ax, shrink=0.6, aspect=25, label=estimate.noun)
    notes = ["diagonal: main effects"] if m <= MOST_NUMBERS else []
    notes += [f"hatched: the {level:.0%} interval includes 0"] if len(unsure) else []
    notes += [f"{shown.left_out} players with smaller interactions are not shown"] if shown.left_out else []
    ax.set_title("\n".join(notes), fontsize=9, loc="left")
    return ax


def _hatch(ax: Axes, cells: NDArray[np.int64]) -> None:
    """Veil cells, given as (row, column), and hatch them."""
    from matplotlib.patches import Rectangle

    for row, column in cells:
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, facecolor=(1, 1, 1, 0.6), edgecolor="0.6", hatch="////", linewidth=0))


def _write_numbers(ax: Axes, shown: _Shown, largest: float) -> None:
    """Write interactions into the cells below the diagonal, and main effects on it."""
    sure = shown.is_sure
    for row in range(len(shown.names)):
        for column in range(row + 1):
            value = shown.values[row, column]
            dark = row != column and sure[row, column] and abs(value) > 0.55 * largest
            text = "0" if abs(value) < 1e-9 * largest else f"{value:.2g}"
            colour = "white" if dark else "black" if sure[row, column] else "0.25"
            style = "italic" if row == column else "normal"
            ground = None if sure[row, column] else {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color=colour, style=style, bbox=ground)


def interaction_network(
    estimate: InteractionEstimate,
    names: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    max_display: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw players on a circle, and their interactions as lines: the wider, the larger; red ones are positive.

    The pale band around a line shows how wide it may be within its interval. Lines whose interval includes 0 are grey
    and dotted.

    Parameters
    ----------
    estimate : InteractionEstimate
        The estimate of one game and output; ``estimate[0]`` selects a row.
    names : sequence of d str, optional
        Names of the players. By default, those of the estimate.
    level : float, default 0.95
        Confidence level of the intervals.
    max_display : int, default 12
        Maximum number of players to draw: those with the largest interactions.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import sharpley
    >>> from sharpley import plotting
    >>> found = sharpley.estimate(sharpley.games.Airport((1.0, 2.0, 4.0)), index="SII").row(0)
    >>> ax = plotting.interaction_network(found, ["a", "b", "c"])
    >>> sorted(text.get_text() for text in ax.texts)
    ['a', 'b', 'c']
    """
    shown = _shown(estimate, names, level, max_display)
    m = len(shown.names)
    ax = new_axes(ax, height=5.4)
    angles = np.pi / 2 - 2 * np.pi * np.arange(m) / m
    x, y = np.cos(angles), np.sin(angles)
    first, second = np.tril_indices(m, -1)
    widest = np.maximum(np.abs(shown.lower), np.abs(shown.upper))[first, second]
    scale = WIDEST / (float(widest.max(initial=0.0)) or 1.0)
    for i, j, reach in sorted(zip(first, second, widest, strict=True), key=lambda edge: -edge[2]):
        value, sure = shown.values[i, j], bool(shown.is_sure[i, j])
        if not sure and abs(value) * scale < 0.3:
            continue  # thinner than a line can be
        colour = UNSURE if not sure else POSITIVE if value > 0 else NEGATIVE
        ends = x[[i, j]], y[[i, j]]
        ax.plot(*ends, color=colour, linewidth=reach * scale, alpha=0.3, solid_capstyle="butt", zorder=1)
        ax.plot(
            *ends,
            color=colour,
            linewidth=max(0.8, abs(value) * scale),
            linestyle="solid" if sure else "dotted",
            solid_capstyle="butt",
            zorder=2,
        )
    _draw_players(ax, shown, x, y)
    ax.set_aspect("equal")
    ax.set_xlim(-1.6, 1.6)
    ax.set_ylim(-1.35, 1.35)
    ax.axis("off")
    notes = [f"{estimate.noun}s; bands: {level:.0%} intervals; dotted: the interval includes 0"]
    notes += [f"{shown.left_out} players with smaller interactions are not shown"] if shown.left_out else []
    ax.set_title("\n".join(notes), fontsize=9)
    return ax


def _draw_players(ax: Axes, shown: _Shown, x: Floats, y: Floats) -> None:
    """Draw players as discs, as large as their main effects, with their names outside the circle."""
    main = np.diag(shown.values)
    sizes = 40.0 + LARGEST_NODE * np.abs(main) / (float(np.abs(main).max(initial=0.0)) or 1.0)
    colours = [
        UNSURE if not sure else POSITIVE if value > 0 else NEGATIVE
        for value, sure in zip(main, np.diag(shown.is_sure), strict=True)
    ]
    ax.scatter(x, y, s=sizes, c=colours, edgecolors="white", linewidths=1.5, zorder=3)
    for name, at_x, at_y in zip(shown.names, x, y, strict=True):
        side = "center" if abs(at_x) < 0.2 else "left" if at_x > 0 else "right"
        height = "center" if abs(at_x) >= 0.2 else "bottom" if at_y > 0 else "top"
        ax.text(1.17 * at_x, 1.17 * at_y, name, ha=side, va=height, fontsize=9)
