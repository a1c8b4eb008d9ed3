"""The paper's figure of eight images: label, heat map, and the error of each method with 100 orderings."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from sharpley import ImageEstimate, ShapleyEstimate
from sharpley.games.tiles.segments import tile_segments
from sharpley.plotting import three_columns
from sharpley.plotting.axes import figure_of, forget
from sharpley_experiments.common.intervals import mean_interval
from sharpley_experiments.common.style import GREY
from sharpley_experiments.paper.exhibits import Context, Exhibit
from sharpley_experiments.paper.images.claims import about_errors
from sharpley_experiments.paper.images.errors import errors_of, images_of, measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SERIES = ("monte-carlo", "antithetic", "herding", "orthogonal", "sbq", "sobol")
BEYOND = ("antithetic", "sobol", "design", "regression", "gp")
TITLE = "Images: errors of Shapley values of tiles"
TITLE_OF_OURS = "Beyond the paper: images with the methods of this library"
OF_PAPER = "the paper: ResNet50, 256 tiles, 100 orderings, 25 trials, 8 images"


def compute(context: Context, *, series: Sequence[str]) -> DataFrame:
    """One row for each image, method and trial; the first of each image has its picture and heat map."""
    return measured(context, series)


def draw(table: DataFrame, note: str, *, title: str) -> Figure:
    """Draw three columns: the image with its predicted label, the heat map of the best method, errors by method."""
    names = images_of(table)
    errors = [_means(table[table["image"] == name]) for name in names]
    axes = three_columns(_from_table(table), errors)
    for ax, name in zip(axes[:, 0], names, strict=True):
        ax.set_title(f"{name}: {ax.get_title()}", fontsize=8)
    for ax, of_image in zip(axes[:, 1], errors, strict=True):
        ax.set_title(f"by {min(of_image, key=lambda series: of_image[series])}", fontsize=8)
    figure = figure_of(forget(axes[0, 0]))
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # type: ignore[union-attr, call-arg]
    figure.suptitle(title, fontsize=10)
    figure.text(0.99, 0.008, f"{note}: {scale_of(table)}\n{OF_PAPER}", ha="right", fontsize=6.5, color=GREY)
    return figure


def scale_of(table: DataFrame) -> str:
    """Say how large a run was."""
    first = table.iloc[0]
    trials, images = table["trial"].nunique(), table["image"].nunique()
    return f"{first['network']}, {first['d']} tiles, {first['n']} orderings, {trials} trials, {images} images"


def _means(mine: DataFrame) -> dict[str, float]:
    return {str(series): float(part["mse"].mean()) for series, part in mine.groupby("series", sort=False)}


def _from_table(table: DataFrame) -> ImageEstimate:
    """Make what is drawn from the table: thumbnails, and heat maps of square tiles."""
    first = [table[table["image"] == name].iloc[0] for name in images_of(table)]
    images = np.stack([_decoded(row["thumbnail"]) for row in first])
    values = np.array([json.loads(row["heat_map"]) for row in first])
    n, d = values.shape
    tiles, side = round(d**0.5), images.shape[1]
    labels = [str(row["label"]) for row in first]
    none = np.zeros((n, d))
    estimate = ShapleyEstimate(values, none, np.zeros(n), np.zeros(n, np.int64), "", np.ones(n, bool), none)
    segments = np.broadcast_to(tile_segments(side, side, -(-side // tiles), pad=True), (n, side, side))
    return ImageEstimate(estimate, images, segments, labels, labels)


def _decoded(text: str) -> np.ndarray:
    from PIL import Image

    with Image.open(BytesIO(b64decode(text))) as image:
        return np.asarray(image, dtype=np.float32) / 255


def tabulate(table: DataFrame, *, series: Sequence[str]) -> DataFrame:
    """Mean errors with their intervals, for each image and method."""
    import pandas as pd

    lines = []
    for name in images_of(table):
        first = table[table["image"] == name].iloc[0]
        cells = {line: _cell(errors_of(table, name, line)) for line in series}
        lines.append({"image": name, "label": first["label"], "probability": f"{first['probability']:.2f}", **cells})
    return pd.DataFrame(lines)


def _cell(errors: np.ndarray) -> str:
    if not len(errors):
        return "–"
    interval = mean_interval(errors)
    return f"{interval.value:.2e} ({interval.low:.1e} to {interval.high:.1e})"


ERRORS = Exhibit(
    "images",
    TITLE,
    "Eight photographs of ImageNet, ResNet50, 256 tiles, 100 orderings, 25 trials: Sobol' has the lowest error "
    "estimate on all images; herding, orthogonal and SBQ are better than plain Monte Carlo, but not clearly better "
    "than antithetic sampling. The preset laptop explains three free photographs with MobileNetV2, by 49 tiles, "
    "10 orderings and 5 trials; quick explains digits with a tiny network.",
    partial(compute, series=SERIES),
    draw=partial(draw, title=TITLE),
    tabulate=partial(tabulate, series=SERIES),
    findings=about_errors,
    source="Figure 12",
)

OURS = Exhibit(
    "images-ours",
    TITLE_OF_OURS,
    "It has no such figure. The methods of this library that the paper does not have, with as many evaluations, beside "
    "two that it has. Methods that may be biased are compared with the mean of all others.",
    partial(compute, series=BEYOND),
    draw=partial(draw, title=TITLE_OF_OURS),
    tabulate=partial(tabulate, series=BEYOND),
)
