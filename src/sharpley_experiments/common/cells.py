"""Experiments in cells: each is stored as soon as it is finished, so that an interrupted run goes on where it stopped.

A cell is a set of named settings; its file's name is a digest of them. Files are written atomically: a killed process
leaves whole cells only, and several processes may share a folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sharpley._support.atomic import replacing

Cell: TypeAlias = Mapping[str, str | int | float]
Rows: TypeAlias = list[dict[str, Any]]
Measure: TypeAlias = Callable[..., Rows]
"""Called with a cell's settings as keywords, returns rows of a table."""


def run_cells(
    measure: Measure,
    cells: Sequence[Cell],
    folder: Path,
    *,
    jobs: int = 1,
    description: str = "Cells",
    context: Mapping[str, Any] | None = None,
) -> Rows:
    """Measure what is not yet stored, and return the rows of all cells, each with its cell's settings.

    Parameters
    ----------
    measure : callable
        A function at the top of its module, so that other processes can find it.
    cells : sequence of mappings
        Settings; a change of any makes another cell.
    folder : Path
    jobs : int
        Processes; -1 for one on each core.
    description : str
        Beside the progress bar.
    context : mapping, optional
        Further keywords of ``measure`` that do not change results, such as where data lie.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in cells if _read(folder, cell) is None]
    if missing:
        _measure_all(measure, missing, folder, jobs, description, dict(context or {}))
    return [{**cell, **row} for cell in cells for row in _read(folder, cell) or []]


def stored_cells(folder: Path) -> Iterator[tuple[Cell, Rows]]:
    """All cells of a folder with their rows, by the names of their files."""
    for path in sorted(folder.glob("*.json")):
        if (stored := _stored(path)) is not None:
            yield stored


def _measure_all(
    measure: Measure, cells: list[Cell], folder: Path, jobs: int, description: str, context: dict[str, Any]
) -> None:
    from joblib import Parallel, delayed
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task(description, total=len(cells))
        work = (delayed(_measure_one)(measure, cell, folder, context) for cell in cells)
        for _ in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
            progress.advance(task)


def _measure_one(measure: Measure, cell: Cell, folder: Path, context: dict[str, Any]) -> None:
    text = json.dumps({"cell": dict(cell), "rows": measure(**cell, **context)})
    with replacing(_path(folder, cell)) as stream:
        stream.write(text.encode())


def _path(folder: Path, cell: Cell) -> Path:
    text = json.dumps(dict(cell), sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def _read(folder: Path, cell: Cell) -> Rows | None:
    """A stored cell's rows; None if there is none, or a file that is not one."""
    stored = _stored(_path(folder, cell))
    return stored[1] if stored is not None and stored[0] == dict(cell) else None


def _stored(path: Path) -> tuple[Cell, Rows] | None:
    """A file's cell and rows; None if it is not there, or is no cell."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return stored["cell"], list(stored["rows"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
