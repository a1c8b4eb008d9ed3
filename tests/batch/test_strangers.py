"""Files of strangers: whatever is wrong with them is one clear line, and nothing is run, lost or half-written."""

import errno
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import call

import sharpley
from sharpley.batch import Options, models, tables

ARGUMENTS = ("explain", "--data", "X.parquet", "--background", "B.parquet", "--out", "phi", "--max-predictions", 60)


def refused(*arguments, model="batch_models:predict"):
    """Call the command line, which must end with code 2 and one line, which is returned."""
    result = call(*ARGUMENTS, "--model", model, *arguments, code=2)
    assert result.stderr.startswith("sharpley: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.output
    return result.stderr


class Bomb:
    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


@pytest.mark.parametrize("suffix", ["pkl", "pickle", "joblib"])
def test_nothing_is_unpickled_unless_it_is_trusted(files, suffix):
    Path(f"m.{suffix}").write_bytes(pickle.dumps(Bomb()))
    assert "is a pickle, which can run any code when it is loaded; add --trust-pickle" in refused(model=f"m.{suffix}")
    assert not Path("exploded").exists()
    refused("--trust-pickle", model=f"m.{suffix}")
    assert Path("exploded").exists()  # so the test would have noticed


def test_a_trusted_pickle_is_explained(files):
    from sklearn.linear_model import LinearRegression

    background = pd.read_parquet("B.parquet")
    Path("m.pkl").write_bytes(pickle.dumps(LinearRegression().fit(background, background["age"] * 2)))
    call(*ARGUMENTS, "--model", "m.pkl", "--trust-pickle")
    np.testing.assert_allclose(sharpley.load("phi").values[:, 1:], 0, atol=1e-9)


def test_types_in_a_file_of_skops_are_reviewed(files):
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeRegressor

    background = pd.read_parquet("B.parquet")
    skops.dump(LinearRegression().fit(background, background["age"]), "linear.skops")
    call(*ARGUMENTS, "--model", "linear.skops")
    skops.dump(DecisionTreeRegressor().fit(background, background["age"]), "tree.skops")
    message = refused("--restart", model="tree.skops")
    assert "types that are not known to be harmless: sklearn.tree._tree.Tree; if you trust them, add" in message
    call(*ARGUMENTS, "--model", "tree.skops", "--restart", "--trust-type", "sklearn.tree._tree.Tree")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.json", b"<html>404</html>"),
        ("page.ubj", b"<html>404</html>"),
        ("page.skops", b"<html>404</html>"),
        ("empty.json", b""),
        ("pointer.ubj", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"),
    ],
)
def test_a_file_that_is_no_model_is_named(files, name, content):
    Path(name).write_bytes(content)
    message = refused(model=name)
    assert name in message
    assert not Path("phi").exists()


def test_damaged_models_do_not_take_the_process_along(files, tmp_path):
    import xgboost

    background = pd.read_parquet("B.parquet")
    booster = xgboost.train({"max_depth": 3}, xgboost.DMatrix(background, label=background["age"]), 8)
    raw = bytes(booster.save_raw("ubj"))
    call(*ARGUMENTS, "--model", _written("whole.ubj", raw))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        start = int(rng.integers(len(raw) - 100))
        damaged = raw[:start] + rng.bytes(100) + raw[start + 100 :]
        message = refused("--restart", model=_written("damaged.ubj", damaged))
        assert "damaged.ubj" in message


def _written(name, content):
    Path(name).write_bytes(content)
    return name


def test_a_process_that_crashes_while_it_loads_a_model_is_reported(files, monkeypatch):
    monkeypatch.setattr(models, "TRY", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    Path("m.json").write_text("{}")
    assert "m.json is damaged: the process that tried to load it crashed" in refused(model="m.json")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nothing.xyz", "is not a model: expected module:function, or a file whose name ends in .json, .ubj"),
        ("missing.json", "No such file"),
        ("no_such_module:f", "cannot be imported: No module named 'no_such_module'"),
        ("batch_models:nothing", "has no 'nothing'"),
        ("batch_models:broken", "no such thing (rows 0 to 0 of the data; sharpley: raised by broken on"),
    ],
)
def test_models_that_are_not_there(files, model, message):
    assert message in refused(model=model)
    assert not Path("phi").exists()


def test_truncated_and_damaged_tables_are_named(files):
    raw = Path("X.parquet").read_bytes()
    Path("X.parquet").write_bytes(raw[: len(raw) // 2])
    assert "X.parquet is not a readable parquet file of the data" in refused()
    assert not Path("phi").exists()
    Path("X.parquet").write_bytes(raw)
    Path("B.parquet").write_bytes(b"PAR1")
    assert "B.parquet is not a readable parquet file of the background" in refused()


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


def test_columns_that_change_half_way_are_named(files):
    Path("data").mkdir()
    data = pd.read_parquet("X.parquet").drop(columns="key")
    data[:20].to_parquet("data/a.parquet")
    data[20:].rename(columns={"age": "years"}).to_parquet("data/b.parquet")
    message = refused("--data", "data")
    assert "b.parquet has other columns than" in message
    assert "missing ['age']; unexpected ['years']" in message
    data[20:].astype({"age": str}).to_parquet("data/b.parquet")
    assert "age is large_string instead of double" in refused("--data", "data").replace("is string", "is large_string")
    data[20:].to_parquet("data/b.parquet")
    call(*ARGUMENTS, "--model", "batch_models:predict", "--data", "data")
    assert len(sharpley.load("phi")) == 40


def test_csv_files_take_the_types_of_the_background_and_their_lines_are_checked(files):
    data = pd.read_parquet("X.parquet")
    data.loc[:20, "age"] = 3.0  # looks like whole numbers at first
    data.to_parquet("X.parquet")
    data.to_csv("X.csv", index=False)
    call(*ARGUMENTS, "--model", "batch_models:predict")
    call(*ARGUMENTS, "--model", "batch_models:predict", "--data", "X.csv", "--out", "csv")
    np.testing.assert_array_equal(sharpley.load("csv").values, sharpley.load("phi").values)
    lines = Path("X.csv").read_text().splitlines()
    Path("X.csv").write_text("\n".join([*lines[:30], lines[30].replace(lines[30].split(",")[1], "many")]))
    assert "X.csv is not a readable csv file of the data" in refused("--data", "X.csv", "--out", "other")
    assert not Path("other").exists()
    data.to_feather("X.feather")
    call(*ARGUMENTS, "--model", "batch_models:predict", "--data", "X.feather", "--out", "feather", "--rows-per-part", 7)
    np.testing.assert_array_equal(sharpley.load("feather").values, sharpley.load("phi").values)


def test_columns_that_do_not_fit_the_background_are_named(files):
    data, background = pd.read_parquet("X.parquet"), pd.read_parquet("B.parquet")
    background.assign(floor=background["floor"].round().astype(int)).to_parquet("B.parquet")
    assert "column 'floor' of the data is float64 from row" in refused()
    data.drop(columns="floor").to_parquet("X.parquet")
    assert "the data have no columns ['floor'], which the background has" in refused("--restart")
    assert "no column 'id' for the ids of rows" in refused("--id-column", "id")


def test_categories_are_those_of_the_background(files):
    kinds = pd.Series(["a", "b", "c"] * 100, dtype="category")
    pd.read_parquet("B.parquet").assign(lift=kinds).to_parquet("B.parquet")
    data = pd.read_parquet("X.parquet")
    data.assign(lift=pd.Categorical(["c"] * 40)).to_parquet("X.parquet")
    Path("batch_models.py").write_text("def predict(rows):\n    return rows['lift'].cat.codes.to_numpy() * 1.0\n")
    call(*ARGUMENTS, "--model", "batch_models:predict")
    found = sharpley.load("phi")
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), 2.0)
    data.assign(lift=pd.Categorical(["d"] * 40)).to_parquet("X.parquet")
    assert "column 'lift' of the data" in refused("--restart")


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


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_one_line(files):
    Path("closed").mkdir(mode=0o500)
    assert "Permission denied" in refused("--out", "closed/phi")


def test_a_file_in_place_of_the_folder_is_one_line(files):
    Path("phi").write_text("")
    assert "phi" in refused()


def test_folders_and_patterns_are_read_in_order_without_hidden_files(files):
    Path("data").mkdir()
    data = pd.read_parquet("X.parquet")
    for number in range(4):
        data[10 * number : 10 * number + 10].to_parquet(f"data/{number}.parquet")
    Path("data/_SUCCESS.parquet").write_bytes(b"")
    Path("data/.hidden.parquet").write_bytes(b"")
    found = tables.find("data", "data")
    assert [path.name for path in found.paths] == ["0.parquet", "1.parquet", "2.parquet", "3.parquet"]
    (rows,) = found.ranges([(8, 33)], ["key"])
    assert rows["key"].to_pylist() == [f"r{number}" for number in range(8, 33)]
    assert [path.name for path in tables.find("data/[12].parquet", "data").paths] == ["1.parquet", "2.parquet"]


def test_the_plan_writes_nothing(files):
    said = call(*ARGUMENTS, "--model", "batch_models:predict", "--plan", "--jobs", 3).stdout
    assert "40 rows by method 'antithetic'" in said
    assert "in 3 processes about" in said
    assert not Path("phi").exists()


def test_the_page_shows_what_matters(files):
    pytest.importorskip("matplotlib")
    said = call(*ARGUMENTS, "--model", "batch_models:two", "--report", "page.html", "--output", "0").stdout
    assert "40 rows in phi" in said
    assert Path("page.html").resolve().as_uri() in said
    page = Path("page.html").read_text()
    assert page.count('src="data:image/png;base64,') == page.count("src=") == 1
    sizes = np.abs(sharpley.load("phi").values).mean(axis=0)
    for name, size in zip(sharpley.load("phi").names, sizes.reshape(-1), strict=True):
        assert f"<td>{name}</td><td>{size:.4g}</td>" in page
    assert Options().method in page
