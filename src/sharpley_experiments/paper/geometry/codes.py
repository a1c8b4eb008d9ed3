"""Orthogonal spherical codes: permutations from three orthogonal axes, for four players (the paper's Figure 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats
from sharpley.permutations.orderings import discordant_pairs
from sharpley.permutations.sphere import nearest_orderings
from sharpley.samplers.orthogonal import random_directions
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.style import GREY, SERIES, legend_below, new_figure
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding
from sharpley_experiments.paper.geometry import scene
from sharpley_experiments.paper.geometry.cayley import edges
from sharpley_experiments.paper.geometry.vertices import labels_of, orderings_of, short, vertices_of
from sharpley_experiments.paper.geometry.view import (
    CAMERA,
    HORIZON,
    draw_ball,
    draw_labels,
    draw_line,
    draw_points,
    prepare,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from pandas import DataFrame

TITLE = "Orthogonal spherical codes: 6 permutations from 3 axes"
DIRECTIONS = 3
N_PLAYER_PAIRS = 6  # pairs of the four players: the largest distance in the graph


def compute(context: Context) -> DataFrame:
    """Points of random orthonormal bases and their negatives, one row each.

    Columns: basis, direction, sign, x, y, z, ordering.
    """
    from pandas import DataFrame

    rng = np.random.default_rng(SEED)
    bases = np.stack([random_directions(rng, DIRECTIONS, DIRECTIONS) for _ in range(context.preset.n_bases)])
    points = np.stack([bases, -bases], axis=2).reshape(-1, DIRECTIONS)
    basis, direction, side = np.indices((context.preset.n_bases, DIRECTIONS, 2)).reshape(3, -1)
    return DataFrame(
        {
            "basis": basis,
            "direction": direction,
            "sign": 1 - 2 * side,
            "x": points[:, 0],
            "y": points[:, 1],
            "z": points[:, 2],
            "ordering": labels_of(nearest_orderings(points)),
        }
    )


def _axes(table: DataFrame) -> list[tuple[Floats, Floats, list[str]]]:
    """For each axis of the first basis its two points, with their vertices and labels."""
    first = table[table["basis"] == 0]
    return [
        (group[["x", "y", "z"]].to_numpy(), vertices_of(orderings_of(group["ordering"])), list(group["ordering"]))
        for _, group in first.groupby("direction")
    ]


def _frame() -> list[Floats]:
    """Edges of the Cayley graph, which is drawn for orientation and, like the axes of a plot, is not in the table."""
    return list(edges(4)[["x", "y", "z"]].to_numpy().reshape(-1, 2, 3))


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the first basis: its axes, their points on the sphere, and the orderings nearest to these points."""
    figure = new_figure(TITLE, note, size=(5.5, 6.0))
    ax = figure.subplots()
    prepare(ax)
    draw_ball(ax)
    for line in _frame():
        draw_line(ax, CAMERA.see(line), GREY, 1.1, horizon=HORIZON)
    for colour, (points, vertices, labels) in zip(SERIES, _axes(table), strict=False):
        draw_line(ax, CAMERA.see(np.linspace(points[0], points[1], 40)), colour, 2.6, back=0.45)
        draw_points(ax, CAMERA.see(points), colour, 30, back=0.45)
        for point, vertex in zip(points, vertices, strict=True):
            draw_line(ax, CAMERA.see(np.stack([point, vertex])), colour, 1.2, back=0.6)
        seen = CAMERA.see(vertices)
        ax.scatter(seen[:, 0], seen[:, 1], s=70, facecolors="white", edgecolors=colour, linewidths=2, zorder=6)
        draw_labels(ax, seen, [short(label) for label in labels], size=9.5, outward=0.1)
    ax.plot([], [], color=GREY, linewidth=1.1, label="Cayley graph")
    ax.scatter([], [], s=30, color=SERIES[0], linewidths=0, label="point on the sphere")
    ax.scatter([], [], s=70, facecolors="white", edgecolors=SERIES[0], linewidths=2, label="its ordering")
    legend_below(ax, 3)
    return figure


def interactive(table: DataFrame) -> str:
    """The first basis as an interactive figure."""
    traces = [scene.lines(_frame(), GREY, "Cayley graph", 2)]
    for number, (colour, (points, vertices, labels)) in enumerate(zip(SERIES, _axes(table), strict=False), start=1):
        segments = [points, *(np.stack(ends) for ends in zip(points, vertices, strict=True))]
        traces.append(scene.lines(segments, colour, f"axis {number}", 5))
        traces.append(
            scene.dots(vertices, colour, f"orderings of axis {number}", [short(label) for label in labels], size=7)
        )
    return scene.fragment("orthogonal-codes", traces)


def _distances(table: DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Graph distances between the orderings of different axes (positive directions only), and between opposites."""
    plus = table[table["sign"] == 1]["ordering"]
    minus = table[table["sign"] == -1]["ordering"]
    forward = orderings_of(plus).reshape(-1, DIRECTIONS, 4)
    between = [discordant_pairs(basis)[np.triu_indices(DIRECTIONS, 1)] for basis in forward]
    opposite = [discordant_pairs([a], [b])[0, 0] for a, b in zip(orderings_of(plus), orderings_of(minus), strict=True)]
    return np.concatenate(between), np.array(opposite)


def findings(table: DataFrame) -> list[Finding]:
    """Judge the distances in all bases of the table."""
    between, opposite = _distances(table)
    counts = np.bincount(between, minlength=N_PLAYER_PAIRS + 1)
    largest = np.abs(1 - 2 * between / N_PLAYER_PAIRS).max()
    shares = ", ".join(f"{k}: {count / len(between):.1%}" for k, count in enumerate(counts) if count)
    return [
        Finding(
            "Permutations from orthogonal vectors are separated in the graph: |K_τ| ≤ 1/2 + ε with a small ε (d = 4).",
            "holds" if largest <= 0.5 else "holds in part" if counts[0] == 0 else "does not hold",
            f"|K_τ| reaches {largest:.2f} in {table['basis'].nunique()} random bases, so ε is "
            f"{max(0, largest - 0.5):.2f} for four players. Shares of the distances in the graph: {shares}; "
            "a distance of 0 would mean equal permutations, and 1 means neighbours.",
        ),
        Finding(
            "A vector and its negative give a permutation and its reverse (d = 4).",
            "holds" if (opposite == N_PLAYER_PAIRS).all() else "does not hold",
            f"{(opposite == N_PLAYER_PAIRS).sum()} of {len(opposite)} pairs are {N_PLAYER_PAIRS} swaps apart",
        ),
    ]


CODES = Exhibit(
    name="orthogonal-codes",
    title=TITLE,
    paper="Three orthogonal axes and their negatives give six permutations of four players; right angles on the sphere "
    "keep them a certain distance apart in the graph.",
    compute=compute,
    draw=draw,
    interactive=interactive,
    findings=findings,
    source="Figure 4",
    rule="holds if it is true in every basis; in part if |K_τ| exceeds 1/2, but no two permutations are equal",
)
