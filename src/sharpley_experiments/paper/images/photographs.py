"""The photographs that are explained: free ones that may be shown, and ImageNet's, from a folder of data.

As in the paper, photographs are cropped to a square around their centre and resized to 224 × 224 pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley.games.tiles.digits import load_digits_network
from sharpley_experiments.common.constants import SEED

SIDE = 224
FREE, IMAGENET, DIGITS = "free", "imagenet", "digits"
ARCHIVES = {FREE: "images/free8_224.npz", IMAGENET: "images/imagenet64_224.npz"}
FREE_ONES = ("coffee", "chelsea", "rocket", "flower", "china", "astronaut", "hubble")
"""Photographs that may be shown, without restrictions (CC0) those first."""


class Photograph(NamedTuple):
    """A photograph with a name."""

    name: str
    pixels: NDArray[Any]
    """(height, width, channels): uint8, or float from 0 to 1."""


@lru_cache(maxsize=2)
def load_photographs(kind: str, count: int, data: str | None) -> tuple[Photograph, ...]:
    """Load photographs: digits, free ones, or a random choice of ImageNet's with a fixed seed."""
    if kind == DIGITS:
        found = load_digits_network()
        return tuple(Photograph(f"digit {k}", found.images[k]) for k in range(count))
    available = list(_from_folder(kind, Path(data))) if data is not None else list(_installed(kind))
    if len(available) < count:
        raise FileNotFoundError(
            f"{count} photographs ({kind}) are needed, but {len(available)} were found"
            + (f" in {data}: expected {ARCHIVES[kind]}, or JPEG and PNG files in images/{kind}" if data else "")
            + "; pass --data FOLDER with such files"
        )
    if kind == FREE:
        return tuple(sorted(available, key=_rank)[:count])
    chosen = np.random.default_rng(SEED).choice(len(available), size=count, replace=False)
    return tuple(available[k] for k in chosen)


def _rank(photograph: Photograph) -> int:
    return next((k for k, name in enumerate(FREE_ONES) if name in photograph.name), len(FREE_ONES))


def _from_folder(kind: str, folder: Path) -> Iterator[Photograph]:
    archive = folder / ARCHIVES[kind]
    if archive.is_file():
        with np.load(archive) as arrays:
            images, names = arrays["images"], arrays["files"]
        for image, name in zip(images, names, strict=True):
            yield Photograph(_title(str(name)), image)
        return
    for path in sorted((folder / "images" / kind).glob("*")):
        if path.suffix.lower() in (".jpg", ".jpeg", ".png"):
            yield Photograph(_title(path.name), read_photograph(path))


def _installed(kind: str) -> Iterator[Photograph]:
    """Photographs that come with scikit-learn and scikit-image; none of ImageNet's."""
    if kind != FREE:
        return
    from sklearn.datasets import load_sample_image

    for name in ("flower", "china"):
        yield Photograph(name, cropped(load_sample_image(f"{name}.jpg")))
    try:
        from skimage import data
    except ImportError:
        return
    for name in ("coffee", "chelsea", "rocket", "astronaut"):
        yield Photograph(name, cropped(getattr(data, name)()))


def read_photograph(path: Path) -> NDArray[np.uint8]:
    """Read a photograph, crop it to a square and resize it."""
    from PIL import Image

    with Image.open(path) as image:
        return cropped(np.asarray(image.convert("RGB")))


def cropped(image: NDArray[Any]) -> NDArray[np.uint8]:
    """Crop an image (height, width, 3) to a square around its centre, and resize it to 224 × 224 pixels."""
    from PIL import Image

    side = min(image.shape[:2])
    top, left = ((size - side) // 2 for size in image.shape[:2])
    square = Image.fromarray(np.ascontiguousarray(image[top : top + side, left : left + side, :3]))
    return np.asarray(square.resize((SIDE, SIDE), Image.Resampling.BILINEAR), dtype=np.uint8)


def _title(name: str) -> str:
    """Return the name of a file for people, as in "coffee" for skimage_coffee.png."""
    words = name.rsplit(".", 1)[0].split("_")
    known = ("sklearn", "skimage")
    return " ".join(word for word in words if word not in known and not (word[:1] == "n" and word[1:].isdigit()))
