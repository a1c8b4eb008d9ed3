"""Parallel workers: they return the same results as one process, and do not outlive the process that called them."""

import os
import signal
import subprocess
import sys
import threading

import joblib
import pytest

from sharpley._support import workers

CALLER = """
import os, time
import numpy as np
from sharpley import Explainer

def model(rows):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(0.05)
    return rows.sum(axis=1)

data = np.random.default_rng(0).normal(size=(50, 12))
Explainer(model, data[:20], n_jobs=2, batch_size=100, rng=0).estimate(data, max_evals=2000)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_workers_end_when_their_caller_is_killed():
    caller = subprocess.Popen([sys.executable, "-c", CALLER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seen = {caller.pid}
    while len(seen) < 3:  # the caller and both workers have called the model
        seen.add(int(caller.stdout.readline()))
    os.kill(caller.pid, signal.SIGKILL)
    caller.communicate(timeout=30)  # returns once the last process that has the pipe has ended


def test_results_are_in_the_order_of_the_arguments():
    assert list(workers.in_workers(pow, [(2, n) for n in range(9)], 2)) == [2**n for n in range(9)]
    assert sorted(workers.in_workers(pow, [(2, n) for n in range(9)], 2, ordered=False)) == [2**n for n in range(9)]


def test_threads_of_the_caller_are_not_watched():
    with joblib.parallel_config("threading"):
        assert list(workers.in_workers(pow, [(2, 3)], 2)) == [8]
    assert not workers._is_child_of(os.getpid())
    assert "sharpley-caller" not in [thread.name for thread in threading.enumerate()]
