"""The paper's geometric figures: tables, figures drawn from them, and findings that detect wrong tables."""

import io
import subprocess
import sys
from dataclasses import astuple
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from sharpley import all_orderings
from sharpley.permutations.sphere import nearest_orderings, permutohedron
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.geometry import (
    GEOMETRY,
    cayley,
    codes,
    scene,
    voronoi,
)
from sharpley_experiments.paper.geometry.vertices import labels_of, orderings_of, vertices_of
from sharpley_experiments.paper.geometry.view import CAMERA, HORIZON, Camera, arc

NOWHERE = Path("nowhere")  # geometry stores nothing
QUICK = Context(PRESETS["quick"], NOWHERE)
NAMES = [
    "cayley-graph-3",
    "cayley-graph-4",
    "voronoi-cells",
    "orthogonal-codes",
    "kendall-distribution",
    "kendall-bounds",
    "sobol-sphere",
    "sobol-histogram",
]
XYZ = ["x", "y", "z"]


def from_csv(table):
    text = table.to_csv(index=False)
    return pd.read_csv(io.StringIO(text), engine="python")  # reads floats to the last digit in every version of pandas


def png(figure):
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=40)
    return stream.getvalue()


def test_all_figures_are_there_and_importing_them_loads_nothing_heavy():
    assert list(GEOMETRY) == NAMES
    heavy = ("scipy", "pandas", "matplotlib", "plotly")
    code = f"import sys, sharpley_experiments.paper.geometry; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_presets_differ_in_numbers_only_and_grow():
    assert list(PRESETS) == ["quick", "laptop", "images", "paper"]
    quick, laptop, images, paper = (np.array(astuple(preset)[1:]) for preset in PRESETS.values())
    assert (laptop == images).all()  # which differs in the images alone
    assert (quick < laptop).all()
    assert (laptop <= paper).all()  # some laptop runs are as large as the paper's
    assert (laptop < paper).any()


@pytest.mark.parametrize("name", NAMES)
def test_runs_are_repeatable(name, geometry_tables):
    pd.testing.assert_frame_equal(GEOMETRY[name].compute(QUICK), geometry_tables[name])


@pytest.mark.parametrize("name", NAMES)
def test_pictures_and_findings_come_from_the_table_alone(name, geometry_tables):
    """A table that was written to CSV and read again gives exactly the same picture and the same findings."""
    exhibit, table = GEOMETRY[name], geometry_tables[name]
    again = from_csv(table)
    figure = exhibit.draw(table, "preset: quick")
    assert isinstance(figure, Figure)
    assert "preset: quick" in [text.get_text() for text in figure.texts]
    assert png(figure) == png(exhibit.draw(again, "preset: quick"))
    assert exhibit.findings(table) == exhibit.findings(again)


@pytest.mark.parametrize("name", [name for name in NAMES if GEOMETRY[name].interactive])
def test_fragments_are_small_and_do_not_contain_plotly(name, geometry_tables):
    text = GEOMETRY[name].interactive(geometry_tables[name])
    assert text == GEOMETRY[name].interactive(from_csv(geometry_tables[name]))
    assert f'id="sharpley-{name}"' in text
    assert "Plotly.newPlot" in text
    assert "<html" not in text
    assert len(text) < 400_000  # plotly.js alone has 4 MB


def test_without_plotly_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match=r"sharpley\[experiments\]"):
        scene.require_plotly()


def test_the_papers_claims_as_we_found_them(geometry_tables):
    found = [finding for name in NAMES for finding in GEOMETRY[name].findings(geometry_tables[name])]
    other = {finding.claim[:40]: finding.verdict for finding in found if finding.verdict != "holds"}
    assert other == {
        "Kendall distance and dot product of two ": "does not hold",
        "Permutations from orthogonal vectors are": "holds in part",
        "K_τ of the nearest permutations falls li": "holds in part",
        "Reversing the first d·2^(−1/3) players g": "does not hold",
        "It is not known whether the limits of Th": "remark",
    }
    assert len(found) == 4 + 5 + 1 + 2 + 4 + 5 + 1 + 1


# Labels and views


def test_labels_are_text_even_after_a_csv():
    orderings = all_orderings(3)
    table = from_csv(pd.DataFrame({"ordering": labels_of(orderings)}))
    np.testing.assert_array_equal(orderings_of(table["ordering"]), orderings)


def test_the_camera_rotates_and_does_not_distort():
    camera = Camera(azimuth=40, elevation=25)
    np.testing.assert_allclose(camera.rotation @ camera.rotation.T, np.eye(3), atol=1e-14)
    a, e = np.deg2rad([40, 25])
    viewer = np.array([[np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]])
    np.testing.assert_allclose(camera.see(viewer), [[0, 0, 1]], atol=1e-14)
    assert np.linalg.det(camera.rotation) == pytest.approx(1)  # no mirror image
    centre = camera.surface()[449:451, 449:451].mean(axis=(0, 1))
    np.testing.assert_allclose(centre, viewer[0], atol=1e-4)


def test_arcs_are_on_the_sphere_and_evenly_spaced():
    start, end = np.array([1.0, 0, 0]), np.array([0, 0.6, 0.8])
    points = arc(start, end, 7)
    np.testing.assert_allclose(points[[0, -1]], [start, end], atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    np.testing.assert_allclose((points[1:] * points[:-1]).sum(axis=1), np.cos(np.pi / 12))


# Cayley graphs


@pytest.mark.parametrize("d", [3, 4])
def test_edges_are_adjacent_swaps(d):
    table = cayley.edges(d)
    ours = {frozenset(ends) for ends in table["ordering"].to_numpy().reshape(-1, 2)}
    swaps = set()
    for ordering in permutations(range(d)):
        for k in range(d - 1):
            other = list(ordering)
            other[k], other[k + 1] = other[k + 1], other[k]
            swaps.add(frozenset(labels_of(np.array([ordering, other]))))
    assert ours == swaps
    for (a, b), step in zip(table["ordering"].to_numpy().reshape(-1, 2), table["step"][::2], strict=True):
        differ = np.flatnonzero(orderings_of([a])[0] != orderings_of([b])[0])
        assert differ.tolist() == [step, step + 1]


def test_edges_of_the_permutohedron_are_equally_long():
    """True only if orderings are the labels of the vertices and ranks their coordinates."""
    ends = cayley.edges(4)[XYZ].to_numpy().reshape(-1, 2, 3)
    np.testing.assert_allclose(((ends[:, 0] - ends[:, 1]) ** 2).sum(axis=1), 2 * 12 / (4 * 15))


def test_a_missing_edge_is_detected(geometry_tables):
    table = geometry_tables["cayley-graph-4"]
    verdicts = [finding.verdict for finding in cayley.findings(4, table[table["edge"] != 7])]
    assert verdicts[:2] == ["does not hold"] * 2


def test_the_horizon_separates_hidden_edges_from_the_others():
    """An edge of a convex body is hidden if a step from its midpoint towards the viewer leads into the body."""
    middles = cayley.edges(4)[XYZ].to_numpy().reshape(-1, 2, 3).mean(axis=1)
    inward = CAMERA.see(middles)
    towards = middles + 1e-6 * CAMERA.rotation[2]
    normals = [np.isin(range(4), subset) for k in (1, 2, 3) for subset in combinations(range(4), k)]
    directions = (
        np.array(normals) @ np.linalg.pinv(vertices_of(all_orderings(4))).dot(permutohedron(all_orderings(4))).T
    )
    limits = (vertices_of(all_orderings(4)) @ directions.T).max(axis=0)
    hidden = (towards @ directions.T <= limits + 1e-12).all(axis=1)
    np.testing.assert_array_equal(inward[:, 2] < HORIZON, hidden)
    assert 0 < hidden.sum() < len(hidden) / 2


# Voronoi cells


def test_points_inside_a_cell_go_to_its_ordering(geometry_tables):
    rng = np.random.default_rng(0)
    for label, cell in geometry_tables["voronoi-cells"].groupby("ordering"):
        inside = rng.dirichlet(np.ones(len(cell)), size=50) @ cell[XYZ].to_numpy()
        assert set(labels_of(nearest_orderings(inside))) == {label}


def test_cells_are_triangles_with_fourteen_distinct_corners(geometry_tables):
    """With 36 borders and 24 cells there are 14 corners, by Euler's formula."""
    table = geometry_tables["voronoi-cells"]
    assert (table.groupby("ordering").size() == 3).all()
    assert len(table[XYZ].round(6).drop_duplicates()) == 14


def test_unequal_cells_are_detected(geometry_tables):
    table = geometry_tables["voronoi-cells"].copy()
    table.loc[table["ordering"] == "0-1-2-3", "area"] *= 1.001
    assert voronoi.findings(table)[0].verdict == "does not hold"


def test_patches_lie_on_the_sphere_and_have_its_area(geometry_tables):
    cell = geometry_tables["voronoi-cells"].groupby("ordering").get_group("0-1-2-3")
    border = voronoi._border(cell[XYZ].to_numpy())
    mesh = scene.patches([(vertices_of(orderings_of(["0-1-2-3"]))[0], border)], "red", "cell", rings=30)
    points = np.stack([mesh.x, mesh.y, mesh.z], axis=1).astype(float)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-6)
    a, b, c = (points[np.asarray(index)] for index in (mesh.i, mesh.j, mesh.k))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    assert area == pytest.approx(4 * np.pi / 24, rel=2e-3)


# Orthogonal codes


def test_codes_are_orthonormal_bases_and_their_negatives(geometry_tables):
    points = geometry_tables["orthogonal-codes"][XYZ].to_numpy().reshape(-1, 3, 2, 3)
    np.testing.assert_array_equal(points[:, :, 0], -points[:, :, 1])
    grams = points[:, :, 0] @ points[:, :, 0].transpose(0, 2, 1)
    np.testing.assert_allclose(grams, np.broadcast_to(np.eye(3), grams.shape), atol=1e-12)


def test_two_equal_permutations_are_detected(geometry_tables):
    table = geometry_tables["orthogonal-codes"].copy()
    first = table.loc[0, "ordering"]
    table.loc[2, "ordering"] = first
    assert codes.findings(table)[0].verdict == "does not hold"
