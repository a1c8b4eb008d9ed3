"""Columns of data and background: types, missing values, categories, and those that a model names."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from batch_calls import ARGUMENTS, refused
from command_line import call

import sharpley
from sharpley.batch.models import feature_names
from sharpley.batch.request import Request


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


def test_categories_and_missing_text_are_read_from_csv_files_as_from_parquet_files(files):
    kinds = np.array(["a", "b", None] * 100, dtype=object)
    background = pd.read_parquet("B.parquet").assign(lift=pd.Categorical(kinds), floor=kinds)
    background.to_parquet("B.parquet")
    data = pd.read_parquet("X.parquet").assign(lift=pd.Categorical(kinds[:40]), floor=kinds[:40])
    data.to_parquet("X.parquet")
    data.to_csv("X.csv", index=False)
    Path("batch_models.py").write_text(
        "def predict(rows):\n    return rows['lift'].cat.codes.to_numpy() + 3.0 * rows['floor'].isna().to_numpy()\n"
    )
    call(*ARGUMENTS, "--model", "batch_models:predict")
    call(*ARGUMENTS, "--model", "batch_models:predict", "--data", "X.csv", "--out", "csv")
    np.testing.assert_array_equal(sharpley.load("csv").values, sharpley.load("phi").values)


@pytest.mark.parametrize(("dtype", "value"), [("boolean", True), ("Int64", 4)])
def test_values_that_are_missing_in_the_data_alone_are_named_and_never_become_another_value(files, dtype, value):
    plain = {"boolean": bool, "Int64": int}[dtype]
    pd.read_parquet("B.parquet").assign(floor=plain(value)).to_parquet("B.parquet")
    data = pd.read_parquet("X.parquet").assign(floor=pd.array([value] * 40, dtype=dtype))
    data.loc[13, "floor"] = pd.NA
    data.to_parquet("X.parquet")
    message = refused("--rows-per-part", 10)
    assert "column 'floor' of the data is" in message
    assert "from row 13 on" in message
    assert "none may be missing there; make its column one of floats" in message
    assert len(list(Path("phi").glob("*.parquet"))) == 1  # the part before is kept


def test_columns_of_the_same_name_are_refused(files):
    Path("X.csv").write_text("age,age\n1,2\n")
    assert "X.csv has more than one column of the same name: ['age']" in refused("--data", "X.csv")


class Named:
    """A model that tells which columns it was fitted on."""

    def __init__(self, *names):
        self.feature_names_in_ = list(names)


class Columns:
    """Stands for a table of which only the columns matter, and for a model that is loaded at once."""

    def __init__(self, *names, model=None):
        self.feature_names, self.schema = list(names), self
        self.names, self.load = list(names), lambda: model


def features(model, background, data=("a b", "c", "key"), id_column=None):
    return Request(Columns(model=model), Columns(*data), Columns(*background), id_column, None).features


def test_the_columns_of_the_model_are_explained_in_its_order():
    assert features(Named("c", "a b"), ("a b", "c", "target")) == ["c", "a b"]
    assert features(Named("c", "a_b"), ("a b", "c", "target")) == ["c", "a b"]  # as LightGBM names it
    assert features(Named("key", "c"), ("a b", "c", "key"), id_column="key") == ["key", "c"]
    assert features(object(), ("a b", "c", "key"), id_column="key") == ["a b", "c"]
    with pytest.raises(ValueError, match=r"fitted on columns \['d'\], which the background does not have"):
        features(Named("c", "d"), ("a b", "c"))


def test_names_that_a_library_made_up_are_no_names():
    assert feature_names(Named("f0", "f1")) is None
    assert feature_names(Named("Column_0", "Column_1")) is None
    assert feature_names(Named("0", "1")) is None
    assert feature_names(Named("f0", "age")) == ["f0", "age"]


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (["12345678901234567890", "12345678901234567891"], ["12345678901234567890", "12345678901234567891"]),
        (["00001", "00002"], ["00001", "00002"]),
        (["NA", ""], ["NA", ""]),
        (["7", "x"], ["7", "x"]),
        (["1.50", "2e3"], ["1.50", "2e3"]),
        (["7", "-9223372036854775808"], [7, -9223372036854775808]),
    ],
)
def test_ids_in_csv_files_are_text_unless_they_are_written_back_as_they_were_read(files, ids, found):
    data = pd.read_parquet("X.parquet")[:2].drop(columns="key")
    for name, each in zip("ab", ids, strict=True):  # in two files, whose ids must have one type
        row = data[:1] if name == "a" else data[1:]
        row.assign(id=each).to_csv(f"{name}.csv", index=False)
    pd.read_parquet("B.parquet").assign(id=1.5).to_parquet("B.parquet")  # of another type, which does not matter
    call(*ARGUMENTS, "--model", "batch_models:predict", "--data", "[ab].csv", "--id-column", "id")
    assert sharpley.load("phi").row_labels == found


def test_an_id_that_the_model_uses_is_a_number_for_the_model_and_text_in_the_results(files):
    from sklearn.linear_model import LinearRegression

    background = pd.read_parquet("B.parquet")[["age", "income"]].assign(id=range(300))
    background.to_parquet("B.parquet")
    pd.read_parquet("X.parquet")[["age", "income"]].assign(id="007").to_csv("X.csv", index=False)
    Path("m.pkl").write_bytes(pickle.dumps(LinearRegression().fit(background, background["id"])))
    call(*ARGUMENTS, "--model", "m.pkl", "--trust-pickle", "--data", "X.csv", "--id-column", "id")
    found = sharpley.load("phi")
    assert set(found.row_labels) == {"007"}
    np.testing.assert_allclose(found["id"].values[:, 0], 7 - background["id"].mean())
