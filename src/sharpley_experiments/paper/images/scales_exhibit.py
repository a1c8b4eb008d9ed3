"""The paper's figure about the scale λ of the Mallows kernel for images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley import METHODS
from sharpley_experiments.common.intervals import mean_interval, ratio_interval
from sharpley_experiments.common.panels import draw_line, draw_panels
from sharpley_experiments.common.style import log_numbers
from sharpley_experiments.paper.constants import SCALES
from sharpley_experiments.paper.evaluation.compare import shown
from sharpley_experiments.paper.evaluation.series import scaled
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding
from sharpley_experiments.paper.images.claims import at_size
from sharpley_experiments.paper.images.errors import errors_of, images_of, measured
from sharpley_experiments.paper.images.errors_exhibit import scale_of, tabulate
from sharpley_experiments.paper.images.presets import IMAGE_PRESETS
from sharpley_experiments.paper.rules import SIMILAR, judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "Images: scale of the Mallows kernel"
LINES = tuple(scaled(scale) for scale in SCALES)
MEASURED_AS = {scaled(4): "herding"}  # whose scale is 4


def compute(context: Context) -> DataFrame:
    """Errors of herding with every scale, on every image."""
    return measured(context, LINES, MEASURED_AS, IMAGE_PRESETS[context.preset.name].n_scale_images)


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the error of herding against λ, a panel for each image."""

    def draw_image(panel: Axes, name: str) -> str:
        intervals = [mean_interval(errors_of(table, name, line)) for line in LINES]
        ends = [i.low for i in intervals], [i.high for i in intervals]
        look = {"color": METHODS["herding"].colour}
        draw_line(panel, SCALES, [i.value for i in intervals], ends, label="mean squared error of herding", look=look)
        log_numbers(panel, base=2)
        panel.set_ylim(bottom=0)
        panel.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        panel.yaxis.get_offset_text().set_fontsize(7)
        return f"{name}: {table[table['image'] == name]['label'].iloc[0]}"

    return draw_panels(TITLE, f"{note}: {scale_of(table)}", images_of(table), draw_image, axes=("λ", "error"))


def findings(table: DataFrame) -> list[Finding]:
    """Whether λ matters on average: the mean error over images with each λ, relative to that with λ = 4."""
    overall = {line: _over_images(table, line) for line in LINES}
    ratios = {line: ratio_interval(overall[line], overall[scaled(4)]) for line in LINES if line != scaled(4)}
    details = Details(("λ", "ratio"), tuple((line, shown(ratio)) for line, ratio in ratios.items()))
    claim, what = "Images: λ has little impact on average.", "error / that with λ = 4, mean over images"
    return [at_size(table, Finding(claim, judged(list(ratios.values()), SIMILAR), what, details, SIMILAR.words))]


def _over_images(table: DataFrame, line: str) -> np.ndarray:
    """Errors of all trials, each the mean over images relative to the image's mean error with λ = 4."""
    images = images_of(table)
    return np.mean([errors_of(table, i, line) / errors_of(table, i, scaled(4)).mean() for i in images], axis=0)


SCALES_OF_IMAGES = Exhibit(
    "images-lambda",
    TITLE,
    "Error of 100 herded orderings of 256 tiles for several λ: it has little impact on average.",
    compute,
    draw=draw,
    tabulate=lambda table: tabulate(table, series=LINES),
    findings=findings,
    source="Figure 15",
)
