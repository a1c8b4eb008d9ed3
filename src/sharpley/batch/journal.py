"""The journal of a run: what was asked for, and which parts are finished.

It is a file of one JSON object a line. The first line is the plan, each further one a part whose file is complete, with
its digest. Lines are appended and flushed to disk, so that a process that is killed leaves at most one unfinished line
at the end, which is ignored. The file is locked while a run goes on; the lock belongs to the process and ends with it,
however it ends.

A folder may come from a stranger, whose journal is a link to another file. So links are not followed, and nothing is
written before the file has been seen to be a journal.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from sharpley._support.atomic import FULL, UNFINISHED, sync_folder
from sharpley._support.reading import digest_of
from sharpley.batch.parts import Part
from sharpley.presentation.row_table import JOURNAL, PATTERN, is_part, name_of_part, read_journal

START = b'{"plan": '  # how every journal starts
NAME_OF_PART = rb'"part": (\d{1,9})'  # how the line of a part names it


class Journal:
    """The journal in a folder, locked for this process until it is closed.

    Attributes
    ----------
    folder : Path
        The folder.
    plan : dict or None
        What was asked for; None for a new run.
    finished : dict of int to dict
        What is known of each finished part, by its number.
    """

    def __init__(self, folder: Path, *, restart: bool = False) -> None:
        self.folder = folder
        self.plan: dict[str, Any] | None = None
        self.finished: dict[int, dict[str, Any]] = {}
        self._restart, self._unfinished = restart, False
        self._stream = _open_locked(folder)
        try:
            self._content = _content(self._stream, folder / JOURNAL)
            if not restart:
                self._read()
            for path in folder.glob(UNFINISHED):  # of a process that was killed
                path.unlink()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_empty():  # nothing was begun, so nothing is left behind
            with suppress(OSError):
                (self.folder / JOURNAL).unlink()
                self.folder.rmdir()
        with suppress(OSError):  # of a full disk, which was reported; all lines that count are on disk
            self._stream.close()

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Write the plan of a new run, once nothing is left of the one that is begun anew."""
        if self._restart:
            self._clear()
        strange = sorted(path.name for path in self.folder.glob(PATTERN))
        if strange:
            raise ValueError(
                f"{self.folder} has files of another origin, such as {strange[0]}; choose another folder for --out"
            )
        self.plan = json.loads(json.dumps(plan))
        self._append({"plan": self.plan})

    def finish(self, part: Part, facts: Mapping[str, Any]) -> None:
        """Name a part whose file is complete."""
        sync_folder(self.folder)
        self.finished[part.number] = dict(facts)
        self._append({"part": part.number, **facts})

    def path_of(self, part: Part) -> Path:
        """Return where the file of a part is."""
        return self.folder / part.file

    def is_finished(self, part: Part) -> bool:
        """Return whether a part is named, and its file is there as it was written; a link is not."""
        facts, path = self.finished.get(part.number), self.path_of(part)
        if facts is None or path.is_symlink() or not path.is_file() or path.stat().st_size != facts["bytes"]:
            return False
        return digest_of(path).hex() == facts["sha256"]

    def _is_empty(self) -> bool:
        return os.fstat(self._stream.fileno()).st_size == 0

    def _clear(self) -> None:
        """Remove the files of parts, and forget what is written; files of another origin stay.

        A damaged file is known by its name in the journal, of which every line counts that can be read.
        """
        named = {name_of_part(int(number)) for number in re.findall(NAME_OF_PART, self._content)}
        for path in self.folder.glob(PATTERN):
            if path.name in named or is_part(path):
                path.unlink()
        self._stream.truncate(0)
        os.fsync(self._stream.fileno())

    def _read(self) -> None:
        noted = read_journal(self._content, self.folder / JOURNAL)
        self.plan, self.finished, self._unfinished = noted.plan, noted.parts, noted.n_bytes < len(self._content)
        self._content = self._content[: noted.n_bytes]

    def _append(self, entry: Mapping[str, Any]) -> None:
        try:
            if self._unfinished:  # a line that a killed process has left, which is removed once there is another one
                self._stream.truncate(len(self._content))
                self._unfinished = False
            self._stream.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            named = error.errno in FULL
            raise OSError(error.errno, error.strerror, str(self.folder / JOURNAL)) if named else error from error


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return in words how two plans differ."""
    names = [
        name for name in (*now, *(name for name in before if name not in now)) if before.get(name) != now.get(name)
    ]
    return [f"{name} was {_short(before.get(name))}, now {_short(now.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = json.dumps(value)
    is_digest = isinstance(value, str) and len(value) == 64
    return f"{value[:12]}…" if is_digest else text


def _open_locked(folder: Path) -> BinaryIO:
    """Open the journal in a folder, which is made if there is none, and lock it for this process."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        stream = _open(folder / JOURNAL)
        _lock(stream, folder)
        with suppress(FileNotFoundError):  # another run may have removed the file just before it released the lock
            if os.path.samestat(os.fstat(stream.fileno()), (folder / JOURNAL).stat()):
                return stream
        stream.close()


def _open(path: Path) -> BinaryIO:
    """Open a journal for appending; a link, or what is no file, is refused."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if path.is_symlink():  # where there is no O_NOFOLLOW
            raise OSError(errno.ELOOP, "a link")
        descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ValueError(
            f"{path} is a symbolic link, which is not followed; remove it, or choose another folder"
        ) from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        what = "has a second name (a hard link)" if stat.S_ISREG(found.st_mode) else "is not a file"
        raise ValueError(f"{path} {what}, so that it is not written to; remove it, or choose another folder")
    return os.fdopen(descriptor, "a+b")


def _content(stream: BinaryIO, path: Path) -> bytes:
    """Return all that is in a journal; a file that does not start as every journal does is refused."""
    stream.seek(0)
    content = stream.read()
    if not content.startswith(START[: len(content)]):
        raise ValueError(f"{path} is not a journal of sharpley explain; remove it, or choose another folder")
    return content


def _lock(stream: BinaryIO, folder: Path) -> None:
    """Lock a file for this process; an error says that another run has it."""
    try:
        if os.name == "nt":
            import msvcrt

            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        stream.close()
        raise ValueError(f"another run is writing to {folder}; wait for it, or choose another folder") from error
