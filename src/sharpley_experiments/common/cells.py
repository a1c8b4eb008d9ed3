"""Experiments split into cells, each of which is stored as soon as it is finished, so that an interrupted run resumes.

A cell is a set of named settings, and the name of its file is a digest of them. Files are written atomically: a killed
process leaves only complete cells, and several processes may share a folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sharpley._support.atomic import replacing
from sharpley._support.threads import one_thread_of_everything
from sharpley._support.workers import in_workers

Cell: TypeAlias = Mapping[str, str | int | float]
Rows: TypeAlias = list[dict[str, Any]]
Measure: TypeAlias = Callable[..., Rows]
"""Accepts the settings of a cell as keyword arguments and returns rows of a table."""


def run_cells(
    measure: Measure,
    cells: Sequence[Cell],
    folder: Path,
    *,
    jobs: int = 1,
    description: str = "Cells",
    context: Mapping[str, Any] | None = None,
) -> Rows:
    """Measure the cells that are not stored yet, and return the rows of all cells, each with the settings of its cell.

    Parameters
    ----------
    measure : callable
        A function at the top level of its module, so that other processes can import it.
    cells : sequence of mappings
        Settings. Cells that differ in any setting are different cells.
    folder : Path
        Where cells are stored; created if it does not exist.
    jobs : int
        Number of processes; -1 for one per core.
    description : str
        Text next to the progress bar.
    context : mapping, optional
        Further keyword arguments of ``measure`` that do not affect the results, such as the folder of the data.

    Returns
    -------
    list of dict
        Rows in the order of ``cells``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in cells if _read(folder, cell) is None]
    if missing:
        _measure_all(measure, missing, folder, jobs, description, dict(context or {}))
    return stored_rows(cells, folder)


def stored_rows(cells: Sequence[Cell], folder: Path) -> Rows:
    """Return the rows of the cells that are stored, each with the settings of its cell, and measure nothing."""
    return [{**cell, **row} for cell in cells for row in _read(folder, cell) or []]


def stored_cells(folder: Path) -> Iterator[tuple[Cell, Rows]]:
    """Iterate over all cells of a folder with their rows, sorted by file name."""
    for path in sorted(folder.glob("*.json")):
        if (stored := _stored(path)) is not None:
            yield stored


def _measure_all(
    measure: Measure, cells: list[Cell], folder: Path, jobs: int, description: str, context: dict[str, Any]
) -> None:
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
        work = ((measure, cell, folder, context) for cell in cells)
        for _ in in_workers(_measure_one, work, jobs, ordered=False):
            progress.advance(task)


def _measure_one(measure: Measure, cell: Cell, folder: Path, context: dict[str, Any]) -> None:
    with one_thread_of_everything():  # processes share the cores; threads that wait for each other are slow
        rows = measure(**cell, **context)
    text = json.dumps({"cell": dict(cell), "rows": rows})
    with replacing(_path(folder, cell)) as stream:
        stream.write(text.encode())


def _path(folder: Path, cell: Cell) -> Path:
    text = json.dumps(dict(cell), sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def _read(folder: Path, cell: Cell) -> Rows | None:
    """Rows of a stored cell; None if it is not stored, or if its file is damaged or belongs to another cell."""
    stored = _stored(_path(folder, cell))
    return stored[1] if stored is not None and stored[0] == dict(cell) else None


def _stored(path: Path) -> tuple[Cell, Rows] | None:
    """Cell and rows in a file; None if the file does not exist or is not a cell."""
    if not path.is_file():  # a FIFO would wait for someone to write to it
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return stored["cell"], list(stored["rows"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
