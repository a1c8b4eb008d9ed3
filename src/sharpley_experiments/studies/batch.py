"""Rows per second, memory and overhead of ``sharpley explain``.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.batch --out docs/results/batch.md

Each case is a call of the command line in a new process, with data of 10 columns, 100,000 background rows and 200
predictions a row. The cheap model is a formula of numpy, the dear one takes about 3 µs of one thread for a prediction.
All cases are run in turn, three times; numbers are medians of the rounds. "two separate runs" have nothing in common
but the machine, so that no program with two processes can be expected to be faster than both are together.

"rows/s" and "CPU ms a row" (the processor time of all processes) are those of the middle of a run, in which all workers
are busy; "times one" compares rows/s with those of one process, round by round; "seconds" is the whole call, start of
Python included; "peak MB" is the largest sum of the resident memory of the processes of the call. The cluster has a
scheduler and two workers, all on this machine; their memory is not counted. "engine overhead" is the time outside the
explainer (reading, converting, and waiting for what is written meanwhile) relative to that within it, in parts of 1,000
rows with the cheap model: the smallest of three runs. Processor time includes writing and flushing, which another
thread does.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from sharpley_experiments.studies.batch_meters import steady, watched
from sharpley_experiments.studies.batch_setting import cluster, write_files
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines

PREDICTIONS = 200
ROUNDS = 3
COLUMNS = ("case", "model", "rows", "rows a part", "seconds", "rows/s", "times one", "CPU ms a row", "peak MB")


class Case(NamedTuple):
    """Calls of the command line at the same time, usually a single one."""

    name: str
    model: str
    rows: int
    rows_per_part: int
    jobs: int = 1
    on_cluster: bool = False
    runs: int = 1


CHEAP, DEAR = ("cheap", 100_000, 1000), ("dear", 20_000, 500)
CASES = tuple(
    Case(name, *setting, **how)
    for setting in (CHEAP, DEAR)
    for name, how in (
        ("one process", {}),
        ("two processes", {"jobs": 2}),
        ("two separate runs", {"runs": 2}),
        ("cluster, two workers", {"on_cluster": True}),
    )
)
MILLION = Case("one process", "cheap", 1_000_000, 10_000)
QUICK_CASES = (
    Case("one process", "cheap", 300, 30),
    Case("two processes", "cheap", 300, 30, jobs=2),
    Case("two separate runs", "cheap", 300, 30, runs=2),
)


class Measured(NamedTuple):
    """What a case took."""

    seconds: float
    rate: float
    milliseconds: float
    megabytes: float


def measured(case: Case, folder: Path) -> Measured:
    """Run a case on the first rows of the files in a folder."""
    command = [sys.executable, "-m", "sharpley", "explain", "--model", f"batch_study_models:{case.model}"]
    command += ["--data", f"X-{case.rows}.parquet", "--background", "B.parquet", "--jobs", str(case.jobs)]
    command += ["--max-predictions", str(PREDICTIONS), "--rows-per-part", str(case.rows_per_part)]
    outs = [folder / f"phi-{number}" for number in range(case.runs)]
    for out in outs:
        shutil.rmtree(out, ignore_errors=True)
    with ExitStack() as stack:
        command += ["--scheduler", stack.enter_context(cluster(folder))] if case.on_cluster else []
        start = time.perf_counter()
        looks = watched([[*command, "--out", out.name] for out in outs], folder)
        seconds = time.perf_counter() - start
    found = steady(outs, case.rows_per_part, 2 if case.on_cluster else case.jobs, looks)
    return Measured(seconds, found.rate, found.milliseconds, float(looks.memory.max()))


def lines_of(cases: Sequence[Case], rounds: Sequence[Sequence[Measured]]) -> list[str]:
    """Return the table of all cases, given what each of them took in each round."""
    lines = markdown_head(COLUMNS)
    for number, case in enumerate(cases):
        base = next(at for at, other in enumerate(cases) if other.model == case.model)  # one process comes first
        seconds, rate, milliseconds, megabytes = (
            statistics.median(values) for values in zip(*(each[number] for each in rounds), strict=True)
        )
        times = statistics.median(each[number].rate / each[base].rate for each in rounds)
        cells = (case.name, case.model, f"{case.rows:,}", f"{case.rows_per_part:,}")
        numbers = (f"{seconds:.0f}", f"{rate:,.0f}", f"{times:.2f}", f"{milliseconds:.3f}", f"{megabytes:.0f}")
        lines.append(markdown_row(cells + numbers))
    return lines


class Overhead(NamedTuple):
    """What a run in parts of 1,000 rows costs beyond the explainer."""

    share: float
    """Time outside the calls of the explainer, relative to that within them."""
    processor_share: float
    """The same of processor time."""


def overhead(folder: Path, n_rows: int, rows_per_part: int, repeats: int) -> Overhead:
    """Return the smallest overhead of several runs, from the first call of the explainer to the end."""
    import pandas as pd

    data = next(iter(sorted(folder.glob("X-*.parquet"))))
    pd.read_parquet(data)[:n_rows].to_parquet(folder / "some.parquet")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return min(_overhead_of_run(folder, rows_per_part) for _ in range(repeats))


def _overhead_of_run(folder: Path, rows_per_part: int) -> Overhead:
    """Run the files, and return what is spent outside the calls of the explainer, from the first one on."""
    from sharpley.batch import Options, engines, explain_files
    from sharpley.batch.parts import explain_part

    starts, elapsed, used = [], [], []

    def timed(*arguments: Any) -> Any:
        starts.append((time.perf_counter(), time.process_time()))
        before = time.thread_time()  # a part is written by another thread while the next is explained
        found = explain_part(*arguments)
        elapsed.append(time.perf_counter() - starts[-1][0])
        used.append(time.thread_time() - before)
        return found

    shutil.rmtree(folder / "some", ignore_errors=True)
    files = ("batch_study_models:cheap", str(folder / "some.parquet"), str(folder / "B.parquet"))
    options = Options(max_predictions=PREDICTIONS)
    with patch.object(engines, "explain_part", timed):
        explain_files(*files, folder / "some", options=options, rows_per_part=rows_per_part)
    whole, of_processor = time.perf_counter() - starts[0][0], time.process_time() - starts[0][1]
    return Overhead(whole / sum(elapsed) - 1.0, of_processor / sum(used) - 1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="a few hundred rows")
    parser.add_argument("--million", action="store_true", help="only the run of a million rows, once")
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    cases = QUICK_CASES if options.quick else (MILLION,) if options.million else CASES
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, sorted({case.rows for case in cases}), 500 if options.quick else 100_000)
        for number in range(1 if options.quick or options.million else ROUNDS):
            rounds.append([measured(case, folder) for case in cases])
            print(f"round {number + 1}", *lines_of(cases, rounds[-1:]), sep="\n", flush=True)
        lines = lines_of(cases, rounds)
        if not options.million:
            found = overhead(folder, *((300, 100, 1) if options.quick else (20_000, 1000, 3)))
            lines += ["", f"engine overhead: {found.share:.1%}; of processor time {found.processor_share:.1%}"]
    print("all rounds", *lines, sep="\n")
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
