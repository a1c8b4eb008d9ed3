"""Reproduce exhibits of the paper one after the other, and write the page that shows them all.

A folder of results holds ``tables/NAME.csv``, ``figures/NAME.png``, ``cells/`` (finished parts of long runs, which an
interrupted run does not recompute), ``manifest.json``, ``report.html``, and the content of the page as Markdown in
``summary.md``. The page shows everything in the folder, so exhibits may be produced at different times, and one that
failed can be repeated later.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from rich.console import Console

from sharpley._support.atomic import replace_text, replacing
from sharpley._support.checks import check_choice
from sharpley_experiments.paper import all_exhibits, manifest
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.exhibits import Context, Exhibit
from sharpley_experiments.paper.manifest import Record
from sharpley_experiments.paper.report import Section, duration, page, verdict_counts
from sharpley_experiments.paper.summary import summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

EVERYTHING = "all"
WITH_STORED = ("images", "images-lambda", "images-ours")
PAGE = "report.html"
REQUIRED_LIBRARIES = ("pandas", "matplotlib", "plotly", "xgboost")
USER_ERRORS = (ValueError, OSError, ImportError)  # their messages say what to do; any other error is a defect
DPI = 150


class Outcome(NamedTuple):
    """Path of the page, and the error messages of the exhibits that failed, by name."""

    page: Path
    failed: dict[str, str]


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    preset: str = "laptop",
    jobs: int = 1,
    data: Path | None = None,
    stored: bool = False,
    registry: Mapping[str, Exhibit] | None = None,
) -> Outcome:
    """Reproduce exhibits and write the page. If one exhibit fails, the others are still produced.

    Parameters
    ----------
    names : sequence of str
        Names of exhibits, or "all".
    out : Path
        Folder for results; finished cells in it are not recomputed.
    preset : str
        "quick", "laptop", "images" or "paper".
    jobs : int
        Number of processes; -1 for one per core.
    data : Path, optional
        Folder with data sets; None to download them.
    stored : bool
        Whether to show the finished cells of an unfinished run, and compute nothing; of exhibits of images.
    registry : mapping of str to Exhibit, optional
        All exhibits by name; ``all_exhibits()`` by default.
    """
    registry = all_exhibits() if registry is None else registry
    wanted = chosen(names, registry)
    context = replace(_context(out, preset, jobs, data), is_stored_only=stored)
    others = [exhibit.name for exhibit in wanted if exhibit.name not in WITH_STORED]
    if stored and others:
        raise ValueError(f"--stored is for {', '.join(WITH_STORED)}; got {', '.join(others)}")
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, soft_wrap=True)
    records = manifest.read(out)
    start = time.perf_counter()
    for k, exhibit in enumerate(wanted, start=1):
        console.print(f"[bold cyan]{k} of {len(wanted)}[/] [bold]{exhibit.name}[/]", end=": ")
        console.print(exhibit.title, markup=False)
        last = _make(exhibit, context, out, records.get(exhibit.name))
        records[exhibit.name] = last
        manifest.write(out, {name: records[name] for name in [*registry, *records] if name in records}, last)
        state = "[red]failed[/]" if last.error else "done"
        console.print(f"  {state}, {duration(time.perf_counter() - start)} since the start", style="dim")
    sections = write_page(out, last, registry)
    console.print(f"Claims of the paper: {verdict_counts(sections)}")
    made_now = {exhibit.name for exhibit in wanted}
    return Outcome(out / PAGE, {s.exhibit.name: s.error for s in sections if s.error and s.exhibit.name in made_now})


def write_page(out: Path, last: Record, registry: Mapping[str, Exhibit]) -> list[Section]:
    """Write the page and its Markdown version for all results in a folder; ``last`` is the most recent record."""
    records = manifest.read(out)
    sections = [_section(registry[name], records[name], out) for name in registry if _is_there(name, records, out)]
    replace_text(out / PAGE, page(sections, last, registry.values()))
    replace_text(out / "summary.md", summary(sections, last, registry.values()))
    return sections


def chosen(names: Sequence[str], registry: Mapping[str, Exhibit]) -> list[Exhibit]:
    """Exhibits with these names, without repetition, in the order of the registry."""
    if not names:
        raise ValueError("no exhibits were named; give their names, or all")
    for name in names:
        check_choice("exhibit", name, (EVERYTHING, *registry))
    return [exhibit for name, exhibit in registry.items() if name in names or EVERYTHING in names]


def _context(out: Path, preset: str, jobs: int, data: Path | None) -> Context:
    check_choice("preset", preset, PRESETS)
    if jobs == 0:
        raise ValueError("jobs must be at least 1, or -1 for one process per core, got 0")
    if data is not None and not data.is_dir():
        raise FileNotFoundError(f"no folder {data} with data sets; leave out --data to download them")
    missing = [library for library in REQUIRED_LIBRARIES if find_spec(library) is None]
    if missing:
        raise ImportError(f"experiments need {', '.join(missing)}: pip install 'sharpley[experiments]'")
    return Context(PRESETS[preset], out / "cells", None if data is None else data.resolve(), jobs)


def _make(exhibit: Exhibit, context: Context, out: Path, earlier: Record | None) -> Record:
    """Compute one exhibit and write its table and figure; the record says whether that worked."""
    start, error = time.perf_counter(), ""
    try:
        table = exhibit.compute(context)
        if not len(table):
            raise ValueError("the run returned a table without rows")
        figure = exhibit.draw(table, f"preset: {context.preset.name}") if exhibit.draw else None
        if figure is not None:
            with replacing(out / "figures" / f"{exhibit.name}.png") as stream:
                write_png(figure, stream)
        replace_text(_table_path(out, exhibit.name), table.to_csv(index=False, lineterminator="\n"))
    except Exception as problem:  # whatever it is, the other exhibits must still be produced
        error = _reported(problem)
        if earlier is not None and _table_path(out, exhibit.name).exists():
            return replace(earlier, error=error)  # the earlier results are still there
    return manifest.new_record(context.preset.name, time.perf_counter() - start, error, earlier)


def write_png(figure: Figure, stream: IO[bytes]) -> None:
    """Write a figure without opacity, so that the file is smaller, and without versions: equal figures, equal files."""
    from PIL import Image

    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    Image.open(drawn).convert("RGB").save(stream, "PNG", optimize=True, dpi=(DPI, DPI))


def _reported(problem: Exception) -> str:
    """Print an error to the terminal, and return its message for the page."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if isinstance(problem, USER_ERRORS) and str(problem):
        message = str(problem)
    else:
        message = f"{type(problem).__name__}: {problem}"
        console.print("".join(traceback.format_exception(problem)).rstrip(), markup=False)
    console.print(f"  {message}", markup=False, style="red")
    return message


def _is_there(name: str, records: Mapping[str, Record], out: Path) -> bool:
    return name in records and (bool(records[name].error) or _table_path(out, name).exists())


def _section(exhibit: Exhibit, record: Record, out: Path) -> Section:
    """Make the section of an exhibit from its files, so that it is the same for new and for earlier results."""
    if not _table_path(out, exhibit.name).exists():
        return Section(exhibit, record, error=record.error)
    try:
        table = _read_table(_table_path(out, exhibit.name))
        return Section(
            exhibit,
            record,
            error=record.error,
            picture=(out / "figures" / f"{exhibit.name}.png").read_bytes() if exhibit.draw else None,
            table=exhibit.tabulate(table) if exhibit.tabulate else None,
            fragment=exhibit.interactive(table) if exhibit.interactive else None,
            findings=tuple(exhibit.findings(table)),
            n_rows=len(table),
        )
    except Exception as problem:  # as in _make
        return Section(exhibit, record, error=_reported(problem))


def _table_path(out: Path, name: str) -> Path:
    return out / "tables" / f"{name}.csv"


def _read_table(path: Path) -> DataFrame:
    import pandas as pd

    return pd.read_csv(path, engine="python")  # reads floats to the last digit in every version of pandas
