"""What is measured: files of rows and models to explain, and a small Dask cluster to do it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

FEATURES = [f"x{number}" for number in range(10)]
ROWS_AT_ONCE = 100_000
SECONDS_BETWEEN_LOOKS = 0.25
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


def write_files(folder: Path, sizes: Sequence[int], n_background: int) -> None:
    """Write data of several sizes, background and models, without holding all rows in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "batch_study_models.py").write_text(MODELS, encoding="utf-8")
    rng = np.random.default_rng(0)
    for name, n in (("B.parquet", n_background), *((f"X-{size}.parquet", size) for size in sizes)):
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
