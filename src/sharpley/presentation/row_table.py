"""Results of many rows as a table with one line for each row and output, in Parquet files that make up a data set.

The values of a player are a column of their own, and so are their standard errors and degrees of freedom, so that a
table can be joined with the data that was explained. What belongs to the whole result is JSON in the metadata of every
file. Files hold consecutive rows, which the metadata name, so that a reader sees whether any are missing.

A run also keeps a journal beside the files: one JSON object a line, first the plan, then a line for each file that is
complete, with its SHA-256 digest. A file that was changed since is noticed, by a run that is resumed and by ``load``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sharpley._support.reading import digest_of, intact
from sharpley.presentation.parquet import KEY, pyarrow

KIND, VERSION = "rows", 1
OF_PLAYERS = {"values": "value", "standard_errors": "standard_error", "degrees_of_freedom": "degrees_of_freedom"}
"""Fields with a number for each player, and what their columns start with, as in "value_age"."""
DISTINCT = ("value_", "standard_error_")
OF_ROWS = ("n_evals", "n_predictions", "converged")
PATTERN = "*.parquet"
JOURNAL = "_journal.jsonl"  # tools that read folders of Parquet files ignore names that start with an underscore
ABOUT = {"method": str, "names": list, "outputs": int, "has_outputs": bool, "run": str, "rows": list, "of_rows": int}
"""What the metadata of every file have, and its types."""
OF_PART = {"bytes": int, "sha256": str, "predictions": int, "unconverged": int, "seconds": float}
"""What the journal has of every file, and its types."""


class Noted(NamedTuple):
    """What is in the journal of a run."""

    plan: dict[str, Any] | None
    """What was asked for; None if there is not a single complete line."""
    parts: dict[int, dict[str, Any]]
    """What is known of each finished part, by its number: the names in ``OF_PART``."""
    n_bytes: int
    """Length of all complete lines; a process that was killed leaves at most one unfinished line behind them."""


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
    settings = {"use_dictionary": repeated, "write_page_checksum": True}
    pq.write_table(table.replace_schema_metadata(about), stream, **settings)


def read(folder: Path) -> dict[str, Any]:
    """Return the fields of the result in a folder; an error says what is missing if it is not complete."""
    pa, _ = pyarrow()
    files = parts_in(folder)
    _check_digests(folder, [path for path, _ in files])
    tables = [read_part(path, facts) for path, facts in files]
    with intact(folder):
        return fields_of(pa.concat_tables(tables), [facts for _, facts in files])


def parts_in(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the files in a folder and the facts in their metadata, in the order of their rows; none may be missing."""
    files = [(path, _facts(path)) for path in folder.glob(PATTERN)]
    files.sort(key=lambda each: each[1]["rows"])
    if not files:
        raise ValueError(f"{folder} has no results; sharpley explain --out {folder} writes them")
    _check_complete(folder, [facts for _, facts in files])
    return files


def read_part(path: Path, facts: dict[str, Any]) -> Any:
    """Return the table in a file, in which all rows that its metadata name must be."""
    _, pq = pyarrow()
    (start, stop), k = facts["rows"], facts["outputs"]
    with intact(path):
        table = pq.read_table(path, page_checksum_verification=True).replace_schema_metadata(None)
        if not np.array_equal(table["row"].to_numpy(), np.repeat(np.arange(start, stop), k)):
            raise ValueError(f"its lines are not rows {start} to {stop - 1}")
        return table


def is_part(path: Path) -> bool:
    """Return whether a file has results of ``sharpley explain``, of any version."""
    _, pq = pyarrow()
    try:
        with intact(path):
            about = json.loads((pq.read_schema(path).metadata or {}).get(KEY, b"{}"))
    except ValueError:
        return False
    return isinstance(about, dict) and about.get("kind") == KIND


def name_of_part(number: int) -> str:
    """Return the name of the file of a part."""
    return f"part-{number:08d}.parquet"


def read_journal(content: bytes, path: Path) -> Noted:
    """Return what is in a journal; an error names the first line that is damaged."""
    n_bytes = content.rfind(b"\n") + 1
    plan, parts = None, {}
    for number, line in enumerate(content[:n_bytes].splitlines(), start=1):
        try:
            entry = json.loads(line)
            if number == 1:
                plan = _checked(_checked(entry, {"plan": dict})["plan"], {"rows_per_part": int, "rows": int})
            else:
                parts[_checked(entry, OF_PART | {"part": int}).pop("part")] = entry
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"line {number} of {path} is damaged; --restart begins anew") from error
    return Noted(plan, parts, n_bytes)


def _checked(entry: Any, types: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a JSON file if it has values of certain types; numbers must not be negative."""
    if not isinstance(entry, dict):
        raise TypeError(f"expected an object, got {type(entry).__name__}")
    for name, kind in types.items():
        value = entry[name]
        if type(value) is not kind or (kind in (int, float) and not 0 <= value < 2**63):
            raise ValueError(f"{name} is not valid")
    return entry


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


def _facts(path: Path) -> dict[str, Any]:
    """Return the facts in the metadata of a file, in which the rows of a result must be."""
    _, pq = pyarrow()
    with intact(path):
        raw = (pq.read_schema(path).metadata or {}).get(KEY)
        facts = {} if raw is None else json.loads(raw)
        kind, version = facts.get("kind"), facts.get("version")
    if kind != KIND:
        raise ValueError(f"{path} is not a part of the results of sharpley explain")
    if version != VERSION:
        raise ValueError(f"{path} was written by another version of sharpley; its table can be read with pandas")
    with intact(path):
        _checked(facts, ABOUT)
        start, stop = facts["rows"]
        names, outputs = facts["names"], facts["output_names"]
        if not (0 <= start < stop <= facts["of_rows"]) or facts["outputs"] < 1:
            raise ValueError(f"it has rows {start} to {stop} of {facts['of_rows']}, with {facts['outputs']} outputs")
        if not all(isinstance(name, str) for name in (*names, *(outputs or ()))):
            raise ValueError("its names are not text")
    return dict(facts)


def _check_digests(folder: Path, paths: Sequence[Path]) -> None:
    """Raise an error if a file is not as it was written; nothing is known of files without a journal, as in a copy."""
    journal = folder / JOURNAL
    noted = read_journal(journal.read_bytes(), journal).parts if journal.is_file() else {}
    digests = {name_of_part(number): facts["sha256"] for number, facts in noted.items()}
    for path in paths:
        if path.name in digests and digest_of(path).hex() != digests[path.name]:
            raise ValueError(
                f"{path} is damaged: it was changed after it was written; the same call of sharpley explain "
                "computes it again"
            )


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
