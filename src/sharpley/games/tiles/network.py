"""What is known of a network: how it is called, on which type of images, and what it expects of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.tiles.pictures import Pictures

Masking: TypeAlias = Callable[[NDArray[np.int64], Coalitions, NDArray[np.int64]], Any]
"""``mask(rows (p,), coalitions (p, d), draws (p,))`` -> p images, in the type that a network is called on."""

Transform: TypeAlias = Callable[[Any], Any]
"""What a batch passes through before the network, such as a normalisation."""

PRECISIONS = ("auto", "full", "mixed")
"""Number formats in which a torch module can be called."""

# Small enough for the caches of a processor: with batches of 32 images of 224 × 224 pixels, MobileNetV2 took more than
# twice the time for each that it took with batches of 3.
ELEMENTS_ON_PROCESSOR = 2**19
ELEMENTS_ON_GPU = 2**24
MOST_IMAGES = 4096


class Network(NamedTuple):
    """How a network is called."""

    call: Callable[[Any], Any]
    """Maps a batch to scores (p, k)."""
    name: str
    """Its name, for messages."""
    masking: Callable[[Pictures], Masking]
    """Makes the masking of images."""
    class_names: list[str] | None = None
    """Names of the classes, if they are known."""
    channels: int | None = None
    """Number of channels that it expects, if that is known."""
    elements: int = ELEMENTS_ON_PROCESSOR
    """Number of values in a batch, about."""
    batch: int | None = None
    """Number of images in every batch, if it is fixed."""
    size: tuple[int, int] | None = None
    """Height and width that it expects, if these are known."""

    def batch_size(self, pictures: Pictures) -> int:
        """Return the default number of images in a batch."""
        return self.batch or max(1, min(MOST_IMAGES, self.elements // int(np.prod(pictures.shape))))


def check_fits(network: Network, pictures: Pictures) -> None:
    """Raise an error if a network is known to expect other channels or another size."""
    height, width, channels = pictures.shape
    if network.channels is not None and network.channels != channels:
        raise ValueError(
            f"{network.name} expects images with {network.channels} channels, got {channels}; "
            "images[..., :3] drops the opacity, and np.repeat(images[..., None], 3, axis=-1) makes grey images RGB"
        )
    if network.size is not None and network.size != (height, width):
        expected = " × ".join(map(str, network.size))
        raise ValueError(f"{network.name} expects images of {expected} pixels, got {height} × {width}; resize them")
