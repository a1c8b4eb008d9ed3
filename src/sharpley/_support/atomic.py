"""Atomic replacement of files: other processes see either the old or the new content, never a part of it."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

UNFINISHED_SUFFIX = ".tmp"
UNFINISHED = f".{'[0-9a-f]' * 32}{UNFINISHED_SUFFIX}"  # names of unfinished files, as a pattern
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of writing, which do not name the file


@contextmanager
def replacing(path: Path, *, unfinished: str = UNFINISHED_SUFFIX) -> Iterator[BinaryIO]:
    """Open a binary stream whose content replaces the file ``path`` if the ``with`` block ends without an error.

    The content is written to a temporary file in the same folder (a rename is atomic only within a file system),
    flushed to disk and renamed. After an error or interrupt, the temporary file is removed and ``path`` is unchanged.
    Temporary names are unique, so several processes may write the same file; the last one to finish wins.

    Parameters
    ----------
    path : Path
        File to write; its folder must exist. If the file exists, its permissions are kept.
    unfinished : str
        Suffix of the temporary file, whose name starts with a dot; a killed process leaves this file behind.

    Yields
    ------
    binary stream
    """
    temporary = path.with_name(f".{uuid.uuid4().hex}{unfinished}")
    try:
        with temporary.open("xb") as stream:
            with suppress(FileNotFoundError):
                shutil.copymode(path, temporary)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and (error.filename == str(temporary) or error.errno in FULL):
            raise OSError(error.errno, error.strerror, str(path)) from error  # the temporary name would only confuse
        raise


def replace_text(path: Path, text: str) -> None:
    """Replace a file by a text, as UTF-8."""
    with replacing(path) as stream:
        stream.write(text.encode())


def sync_folder(folder: Path) -> None:
    """Flush the names of the files in a folder to disk, so that a rename survives a power failure."""
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
