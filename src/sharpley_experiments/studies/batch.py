"""Rows per second, memory and overhead of ``sharpley explain``.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.batch --out docs/results/batch.md

Each case is a call of the command line in a new process, with data of 10 columns, 100,000 background rows and 200
predictions a row. The cheap model is a formula of numpy, the dear one takes about 3 µs of one thread for a prediction.
"rows/s" counts from the end of the first part to that of the last; "seconds" is the whole call, start of Python
included; "CPU ms a row" is the processor time of all processes, their start included; "peak MB" is the largest sum of
the resident memory of the processes of the call. The cluster has a scheduler and two workers, all on this machine;
their memory is not counted. "engine overhead" is the processor time between the calls of the explainer (reading,
converting, writing and flushing) relative to that within them, in parts of 1,000 rows with the cheap model: the
smallest of three runs.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.studies.batch_meters import tree_memory
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines

FEATURES = [f"x{number}" for number in range(10)]
PREDICTIONS = 200
ROWS_AT_ONCE = 100_000
SECONDS_BETWEEN_LOOKS = 0.25
COLUMNS = ("case", "model", "rows", "rows a part", "seconds", "rows/s", "CPU ms a row", "peak MB")
MODELS = """
import numpy as np

def cheap(rows):
    x = rows.to_numpy()
    return x[:, 0] * x[:, 1] + np.abs(x[:, 2]) - np.maximum(x[:, 3], x[:, 4]) + x[:, 5:].sum(axis=1)

def dear(rows):
    x = rows.to_numpy()
    total = cheap(rows)
    for step in range(900):
        total += 0.01 * np.tanh(x[:, step % 10] * (step + 1))
    return total
"""
SCHEDULER = """
from distributed.cli.dask_scheduler import main
main(["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", "scheduler.json"])
"""
WORKER = """
from distributed.cli.dask_worker import main
main(["--scheduler-file", "scheduler.json", "--nthreads", "1", "--no-dashboard", "--no-nanny"])
"""


class Case(NamedTuple):
    """A call of the command line."""

    name: str
    model: str
    rows: int
    rows_per_part: int
    jobs: int = 1
    on_cluster: bool = False


CASES = (
    Case("one process", "cheap", 50_000, 1000),
    Case("two processes", "cheap", 50_000, 1000, jobs=2),
    Case("cluster, two workers", "cheap", 50_000, 1000, on_cluster=True),
    Case("one process", "dear", 10_000, 1000),
    Case("two processes", "dear", 10_000, 1000, jobs=2),
    Case("cluster, two workers", "dear", 10_000, 1000, on_cluster=True),
)
MILLION = Case("one process", "cheap", 1_000_000, 10_000)
QUICK_CASES = (Case("one process", "cheap", 300, 100), Case("two processes", "cheap", 300, 100, jobs=2))


def write_files(folder: Path, n_rows: int, n_background: int) -> None:
    """Write data, background and models, without holding all rows in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "batch_study_models.py").write_text(MODELS, encoding="utf-8")
    rng = np.random.default_rng(0)
    for name, n in (("B.parquet", n_background), ("X.parquet", n_rows)):
        schema = pa.schema([(feature, pa.float64()) for feature in FEATURES])
        with pq.ParquetWriter(folder / name, schema) as writer:
            for start in range(0, n, ROWS_AT_ONCE):
                values = rng.normal(size=(min(ROWS_AT_ONCE, n - start), len(FEATURES)))
                writer.write_table(pa.table(dict(zip(FEATURES, values.T.copy(), strict=True))))


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Run a scheduler and two workers, and yield the address of the former."""
    log = (folder / "cluster.log").open("ab")
    processes = [subprocess.Popen([sys.executable, "-c", SCHEDULER], cwd=folder, stdout=log, stderr=log)]
    try:
        while not (folder / "scheduler.json").exists():
            time.sleep(SECONDS_BETWEEN_LOOKS)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(folder)])}
        command = [sys.executable, "-c", WORKER]
        processes += [subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) for _ in range(2)]
        yield str(json.loads((folder / "scheduler.json").read_text(encoding="utf-8"))["address"])
    finally:
        for process in processes:
            process.kill()
            process.wait()
        (folder / "scheduler.json").unlink(missing_ok=True)
        log.close()


def measured(case: Case, folder: Path) -> list[str]:
    """Run a case, and return its line of the table."""
    command = [sys.executable, "-m", "sharpley", "explain", "--model", f"batch_study_models:{case.model}"]
    command += ["--data", "X.parquet", "--background", "B.parquet", "--out", "phi", "--jobs", str(case.jobs)]
    command += ["--max-predictions", str(PREDICTIONS), "--rows-per-part", str(case.rows_per_part)]
    shutil.rmtree(folder / "phi", ignore_errors=True)
    before = _processor_seconds()
    if not case.on_cluster:
        seconds, peak = _call(command, folder)
    else:
        with cluster(folder) as address:
            seconds, peak = _call([*command, "--scheduler", address], folder)
    return [
        *(case.name, case.model, f"{case.rows:,}", f"{case.rows_per_part:,}"),
        *(f"{seconds:.0f}", f"{rate(folder / 'phi', case.rows_per_part):,.0f}"),
        *(f"{1000 * (_processor_seconds() - before) / case.rows:.2f}", f"{peak:.0f}"),
    ]


def _processor_seconds() -> float:
    """Return the processor time of all processes that have ended and that this one, or they, waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rate(results: Path, rows_per_part: int) -> float:
    """Return rows per second once all workers are busy: from the first finished part on, by the times of files."""
    times = sorted(path.stat().st_mtime for path in results.glob("*.parquet"))
    return rows_per_part * (len(times) - 1) / max(times[-1] - times[0], 1e-9)


def _call(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return the seconds of a call, and the peak of the memory of its processes, in MB."""
    start, peak = time.perf_counter(), 0.0
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, tree_memory(process.pid))
            time.sleep(SECONDS_BETWEEN_LOOKS)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with code {process.returncode}")
    return time.perf_counter() - start, peak


class Overhead(NamedTuple):
    """What a run in parts of 1,000 rows costs beyond the explainer."""

    share: float
    """Processor time between the calls of the explainer, relative to that within them."""
    microseconds: float
    """Processor time for each row."""


def overhead(folder: Path, n_rows: int, rows_per_part: int, repeats: int) -> Overhead:
    """Return the smallest overhead of several runs, from the first call of the explainer to the last."""
    import pandas as pd

    pd.read_parquet(folder / "X.parquet")[:n_rows].to_parquet(folder / "some.parquet")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    found = []
    for _ in range(repeats):
        starts, ends = _calls(folder, rows_per_part)
        within = float(np.sum(ends - starts))
        between = float(ends[-1] - starts[0]) - within
        found.append(Overhead(between / within, 1e6 * between / (rows_per_part * (len(starts) - 1))))
    return min(found)


def _calls(folder: Path, rows_per_part: int) -> tuple[Floats, Floats]:
    """Run the files, and return the processor times at which the calls of the explainer start and end."""
    from sharpley.batch import Options, engines, explain_files
    from sharpley.batch.parts import explain_part

    times = []

    def timed(*arguments: Any) -> Any:
        start = time.process_time()
        found = explain_part(*arguments)
        times.append((start, time.process_time()))
        return found

    shutil.rmtree(folder / "some", ignore_errors=True)
    files = ("batch_study_models:cheap", str(folder / "some.parquet"), str(folder / "B.parquet"))
    options = Options(max_predictions=PREDICTIONS)
    with patch.object(engines, "explain_part", timed):
        explain_files(*files, folder / "some", options=options, rows_per_part=rows_per_part)
    starts, ends = np.array(times).T
    return starts, ends


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="a few hundred rows")
    parser.add_argument("--million", action="store_true", help="only the run of a million rows")
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    cases = QUICK_CASES if options.quick else (MILLION,) if options.million else CASES
    lines = markdown_head(COLUMNS)
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in dict.fromkeys(case.rows for case in cases):
            write_files(folder, rows, 500 if options.quick else 100_000)
            for case in (case for case in cases if case.rows == rows):
                lines.append(markdown_row(measured(case, folder)))
                print(lines[-1], flush=True)
        if not options.million:
            found = overhead(folder, *((300, 100, 1) if options.quick else (10_000, 1000, 3)))
            lines += ["", f"engine overhead: {found.share:.1%}, {found.microseconds:.0f} µs a row"]
            print(lines[-1], flush=True)
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
