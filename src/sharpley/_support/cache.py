"""Sets of orderings that are computed once and stored in the user's cache folder.

A file is named after the key of its orderings and contains the orderings and a SHA-256 digest of key and orderings. A
file that does not match in every respect (truncated, damaged, from another version, copied from elsewhere) is ignored
and its orderings are recomputed. Files are written atomically, so that other processes see either a complete file or
none. The environment variable ``SHARPLEY_CACHE_DIR`` selects another folder; if it is set to the empty string, nothing
is stored.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.atomic import replacing
from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Orderings

VARIABLE = "SHARPLEY_CACHE_DIR"
SUFFIX = ".orderings.npz"
UNFINISHED_SUFFIX = ".orderings.tmp"
DOWNLOAD_PREFIX = ".download-"  # of folders of unfinished downloads
MAX_BYTES = 2**28  # of orderings in a file; an archive that claims more is not one of ours


class Entry(NamedTuple):
    """A file of orderings in the cache."""

    path: Path
    key: str
    """Kind, version and settings of the orderings; the name of the file without its suffix."""
    n: int
    """Number of orderings; 0 if the file is not valid."""
    d: int
    """Number of players; 0 if the file is not valid."""
    n_bytes: int
    """Size of the file in bytes."""
    is_valid: bool
    """Whether the file is intact and its orderings belong to its key."""


def folder() -> Path | None:
    """Return the cache folder, or None if caching is turned off."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen).expanduser() if chosen else None
    from platformdirs import user_cache_path

    return user_cache_path("sharpley", appauthor=False)


def data_folder() -> Path | None:
    """Return the folder of downloaded data sets, or None if caching is turned off."""
    place = folder()
    return None if place is None else place / "data"


def data_files() -> list[Path]:
    """Return the files of downloaded data sets, including the remains of interrupted downloads."""
    place = data_folder()
    if place is None or not place.is_dir():
        return []
    remains = [path for folder in place.glob(DOWNLOAD_PREFIX + "*") for path in folder.iterdir()]
    return sorted(path for path in [*place.iterdir(), *remains] if path.is_file())


def cached(key: str, n: int, d: int, compute: Callable[[], Orderings]) -> Orderings:
    """Return the orderings stored under ``key``; compute and store them if there are none.

    Parameters
    ----------
    key : str
        Identifies the orderings; part of the file's name.
    n, d : int
        Expected number of orderings and of players.
    compute : callable
        Called without arguments if there is no valid file; returns the (n, d) orderings.

    Returns
    -------
    (n, d) int, read-only
    """
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
    """Yield an entry for each file of orderings in the cache, valid or not."""
    place = folder()
    for path in sorted(place.glob("*" + SUFFIX)) if place is not None else []:
        key = path.name.removesuffix(SUFFIX)
        orderings = _read(path, key)
        n, d = (0, 0) if orderings is None else orderings.shape
        try:
            n_bytes = path.stat().st_size
        except FileNotFoundError:  # another process removed it
            continue
        yield Entry(path, key, n, d, n_bytes, orderings is not None)


def clear(*, data: bool = False) -> int:
    """Remove all files of orderings, unfinished ones included; return the number of files removed.

    With ``data=True``, downloaded data sets are removed as well.
    """
    place = folder()
    if place is None:
        return 0
    mine = [*place.glob("*" + SUFFIX), *place.glob(".*" + UNFINISHED_SUFFIX)]
    paths = [path for path in mine if not path.is_dir()] + (data_files() if data else [])  # folders are not ours
    for path in paths:
        path.unlink(missing_ok=True)
        if path.parent.name.startswith(DOWNLOAD_PREFIX):
            with suppress(OSError):  # other files are in it
                path.parent.rmdir()
    return len(paths)


def _digest(key: str, compact: NDArray[np.unsignedinteger]) -> str:
    digest = hashlib.sha256(f"{key} {compact.dtype.str} {compact.shape} ".encode())
    digest.update(np.ascontiguousarray(compact).data)
    return digest.hexdigest()


def _read(path: Path, key: str, n: int | None = None, d: int | None = None) -> Orderings | None:
    """Return the orderings in a file, (n, d), or None if the file is missing or not valid."""
    if not path.is_file():  # opening a FIFO would wait for someone to write to it
        return None
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            # No member yields more than it claims, so an archive of compressed zeros costs nothing.
            if sum(member.file_size for member in archive.zip.infolist()) > MAX_BYTES:
                return None
            compact, digest = archive["orderings"], str(archive["digest"])
    except Exception:  # a damaged archive may raise nearly anything, from zlib.error to MemoryError
        return None
    if compact.ndim != 2 or compact.shape != (n or len(compact), d or compact.shape[1]):
        return None
    if digest != _digest(key, compact):
        return None
    orderings = compact.astype(np.int64)
    is_permutation = (np.sort(orderings, axis=1) == np.arange(orderings.shape[1])).all()
    return orderings if is_permutation else None


def _write(path: Path, key: str, orderings: Orderings) -> None:
    """Store orderings; a folder that is not writable is reported by a warning, because the result is unaffected."""
    compact = orderings.astype(np.min_scalar_type(max(1, orderings.shape[1] - 1)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, unfinished=UNFINISHED_SUFFIX) as stream:
            np.savez_compressed(stream, orderings=compact, digest=np.array(_digest(key, compact)))
    except OSError as error:
        warnings.warn(
            f"cannot store orderings in {path.parent} ({error.strerror or error}), so they will be recomputed; "
            f"set {VARIABLE} to another folder, or to the empty string to store none",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
