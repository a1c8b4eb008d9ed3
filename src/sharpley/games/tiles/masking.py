"""Masking in numpy: the pixels of absent players are replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.tiles.pictures import Pictures, Pixels, Segments


class Lines(NamedTuple):
    """The player of each value of an image, by lines of pixels; equal lines, as within tiles, are kept once."""

    distinct: NDArray[np.int64]
    """(u, values in a line)."""
    of_image: NDArray[np.int64]
    """The distinct line that each line of the image is, (lines,)."""

    def kept(self, coalitions: Coalitions) -> Coalitions:
        """Return which values of an image coalitions keep, (p, d) -> (p, values).

        Looking up few distinct lines, and copying these, takes a fraction of the time of looking up every value.
        """
        lines = coalitions.take(self.distinct, axis=1).take(self.of_image, axis=1)
        return lines.reshape(len(coalitions), -1)


def lines_of(segments: NDArray[np.int64], channels: int, *, channels_first: bool) -> Lines:
    """Divide the players of an image's pixels, (height, width), into lines of its values."""
    distinct, of_image = np.unique(segments, axis=0, return_inverse=True)
    of_image = of_image.reshape(-1)
    if channels_first:
        return Lines(distinct, np.tile(of_image, channels))
    return Lines(np.repeat(distinct, channels, axis=1), of_image)


def flat_segments(pictures: Pictures) -> Segments:
    """Return the player of each value of an image, channels last, (n or 1, height · width · channels)."""
    segments = pictures.segments.reshape(len(pictures.segments), -1)
    return np.repeat(segments, pictures.shape[2], axis=1)


def mask_arrays(
    pictures: Pictures, *, channels_first: bool = False
) -> Callable[[NDArray[np.int64], Coalitions, NDArray[np.int64]], Pixels]:
    """Return a function that masks images: (p,), (p, d) and (p,) -> p images in new memory, in either order."""
    height, width, channels = pictures.shape
    shape = (channels, height, width) if channels_first else pictures.shape
    players = [lines_of(one, channels, channels_first=channels_first) for one in pictures.segments]
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
            np.copyto(masked[part], images[row], where=players[row % len(players)].kept(coalitions[part]))
        return masked.reshape(len(rows), *shape)

    return mask


def runs(rows: NDArray[np.int64]) -> Iterator[tuple[slice, int]]:
    """Yield the parts of ``rows`` (p,) that have the same row, and that row; parts are slices, which copy nothing."""
    bounds = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)]
    for start, stop in pairwise(bounds):
        yield slice(start, stop), int(rows[start])
