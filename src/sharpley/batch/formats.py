"""Formats of tables: how Parquet, Feather (Arrow) and CSV files are read, a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpley.presentation.parquet import pyarrow

ROWS_AT_ONCE = 2**14  # that are decoded together
CSV_BLOCK = 2**22  # bytes that are parsed together; types that are not given are those of the first block


@dataclass(frozen=True)
class Format:
    """How the files of a format are read."""

    schema: Callable[[Path, Any], Any]
    """Returns the columns of a file, given the types of some of them if it has none of its own."""
    count: Callable[[Path, Any], int]
    """Returns the number of rows of a file, given the columns."""
    batches: Callable[[Path, int, Any, list[str]], Iterator[Any]]
    """Yields record batches of a file from some row on, given the columns of all files, with some of these."""
    ids: Callable[[Path, int, str], Iterator[Any]]
    """Yields record batches of a file from some row on, with the column of ids alone, and nothing lost of it."""


def _parquet_schema(path: Path, types: Any) -> Any:
    return pyarrow()[1].read_schema(path).remove_metadata()


def _parquet_count(path: Path, schema: Any) -> int:
    return int(pyarrow()[1].read_metadata(path).num_rows)


def _parquet_batches(path: Path, start: int, schema: Any, names: list[str]) -> Iterator[Any]:
    """Yield the rows of one group after the other, so that damage shows only where it is."""
    with pyarrow()[1].ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if count > start:
                batches = file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=names, use_threads=False)
                yield from _without_first(batches, start)
            start = max(0, start - count)


def _parquet_ids(path: Path, start: int, name: str) -> Iterator[Any]:
    return _parquet_batches(path, start, None, [name])


def _arrow_file(path: Path) -> Any:
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(str(path)))


def _arrow_schema(path: Path, types: Any) -> Any:
    pyarrow()
    return _arrow_file(path).schema.remove_metadata()


def _arrow_count(path: Path, schema: Any) -> int:
    file = _arrow_file(path)
    return sum(file.get_batch(number).num_rows for number in range(file.num_record_batches))


def _arrow_batches(path: Path, start: int, schema: Any, names: list[str]) -> Iterator[Any]:
    file = _arrow_file(path)
    every = (file.get_batch(number).select(names) for number in range(file.num_record_batches))
    yield from _without_first(every, start)


def _arrow_ids(path: Path, start: int, name: str) -> Iterator[Any]:
    return _arrow_batches(path, start, None, [name])


def _csv_options(schema: Any = None, names: list[str] | None = None) -> Any:
    """Return how columns are converted: categories are read as what they are, and text can be missing as for pandas."""
    pa, _ = pyarrow()
    from pyarrow import csv

    types = {field.name: field.type for field in schema or ()}
    plain = {name: kind.value_type if pa.types.is_dictionary(kind) else kind for name, kind in types.items()}
    return csv.ConvertOptions(column_types=plain, include_columns=names, strings_can_be_null=True)


def _csv_reader(path: Path, convert: Any) -> Any:
    from pyarrow import csv

    read = csv.ReadOptions(block_size=CSV_BLOCK, use_threads=False)
    return csv.open_csv(path, read_options=read, convert_options=convert)


def _csv_schema(path: Path, types: Any) -> Any:
    """Return the columns of a CSV file, of the given types, or of types that fit all of its lines."""
    if types is None:
        options = _csv_options()
        from pyarrow import csv

        return csv.read_csv(path, convert_options=options).schema
    with _csv_reader(path, _csv_options(types)) as reader:
        return reader.schema


def _csv_count(path: Path, schema: Any) -> int:
    with _csv_reader(path, _csv_options(schema)) as reader:
        return sum(batch.num_rows for batch in reader)


def _csv_batches(path: Path, start: int, schema: Any, names: list[str]) -> Iterator[Any]:
    with _csv_reader(path, _csv_options(schema, names)) as reader:
        yield from _without_first(reader, start)


def _csv_ids(path: Path, start: int, name: str) -> Iterator[Any]:
    """Yield the ids as text: a number would lose leading zeros and the digits that do not fit, and NA is an id, too."""
    pa, _ = pyarrow()
    from pyarrow import csv

    as_text = csv.ConvertOptions(column_types={name: pa.string()}, include_columns=[name], strings_can_be_null=False)
    with _csv_reader(path, as_text) as reader:
        yield from _without_first(reader, start)


def _without_first(batches: Iterable[Any], count: int) -> Iterator[Any]:
    """Yield batches without their first rows."""
    for batch in batches:
        if count < batch.num_rows:
            yield batch.slice(count)
        count = max(0, count - batch.num_rows)


PARQUET = Format(_parquet_schema, _parquet_count, _parquet_batches, _parquet_ids)
ARROW = Format(_arrow_schema, _arrow_count, _arrow_batches, _arrow_ids)
CSV = Format(_csv_schema, _csv_count, _csv_batches, _csv_ids)
FORMATS = {".parquet": PARQUET, ".pq": PARQUET, ".feather": ARROW, ".arrow": ARROW, ".csv": CSV}
"""How files are read, by how their names end."""
