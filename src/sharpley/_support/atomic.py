"""Files that are replaced as a whole: other processes see the old content or the new, never half of it."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

UNFINISHED_SUFFIX = ".tmp"


@contextmanager
def replacing(path: Path, *, unfinished: str = UNFINISHED_SUFFIX) -> Iterator[BinaryIO]:
    """Open a stream whose content takes the place of the file ``path`` once the block has ended without an error.

    The content is written under a temporary name in the same folder (a rename is atomic within a file system only),
    flushed to the disk and renamed. After any error or interrupt the temporary file is removed, and ``path`` is as
    it was before. Names are unique, so several processes may write the same file; the last one to finish wins.

    Parameters
    ----------
    path : Path
        File to write; its folder must exist. A file that is replaced passes its permissions on.
    unfinished : str
        How temporary names, which start with a dot, end: a killed process leaves its file behind.

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
        if isinstance(error, OSError) and error.filename == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error  # a temporary name would mean nothing
        raise
