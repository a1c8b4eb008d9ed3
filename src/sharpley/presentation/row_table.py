"""Results of many rows as a table with one line for each row and output, in Parquet files that make up a data set.

The values of a player are a column of their own, and so are their standard errors and degrees of freedom, so that a
table can be joined with the data that was explained. What belongs to the whole result is JSON in the metadata of every
file. Files hold consecutive rows, which the metadata name: whoever reads the data set sees whether any are missing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sharpley.presentation.parquet import KEY, pyarrow

KIND, VERSION = "rows", 1
OF_PLAYERS = {"values": "value", "standard_errors": "standard_error", "degrees_of_freedom": "degrees_of_freedom"}
"""Fields with a number for each player, and what their columns start with, as in "value_age"."""
DISTINCT = ("value_", "standard_error_")
OF_ROWS = ("n_evals", "n_predictions", "converged")
PATTERN = "*.parquet"


def columns(result: dict[str, Any], shape: tuple[int, int, int]) -> dict[str, Any]:
    """Return the fields of a result of (rows, d, outputs) as columns; outputs without names are numbered."""
    n, d, k = shape
    outputs = result["output_names"] or [str(number) for number in range(k)]
    found: dict[str, Any] = {"output": np.tile(np.array(outputs, dtype=object), n)}
    found["base_value"] = np.asarray(result["base_values"]).reshape(n * k)
    for name in OF_ROWS:
        found[name] = np.repeat(np.asarray(result[name]).reshape(n), k)
    for name, prefix in OF_PLAYERS.items():
        numbers = np.moveaxis(np.asarray(result[name]).reshape(shape), 2, 1).reshape(n * k, d)
        found |= {f"{prefix}_{player}": numbers[:, j] for j, player in enumerate(result["names"])}
    return found


def about(result: dict[str, Any], shape: tuple[int, int, int]) -> dict[str, Any]:
    """Return what the columns do not tell, for the metadata of a file."""
    has_outputs = np.ndim(result["values"]) == 3
    return {
        "kind": KIND,
        "version": VERSION,
        "method": result["method"],
        "names": list(result["names"]),
        "outputs": shape[2],
        "output_names": result["output_names"],
        "has_outputs": has_outputs,
    }


def write(stream: Any, table: Any, facts: dict[str, Any]) -> None:
    """Write a table to a Parquet file, with facts about the result in its metadata."""
    _, pq = pyarrow()
    # Dictionaries of the values that occur take time, and gain nothing where nearly all are different.
    repeated = [name for name in table.column_names if not name.startswith(DISTINCT)]
    about = {KEY: json.dumps(facts, sort_keys=True).encode()}
    pq.write_table(table.replace_schema_metadata(about), stream, use_dictionary=repeated)


def read(folder: Path) -> dict[str, Any]:
    """Return the fields of the result in a folder; an error says what is missing if it is not complete."""
    pa, pq = pyarrow()
    files = parts_in(folder)
    tables = [pq.read_table(path).replace_schema_metadata(None) for path, _ in files]
    return fields_of(pa.concat_tables(tables), [facts for _, facts in files])


def parts_in(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the files in a folder and the facts in their metadata, in the order of their rows; none may be missing."""
    _, pq = pyarrow()
    files = [(path, _facts(path, pq.read_schema(path))) for path in folder.glob(PATTERN)]
    files.sort(key=lambda each: each[1]["rows"])
    if not files:
        raise ValueError(f"{folder} has no results; sharpley explain --out {folder} writes them")
    _check_complete(folder, [facts for _, facts in files])
    return files


def is_part(path: Path) -> bool:
    """Return whether a file has results of ``sharpley explain``, of any version."""
    pa, pq = pyarrow()
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        return False
    return bool(json.loads(metadata.get(KEY, b"{}")).get("kind") == KIND)


def fields_of(table: Any, facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of a result from a table of whole rows, and the facts about the files that these are from."""
    first = facts[0]
    k, has_outputs = first["outputs"], first["has_outputs"]
    whole = (len(table) // k, k)
    result: dict[str, Any] = {}
    for name, prefix in OF_PLAYERS.items():
        stacked = np.stack([table[f"{prefix}_{player}"].to_numpy().reshape(whole) for player in first["names"]], axis=1)
        result[name] = stacked if has_outputs else stacked[:, :, 0]
    base = table["base_value"].to_numpy().reshape(whole)
    result["base_values"] = base if has_outputs else base[:, 0].copy()
    result |= {name: table[name].to_numpy()[::k].copy() for name in OF_ROWS}
    methods = dict.fromkeys(name for each in facts for name in each["method"].split(" and "))
    labels = table["id"].to_pylist()[::k] if "id" in table.column_names else None
    result |= {"method": " and ".join(methods), "row_labels": labels}
    return result | {name: first[name] for name in ("names", "output_names")}


def _facts(path: Path, schema: Any) -> dict[str, Any]:
    """Return the facts in the metadata of a file, in which the rows of a result must be."""
    raw = (schema.metadata or {}).get(KEY)
    facts = {} if raw is None else json.loads(raw)
    if facts.get("kind") != KIND:
        raise ValueError(f"{path} is not a part of the results of sharpley explain")
    if facts["version"] != VERSION:
        raise ValueError(f"{path} was written by another version of sharpley; its table can be read with pandas")
    return dict(facts)


def _check_complete(folder: Path, facts: Sequence[dict[str, Any]]) -> None:
    """Raise an error unless the files, in the order of their rows, are of one run and have every row once."""
    of_run = {(each["run"], each["of_rows"]) for each in facts}
    if len(of_run) > 1:
        raise ValueError(f"{folder} has files of {len(of_run)} different runs; keep those of one")
    expected = 0
    for start, stop in (each["rows"] for each in facts):
        if start != expected:
            break
        expected = stop
    total = facts[0]["of_rows"]
    if expected != total:
        present = sum(stop - start for start, stop in (each["rows"] for each in facts))
        raise ValueError(
            f"{folder} has {present:,} of {total:,} rows; the same call of sharpley explain finishes it, and "
            f"pandas.read_parquet({str(folder)!r}) reads what is there"
        )
