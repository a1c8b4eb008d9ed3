"""What is seen in place of absent tiles: black, the image's blurred self or mean colour, or other images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from sharpley._support.checks import check_choice
from sharpley.games.tiles.pictures import Pixels, as_pixels

Baseline: TypeAlias = "str | Callable[[Pixels], Any] | Any"
"""A name in ``BASELINES``, a function of one image, one image, or several background images, which are draws."""

BLUR_SHARE = 0.05  # of the longer side of an image: the standard deviation of the blur


def black(image: Pixels) -> Pixels:
    """Return zeros, as in the paper."""
    return np.zeros_like(image)


def blurred(image: Pixels) -> Pixels:
    """Return the image, blurred until its objects are gone."""
    from scipy.ndimage import gaussian_filter

    deviation = BLUR_SHARE * max(image.shape[:2])
    return np.asarray(gaussian_filter(image, (deviation, deviation, 0.0)), dtype=np.float32)


def mean_coloured(image: Pixels) -> Pixels:
    """Return the mean colour of the image everywhere."""
    mean = image.mean(axis=(0, 1), dtype=np.float64)
    return np.broadcast_to(mean.astype(np.float32), image.shape)


BASELINES: dict[str, Callable[[Pixels], Pixels]] = {"black": black, "blur": blurred, "mean": mean_coloured}
"""Baselines by name."""


def make_absent(images: Pixels, baseline: Baseline, value_range: tuple[float, float] | None) -> Pixels:
    """Return what is seen in place of absent players: (n or 1, draws, height, width, channels)."""
    if isinstance(baseline, str):
        if baseline == "black":
            return black(images[:1])[:, None]
        baseline = BASELINES[check_choice("baseline", baseline, BASELINES)]
    if callable(baseline):
        made = np.stack([np.asarray(baseline(image), dtype=np.float32) for image in images])
        if made.shape != images.shape:
            raise ValueError(
                f"baseline must return an image of the shape of its input, {images.shape[1:]}, got {made.shape[1:]}"
            )
        return made[:, None]
    background = as_pixels(baseline, value_range, "background images")
    if background.shape[1:] != images.shape[1:]:
        raise ValueError(
            f"background images must have the shape of the images, {images.shape[1:]}, got {background.shape[1:]}"
        )
    return background[None]
