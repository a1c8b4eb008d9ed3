"""Whatever goes wrong is one clear line with code 2; nothing is half-written, and finished parts are kept."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from batch_calls import refused

FULL = """
import errno, sys
import pyarrow.parquet as pq
from sharpley.app.cli import app

write, calls = pq.write_table, []

def fails(table, stream, **settings):
    calls.append(table)
    if len(calls) == 3:
        raise OSError(errno.ENOSPC, "No space left on device")
    write(table, stream, **settings)

pq.write_table = fails
app(sys.argv[1:])
"""


def test_a_page_that_is_damaged_in_the_middle_keeps_finished_parts(files):
    import pyarrow.parquet as pq

    pd.read_parquet("X.parquet").to_parquet("X.parquet", row_group_size=10, compression="zstd")
    at = pq.read_metadata("X.parquet").row_group(3).column(2).data_page_offset
    raw = bytearray(Path("X.parquet").read_bytes())
    raw[at : at + 60] = bytes(60)
    Path("X.parquet").write_bytes(raw)
    assert "X.parquet is not a readable parquet file of the data" in refused("--rows-per-part", 10)
    assert sorted(path.name for path in Path("phi").iterdir()) == [
        "_journal.jsonl", "part-00000000.parquet", "part-00000001.parquet", "part-00000002.parquet"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-predictions", 3), "max_predictions=3 is too small"),
        (("--method", "magic"), "unknown method 'magic'; choose one of"),
        (("--output", "7"), "unknown output 7"),
        (("--groups", "{"), "--groups is not JSON"),
        (("--groups", '{"a": "age"}'), "must map names to lists of columns"),
        (("--groups", '{"a": ["aged"]}'), "aged"),
        (("--data", "nothing/*.parquet"), "there are no files of the data at nothing/*.parquet"),
        (("--data", "batch_models.py"), "must be files of these types: .parquet"),
        (("--rows-per-part", 0), "rows_per_part must be at least 1"),
        (("--jobs", 0), "n_jobs"),
        (("--seed", -1), "seed must be at least 0, got -1"),
        (("--report", "no/such/page.html"), "the page cannot be written to no/such/page.html"),
        (("--scheduler", "tcp://127.0.0.1:9"), "no Dask scheduler at tcp://127.0.0.1:9"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing_behind(files, monkeypatch, arguments, message):
    monkeypatch.setattr("sharpley.batch.cluster.CONNECT_SECONDS", 0.5)
    assert message in refused(*arguments)
    assert not list(Path(".").glob("phi/part*"))


def test_a_full_disk_keeps_finished_parts_and_leaves_nothing_half_written(explain, monkeypatch):
    import pyarrow.parquet as pq

    write, calls = pq.write_table, []

    def fails(table, stream, **settings):
        calls.append(table)
        if len(calls) == 3:
            stream.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        write(table, stream, **settings)

    monkeypatch.setattr(pq, "write_table", fails)
    with pytest.raises(OSError, match=r"No space left on device: 'phi/part-00000002\.parquet'"):
        explain(rows_per_part=10)
    assert sorted(path.name for path in Path("phi").iterdir()) == [
        "_journal.jsonl", "part-00000000.parquet", "part-00000001.parquet"
    ]  # fmt: skip
    assert explain().new_rows == 20


def test_a_full_disk_ends_the_workers_without_a_word_of_theirs(files):
    Path("full.py").write_text(FULL)
    command = [sys.executable, "full.py", "explain", "--model", "batch_models:predict", "--data", "X.parquet"]
    command += ["--background", "B.parquet", "--out", "phi", "--rows-per-part", "1", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([*command, "--max-predictions", "60"], capture_output=True, env=environment, check=False)
    said = "sharpley: [Errno 28] No space left on device: 'phi/part-"
    assert done.stderr.decode().startswith(said)
    assert done.stderr.count(b"\n") == 1
    assert done.returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limits of files")
def test_a_disk_that_is_full_from_the_start_names_the_file_and_leaves_nothing(files):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # so that every byte is one too many
    try:
        message = refused()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large: 'phi/_journal.jsonl'" in message
    assert not Path("phi").exists()


@pytest.mark.parametrize(
    ("error", "said"), [("MemoryError", "out of memory; a smaller --batch-size"), ("KeyError", "")]
)
def test_rows_that_a_model_fails_for_are_named(files, error, said):
    Path("batch_models.py").write_text(
        "def predict(rows):\n"
        f"    if (rows['age'].to_numpy() == 77).any(): raise {error}\n"
        "    return rows['age'].to_numpy()\n"
        "def gaps(rows):\n"
        "    age = rows['age'].to_numpy(copy=True)\n"
        "    age[age == 77] = float('nan')\n"
        "    return age\n"
    )
    data = pd.read_parquet("X.parquet")
    data.loc[23, "age"] = 77.0
    data.to_parquet("X.parquet")
    message = refused("--rows-per-part", 10)
    assert said in message
    assert "X is rows 20 to 29 of the data" in message
    message = refused("--rows-per-part", 10, "--out", "other", model="batch_models:gaps")
    assert "returned [nan] for row 3 of X (X is rows 20 to 29 of the data)" in message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_one_line(files):
    Path("closed").mkdir(mode=0o500)
    assert "Permission denied" in refused("--out", "closed/phi")


def test_a_file_in_place_of_the_folder_is_one_line(files):
    Path("phi").write_text("")
    assert "phi" in refused()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_model_that_ends_the_process_is_an_error(files, jobs):
    assert "the model called sys.exit(3)" in refused("--jobs", jobs, model="batch_models:ends")
