"""The folder of results: what is kept, what is refused, and what is begun anew."""

from pathlib import Path

import pandas as pd
import pytest

import sharpley
from sharpley.batch import Options
from sharpley.batch.journal import JOURNAL, Journal


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
    journal = Path("phi") / JOURNAL
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


def test_restart_removes_results_only_and_only_once_the_new_run_can_begin(explain):
    explain(rows_per_part=10)
    before = {path.name: path.read_bytes() for path in Path("phi").iterdir()}
    with pytest.raises(ValueError, match="no such thing"):
        explain(model="batch_models:broken", restart=True)
    assert {path.name: path.read_bytes() for path in Path("phi").iterdir()} == before
    data = Path("X.parquet").read_bytes()
    Path("phi/part-00000-of-spark.parquet").write_bytes(data)
    Path("phi/.notes.tmp").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"files of another origin, such as part-00000-of-spark\.parquet"):
        explain(restart=True)
    assert Path("phi/part-00000-of-spark.parquet").read_bytes() == data
    assert Path("phi/.notes.tmp").read_bytes() == b"mine"


def test_data_in_the_folder_of_the_results_survive_a_restart(explain):
    Path("data").mkdir()
    Path("X.parquet").rename("data/part-00000000.parquet")
    for restart in (False, True):
        with pytest.raises(ValueError, match="files of another origin"):
            explain("data", data="data", restart=restart)
        assert len(pd.read_parquet("data")) == 40


def test_a_second_run_on_the_same_folder_is_refused(explain):
    with Journal(Path("phi")), pytest.raises(ValueError, match="another run is writing to phi"):
        explain()
    assert explain().new_rows == 40


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
