"""The paper's experiment with images: its Figure 12 and Table 5, and Figure 15 of the appendix."""

from __future__ import annotations

from sharpley_experiments.paper.exhibits import Exhibit
from sharpley_experiments.paper.images.errors_exhibit import ERRORS, OURS
from sharpley_experiments.paper.images.scales_exhibit import SCALES_OF_IMAGES
from sharpley_experiments.paper.images.time_exhibit import TIMES

IMAGES: dict[str, Exhibit] = {exhibit.name: exhibit for exhibit in (ERRORS, OURS, TIMES, SCALES_OF_IMAGES)}
