"""The result of explaining images: values of players, and maps of these over the pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.presentation.selection import Axis
from sharpley.result import ShapleyEstimate


@dataclass(frozen=True, repr=False)
class ImageEstimate:
    """Estimated Shapley values of the tiles or superpixels of images, with the images.

    Attributes
    ----------
    estimate : ShapleyEstimate
        Values and standard errors of the players, (n, d), or (n, d, m) for m classes.
    images : (n, height, width, channels) float
        The images, with values from 0 to 1.
    segments : (n, height, width) int
        The player of each pixel.
    predicted : list of n str
        The label that the network predicts for each image.
    explained : list of n str
        The class that was explained for each image; several are joined.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> image = np.linspace(0.0, 1.0, 16).reshape(4, 4, 1)
    >>> explainer = sharpley.ImageExplainer(lambda images: images.sum(axis=(1, 2)), tile=2)
    >>> found = explainer.estimate(image)
    >>> found.values.round(2)
    array([[0.67, 1.2 , 2.8 , 3.33]])
    >>> found.heat_maps.shape
    (1, 4, 4)
    """

    estimate: ShapleyEstimate
    images: NDArray[np.float32]
    segments: NDArray[np.int64]
    predicted: list[str]
    explained: list[str]

    @property
    def values(self) -> Floats:
        """Estimated Shapley values of the players, (n, d) or (n, d, m)."""
        return self.estimate.values

    @property
    def standard_errors(self) -> Floats:
        """Estimated standard deviations of the values; 0 where these are exact."""
        return self.estimate.standard_errors

    @property
    def heat_maps(self) -> Floats:
        """The value of the player that each pixel belongs to, (n, height, width) or (n, height, width, m)."""
        return self._over_pixels(self.values)

    @property
    def error_maps(self) -> Floats:
        """The standard error of the player that each pixel belongs to."""
        return self._over_pixels(self.standard_errors)

    @property
    def pixel_values(self) -> Floats:
        """The value of each player, shared evenly among its values of pixels: (n, height, width, channels).

        These add up to the same sums; shap's plots expect them.
        """
        return self.shared_among_pixels(self.values)

    def shared_among_pixels(self, values: Floats) -> Floats:
        """Share numbers of players, (n, d) or (n, d, m), evenly among their pixels and channels."""
        channels, d = self.images.shape[-1], values.shape[1]
        counts = np.stack([np.bincount(each.reshape(-1), minlength=d) for each in self.segments]) * channels
        shares = values / np.maximum(counts, 1).reshape(*counts.shape, *[1] * (values.ndim - 2))
        maps = np.expand_dims(self._over_pixels(shares), 3)
        return np.repeat(maps, channels, axis=3)

    def _over_pixels(self, values: Floats) -> Floats:
        return np.stack([mine[players] for mine, players in zip(values, self.segments, strict=True)])

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, key: Any) -> ImageEstimate:
        """Select images by position, slice, list of positions or mask; the result still has an axis of images."""
        at = np.atleast_1d(Axis("images", len(self), None).position(key)).astype(np.int64)
        return ImageEstimate(
            self.estimate[at],
            self.images[at],
            self.segments[at],
            [self.predicted[each] for each in at],
            [self.explained[each] for each in at],
        )

    def __repr__(self) -> str:
        height, width = self.images.shape[1:3]
        n, d = self.values.shape[:2]
        labels = ", ".join(dict.fromkeys(self.explained))
        return f"ImageEstimate({n} × {height} × {width} pixels, {d} players, {self.estimate.method!r}, of {labels})"
