"""Images as arrays (n, height, width, channels) of 32-bit floats, checked for order, size and range."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.float32]
"""(n, height, width, channels): images with their channels last."""

Segments: TypeAlias = NDArray[np.int64]
"""(n, height, width), or (1, height, width) for all images: the player that each pixel belongs to."""

CHANNELS = (1, 3, 4)  # grey, RGB, RGB with opacity
NARROWEST = 8  # pixels: a shorter last axis of three is taken for channels, not for the width of grey images
SLACK = 1e-3  # beyond the range of values, which resizing may cause


class Pictures(NamedTuple):
    """Images, their players, and what is seen in place of absent players."""

    images: Pixels
    segments: Segments
    absent: Pixels
    """(n, draws, height, width, channels), or (1, draws, …) for all images."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        height, width, channels = self.images.shape[1:]
        return height, width, channels


def as_pixels(images: Any, value_range: tuple[float, float] | None = None, what: str = "images") -> Pixels:
    """Return one or more images as (n, height, width, channels); integers of 8 bits are divided by 255.

    Parameters
    ----------
    images : (n, height, width, channels), (height, width, channels), (n, height, width) or (height, width) array
        Channels come last; images without an axis of channels are grey.
    value_range : (float, float), optional
        Smallest and largest value of a pixel: by default 0 to 1.
    what : str
        What the images are, for messages.
    """
    array = _as_array(images, what)
    _check_order(array.shape, what)
    if array.ndim == 2 or (array.ndim == 3 and array.shape[-1] in CHANNELS):
        array = array[None]
    if array.ndim == 3:
        array = array[..., None]
    if array.size == 0:
        raise ValueError(f"{what} must have at least one image and one pixel, got shape {array.shape}")
    if array.dtype == np.uint8 and value_range is None:
        return np.asarray(array, dtype=np.float32) / np.float32(255)
    pixels = np.ascontiguousarray(array, dtype=np.float32)
    _check_values(pixels, (0.0, 1.0) if value_range is None else value_range, what)
    return pixels


def _as_array(images: Any, what: str) -> NDArray[Any]:
    if hasattr(images, "detach"):  # a tensor of torch
        images = images.detach().cpu().numpy()
    try:
        array = np.asarray(images)
    except ValueError:
        sizes = [np.shape(image) for image in images]
        raise ValueError(f"{what} must all have the same size, got {sizes[:3]}; explain them one by one") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must be arrays of numbers, got dtype {array.dtype}; np.asarray(image) reads Pillow's")
    return array


def _check_order(shape: tuple[int, ...], what: str) -> None:
    """Raise an error unless the shape is that of images whose channels come last."""
    if len(shape) not in (2, 3, 4):
        raise ValueError(f"{what} must have shape (n, height, width, channels), got {shape}")
    first = len(shape) - 3  # where the channels would be if they came first
    if first >= 0 and shape[first] in CHANNELS and shape[-1] not in CHANNELS:
        raise ValueError(
            f"{what} must have their channels last, (n, height, width, channels), got {shape}; "
            f"np.moveaxis(images, {first}, -1) puts them there, and images[..., None] makes grey images of several"
        )
    looks_single = len(shape) == 3 and shape[-1] < NARROWEST <= min(shape[:2])
    if shape[-1] not in CHANNELS and (len(shape) == 4 or looks_single):
        grey = "; images[..., None] makes narrow grey images of several" if looks_single else ""
        raise ValueError(
            f"{what} must have 1 (grey), 3 (RGB) or 4 channels as their last axis, got {shape[-1]} in {shape}{grey}"
        )


def _check_values(pixels: Pixels, value_range: Any, what: str) -> None:
    low, high = _bounds(value_range)
    found = float(pixels.min()), float(pixels.max())
    if not np.isfinite(found).all():
        raise ValueError(f"{what} must have finite values, got NaN or infinity")
    slack = SLACK * (high - low)
    if found[0] < low - slack or found[1] > high + slack:
        if found[0] < 0:
            remedy = "pass them as they were before they were normalised, and the normalisation as transform="
        elif found[1] > 255:
            remedy = "divide them by their largest possible value, 65535 for 16 bits"
        else:
            remedy = "divide them by 255, or pass them as uint8"
        raise ValueError(
            f"{what} must have values from {low:g} to {high:g}, got {found[0]:.4g} to {found[1]:.4g}; {remedy}, "
            "or name their range as value_range="
        )


def _bounds(value_range: Any) -> tuple[float, float]:
    """Return the smallest and the largest value of pixels; raise an error unless these are two finite numbers."""
    if np.shape(value_range) == (2,):
        low, high = (float(end) for end in value_range)
        if np.isfinite([low, high]).all() and low < high:
            return low, high
    raise ValueError(f"value_range must be the smallest and the largest value of images, got {value_range!r}")
