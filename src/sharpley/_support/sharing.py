"""What all tasks need, sent once to every worker instead of with every task.

How that is done depends on joblib's backend: processes of this machine read a file, Dask scatters what is a large
argument of a task, Ray has a store of objects. With any other backend, it goes with the tasks.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

LARGE = 2**30  # bytes; joblib scatters what seems to be larger than a kilobyte
PREFIX = "sharpley-"  # of temporary folders
DESCRIPTORS = Path("/proc/self/fd")  # open files of this process, on Linux


class Handle(Protocol):
    """Refers to a value; it can be sent with every task."""

    def get(self) -> Any:
        """Return the value, in the worker."""


class InTask:
    """A value that is sent as it is, or scattered by Dask, for which it has to be large."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self) -> Any:
        """Return the value."""
        return self._value

    def __sizeof__(self) -> int:
        return LARGE


@dataclass(frozen=True)
class InFile:
    """A value in a file, which only this user can read."""

    path: str
    key: str
    """Identifies the value; a later one may have the same path."""

    def get(self) -> Any:
        """Return the value, read once in a process."""
        return _read(self.path, self.key)


@dataclass(frozen=True)
class InStore:
    """A value in the store of objects of Ray."""

    reference: Any

    def get(self) -> Any:
        """Return the value, taken from the store once in a process."""
        return _fetch(self.reference)


@contextmanager
def handle_for(value: tuple[Any, ...], backend: str) -> Iterator[Handle]:
    """Yield a handle to values for the tasks of a backend of joblib, named by its class."""
    if not value:
        yield InTask(value)
    elif backend == "RayBackend":
        yield InStore(import_module("ray").put(value))
    elif backend in ("LokyBackend", "MultiprocessingBackend"):
        import cloudpickle

        with _file_with(cloudpickle.dumps(value)) as path:
            yield InFile(path, uuid.uuid4().hex)
    else:
        yield InTask(value)


@contextmanager
def _file_with(content: bytes) -> Iterator[str]:
    """Yield the path of a file with some content, which is there as long as this process.

    On Linux the file has no name, and other processes open it by its descriptor in this one: nothing is left behind,
    whenever this process is killed. Elsewhere, the workers that have read the file remove it.
    """
    if DESCRIPTORS.is_dir():
        with tempfile.TemporaryFile() as stream:
            stream.write(content)
            stream.flush()
            yield f"/proc/{os.getpid()}/fd/{stream.fileno()}"
    else:
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            path = Path(folder) / "shared.pickle"
            path.write_bytes(content)
            yield str(path)


_FOLDERS: set[Path] = set()  # of files that this process has read, and may have to remove


@lru_cache(maxsize=2)
def _read(path: str, key: str) -> Any:
    folder = Path(path).parent
    if folder.name.startswith(PREFIX):
        _FOLDERS.add(folder)
    return pickle.loads(Path(path).read_bytes())


def remove_files() -> None:
    """Remove the folders of the files that this process has read: the process that made them was killed."""
    for folder in _FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=2)
def _fetch(reference: Any) -> Any:
    return import_module("ray").get(reference)
