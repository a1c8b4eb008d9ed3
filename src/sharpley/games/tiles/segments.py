"""Players of images: square tiles, or the segments of any map of integers, such as superpixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from sharpley._support.checks import check_count
from sharpley.games.tiles.pictures import Pixels, Segments

Tile: TypeAlias = int | tuple[int, int]
"""Side of a square tile in pixels, or height and width."""

Segmenter: TypeAlias = Callable[[Pixels], Any]
"""Maps one image (height, width, channels) to the number of the segment of each pixel, (height, width)."""


def tile_segments(height: int, width: int, tile: Tile, *, pad: bool = False) -> Segments:
    """Return the number of the tile of each pixel, (height, width), row by row.

    Parameters
    ----------
    height, width : int
        Size of the image in pixels.
    tile : int or (int, int)
        Side of the tiles, or their height and width.
    pad : bool, default False
        Whether the last tiles may reach beyond the image. Otherwise, its size must be a multiple of theirs.

    Examples
    --------
    >>> tile_segments(2, 6, 2)
    array([[0, 0, 1, 1, 2, 2],
           [0, 0, 1, 1, 2, 2]])
    """
    high, wide = _sides(tile)
    if (height % high or width % wide) and not pad:
        raise ValueError(
            f"images of {height} × {width} pixels cannot be divided into tiles of {high} × {wide}; choose a tile that "
            f"divides both (such as {_divisor(height, high)} × {_divisor(width, wide)}), or pad=True, with which the "
            "last tiles reach beyond the image"
        )
    per_line = -(-width // wide)
    return (np.arange(height)[:, None] // high) * per_line + np.arange(width) // wide


def _sides(tile: Any) -> tuple[int, int]:
    """Return the height and the width of a tile."""
    if np.ndim(tile) == 0:
        side = check_count("tile", tile, minimum=1)
        return side, side
    if np.shape(tile) != (2,):
        raise ValueError(f"tile must be a number of pixels, or a height and a width, got {tile!r}")
    return check_count("tile", tile[0], minimum=1), check_count("tile", tile[1], minimum=1)


def _divisor(size: int, near: int) -> int:
    """Return the divisor of a size that is nearest to a number."""
    return min((k for k in range(1, size + 1) if size % k == 0), key=lambda k: abs(k - near))


def make_segments(images: Pixels, tile: Tile, segments: Any, *, pad: bool) -> Segments:
    """Return the player of each pixel: tiles, or given segments, whose numbers are replaced by 0, 1, ….

    ``segments`` is a map (height, width) for all images, maps (n, height, width), a function of one image, or None.
    """
    n, height, width = images.shape[:3]
    if segments is None:
        return tile_segments(height, width, tile, pad=pad)[None]
    maps = np.stack([np.asarray(segments(image)) for image in images]) if callable(segments) else np.asarray(segments)
    maps = maps[None] if maps.ndim == 2 else maps
    if maps.shape not in ((1, height, width), (n, height, width)):
        raise ValueError(
            f"segments must have shape ({height}, {width}), or one such map for each of {n} images, got {maps.shape}"
        )
    if maps.dtype.kind not in "biu":
        raise TypeError(f"segments must be integers, the number of each pixel's segment, got dtype {maps.dtype}")
    return np.stack([np.unique(one, return_inverse=True)[1].reshape(height, width) for one in maps]).astype(np.int64)


def superpixels(count: int = 100, *, compactness: float = 10.0) -> Segmenter:
    """Return a function that divides an image into about ``count`` superpixels, by scikit-image's SLIC.

    Parameters
    ----------
    count : int, default 100
        Approximate number of superpixels.
    compactness : float, default 10.0
        How much nearness counts compared with likeness of colours; see ``skimage.segmentation.slic``.

    Returns
    -------
    callable
        For ``ImageExplainer(network, segments=superpixels(60))``. Needs scikit-image: ``pip install
        'sharpley[image]'``.
    """
    number = check_count("count", count, minimum=1)

    def segmented(image: Pixels) -> Any:
        try:
            from skimage.segmentation import slic
        except ImportError as error:
            raise ImportError("superpixels need scikit-image: pip install 'sharpley[image]'") from error
        axis = None if image.shape[-1] == 1 else -1
        pixels = image[..., 0] if axis is None else image[..., :3]
        return slic(pixels, n_segments=number, compactness=compactness, channel_axis=axis, start_label=0)

    return segmented


def player_names(segments: Segments, tile: Tile | None) -> list[str]:
    """Return the names of the players: row and column of tiles, such as "tile 0, 3", or numbers of segments."""
    count = int(segments.max()) + 1
    if tile is None:
        return [f"segment {number}" for number in range(count)]
    per_line = int(segments[0, 0].max()) + 1
    return [f"tile {number // per_line}, {number % per_line}" for number in range(count)]
