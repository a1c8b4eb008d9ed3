"""How large the runs with images are.

"quick" explains handwritten digits with the embedded network, which needs no files and no torch: it shows that
everything works, not what the paper found. "laptop" explains photographs with a real but small network, by fewer and
larger tiles. "images" has the paper's tiles and orderings, with that network, two photographs and five trials: three
minutes for each method, trial and photograph on one core. "paper" is as large as the paper.
"""

from __future__ import annotations

from typing import NamedTuple

from sharpley_experiments.paper.images.networks import DIGITS
from sharpley_experiments.paper.images.photographs import DIGITS as DIGIT_IMAGES
from sharpley_experiments.paper.images.photographs import FREE, IMAGENET


class ImagePreset(NamedTuple):
    """Size of the runs with images."""

    network: str
    photographs: str
    n_images: int
    n_scale_images: int
    """Images in the figure about λ, the first ones."""
    tile: int
    n_orderings: int
    n_trials: int
    n_timed: int
    """Orderings whose evaluation is timed, of the same tiles; the time of 100 is extrapolated from it."""
    timed_tile: int
    n_repetitions: int


IMAGE_PRESETS = {
    "quick": ImagePreset(DIGITS, DIGIT_IMAGES, 3, 3, 2, 10, 5, 4, 1, 2),
    "laptop": ImagePreset("mobilenet_v2", FREE, 3, 3, 32, 10, 5, 1, 14, 3),
    "images": ImagePreset("mobilenet_v2", FREE, 2, 1, 14, 100, 5, 1, 14, 3),
    "paper": ImagePreset("resnet50", IMAGENET, 8, 8, 14, 100, 25, 100, 14, 3),
}
