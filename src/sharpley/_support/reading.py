"""Reading files that may be damaged, or that a stranger wrote: digests, and errors of one line that name the file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def intact(path: str | Path) -> Iterator[None]:
    """Turn any error of the block into a ValueError: the file is damaged.

    Damaged files fail in many ways (KeyError, OverflowError, RecursionError), and libraries name at most a position.
    """
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        raise ValueError(f"{path} is damaged: {first_line(error)}") from error


def digest_of(path: Path) -> bytes:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def first_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    text = " ".join(str(error).split())
    return text or type(error).__name__
