"""The public files of data sets: finding them in a folder, reading them from archives, downloading them."""

from __future__ import annotations

import http.client
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from sharpley._support.atomic import replacing

TIMEOUT_SECONDS = 30.0  # without receiving a byte
BLOCK_BYTES = 1 << 18


class DownloadError(OSError):
    """A file cannot be downloaded; the message says how to provide it."""


class Original(NamedTuple):
    """Where a data set is published.

    Parameters
    ----------
    url : str
        Address of the first of ``archives``.
    archives : tuple of str
        File names of archives, each of which holds all of ``members``.
    members : tuple of str
        File names of the data itself.
    most_bytes : int
        What a member has at most when it is unpacked; one that claims more is not read.
    """

    url: str
    archives: tuple[str, ...]
    members: tuple[str, ...]
    most_bytes: int = 2**25

    @property
    def advice(self) -> str:
        """How to provide the data manually."""
        return (
            f"get {self.url}, save it as {self.archives[0]} in a folder DIR, and pass --data DIR (in Python: data=DIR)"
        )


def find(original: Original, folder: Path) -> list[Path] | None:
    """For each member the file in ``folder`` to read it from, itself or an archive; None if they are missing."""
    members = [folder / member for member in original.members]
    if all(path.is_file() for path in members):
        return members
    for archive in original.archives:
        if (folder / archive).is_file():
            return [folder / archive] * len(members)
    return None


@contextmanager
def opened(path: Path, member: str, most_bytes: int) -> Iterator[IO[bytes]]:
    """Open ``path`` itself if it has the name of the member, otherwise the member within the archive ``path``.

    A member that has more than ``most_bytes`` is an error: a small archive may claim, and yield, any number of bytes.
    """
    with ExitStack() as stack:
        stream: IO[bytes] = stack.enter_context(path.open("rb"))
        if path.name == member:
            yield stream
            return
        found = (_in_tar if path.suffix == ".tgz" else _in_zip)(stream, member, stack, most_bytes)
        if found is None:
            raise ValueError(f"the archive does not contain {member}")
        yield found


def _in_tar(stream: IO[bytes], member: str, stack: ExitStack, most_bytes: int) -> IO[bytes] | None:
    archive = stack.enter_context(tarfile.open(fileobj=stream, mode="r:gz"))  # noqa: SIM115
    for found in archive:
        check_size(found.name, found.size, most_bytes)  # also of files before the member, which are unpacked
        if PurePosixPath(found.name).name == member:
            return archive.extractfile(found)
    return None


def _in_zip(stream: IO[bytes], member: str, stack: ExitStack, most_bytes: int) -> IO[bytes] | None:
    """Open a member of an archive, or of an archive within it: the source of the bank data packs it twice."""
    archive = stack.enter_context(zipfile.ZipFile(stream))
    for found in archive.infolist():
        if PurePosixPath(found.filename).name == member:
            check_size(found.filename, found.file_size, most_bytes)
            return stack.enter_context(archive.open(found))
    for found in archive.infolist():
        if found.filename.endswith(".zip"):
            check_size(found.filename, found.file_size, most_bytes)
            inner = _in_zip(stack.enter_context(archive.open(found)), member, stack, most_bytes)
            if inner is not None:
                return inner
    return None


def check_size(name: str, size: int, most_bytes: int) -> None:
    """Raise an error if a member of an archive, which yields no more bytes than it claims, claims too many."""
    if size > most_bytes:
        raise ValueError(f"its {name} would have {size:,} bytes, but at most {most_bytes:,} are expected")


def download(original: Original, folder: Path) -> Path:
    """Download the archive into ``folder``, with a progress bar, and return its path."""
    path = folder / original.archives[0]
    try:
        _copy(original.url, path)
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise DownloadError(f"cannot download {path.name} ({reason}); {original.advice}") from error
    return path


def _copy(url: str, path: Path) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "sharpley"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response, replacing(path) as out:
        stated = response.headers.get("Content-Length", "")
        total = int(stated) if stated.isdigit() else None
        for block in _with_progress(response, total, path.name):
            out.write(block)
        if total is not None and out.tell() != total:  # reading in blocks raises no error if the connection ends early
            raise ConnectionError(f"the connection ended after {out.tell():,} of {total:,} bytes")


def _with_progress(response: Any, total: int | None, name: str) -> Iterator[bytes]:
    """Iterate over the blocks of a response; the bar goes to standard error, to keep it out of the results."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("Downloading {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total)
        while block := response.read(BLOCK_BYTES):
            progress.advance(task, len(block))
            yield block
