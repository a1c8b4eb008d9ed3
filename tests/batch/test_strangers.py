"""Files of strangers: whatever is wrong with them is one clear line, and nothing is run, lost or half-written."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from batch_calls import ARGUMENTS, refused
from command_line import call

import sharpley
from sharpley.batch import Options, models, tables


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


def test_a_model_that_can_be_loaded_but_crashes_when_it_is_called_is_reported(files):
    import xgboost

    background = pd.read_parquet("B.parquet")
    booster = xgboost.train({"max_depth": 3}, xgboost.DMatrix(background, label=background["age"]), 2)
    content = json.loads(booster.save_raw("json"))
    tree = content["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["split_indices"][0] = 10**7  # a column that is not there
    Path("m.json").write_text(json.dumps(content))
    assert "m.json is damaged: the process that tried to use it crashed" in refused(model="m.json")
    assert not Path("phi").exists()


def written_booster(**changes):
    """Write an XGBoost model with changed parameters to m.json."""
    import xgboost

    background = pd.read_parquet("B.parquet")
    booster = xgboost.train({"max_depth": 3}, xgboost.DMatrix(background, label=background["age"]), 2)
    content = json.loads(booster.save_raw("json"))
    content["learner"]["learner_model_param"] |= changes
    Path("m.json").write_text(json.dumps(content))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux limits the memory of a trial")
def test_a_model_that_claims_more_features_than_fit_into_memory_is_refused(files, monkeypatch):
    written_booster(num_feature=str(2**31 - 1))
    monkeypatch.setattr(models, "TRY_MEMORY", 2**31)  # so that the test itself takes less
    message = refused(model="m.json")
    assert "m.json failed on 300 rows of the background, in a process with" in message
    assert not Path("phi").exists()


def test_a_model_that_takes_too_long_is_given_up(files, monkeypatch):
    written_booster()
    monkeypatch.setattr(models, "TRY_SECONDS", 0.05)
    assert "m.json was given up: loading it and predicting 300 rows took more than 0 s" in refused(model="m.json")
    assert not Path("phi").exists()


def test_a_model_that_does_not_fit_the_background_is_reported_with_the_columns(files):
    written_booster()
    pd.read_parquet("B.parquet").drop(columns="floor").to_parquet("B.parquet")
    assert "fitted on columns ['floor'], which the background does not have" in refused(model="m.json")


def test_a_process_that_crashes_while_it_loads_a_model_is_reported(files, monkeypatch):
    monkeypatch.setattr(models, "TRY", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    Path("m.json").write_text("{}")
    assert "m.json is damaged: the process that tried to use it crashed" in refused(model="m.json")
    monkeypatch.setattr(models, "TRY", "import no_such_module")
    message = refused(model="m.json")
    assert "m.json could not be tried in a process of its own: " in message
    assert "No module named 'no_such_module'" in message


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nothing.xyz", "is not a model: expected module:function, or a file whose name ends in .json, .ubj"),
        ("missing.json", "No such file"),
        ("no_such_module:f", "cannot be imported: No module named 'no_such_module'"),
        ("batch_models:nothing", "has no 'nothing'"),
        ("batch_models:broken", "no such thing (X is rows 0 to 0 of the data; sharpley: raised by broken on"),
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


def test_names_that_look_like_formulas_are_drawn_as_they_are(files):
    plt = pytest.importorskip("matplotlib.pyplot")
    for name in ("X.parquet", "B.parquet"):
        pd.read_parquet(name).rename(columns={"floor": "$x^$", "lift": "a$b"}).to_parquet(name)
    Path("batch_models.py").write_text(
        "def predict(rows):\n    return rows['$x^$'].to_numpy() * rows['a$b'].to_numpy()\n"
    )
    call(*ARGUMENTS, "--model", "batch_models:predict", "--report", "page.html")
    assert "<td>$x^$</td>" in Path("page.html").read_text()
    ax = sharpley.plotting.intervals(sharpley.load("phi")[:2])
    sharpley.plotting.save(ax, "intervals.png")
    assert r"\$x^\$" in [label.get_text() for label in ax.get_yticklabels()]  # which matplotlib draws as $x^$
    plt.close("all")
