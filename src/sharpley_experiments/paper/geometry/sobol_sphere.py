"""Two hundred Sobol' points on the sphere (the paper's Figure 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats
from sharpley.permutations.sphere import polar_to_cartesian, uniform_to_polar
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.style import BLUE, ORANGE, new_figure
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding
from sharpley_experiments.paper.geometry import scene
from sharpley_experiments.paper.geometry.view import CAMERA, draw_ball, draw_points, prepare

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "200 Sobol' points on the sphere, and 200 random ones"
N_POINTS = 200
COLOURS = {"Sobol'": BLUE, "random": ORANGE}


def compute(context: Context) -> DataFrame:
    """Draw points of several scramblings and of as many random samples: sample, trial, x, y, z."""
    from pandas import DataFrame, concat

    parts = []
    for trial, seed in enumerate(np.random.SeedSequence(SEED).spawn(context.preset.n_scrambles)):
        rng = np.random.default_rng(seed)
        for sample, uniforms in (("Sobol'", _sobol(rng)), ("random", rng.random((N_POINTS, 2)))):
            x, y, z = polar_to_cartesian(uniform_to_polar(uniforms)).round(9).T  # more digits make the file larger
            parts.append(DataFrame({"sample": sample, "trial": trial, "x": x, "y": y, "z": z}))
    return concat(parts, ignore_index=True)


def _sobol(rng: np.random.Generator) -> Floats:
    from scipy.stats import qmc

    points = qmc.Sobol(2, scramble=True, rng=rng).random(256)  # a power of two, since scipy warns about other numbers
    return np.asarray(points[:N_POINTS])


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the first scrambling next to the first random sample."""
    figure = new_figure(TITLE, note, size=(8.0, 4.8))
    for ax, (sample, colour) in zip(figure.subplots(1, 2), COLOURS.items(), strict=True):
        prepare(ax)
        draw_ball(ax)
        draw_points(ax, CAMERA.see(_first(table, sample)), colour, 20, back=0.2)
        unevenness, closest = _measures(_first(table, sample))
        ax.set_title(
            f"{sample}: cap discrepancy {unevenness:.3f}, closest pair {np.rad2deg(closest):.1f}° apart",
            fontsize=9.5,
        )
    return figure


def _first(table: DataFrame, sample: str) -> Floats:
    part = table[(table["sample"] == sample) & (table["trial"] == 0)]
    return np.asarray(part[["x", "y", "z"]].to_numpy())


def interactive(table: DataFrame) -> str:
    """Both samples on one interactive sphere; a click in the legend hides one of them."""
    traces = [scene.dots(1.005 * _first(table, sample), colour, sample, size=4) for sample, colour in COLOURS.items()]
    return scene.fragment("sobol-sphere", [scene.ball(), *traces])


def _measures(points: Floats) -> tuple[float, float]:
    """Spherical cap discrepancy in L2, and the smallest angle between two points.

    The squared discrepancy is the mean of (share of points − share of area)² over all caps, with centres uniform on the
    sphere and uniform heights. By Stolarsky's theorem it is (4/3 − D̄) / 8, where D̄ is the mean distance between two
    points, the distance 0 of each point from itself included, and 4/3 its value for uniform points.
    """
    dots = points @ points.T
    distances = np.sqrt(np.clip(2 - 2 * dots, 0, None))
    np.fill_diagonal(distances, 0.0)
    np.fill_diagonal(dots, -1.0)
    return float(np.sqrt((4 / 3 - distances.mean()) / 8)), float(np.arccos(np.clip(dots.max(), -1, 1)))


def findings(table: DataFrame) -> list[Finding]:
    """Compare the evenness of Sobol' and of random points over all trials."""
    measured = {
        str(sample): np.array([_measures(part[["x", "y", "z"]].to_numpy()) for _, part in group.groupby("trial")])
        for sample, group in table.groupby("sample")
    }
    sobol, random = measured["Sobol'"], measured["random"]
    better = sobol[:, 0].max() < random[:, 0].min()
    on_average = sobol[:, 0].mean() < random[:, 0].mean()
    return [
        Finding(
            "Sobol' points are evenly distributed on the sphere (200 points, d = 4).",
            "holds" if better else "holds in part" if on_average else "does not hold",
            f"spherical cap discrepancy {sobol[:, 0].mean():.4f} against {random[:, 0].mean():.4f} for random points, "
            f"means of {len(sobol)} trials{', lower in every one' if better else ''}; the closest "
            f"points are {np.rad2deg(sobol[:, 1].mean()):.2f}° against {np.rad2deg(random[:, 1].mean()):.2f}° apart",
        )
    ]


SPHERE = Exhibit(
    name="sobol-sphere",
    title=TITLE,
    paper="200 points of a Sobol' sequence, mapped to the sphere by the inverse distribution functions of the polar "
    "angles, are spread evenly over it.",
    compute=compute,
    draw=draw,
    interactive=interactive,
    findings=findings,
    source="Figure 7",
    rule="holds if every Sobol' sample is more even than every random one; in part if they are on average",
)
