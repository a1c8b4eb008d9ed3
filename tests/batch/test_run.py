"""Files in, files out: the same results whatever the parts and processes, and after any interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley.batch import Options
from sharpley.batch.journal import JOURNAL


def assert_same(one, other):
    """The same to the last bit; a part may not have used all methods."""
    for field in fields(one):
        if field.name not in ("compute_time", "row_labels", "background_predictions"):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


def test_the_results_are_those_of_the_explainer(explain):
    outcome = explain(id_column="key", rows_per_part=7)
    found = sharpley.load("phi")
    import batch_models

    data = pd.read_parquet("X.parquet").drop(columns="key")
    explainer = sharpley.Explainer(batch_models.predict, pd.read_parquet("B.parquet"), rng=0)
    assert_same(found, explainer.estimate(data, max_predictions=60))
    assert found.row_labels == [f"r{number}" for number in range(40)]
    assert (outcome.rows, outcome.new_rows, outcome.unconverged) == (40, 40, 0)
    assert outcome.predictions == found.n_predictions.sum()
    assert "40 rows in phi" in str(outcome)


@pytest.mark.parametrize("method", [name for name, record in sharpley.METHODS.items() if not record.is_closed_form])
def test_results_do_not_depend_on_the_parts(explain, method):
    budget = 128 if method in ("exact", "stratified") else 110  # the least that these two take, for 7 players
    options = Options(method=method, max_evals=budget, draws="shared")
    small = {"background": "few.parquet", "data": "some.parquet"}
    pd.read_parquet("B.parquet").iloc[:20].to_parquet("few.parquet")
    pd.read_parquet("X.parquet").iloc[:12].to_parquet("some.parquet")
    for size in (1, 7, 1000):
        explain(f"parts-{size}", options=options, rows_per_part=size, **small)
    whole = sharpley.load("parts-1000")
    assert_same(sharpley.load("parts-1"), whole)
    assert_same(sharpley.load("parts-7"), whole)


def test_results_do_not_depend_on_the_number_of_processes(explain):
    explain("one", rows_per_part=7)
    explain("two", rows_per_part=7, jobs=2)
    files_of_one = sorted(Path("one").glob("*.parquet"))
    assert len(files_of_one) == 6
    for path in files_of_one:
        assert path.read_bytes() == (Path("two") / path.name).read_bytes()


SLOW = """
def slow(rows):
    import time

    time.sleep(0.05)
    return predict(rows)
"""
KILLER = """
import os, random, signal, sys, time
import pandas, pyarrow.parquet, sklearn.linear_model  # so that the children need not
from sharpley.batch import Options, explain_files

def run():
    options = Options(max_predictions=60)
    explain_files("batch_models:predict", "X.parquet", "B.parquet", "killed", options=options, rows_per_part=1,
                  progress=False)

def child():
    number = os.fork()
    if number == 0:
        run()
        os._exit(0)
    return number

def finished():
    try:
        return max(0, open("killed/_journal.jsonl").read().count("\\n") - 1)
    except FileNotFoundError:
        return 0

moments, counts = random.Random(0), []
for _ in range(20):
    number, enough = child(), finished() + moments.randrange(3)
    while finished() < min(enough, 200):
        time.sleep(0.002)
    time.sleep(moments.uniform(0.0, 0.05))
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    counts.append(finished())
assert os.waitpid(child(), 0)[1] == 0
print(counts)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_run_that_is_killed_twenty_times_ends_like_one_that_was_not(explain, files):
    pd.concat([pd.read_parquet("X.parquet")] * 5).to_parquet("X.parquet")  # enough for twenty kills
    explain("undisturbed", rows_per_part=1)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLER], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    finished = json.loads(done.stdout)
    assert finished == sorted(finished)  # nothing that was finished was lost
    assert sum(0 < count < 200 for count in finished) > 10  # and most kills were in the middle
    expected = sorted(path.name for path in Path("undisturbed").iterdir())
    assert sorted(path.name for path in Path("killed").iterdir()) == expected  # no unfinished files
    for path in Path("undisturbed").glob("*.parquet"):
        assert path.read_bytes() == (Path("killed") / path.name).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_run_in_two_processes_that_is_killed_takes_them_along_and_goes_on(explain, files):
    explain("undisturbed", rows_per_part=1)
    command = [sys.executable, "-m", "sharpley", "explain", "--model", "batch_models:predict", "--data", "X.parquet"]
    command += ["--background", "B.parquet", "--out", "killed", "--max-predictions", "60", "--rows-per-part", "1"]
    shared = Path("temporary")
    shared.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(shared.resolve())}
    run = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    while len(list(Path("killed").glob("*.parquet"))) < 3:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=30)  # returns once the last process that has the pipes has ended
    assert not list(shared.iterdir())  # the model and the background, for the workers
    assert explain("killed", jobs=2).new_rows < 40
    for path in Path("undisturbed").glob("*.parquet"):
        assert path.read_bytes() == (Path("killed") / path.name).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_is_one_line_and_keeps_finished_parts(explain, files, jobs):
    Path("batch_models.py").write_text(Path("batch_models.py").read_text() + SLOW)
    command = [sys.executable, "-m", "sharpley", "explain", "--model", "batch_models:slow", "--data", "X.parquet"]
    command += ["--background", "B.parquet", "--out", "phi", "--max-predictions", "60", "--rows-per-part", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.Popen([*command, "--jobs", jobs], stderr=subprocess.PIPE, env=environment, text=True)
    while len(list(Path("phi").glob("*.parquet"))) < 3:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=30)[1] == "sharpley: interrupted\n"
    assert run.returncode == 130
    assert explain(model="batch_models:slow").new_rows < 40


def test_a_run_that_cannot_begin_leaves_nothing_behind(explain):
    with pytest.raises(ValueError, match=r"no such thing \(X is rows 0 to 0 of the data; sharpley: raised by broken"):
        explain(model="batch_models:broken")
    assert not Path("phi").exists()


def test_several_outputs_groups_and_ids(explain):
    options = Options(max_predictions=60, groups={"place": ["age", "size"]})
    explain(model="batch_models:two", options=options, id_column="key", rows_per_part=9)
    found = sharpley.load("phi")
    assert found.values.shape == (40, 6, 2)
    assert found.names[0] == "place"
    lines = pd.read_parquet("phi").sort_values(["row", "output"])
    assert len(lines) == 80
    assert lines["id"].iloc[3] == "r1"
    np.testing.assert_array_equal(lines["value_place"].to_numpy().reshape(40, 2), found.values[:, 0])
    explain("first", model="batch_models:two", options=Options(max_predictions=60, output=[0]))
    explain("only", rows_per_part=9)
    assert_same(sharpley.load("first"), sharpley.load("only"))


def test_other_tools_read_the_results_lazily(explain):
    import polars as pl
    import pyarrow.dataset as ds

    explain(rows_per_part=9)
    found = sharpley.load("phi")
    lazily = pl.scan_parquet("phi/*.parquet").select("row", "value_age").sort("row").collect()
    np.testing.assert_array_equal(lazily["value_age"].to_numpy(), found.values[:, 0])
    assert ds.dataset("phi").count_rows() == 40


def test_metadata_say_how_results_were_computed_and_nothing_about_the_machine(explain, files):
    import pyarrow.parquet as pq

    explain(id_column="key")
    raw = pq.read_schema("phi/part-00000000.parquet").metadata[b"sharpley"].decode()
    facts = json.loads(raw)
    settings = facts["settings"]
    assert facts["method"] == "antithetic"
    assert (settings["seed"], settings["version"], settings["max_predictions"]) == (0, sharpley.__version__, 60)
    assert all(len(settings[name]) == 64 for name in ("model", "data", "background"))
    written = raw + (Path("phi") / JOURNAL).read_text()
    assert not any(text in written for text in (str(files), "X.parquet", "B.parquet", "batch_models", os.getcwd()))


def test_the_summary_counts_in_plain_english(explain):
    pd.read_parquet("X.parquet")[:1].to_parquet("one.parquet")
    first, second = (str(explain(data="one.parquet")) for _ in range(2))
    assert first.startswith("1 row in phi\n")
    assert "rows per second" in first
    assert second.startswith("1 row in phi, 1 of them from an earlier run\n")
    assert "per second" not in second


def test_rows_that_miss_the_tolerance_are_counted(explain):
    outcome = explain(options=Options(max_predictions=60, tol=1e-6))
    assert outcome.unconverged == 40
    assert "40 rows did not reach the tolerance" in str(outcome)
    assert not sharpley.load("phi").converged.any()
