"""Sets of orderings that are computed once and kept in the user's cache folder.

A file holds the orderings, the key that they were computed for, and a digest of both. What does not match in
every respect (cut off, damaged, of another version, copied from elsewhere) is computed again. Files are
written atomically, so other processes see a whole file or none.
``SHARPLEY_CACHE_DIR`` names another folder; if it is empty, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.atomic import replacing
from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Orderings

VARIABLE = "SHARPLEY_CACHE_DIR"
SUFFIX = ".orderings.npz"
UNFINISHED = ".orderings.tmp"


class Entry(NamedTuple):
    """A file in the cache."""

    path: Path
    key: str
    n: int
    d: int
    n_bytes: int
    is_valid: bool


def folder() -> Path | None:
    """Where files are kept; None if they are not."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen).expanduser() if chosen else None
    from platformdirs import user_cache_path

    return user_cache_path("sharpley", appauthor=False)


def data_folder() -> Path | None:
    """Where downloaded data sets are kept; None if they are not."""
    place = folder()
    return None if place is None else place / "data"


def data_files() -> list[Path]:
    """Downloaded data sets, and what is left of downloads that were broken off."""
    place = data_folder()
    return [] if place is None or not place.is_dir() else sorted(path for path in place.iterdir() if path.is_file())


def cached(key: str, n: int, d: int, compute: Callable[[], Orderings]) -> Orderings:
    """The (n, d) orderings kept under ``key``, or else those that ``compute`` returns, kept from now on; read-only."""
    place = folder()
    path = None if place is None else place / (key + SUFFIX)
    orderings = None if path is None else _read(path, key, n, d)
    if orderings is None:
        orderings = compute()
        if path is not None:
            _write(path, key, orderings)
    orderings.flags.writeable = False
    return orderings


def entries() -> Iterator[Entry]:
    """All files of the cache, valid or not."""
    place = folder()
    for path in sorted(place.glob("*" + SUFFIX)) if place is not None else []:
        key = path.name.removesuffix(SUFFIX)
        orderings = _read(path, key)
        n, d = (0, 0) if orderings is None else orderings.shape
        try:
            n_bytes = path.stat().st_size
        except FileNotFoundError:  # another process cleared it
            continue
        yield Entry(path, key, n, d, n_bytes, orderings is not None)


def clear(*, data: bool = False) -> int:
    """Remove all orderings, unfinished files too, and the data sets if wanted; return the number of files."""
    place = folder()
    if place is None:
        return 0
    paths = [*place.glob("*" + SUFFIX), *place.glob(".*" + UNFINISHED), *(data_files() if data else ())]
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _digest(key: str, compact: NDArray[np.unsignedinteger]) -> str:
    header = f"{key} {compact.dtype.str} {compact.shape} ".encode()
    return hashlib.sha256(header + compact.tobytes()).hexdigest()


def _read(path: Path, key: str, n: int | None = None, d: int | None = None) -> Orderings | None:
    """The orderings in a file, or None if it is not there or not to be trusted."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            compact, digest = archive["orderings"], str(archive["digest"])
    except Exception:  # a damaged archive fails in a dozen ways, from zlib.error to MemoryError
        return None
    if compact.ndim != 2 or compact.shape != (n or len(compact), d or compact.shape[1]):
        return None
    if digest != _digest(key, compact):
        return None
    orderings = compact.astype(np.int64)
    is_permutation = (np.sort(orderings, axis=1) == np.arange(orderings.shape[1])).all()
    return orderings if is_permutation else None


def _write(path: Path, key: str, orderings: Orderings) -> None:
    """Keep orderings; a folder that cannot be written to costs time later, not the result."""
    compact = orderings.astype(np.min_scalar_type(max(1, orderings.shape[1] - 1)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, unfinished=UNFINISHED) as stream:
            np.savez_compressed(stream, orderings=compact, digest=np.array(_digest(key, compact)))
    except OSError as error:
        warnings.warn(
            f"cannot keep designs in {path.parent} ({error.strerror or error}), they will be computed again; "
            f"set {VARIABLE} to another folder, or to nothing to keep none",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
