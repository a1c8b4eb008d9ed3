"""Parts on a real Dask cluster of several processes, of which one is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed")

SLOW_MODEL = """
import os, pathlib, time
import batch_models

def predict(rows):
    pathlib.Path("pids", str(os.getpid())).touch()
    time.sleep(0.02)
    return batch_models.predict(rows)
"""
SCHEDULER = """
from distributed.cli.dask_scheduler import main
main(["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", "scheduler.json"])
"""
WORKER = """
from distributed.cli.dask_worker import main
main(["--scheduler-file", "scheduler.json", "--nthreads", "1", "--no-dashboard", "--no-nanny"])
"""


@pytest.fixture
def cluster(files):
    """Start a scheduler and three workers in the folder of the files; yield its address and the processes."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(files)])}
    Path("slow_model.py").write_text(SLOW_MODEL)
    Path("pids").mkdir()

    def start(code):
        with Path("log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=log, stderr=log)

    processes = [start(SCHEDULER)]
    try:
        while not Path("scheduler.json").exists():
            time.sleep(0.05)
        processes += [start(WORKER) for _ in range(3)]
        with distributed.Client(scheduler_file="scheduler.json", set_as_default=False) as client:
            client.wait_for_workers(3, timeout=60)
            address = client.scheduler.address
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def names_and_bytes(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.parquet")}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_cluster_gives_the_same_bits_and_survives_the_loss_of_a_worker(explain, cluster):
    address, (_, *workers) = cluster
    explain("here", model="slow_model:predict", rows_per_part=2)
    calls = set(Path("pids").iterdir())

    def kill_one(part_files=3):
        while len(list(Path("there").glob("*.parquet"))) < part_files:
            time.sleep(0.01)
        victim = next(worker for worker in workers if Path("pids", str(worker.pid)).exists())
        victim.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    outcome = explain("there", model="slow_model:predict", rows_per_part=2, scheduler=address)
    killer.join()
    assert outcome.new_rows == 40
    assert sum(worker.poll() is not None for worker in workers) == 1  # one was killed in mid-run
    assert len(set(Path("pids").iterdir()) - calls) == 3  # and all three had explained rows
    assert names_and_bytes("there") == names_and_bytes("here")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_the_loss_of_the_scheduler_keeps_finished_parts(explain, cluster):
    address, (scheduler, *_) = cluster

    def kill_scheduler():
        while len(list(Path("there").glob("*.parquet"))) < 3:
            time.sleep(0.01)
        scheduler.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_scheduler)
    killer.start()
    with pytest.raises(OSError, match="finished parts are kept"):
        explain("there", model="slow_model:predict", rows_per_part=2, scheduler=address)
    killer.join()
    assert 3 <= len(list(Path("there").glob("*.parquet"))) < 20
    explain("there", model="slow_model:predict")
    explain("here", model="slow_model:predict", rows_per_part=2)
    assert names_and_bytes("there") == names_and_bytes("here")
