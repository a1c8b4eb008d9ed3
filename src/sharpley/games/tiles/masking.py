"""Masking in numpy: the pixels of absent players are replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.tiles.pictures import Pictures, Pixels, Segments


def flat_segments(pictures: Pictures, *, channels_first: bool = False) -> Segments:
    """Return the player of each value of an image, (n or 1, height · width · channels).

    A value, not a pixel, has a player: copying long runs is several times faster than copying three values each.
    """
    segments = pictures.segments.reshape(len(pictures.segments), -1)
    channels = pictures.shape[2]
    return np.tile(segments, channels) if channels_first else np.repeat(segments, channels, axis=1)


def mask_arrays(
    pictures: Pictures, *, channels_first: bool = False
) -> Callable[[NDArray[np.int64], Coalitions, NDArray[np.int64]], Pixels]:
    """Return a function that masks images: (p,), (p, d) and (p,) -> p images in new memory, in either order."""
    height, width, channels = pictures.shape
    shape = (channels, height, width) if channels_first else pictures.shape
    players = flat_segments(pictures, channels_first=channels_first)
    images, absent = (
        np.ascontiguousarray(np.moveaxis(part, -1, -3) if channels_first else part)
        for part in (pictures.images, pictures.absent)
    )
    images, absent = images.reshape(len(images), -1), absent.reshape(*absent.shape[:2], -1)

    def mask(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Pixels:
        masked = np.empty((len(rows), images.shape[1]), dtype=np.float32)
        for part, row in runs(rows):
            of_row = absent[row % len(absent)]
            masked[part] = of_row[0] if len(of_row) == 1 else of_row[draws[part]]
            kept = coalitions[part].take(players[row % len(players)], axis=1)
            np.copyto(masked[part], images[row], where=kept)
        return masked.reshape(len(rows), *shape)

    return mask


def runs(rows: NDArray[np.int64]) -> Iterator[tuple[slice, int]]:
    """Yield the parts of ``rows`` (p,) that have the same row, and that row; parts are slices, which copy nothing."""
    bounds = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)]
    for start, stop in pairwise(bounds):
        yield slice(start, stop), int(rows[start])
