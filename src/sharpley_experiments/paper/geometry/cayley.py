"""The Cayley graphs of the orderings of three and four players (the paper's Figures 1 and 2).

The vertices are the rank vectors, which are the corners of the permutohedron, labelled by orderings. An edge joins two
orderings that differ by a swap of the players at steps k and k+1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import all_orderings, discordant_pairs, ranks_of
from sharpley.permutations.sphere import permutohedron, to_hyperplane
from sharpley_experiments.common.style import DARK, GREY, SERIES, legend_below, new_figure
from sharpley_experiments.paper.exhibits import Exhibit, Finding
from sharpley_experiments.paper.geometry import scene
from sharpley_experiments.paper.geometry.vertices import labels_of, orderings_of, short, vertices_of
from sharpley_experiments.paper.geometry.view import CAMERA, HORIZON, draw_labels, draw_line, draw_points, prepare

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

LABEL_DISTANCE = 1.15  # from the centre, relative to that of the corners: beside the edges, not on them
TITLES = {3: "Cayley graph of the orderings of 3 players", 4: "Cayley graph of the orderings of 4 players"}


def edges(d: int) -> DataFrame:
    """Both ends of every edge, one row each: edge, step (k if steps k and k+1 are swapped), ordering, x, y, z."""
    from pandas import DataFrame

    orderings = all_orderings(d)
    first, second = np.nonzero(np.triu(discordant_pairs(orderings) == 1))
    steps = np.argmax(orderings[first] != orderings[second], axis=1)
    ends = np.stack([first, second], axis=1).ravel()
    points = np.zeros((len(ends), 3))
    points[:, : d - 1] = vertices_of(orderings)[ends]
    return DataFrame(
        {
            "edge": np.repeat(np.arange(len(first)), 2),
            "step": np.repeat(steps, 2),
            "ordering": labels_of(orderings[ends]),
            "x": points[:, 0],
            "y": points[:, 1],
            "z": points[:, 2],
        }
    )


def corners(table: DataFrame) -> DataFrame:
    """Every vertex once, in lexicographic order of the orderings."""
    return table.drop_duplicates("ordering").sort_values("ordering")


def pieces(table: DataFrame) -> dict[int, list[Floats]]:
    """Edges by step, as arrays (2, 3) of their ends."""
    return {
        int(step): list(group[["x", "y", "z"]].to_numpy().reshape(-1, 2, 3)) for step, group in table.groupby("step")
    }


def draw(d: int, table: DataFrame, note: str) -> Figure:
    """Draw the graph (a hexagon in the plane if d = 3) with the circle or sphere around it."""
    from matplotlib.patches import Circle

    figure = new_figure(TITLES[d], note, size=(5.5, 6.0))
    ax = figure.subplots()
    prepare(ax)
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=GREY, linewidth=0.8, linestyle=(0, (4, 3))))
    see = np.asarray if d == 3 else CAMERA.see  # the hexagon lies in the plane of the picture
    for step, lines in pieces(table).items():
        for line in lines:
            draw_line(ax, see(line), SERIES[step], 2.4, horizon=HORIZON)
        ax.plot([], [], color=SERIES[step], linewidth=2.4, label=f"{step + 1} and {step + 2}")
    vertices = corners(table)
    seen = see(vertices[["x", "y", "z"]].to_numpy())
    draw_points(ax, seen, DARK, 26, horizon=1.5 * HORIZON)  # hidden corners lie further back than hidden edges
    labels = [short(label) for label in vertices["ordering"]]
    draw_labels(ax, seen, labels, size=10 if d == 3 else 8.5, horizon=1.5 * HORIZON)
    legend_below(ax, d - 1, "players swapped at steps")
    return figure


def interactive(d: int, table: DataFrame) -> str:
    """The graph in space; for three players in ℝ³ itself, where the hexagon is a section of the cube of ranks."""
    place = (lambda points: to_hyperplane(points[:, :2])) if d == 3 else np.asarray
    traces = [
        scene.lines([place(line) for line in lines], SERIES[step], f"steps {step + 1} and {step + 2} swapped")
        for step, lines in pieces(table).items()
    ]
    vertices = corners(table)
    points = place(vertices[["x", "y", "z"]].to_numpy())
    traces.append(scene.dots(points, DARK, "orderings"))
    traces.append(scene.texts(LABEL_DISTANCE * points, [short(label) for label in vertices["ordering"]]))
    if d == 3:
        axes = 1.15 * np.eye(3)
        traces.append(scene.lines([np.stack([-axis, axis]) for axis in axes], GREY, "axes of the ranks", 2))
        traces.append(scene.texts(axes, [f"player {p} last" for p in range(3)]))
    return scene.fragment(f"cayley-graph-{d}", traces, distance=1.7 if d == 3 else 1.5)


def findings(d: int, table: DataFrame) -> list[Finding]:
    """Check distances in the graph and in space, for all pairs of vertices."""
    vertices = corners(table)
    orderings = orderings_of(vertices["ordering"])
    steps = _graph_distances(table, list(vertices["ordering"]))
    points = vertices[["x", "y", "z"]].to_numpy()
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    opposite = orderings[np.argmax(squares, axis=1)]
    spearman = 2 - 2 * permutohedron(orderings) @ permutohedron(orderings).T
    checks = {
        f"Each vertex of the Cayley graph has d−1 neighbours (d = {d}).": (steps == 1).sum(axis=1) == d - 1,
        f"The Kendall tau distance is the distance in the graph (d = {d}).": steps == discordant_pairs(orderings),
        f"Squared Euclidean distance is Spearman's distance (d = {d}).": np.isclose(squares, spearman),
        f"The antipode of a permutation is its reverse (d = {d}).": (opposite == orderings[:, ::-1]).all(axis=1),
    }
    found = [
        Finding(claim, "holds" if right.all() else "does not hold", f"true for {_count(right)}")
        for claim, right in checks.items()
    ]
    return [*found, _inverses(orderings)] if d == 4 else found


def _count(right: NDArray[np.bool_]) -> str:
    return f"{right.sum()} of {right.size} {'pairs' if right.ndim == 2 else 'vertices'}"


def _graph_distances(table: DataFrame, labels: list[str]) -> NDArray[np.int64]:
    """Lengths of the shortest paths between all pairs of vertices, by powers of the adjacency matrix."""
    index = {label: i for i, label in enumerate(labels)}
    ends = np.array([index[label] for label in table["ordering"]]).reshape(-1, 2)
    adjacent = np.eye(len(labels), dtype=bool)  # with loops, so that the k-th power covers all paths of up to k edges
    adjacent[ends[:, 0], ends[:, 1]] = adjacent[ends[:, 1], ends[:, 0]] = True
    reached = np.eye(len(labels), dtype=bool)
    distances = np.zeros(adjacent.shape, dtype=np.int64)
    while not reached.all():
        distances += ~reached
        further = reached @ adjacent
        if (further == reached).all():
            raise ValueError("the graph is not connected")
        reached = further
    return distances


def _inverses(orderings: Orderings) -> Finding:
    """A remark that precedes Theorem 2 in the paper."""
    inverses = ranks_of(orderings)
    same = discordant_pairs(orderings) == discordant_pairs(inverses)
    dot, dot_inverses = (permutohedron(x) @ permutohedron(x).T for x in (orderings, inverses))
    return Finding(
        "Kendall distance and dot product of two permutations are those of their inverses (d = 4).",
        "holds" if same.all() else "does not hold",
        f"{(~same).sum()} of {same.size} pairs have inverses with a different Kendall distance, and "
        f"{(~np.isclose(dot, dot_inverses)).sum()} with a different dot product. Theorem 2 is not affected, since it "
        "is about any two permutations. Relabelling the players leaves both unchanged.",
    )


def _exhibit(d: int, paper: str) -> Exhibit:
    return Exhibit(
        name=f"cayley-graph-{d}",
        title=TITLES[d],
        paper=paper,
        compute=lambda context: edges(d),  # the whole graph in every preset
        draw=partial(draw, d),
        interactive=partial(interactive, d),
        findings=partial(findings, d),
        source=f"Figure {d - 2}",
        rule="holds if it is true of every vertex or pair",
    )


CAYLEY_3 = _exhibit(
    3,
    "The six orderings of three players are the corners of a hexagon around a circle; neighbours differ by one swap "
    "of adjacent players.",
)
CAYLEY_4 = _exhibit(
    4,
    "The 24 orderings of four players are the corners of a polytope around a sphere. The distance in the graph is "
    "Kendall's, the squared distance in space is Spearman's, and opposite corners are reversed orderings.",
)
