"""Frames explained one by one: partitions of Dask, batches of Spark."""

import os
import sys

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley.partitions import ExplainFrame

dd = pytest.importorskip("dask.dataframe")


def model(rows):
    return (rows["a"] * rows["b"] + np.abs(rows["c"])).to_numpy()


def two(rows):
    return np.stack([model(rows), rows["a"].to_numpy()], axis=1)


def frame(n, seed):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 4)), columns=list("abcd"))


def test_partitions_are_kept_and_explained_lazily_with_the_same_bits():
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return model(rows)

    data = frame(30, 0).set_axis([f"r{number}" for number in range(30)])
    explainer = sharpley.Explainer(counted, frame(50, 1), method="gp", draws="shared", rng=0)
    lazy = explainer.map_partitions(dd.from_pandas(data, npartitions=4, sort=False), max_evals=15)
    before = len(calls)
    assert lazy.npartitions == 4
    assert list(lazy.columns)[:5] == ["output", "base_value", "n_evals", "n_predictions", "converged"]
    assert len(calls) == before
    found = lazy.compute(scheduler="synchronous")
    assert len(calls) > before
    assert list(found.index) == list(data.index)
    assert dict(found.dtypes) == dict(lazy.dtypes)
    alone = sharpley.Explainer(model, frame(50, 1), method="gp", draws="shared", rng=0, independent_rows=True)
    whole = alone.estimate(data, max_evals=15)
    np.testing.assert_array_equal(found[[f"value_{name}" for name in "abcd"]].to_numpy(), whole.values)
    np.testing.assert_array_equal(
        found[[f"standard_error_{name}" for name in "abcd"]].to_numpy(), whole.standard_errors
    )
    assert not explainer.independent_rows


def test_frames_of_an_iterator_are_explained_as_spark_hands_them_out():
    explain = ExplainFrame(sharpley.Explainer(two, frame(50, 1), rng=0), max_predictions=40)
    data = frame(9, 0).assign(other="x")
    parts = list(explain.over(iter([data[:4], data[4:4], data[4:]])))
    assert [len(part) for part in parts] == [8, 0, 10]
    pd.testing.assert_frame_equal(pd.concat([parts[0], parts[2]]), explain(data))
    pd.testing.assert_frame_equal(parts[1], explain.meta, check_index_type=False)


def test_backgrounds_without_columns_are_refused():
    with pytest.raises(TypeError, match="the background must be a pandas DataFrame"):
        ExplainFrame(sharpley.Explainer(lambda rows: rows.sum(axis=1), np.zeros((2, 3))))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_spark_explains_a_dataframe(monkeypatch):
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    data = frame(20, 0)
    explain = ExplainFrame(sharpley.Explainer(model, frame(50, 1), rng=0), max_predictions=40)
    expected = explain(data)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        schema = spark.createDataFrame(expected).schema
        found = spark.createDataFrame(data).repartition(3).mapInPandas(explain.over, schema).toPandas()
    finally:
        spark.stop()
    names = [f"value_{name}" for name in "abcd"]
    np.testing.assert_array_equal(found.sort_values(names)[names], expected.sort_values(names)[names])
