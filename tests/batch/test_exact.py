"""Files explained with a model that is a sum of trees: exact, and the same bits however the work is divided."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import call
from small_files import FEATURES, table
from xgboost import XGBRegressor

import sharpley

dd = pytest.importorskip("dask.dataframe")


def fitted():
    rows = table(200, 5)
    return XGBRegressor(n_estimators=8, max_depth=4, n_jobs=1).fit(rows, rows["age"] * rows["income"] + rows["size"])


def test_files_are_explained_exactly_whatever_the_parts(files):
    model = fitted()
    model.save_model("m.json")
    arguments = ("explain", "--model", "m.json", "--data", "X.parquet", "--background", "B.parquet")
    for size in (7, 1000):
        call(*arguments, "--out", f"phi-{size}", "--id-column", "key", "--rows-per-part", size)
    small, whole = sharpley.load("phi-7"), sharpley.load("phi-1000")
    assert small.method == whole.method == "trees"
    np.testing.assert_array_equal(small.values, whole.values)
    np.testing.assert_array_equal(small.base_values, whole.base_values)
    assert (whole.standard_errors == 0).all()
    data = pd.read_parquet("X.parquet")[FEATURES]
    np.testing.assert_allclose(whole.base_values + whole.values.sum(axis=1), model.predict(data), atol=1e-5)


def test_a_file_that_is_no_tree_ensemble_is_refused(files):
    Path("m.json").write_text("{}")
    result = call("explain", "--model", "m.json", "--data", "X.parquet", "--background", "B.parquet", "--out", "phi",
                  code=2)  # fmt: skip
    assert result.stderr.startswith("sharpley: ")


def test_partitions_are_explained_exactly():
    explainer = sharpley.Explainer(fitted(), table(60, 1))
    data = table(20, 2)
    found = explainer.map_partitions(dd.from_pandas(data, npartitions=3)).compute(scheduler="synchronous")
    whole = explainer.estimate(data)
    assert whole.method == "trees"
    np.testing.assert_array_equal(found[[f"value_{name}" for name in FEATURES]].to_numpy(), whole.values)
