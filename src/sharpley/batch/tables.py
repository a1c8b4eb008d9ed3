"""Files of rows: Parquet, Feather (Arrow) and CSV, one or many, read in order and never as a whole.

What a file is decides its name. Several files are one table; they must have the same columns. Whatever is wrong with a
file is reported with its name, before the first row is explained where its beginning or end shows it.
"""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sharpley.batch.formats import FORMATS
from sharpley.presentation.parquet import pyarrow

INDEX = re.compile(r"__index_level_\d+__")  # columns in which pandas keeps an index


@dataclass(frozen=True)
class Table:
    """Rows in one or more files.

    Parameters
    ----------
    paths : tuple of Path
        The files, in the order of their rows.
    what : str
        What the rows are, for messages: "data" or "background".
    types : schema of pyarrow, optional
        Types of columns of CSV files, which have none of their own; those that are not in it are guessed.
    """

    paths: tuple[Path, ...]
    what: str
    types: Any = None

    @cached_property
    def schema(self) -> Any:
        """The columns, as a schema of pyarrow without metadata; the same in all files."""
        first = self._schema_of(self.paths[0])
        for path in self.paths[1:]:
            self._check_same(path, first, self._schema_of(path))
        return first

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of all files; CSV files are read for it."""
        return sum(self._counts)

    @cached_property
    def _counts(self) -> list[int]:
        return [self._reading(path, FORMATS[path.suffix.lower()].count, path, self.schema) for path in self.paths]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the contents of all files; their names and places do not matter."""
        digest = hashlib.sha256()
        for path in self.paths:
            digest.update(digest_of(path))
        return digest.hexdigest()

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns, without those in which pandas keeps an index."""
        return [name for name in self.schema.names if not INDEX.fullmatch(name)]

    def ranges(self, wanted: Iterable[tuple[int, int]], names: list[str]) -> Iterator[Any]:
        """Yield a table of pyarrow for each of some ascending ranges of rows, (start, stop), with some columns."""
        pa, _ = pyarrow()
        batches: Iterator[Any] = iter(())
        held: list[Any] = []
        at = end = -1  # the rows at which what is held starts and ends
        for start, stop in wanted:
            if not at <= start <= end:
                held, at, end, batches = [], start, start, self._batches(start, names)
            while end < stop:
                held.append(next(batches))
                end += held[-1].num_rows
            rows = pa.Table.from_batches(held)
            yield rows.slice(start - at, stop - start)
            held, at = rows.slice(stop - at).to_batches(), stop

    def _batches(self, start: int, names: list[str]) -> Iterator[Any]:
        """Yield record batches from row ``start`` on."""
        before = 0
        for path, count in zip(self.paths, self._counts, strict=True):
            if before + count > start:
                kind = FORMATS[path.suffix.lower()]
                with self._readable(path):
                    yield from kind.batches(path, max(0, start - before), self.schema, names)
            before += count

    def _schema_of(self, path: Path) -> Any:
        found = self._reading(path, FORMATS[path.suffix.lower()].schema, path, self.types)
        repeated = sorted({name for name in found.names if found.names.count(name) > 1})
        if repeated:
            raise ValueError(f"{path} has more than one column of the same name: {repeated}")
        return found

    def _check_same(self, path: Path, first: Any, other: Any) -> None:
        """Raise an error that names the difference if a file has other columns than the first one."""
        if other.equals(first):
            return
        missing, extra = (sorted({*a.names} - {*b.names}) for a, b in ((first, other), (other, first)))
        changed = [
            f"{name} is {other.field(name).type} instead of {first.field(name).type}"
            for name in first.names
            if name in other.names and other.field(name).type != first.field(name).type
        ]
        said = [f"missing {missing}"] * bool(missing) + [f"unexpected {extra}"] * bool(extra) + changed
        raise ValueError(
            f"{path} has other columns than {self.paths[0]}: {'; '.join(said) or 'they are in a different order'}"
        )

    def _reading(self, path: Path, read: Callable[..., Any], *arguments: Any) -> Any:
        with self._readable(path):
            return read(*arguments)

    @contextmanager
    def _readable(self, path: Path) -> Iterator[None]:
        """Say which file could not be read; libraries name at most a position in it."""
        pa, _ = pyarrow()
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            kind = path.suffix.lower().lstrip(".")
            raise ValueError(f"{path} is not a readable {kind} file of the {self.what}: {first_line(error)}") from error


def find(given: str, what: str, types: Any = None) -> Table:
    """Return the table in a file, in all files of a folder, or in those that a pattern such as "X/*.csv" matches."""
    if Path(given).is_dir():
        known = sorted(path for path in Path(given).rglob("*") if path.suffix.lower() in FORMATS)
        paths = [
            path for path in known if not any(part.startswith((".", "_")) for part in path.relative_to(given).parts)
        ]
    else:
        paths = (
            [Path(given)] if Path(given).exists() else [Path(path) for path in sorted(glob.glob(given, recursive=True))]
        )
    if not paths:
        raise ValueError(f"there are no files of the {what} at {given}")
    for path in paths:
        if path.suffix.lower() not in FORMATS:
            raise ValueError(f"{path} is not read: the {what} must be files of these types: {', '.join(FORMATS)}")
    if len({path.suffix.lower() for path in paths}) > 1:
        raise ValueError(f"the {what} at {given} are files of different types: {paths[0]} and others")
    return Table(tuple(paths), what, types)


def digest_of(path: Path) -> bytes:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def first_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    text = " ".join(str(error).split())
    return text or type(error).__name__
