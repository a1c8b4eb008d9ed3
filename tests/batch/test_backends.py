"""An explainer on the workers of Dask and Ray, through joblib: the same bits, and the model sent once to each."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest

import sharpley
from sharpley._support.sharing import handle_for

pytestmark = pytest.mark.filterwarnings("ignore:this run will take:UserWarning")  # while workers start


class Recorded:
    """A model that leaves a file each time that it arrives in a process."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __setstate__(self, state):
        self.__dict__.update(state)
        number = len(list(Path(self.folder).iterdir()))
        Path(self.folder, f"{os.getpid()}-{number}").touch()

    def __call__(self, rows):
        return rows[:, 0] * rows[:, 1] + np.abs(rows[:, 2])


def explained(folder, n_jobs):
    data = np.random.default_rng(0).normal(size=(30, 8))
    explainer = sharpley.Explainer(Recorded(folder), data, method="antithetic", rng=0, n_jobs=n_jobs, batch_size=60)
    return explainer.estimate(data[:4], max_evals=150)


def arrivals(folder):
    """How often the model arrived in each process."""
    numbers = [path.name.partition("-")[0] for path in folder.iterdir()]
    return {number: numbers.count(number) for number in numbers}


def assert_same_bits(found, expected):
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.standard_errors, expected.standard_errors)


def test_processes_get_the_model_once(tmp_path):
    expected = explained(tmp_path, None)
    assert_same_bits(explained(tmp_path, 2), expected)
    assert set(arrivals(tmp_path).values()) == {1}  # one evaluation, of more than ten calls


def test_dask_gets_the_model_once_for_each_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    expected = explained(tmp_path, None)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
        assert_same_bits(explained(tmp_path, -1), expected)
    counts = arrivals(tmp_path)
    counts.pop(str(os.getpid()), None)
    assert len(counts) == 2
    assert max(counts.values()) <= 2  # once from the client, and once from the other worker


@pytest.mark.slow
def test_ray_gets_the_model_once_for_each_worker(tmp_path):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    expected = explained(tmp_path, None)
    found_by_workers = {"env_vars": {"PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])}}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env=found_by_workers)
    try:
        register_ray()
        with joblib.parallel_config("ray"):
            assert_same_bits(explained(tmp_path, 2), expected)
    finally:
        ray.shutdown()
    assert set(arrivals(tmp_path).values()) == {1}


def test_a_handle_refers_to_a_value_that_is_not_in_it():
    big = (np.arange(100_000),)
    with handle_for(big, "LokyBackend") as handle:
        assert len(pickle.dumps(handle)) < 1000
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(handle)).get()[0], big[0])
        path = Path(handle.path)
    assert not path.exists()


KILLED = """
import os, signal
from sharpley._support.sharing import handle_for

with handle_for((list(range(1000)),), "LokyBackend") as handle:
    assert handle.get() == (list(range(1000)),)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="files without a name are opened by way of /proc")
def test_a_process_that_is_killed_before_its_workers_have_started_leaves_no_files(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_value_is_not_taken_for_an_earlier_one_at_the_same_path():
    found = []
    for value in (1, 2):
        with handle_for((value,), "LokyBackend") as handle:
            found.append((handle.path, handle.get()))
    assert [value for _, value in found] == [(1,), (2,)]
