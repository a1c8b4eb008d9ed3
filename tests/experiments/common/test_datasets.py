"""The data sets of the experiments: the same numbers from every source, or an error that says what to do."""

import gzip
import hashlib
import importlib.util
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny_datasets import (
    ADULT_COPY,
    ADULT_DATA,
    ADULT_TEST,
    BANK,
    EXPECTED,
    HOUSING,
    SOURCES,
    YEAR,
    arrays,
    change,
    put,
    tarred,
    zipped,
)

from sharpley_experiments.common import datasets, readers
from sharpley_experiments.common.datasets import DATASETS, load

PACKED = {
    file
    for sources in SOURCES.values()
    for files in sources
    for file in files
    if file.endswith((".zip", ".tgz", ".gz", ".npz"))
}


@pytest.mark.parametrize(("name", "files"), [(name, files) for name in SOURCES for files in SOURCES[name]])
def test_every_source_gives_the_same_numbers(name, files, few_rows, tmp_path):
    found = load(name, put(tmp_path, files))
    x, y = EXPECTED[name]
    np.testing.assert_array_equal(found.X, x)
    np.testing.assert_array_equal(found.y, y)
    assert found.X.dtype == found.y.dtype == np.float64
    assert found.X.flags.c_contiguous
    assert len(found.feature_names) == x.shape[1]
    assert (found.name, found.note) == (name, "a few rows")
    assert found.is_classification == (name in ("adult", "bank"))


def test_adult_is_encoded_as_pandas_does():
    frame = pd.read_csv(io.StringIO(ADULT_COPY), keep_default_na=False).drop(columns=["split", "y"])
    dummies = pd.get_dummies(frame, dtype=float).iloc[:, :-1]
    x, _, names = readers.adult(io.BytesIO(ADULT_DATA), io.BytesIO(ADULT_TEST))
    assert list(names) == list(dummies.columns)
    np.testing.assert_array_equal(x, dummies.to_numpy())


def test_data_sets_of_scikit_learn_need_no_files(tmp_path):
    cancer, made = load("breast_cancer", tmp_path), load("make_regression")
    assert (cancer.X.shape, cancer.is_classification, set(cancer.y)) == ((569, 30), True, {0.0, 1.0})
    assert "699" in cancer.note  # the paper's number of rows
    assert (made.X.shape, made.is_classification, made.note) == ((1000, 10), False, "")
    np.testing.assert_array_equal(made.X, load("make_regression").X)


def test_unknown_names_and_missing_files_raise_an_error_with_advice(tmp_path, place):
    with pytest.raises(ValueError, match=r"unknown data set 'iris'; choose one of 'adult', 'breast_cancer'"):
        load("iris")
    put(tmp_path, {"adult.data": ADULT_DATA})  # one of the two files is not enough
    expected = r"expected one of adult.zip, adult.data and adult.test, .*2/adult.zip"
    with pytest.raises(FileNotFoundError, match=expected) as caught:
        load("adult", tmp_path)
    for other in ("bank", "cal_housing", "year"):
        assert f"{other}: http" in str(caught.value)


def test_files_that_a_folder_does_not_have_are_looked_for_in_the_cache(tmp_path, place, few_rows):
    put(place, SOURCES["bank"][0])
    (tmp_path / "empty").mkdir()
    np.testing.assert_array_equal(load("bank", tmp_path / "empty").X, EXPECTED["bank"][0])
    with pytest.raises(FileNotFoundError) as caught:
        load("year", tmp_path / "empty")
    assert "adult: http" in str(caught.value)
    assert "bank: http" not in str(caught.value)


WRONG = {
    "adult": {
        "adult.zip": [b"", b"<html>", SOURCES["adult"][1]["adult.zip"][:-9], zipped({"adult.data": ADULT_DATA})],
        "adult/adult.csv.gz": [b"", gzip.compress(b""), gzip.compress(b"age,y\n1,0\n"), gzip.compress(b"a")[:-4]],
    },
    "bank": {"bank-full.csv": [b"", BANK[:-9], BANK.replace(b"58", b"59"), BANK[:-1] + b";1\n", b"\xff\xfe" * 9]},
    "cal_housing": {
        "cal_housing.tgz": [b"", b"<html>", tarred({"other": b""}), tarred({"cal_housing.data": HOUSING[:-99]})],
        "cal_housing/cal_housing.npz": [b"", arrays(1.0, 2.0), arrays([[1.0]], [2.0]), arrays([[{}]], [1.0])],
    },
    "year": {"YearPredictionMSD.txt": [YEAR[:-1] + b",1\n", YEAR.replace(b"1922,", b"1921,"), b"1990,nan\n"]},
}


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        # Archives contain the time, which must not be part of a test's name, since parallel workers compare names.
        pytest.param(name, file, content, id=f"{file}-{i}")
        for name in WRONG
        for file in WRONG[name]
        for i, content in enumerate(WRONG[name][file])
    ],
)
def test_a_damaged_or_wrong_file_raises_an_error_with_advice(name, file, content, few_rows, tmp_path):
    put(tmp_path, {file: content})
    with pytest.raises(ValueError, match=r"(cannot be read \(.+\)|does not hold the \w+ data).*--data DIR") as caught:
        load(name, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / file))
    assert datasets._RECIPES[name].original.url in str(caught.value)


def test_a_few_rows_are_not_accepted_as_the_data_sets(tmp_path):
    for name, sources in SOURCES.items():
        for i, files in enumerate(sources):
            with pytest.raises(ValueError, match=f"does not hold the {name} data"):
                load(name, put(tmp_path / f"{name}{i}", files))


def test_the_whole_of_year_is_identified_by_its_shape_and_first_row(monkeypatch):
    monkeypatch.setattr(datasets, "SHAPE_OF_WHOLE_YEAR", (3, 2))
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    known = datasets._digest(x, y)
    assert datasets._digest(x + np.eye(3)[:, 2:], y) == known
    assert datasets._digest(x + np.eye(3)[:, :1], y) != known
    assert datasets._digest(x[:2], y[:2]) != known


@pytest.mark.parametrize("line", [b"1921,", b"2012,", b"nan,", b"2000,inf,"])
def test_impossible_years_raise_an_error(line):
    rows = YEAR + line + YEAR.split(b",", line.count(b","))[-1].split(b"\n")[0] + b"\n"
    with pytest.raises(ValueError, match="start with a year from 1922 to 2011"):
        readers.year(io.BytesIO(rows))


def shared_folder():
    for folder in (Path(__file__).parents[4] / "shared" / "data", Path("/work/shared/data")):
        if (folder / "load.py").is_file():
            return folder
    pytest.skip("the data sets are not available")


@pytest.fixture(scope="module")
def shared():
    """The folder of data sets, and the slow but simple loader in it."""
    folder = shared_folder()
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return folder, module


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"make_regression"}))
def test_the_real_data_agree_with_the_simple_loader(name, shared):
    folder, module = shared
    found = load(name, folder)
    x, y, names = module.adult("107") if name == "adult" else getattr(module, name)()
    np.testing.assert_array_equal(found.X, x)
    np.testing.assert_array_equal(found.y, y)
    assert found.feature_names == tuple(names)
    assert found.note == "7,000-row sample of YearPredictionMSD" or name != "year"


def test_the_public_files_of_adult_give_the_real_data(shared, tmp_path):
    """Written in the format of their source, where these SHA-256 were published, the rows give the same data set."""
    folder, _ = shared
    frame = pd.read_csv(folder / "adult/adult.csv.gz", keep_default_na=False, dtype=str)
    frame["y"] = frame["y"].map({"0": "<=50K", "1": ">50K"}) + frame["split"].map({"train": "", "test": "."})
    lines = pd.Series([", ".join(row) for row in frame.drop(columns="split").to_numpy()])
    parts = {split: "\n".join(lines[frame["split"] == split]) + "\n\n" for split in ("train", "test")}
    files = {"adult.data": parts["train"].encode(), "adult.test": b"|1x3 Cross validator\n" + parts["test"].encode()}
    assert [hashlib.sha256(content).hexdigest() for content in files.values()] == [
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ]
    assert load("adult", put(tmp_path, files)).X.shape == (48842, 107)


@pytest.mark.parametrize(
    ("name", "files"),
    [(name, files) for name in SOURCES for files in SOURCES[name] if {*files} <= PACKED],
)
def test_archives_that_would_unpack_to_too_much_are_not_read(name, files, few_rows, tmp_path, monkeypatch):
    change(monkeypatch, name, original=datasets._RECIPES[name].original._replace(most_bytes=100))
    monkeypatch.setattr(readers, "MAX_COPY_BYTES", 100)
    with pytest.raises(
        ValueError, match=r"cannot be read \(its .* would have .* bytes, but at most 100 are expected\)"
    ):
        load(name, put(tmp_path, files))


def test_a_file_in_front_of_the_data_is_not_unpacked_if_it_is_too_large(few_rows, tmp_path, monkeypatch):
    """A compressed tar archive can only be read from its start."""
    files = {"cal_housing.tgz": tarred({"zeros": bytes(2**26), "cal_housing.data": HOUSING})}
    with pytest.raises(ValueError, match=r"its CaliforniaHousing/zeros would have 67,108,864 bytes"):
        load("cal_housing", put(tmp_path, files))
