"""Results in Parquet files: a table that every tool reads, with all that is needed to get the same result back.

The table has one line for each row, output and player. What belongs to the whole result is JSON in the metadata of the
file, so that nothing is ever unpickled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sharpley._support.atomic import replacing
from sharpley._support.reading import intact

KEY = b"sharpley"
VERSION = 1
SUFFIXES = (".parquet", ".pq", "")
OF_VALUES = ("values", "standard_errors", "degrees_of_freedom")
OF_ROWS = ("n_evals", "converged", "n_predictions", "row_labels")
WHOLE = ("method", "names", "output_names", "compute_time", "index", "background_predictions")
OF_INTERACTIONS = ("labels", "players", "d")


def write(path: str | Path, result: dict[str, Any], shape: tuple[int, int, int]) -> None:
    """Write the fields of a result to a file that appears only when it is complete; ``shape`` is (rows, d, outputs)."""
    if Path(path).suffix.lower() not in SUFFIXES:  # people would expect another format in it
        raise ValueError(
            f"results are saved as Parquet files, got {str(path)!r}; use {str(Path(path).with_suffix('.parquet'))!r}, "
            "or a method of estimate.to_frame(), such as to_csv"
        )
    pa, pq = pyarrow()
    about = {name: result[name] for name in (*WHOLE, *OF_INTERACTIONS) if name in result}
    about |= {"version": VERSION, "shape": shape}
    about |= {f"{name}_shape": np.shape(result[name]) for name in ("values", "base_values", "n_evals", "n_predictions")}
    table = pa.table({name: _array(pa, values) for name, values in _columns(result, shape).items()})
    with replacing(Path(path)) as stream:
        whole = table.replace_schema_metadata({KEY: json.dumps(about).encode()})
        pq.write_table(whole, stream, write_page_checksum=True)


def _columns(result: dict[str, Any], shape: tuple[int, int, int]) -> dict[str, Any]:
    """Return the columns of the table, one line for each row, output and player."""
    n, d, k = shape
    row, output, player = (at.reshape(-1) for at in np.meshgrid(*(range(m) for m in (n, k, d)), indexing="ij"))
    columns: dict[str, Any] = {
        "row": row,
        "output": _taken(result["output_names"] or range(k), output),
        "feature": _taken(result["names"] or range(d), player),
    }
    for name in OF_VALUES:
        columns[name] = np.moveaxis(np.asarray(result[name]).reshape(shape), 2, 1).reshape(-1)
    columns["base_values"] = np.repeat(np.asarray(result["base_values"]).reshape(-1), d)
    for name in OF_ROWS:
        if result[name] is not None:
            each = result[name] if isinstance(result[name], list) else np.atleast_1d(result[name]).tolist()
            columns[name] = _taken(each * n if len(each) < n else each, row)
    return columns


def read(path: str | Path) -> dict[str, Any]:
    """Return the fields of the result in a file that ``write`` wrote."""
    _, pq = pyarrow()
    with intact(path):
        table = pq.read_table(Path(path), page_checksum_verification=True)
        raw = (table.schema.metadata or {}).get(KEY)
        about = {} if raw is None else json.loads(raw)
        version, is_part = about.get("version"), "kind" in about
    if raw is None:
        raise ValueError(f"{path} is a Parquet file, but not a result of sharpley; estimate.save(path) writes one")
    if is_part:
        raise ValueError(f"{path} is a part of the results of sharpley explain; load its folder, {Path(path).parent}")
    if version != VERSION:
        raise ValueError(f"{path} was written by another version of sharpley; its table can be read with pandas")
    with intact(path):
        return _fields(table, about)


def _fields(table: Any, about: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result from its table and metadata."""
    n, d, k = about["shape"]
    whole = tuple(about["values_shape"])
    by_player = {name: table.column(name).to_numpy().reshape(n, k, d) for name in (*OF_VALUES, "base_values")}
    result = {name: np.moveaxis(by_player[name], 1, 2).reshape(whole).copy() for name in OF_VALUES}
    result["base_values"] = by_player["base_values"][:, :, 0].reshape(about["base_values_shape"]).copy()[()]
    result["row_labels"] = _each_row(table, "row_labels", k * d)
    for name, kind in (("n_evals", int), ("n_predictions", int), ("converged", bool)):
        each = _each_row(table, name, k * d)
        is_single = each is not None and not about.get(f"{name}_shape", about["n_evals_shape"])
        result[name] = None if each is None else kind(each[0]) if is_single else np.array(each)
    if "labels" in about:
        about["labels"] = [tuple(label) for label in about["labels"]]
    return result | {name: about[name] for name in (*WHOLE, *OF_INTERACTIONS) if name in about}


def _each_row(table: Any, name: str, step: int) -> list[Any] | None:
    """Return a column that is the same in all lines of a row, once for each row."""
    return table.column(name).to_pylist()[::step] if name in table.column_names else None


def _taken(labels: Any, positions: Any) -> list[Any]:
    each = list(labels)
    return [each[position] for position in positions]


def _array(pa: Any, values: Any) -> Any:
    """Return a column; labels of types that do not fit together become strings."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # the last of integers with more than 64 bits
        return pa.array([str(value) for value in values])


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet files; an error says how to install them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'sharpley[files]'") from error
    return pa, pq
