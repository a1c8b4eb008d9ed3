"""Cells of nearest permutations on the sphere, for four players (the paper's Figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import all_orderings, discordant_pairs
from sharpley_experiments.common.style import DARK, GREEN, legend_below, new_figure
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding
from sharpley_experiments.paper.geometry import scene
from sharpley_experiments.paper.geometry.vertices import labels_of, orderings_of, short, vertices_of
from sharpley_experiments.paper.geometry.view import (
    CAMERA,
    arc,
    draw_ball,
    draw_labels,
    draw_line,
    draw_points,
    prepare,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "Voronoi cells of the 24 orderings of 4 players"
TINTS = ("#c6dff0", "#f9dcc8")  # of even and odd orderings, so that neighbours differ


def compute(context: Context) -> DataFrame:
    """Corners of the 24 cells in cyclic order, one row each: ordering, area, corner, x, y, z."""
    from pandas import DataFrame
    from scipy.spatial import SphericalVoronoi

    orderings = all_orderings(4)
    cells = SphericalVoronoi(vertices_of(orderings))
    cells.sort_vertices_of_regions()
    rows = []
    for label, region, area in zip(labels_of(orderings), cells.regions, cells.calculate_areas(), strict=True):
        for corner, point in enumerate(_distinct(cells.vertices[region])):
            rows.append((label, area, corner, *point))
    return DataFrame(rows, columns=["ordering", "area", "corner", "x", "y", "z"])


def _distinct(points: Floats) -> Floats:
    """Corners without repetition: scipy lists a corner for every three sites, and here four or six sites share one."""
    return points[np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) > 1e-6]


def _cells(table: DataFrame) -> dict[str, Floats]:
    """Corners of each cell in cyclic order, (m, 3), by label."""
    return {str(label): group[["x", "y", "z"]].to_numpy() for label, group in table.groupby("ordering")}


def _border(corners: Floats, n: int = 24) -> Floats:
    """The closed border of a cell: arcs of great circles with n points each."""
    nexts = np.roll(corners, -1, axis=0)
    return np.concatenate([arc(start, end, n) for start, end in zip(corners, nexts, strict=True)])


def _is_odd(orderings: Orderings) -> Orderings:
    return discordant_pairs(orderings, [range(orderings.shape[1])])[:, 0] % 2


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the visible half of the sphere, coloured by the nearest ordering; the borders are those of scipy."""
    from matplotlib.colors import to_rgb

    figure = new_figure(TITLE, note, size=(5.5, 6.0))
    ax = figure.subplots()
    prepare(ax)
    cells = _cells(table)
    orderings = orderings_of(cells)
    sites = vertices_of(orderings)
    nearest = np.argmax(CAMERA.surface() @ sites.T, axis=-1)
    draw_ball(ax, np.array([to_rgb(tint) for tint in TINTS])[_is_odd(orderings)][nearest])
    for corners in cells.values():
        draw_line(ax, CAMERA.see(_border(corners)), DARK, 0.9, back=0)
    shared = table[["x", "y", "z"]].round(6).drop_duplicates().to_numpy()
    draw_points(ax, CAMERA.see(shared), GREEN, 42, back=0, label="equally far from four or six orderings")
    seen = CAMERA.see(sites)
    draw_points(ax, seen, DARK, 20, back=0, label="orderings")
    front = seen[:, 2] > 0
    draw_labels(ax, seen[front], [short(label) for label, use in zip(cells, front, strict=True) if use], size=8.5)
    legend_below(ax, 2)
    return figure


def interactive(table: DataFrame) -> str:
    """The sphere with its cells as an interactive figure."""
    cells = _cells(table)
    orderings = orderings_of(cells)
    sites = vertices_of(orderings)
    shared = table[["x", "y", "z"]].round(6).drop_duplicates().to_numpy()
    traces = [scene.ball()]
    for parity, (tint, name) in enumerate(zip(TINTS, ("even", "odd"), strict=True)):
        use = np.flatnonzero(_is_odd(orderings) == parity)
        borders = [_border(corners, n=10) for corners in cells.values()]
        traces.append(scene.patches([(sites[i], borders[i]) for i in use], tint, f"cells of {name} orderings"))
    traces.append(scene.lines([1.003 * _border(corners, n=10) for corners in cells.values()], DARK, "borders", 3))
    traces.append(scene.dots(1.01 * shared, GREEN, "equally far from four or six", size=6))
    traces.append(scene.dots(1.01 * sites, DARK, "orderings", size=4))
    traces.append(scene.texts(1.12 * sites, [short(label) for label in cells]))
    return scene.fragment("voronoi-cells", traces)


def findings(table: DataFrame) -> list[Finding]:
    """Judge the areas that scipy computes."""
    areas = table.groupby("ordering")["area"].first().to_numpy()
    equal = np.allclose(areas, 4 * np.pi / 24, rtol=1e-9)
    return [
        Finding(
            "The Voronoi cells of the permutations have equal measure (d = 4).",
            "holds" if equal and len(areas) == 24 else "does not hold",
            f"{len(areas)} cells, areas between {areas.min():.12f} and {areas.max():.12f}; "
            f"4π/24 is {4 * np.pi / 24:.12f}",
        )
    ]


VORONOI = Exhibit(
    name="voronoi-cells",
    title=TITLE,
    paper="The points nearest to each permutation form cells of equal area on the sphere, so uniform points give "
    "uniform permutations. Green points are equally far from several permutations.",
    compute=compute,
    draw=draw,
    interactive=interactive,
    findings=findings,
    source="Figure 3",
    rule="holds if all areas are equal, up to rounding",
)
