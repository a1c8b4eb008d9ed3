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
from typing import Any, TypeAlias

from sharpley._support.reading import digest_of, first_line
from sharpley.batch.formats import CSV, FORMATS, Format
from sharpley.presentation.parquet import pyarrow

Read: TypeAlias = Callable[[Format, Path, int], Iterator[Any]]
"""Yields record batches of a file of a format, from some row on."""

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
        return self._ranges(wanted, lambda kind, path, start: kind.batches(path, start, self.schema, names))

    def ids(self, wanted: Iterable[tuple[int, int]], name: str) -> Iterator[Any]:
        """Yield the ids of the rows in ascending ranges, as arrays of pyarrow.

        The ids of CSV files are text, unless all of them are integers that are written back as they were read.
        """
        pa, _ = pyarrow()
        to_integers = self._ids_are_integers(name)
        for table in self._ranges(wanted, lambda kind, path, start: kind.ids(path, start, name)):
            ids = table[name].combine_chunks()
            yield ids.cast(pa.int64()) if to_integers else ids

    def _ids_are_integers(self, name: str) -> bool:
        """Return whether the texts of CSV files are all integers, without leading zeros, signs and spaces."""
        every = ((path, FORMATS[path.suffix.lower()]) for path in self.paths)
        texts = (batch.column(0) for path, kind in every if kind is CSV for batch in self._checked_ids(path, name))
        found = [_is_integers(text) for text in texts]
        return bool(found) and all(found)

    def _checked_ids(self, path: Path, name: str) -> Iterator[Any]:
        with self._readable(path):
            yield from CSV.ids(path, 0, name)

    def _ranges(self, wanted: Iterable[tuple[int, int]], read: Read) -> Iterator[Any]:
        """Yield a table for each of some ascending ranges of rows, from the batches that ``read`` yields of a file."""
        pa, _ = pyarrow()
        batches: Iterator[Any] = iter(())
        held: list[Any] = []
        at = end = -1  # the rows at which what is held starts and ends
        for start, stop in wanted:
            if not at <= start <= end:
                held, at, end, batches = [], start, start, self._batches(start, read)
            while end < stop:
                held.append(next(batches))
                end += held[-1].num_rows
            rows = pa.Table.from_batches(held)
            yield rows.slice(start - at, stop - start)
            held, at = rows.slice(stop - at).to_batches(), stop

    def _batches(self, start: int, read: Read) -> Iterator[Any]:
        """Yield record batches from row ``start`` on."""
        before = 0
        for path, count in zip(self.paths, self._counts, strict=True):
            if before + count > start:
                with self._readable(path):
                    yield from read(FORMATS[path.suffix.lower()], path, max(0, start - before))
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


def _is_integers(texts: Any) -> bool:
    """Return whether texts are integers that give the same texts again."""
    pa, _ = pyarrow()
    try:
        return bool(texts.cast(pa.int64()).cast(pa.string()).equals(texts))
    except pa.ArrowInvalid:
        return False
