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
from sharpley.batch.journal import NAME, Journal


def assert_same(one, other):
    """The same to the last bit; a part may not have used all methods."""
    for field in fields(one):
        if field.name not in ("compute_time", "row_labels"):
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


@pytest.mark.parametrize("method", sharpley.METHODS)
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
    while finished() < enough:
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
    explain("undisturbed", rows_per_part=1)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLER], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    finished = json.loads(done.stdout)
    assert finished == sorted(finished)  # nothing that was finished was lost
    assert any(0 < count < 40 for count in finished)  # and the kills were in the middle
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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    while len(list(Path("killed").glob("*.parquet"))) < 3:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=30)  # returns once the last process that has the pipes has ended
    assert explain("killed", jobs=2).new_rows < 40
    for path in Path("undisturbed").glob("*.parquet"):
        assert path.read_bytes() == (Path("killed") / path.name).read_bytes()


def test_finished_parts_are_not_explained_again_and_missing_ones_are(explain):
    explain(rows_per_part=10)
    before = Path("phi/part-00000001.parquet").read_bytes()
    Path("phi/part-00000001.parquet").unlink()
    Path("phi/part-00000003.parquet").write_bytes(b"torn")
    outcome = explain()
    assert outcome.new_rows == 20
    assert Path("phi/part-00000001.parquet").read_bytes() == before
    assert explain().new_rows == 0


def test_an_unfinished_line_of_the_journal_is_ignored(explain):
    explain(rows_per_part=10)
    journal = Path("phi") / NAME
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:10])
    assert explain().new_rows == 20
    assert explain().new_rows == 0  # what was appended since can be read
    assert len(journal.read_bytes().splitlines()) == 5
    journal.write_bytes(lines[0][:30])  # not even the plan is complete, but files of another run are there
    with pytest.raises(ValueError, match=r"files of another origin, such as part-00000000\.parquet"):
        explain()
    assert explain(restart=True, rows_per_part=20).new_rows == 40
    journal.write_bytes(lines[0] + b"{]\n" + lines[2])
    with pytest.raises(ValueError, match=r"line 2 of phi.* is damaged; --restart"):
        explain()


def test_other_settings_are_refused_and_named(explain):
    explain(rows_per_part=10)
    with pytest.raises(ValueError, match="max_predictions was 60, now 70; seed was 0, now 5"):
        explain(options=Options(max_predictions=70, seed=5))
    with pytest.raises(ValueError, match="rows_per_part was 10, now 20"):
        explain(rows_per_part=20)
    data = pd.read_parquet("X.parquet")
    data.loc[3, "age"] += 1
    data.to_parquet("X.parquet")
    with pytest.raises(ValueError, match=r"data was [0-9a-f]{12}…, now"):
        explain()
    assert explain(restart=True).new_rows == 40


def test_a_second_run_on_the_same_folder_is_refused(explain):
    with Journal(Path("phi")), pytest.raises(ValueError, match="another run is writing to phi"):
        explain()
    assert explain().new_rows == 40


def test_a_run_that_cannot_begin_leaves_nothing_behind(explain):
    with pytest.raises(ValueError, match=r"no such thing \(rows 0 to 0 of the data; sharpley: raised by broken on"):
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
    written = raw + (Path("phi") / NAME).read_text()
    assert not any(text in written for text in (str(files), "X.parquet", "B.parquet", "batch_models", os.getcwd()))


def test_an_incomplete_folder_is_not_loaded(explain):
    explain(rows_per_part=10)
    Path("phi/part-00000002.parquet").unlink()
    with pytest.raises(ValueError, match="phi has 30 of 40 rows; the same call of sharpley explain finishes it"):
        sharpley.load("phi")
    Path("empty").mkdir()
    with pytest.raises(ValueError, match="empty has no results"):
        sharpley.load("empty")
    explain("other", options=Options(max_predictions=50), rows_per_part=10)
    Path("other/part-00000002.parquet").rename("phi/part-00000002.parquet")
    with pytest.raises(ValueError, match="files of 2 different runs"):
        sharpley.load("phi")


def test_rows_that_miss_the_tolerance_are_counted(explain):
    outcome = explain(options=Options(max_predictions=60, tol=1e-6))
    assert outcome.unconverged == 40
    assert "40 rows did not reach the tolerance" in str(outcome)
    assert not sharpley.load("phi").converged.any()
