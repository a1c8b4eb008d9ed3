"""The tabular data sets of the paper's experiments (its Table 2).

Two come with scikit-learn. The others are read from a folder that the caller names or from the cache folder (see
``sharpley._support.cache``); if no folder is named and the cache folder does not hold them, they are downloaded from
their public sources into the cache folder. Whatever the source, the digest of the numbers read is compared with a known
digest, so that all results are based on the same data.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sharpley._support import cache as _cache
from sharpley._support.checks import check_choice
from sharpley._support.typing import Floats
from sharpley_experiments.common import readers
from sharpley_experiments.common.downloads import DownloadError, Original, download, find, opened
from sharpley_experiments.common.readers import Contents

UCI_URL = "https://archive.ics.uci.edu/static/public"
SHAPE_OF_WHOLE_YEAR = (515_345, 90)


class Dataset(NamedTuple):
    """A data set for supervised learning; the classes of a classification are 0 and 1."""

    name: str
    X: Floats
    y: Floats
    feature_names: tuple[str, ...]
    is_classification: bool
    note: str = ""
    """How it differs from the data set of the paper; empty if it does not."""


class _Recipe(NamedTuple):
    """How to read a data set that does not come with scikit-learn."""

    original: Original
    read: Callable[..., Contents]
    copy: str
    """Path of a compact copy within a data folder."""
    read_copy: Callable[..., Contents]
    notes: dict[str, str]
    """Digests of all valid contents, each with the note for ``Dataset.note``."""
    is_classification: bool


_RECIPES = {
    "adult": _Recipe(
        Original(f"{UCI_URL}/2/adult.zip", ("adult.zip",), ("adult.data", "adult.test")),
        readers.adult,
        "adult/adult.csv.gz",
        readers.adult_copy,
        {"a27eb1cd7855f2edce48c84769201ae83d868e84cc0b7a8f07462dad88b22acf": ""},
        is_classification=True,
    ),
    "bank": _Recipe(
        Original(f"{UCI_URL}/222/bank+marketing.zip", ("bank+marketing.zip", "bank.zip"), ("bank-full.csv",)),
        readers.bank,
        "bank/bank_full.csv.gz",
        readers.bank_copy,
        {"b6f17ff4e306669adf47e8e602c9bd527159d2092f7cb6e3d4bca4b4adc6980b": ""},
        is_classification=True,
    ),
    "cal_housing": _Recipe(
        Original("https://ndownloader.figshare.com/files/5976036", ("cal_housing.tgz",), ("cal_housing.data",)),
        readers.housing,
        "cal_housing/cal_housing.npz",
        readers.housing_copy,
        {"bcfbbf3cc329175c75e91ca37bb5c17150f4eef4f7c945c50a38ad2611df0990": ""},
        is_classification=False,
    ),
    "year": _Recipe(
        Original(
            f"{UCI_URL}/203/yearpredictionmsd.zip",
            ("yearpredictionmsd.zip", "YearPredictionMSD.txt.zip"),
            ("YearPredictionMSD.txt",),
            most_bytes=2**29,
        ),
        readers.year,
        "year/year_subset.npz",
        readers.year_copy,
        {
            # The whole data set: a digest of its shape and first row only, see _digest.
            "a7c8c7a50088d170b2595cf890ab815ba8c81c7850812ec4edb20d42ef66cd40": "",
            "ee54917c5ab75f745892a5535686876e57d139c68c6cb674857118efd5f1dde0": "7,000-row sample of YearPredictionMSD",
        },
        is_classification=False,
    ),
}


def load(name: str, data: Path | None = None) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : str
        One of ``DATASETS``.
    data : path, optional
        A folder with the public files of the data sets, or with compact copies of them. Files that it does not hold
        are looked for in the cache folder. If no folder is given, files that are not in the cache folder are
        downloaded.

    Raises
    ------
    FileNotFoundError
        If neither ``data`` nor the cache folder holds the files.
    ValueError
        If a file is damaged or holds other data.
    DownloadError
        If a file cannot be downloaded. The message says how to provide it.
    """
    check_choice("data set", name, DATASETS)
    if name in _FROM_SKLEARN:
        return _FROM_SKLEARN[name]()
    if data is None:
        return _kept(name) or _downloaded(name)
    found = _read(name, Path(data)) or _kept(name)
    if found is None:
        original = _RECIPES[name].original
        wanted = ", ".join((*original.archives, " and ".join(original.members), _RECIPES[name].copy))
        raise FileNotFoundError(
            f"no {name} data in {data}: expected one of {wanted}; {original.advice}{_also_missing(name, Path(data))}"
        )
    return found


def _also_missing(name: str, data: Path) -> str:
    """Sources of all other data sets that are missing, so that the user can get them at the same time."""
    others = [other for other in _RECIPES if other != name and _paths(other, data) is None and _kept(other) is None]
    places = "; ".join(f"{other}: {_RECIPES[other].original.url}" for other in others)
    return f". Also missing are {places}" if places else ""


@cache
def number_of_rows(name: str, data: Path | None = None) -> int:
    """Number of rows of a data set: the whole of it and a sample of it differ."""
    return len(load(name, data).X)


def _breast_cancer() -> Dataset:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    names = tuple(str(name) for name in bunch.feature_names)
    note = "the 569 rows that have 30 columns; the paper says 699, which is another data set, of 9 columns"
    return Dataset("breast_cancer", bunch.data, bunch.target.astype(np.float64), names, True, note)


def _make_regression() -> Dataset:
    from sklearn.datasets import make_regression

    x, y = make_regression(1000, 10, random_state=0)
    return Dataset("make_regression", x, y, tuple(f"x{i}" for i in range(10)), False)


_FROM_SKLEARN: dict[str, Callable[[], Dataset]] = {
    "breast_cancer": _breast_cancer,
    "make_regression": _make_regression,
}
DATASETS = ("adult", "breast_cancer", "bank", "cal_housing", "make_regression", "year")


def _read(name: str, folder: Path) -> Dataset | None:
    """Read a data set from a folder or its subfolder ``name``; None if neither holds it."""
    recipe, paths = _RECIPES[name], _paths(name, folder)
    original = recipe.original
    if paths is None:
        return None
    try:
        if paths == [folder / recipe.copy]:
            return _parsed(name, paths, (paths[0].name,), recipe.read_copy)
        return _parsed(name, paths, original.members, recipe.read)
    except ValueError as error:
        files = " with ".join(str(path) for path in dict.fromkeys(paths))
        raise ValueError(f"{files} {error}; remove it and {original.advice}") from error


def _paths(name: str, folder: Path) -> list[Path] | None:
    """Public files or compact copy of a data set in a folder or its subfolder ``name``; None if there are none."""
    recipe = _RECIPES[name]
    copy = folder / recipe.copy
    public = find(recipe.original, folder) or find(recipe.original, folder / name)
    return public or ([copy] if copy.is_file() else None)


def _parsed(name: str, paths: list[Path], members: tuple[str, ...], read: Callable[..., Contents]) -> Dataset:
    """Parse a data set from files, each of which is one of ``members`` or an archive that holds it."""
    recipe = _RECIPES[name]
    try:
        with ExitStack() as stack:
            most = recipe.original.most_bytes
            streams = [stack.enter_context(opened(*source, most)) for source in zip(paths, members, strict=True)]
            x, y, names = read(*streams)
    except (MemoryError, PermissionError):
        raise
    except Exception as error:  # a damaged file fails in a dozen ways, from zlib.error to KeyError
        raise ValueError(f"cannot be read ({str(error) or type(error).__name__})") from error
    note = recipe.notes.get(_digest(x, y))
    if note is None:
        raise ValueError(f"does not hold the {name} data, but {x.shape[0]} other rows of {x.shape[1]} columns")
    return Dataset(name, x, y, names, recipe.is_classification, note)


def _digest(x: Floats, y: Floats) -> str:
    """SHA-256 of the content, the same for all sources of a data set.

    For the whole of YearPredictionMSD no digest was available when this was written. Its shape, its range of years
    (see ``readers.year``) and its first row are checked instead, and a damaged archive fails its own checksums.
    """
    shape = x.shape
    if shape == SHAPE_OF_WHOLE_YEAR:
        x, y = x[:1], y[:1]
    digest = hashlib.sha256(f"{shape} ".encode())
    for array in (x, y):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def _kept(name: str) -> Dataset | None:
    """Read a data set from the cache folder; None if it is missing, or damaged and hence to be downloaded again."""
    place = _cache.data_folder()
    try:
        return None if place is None else _read(name, place)
    except ValueError:
        return None


def _downloaded(name: str) -> Dataset:
    """Download to a private folder, and move the file to the cache once it has been verified.

    Other processes thus see a complete, valid file or none.
    """
    original, kept = _RECIPES[name].original, _cache.data_folder()
    try:
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(dir=kept, prefix=_cache.DOWNLOAD_PREFIX)
    except OSError as error:
        reason = f"cannot keep data in {kept} ({error.strerror or error})"
        raise DownloadError(f"{reason}; set {_cache.VARIABLE} to another folder") from error
    with temporary as folder:
        path = download(original, Path(folder))
        try:
            dataset = _parsed(name, [path] * len(original.members), original.members, _RECIPES[name].read)
        except ValueError as error:  # such as the login page of a network
            raise DownloadError(f"what {original.url} sent {error}; if this persists, {original.advice}") from error
        if kept is not None:
            path.replace(kept / path.name)
    return dataset
