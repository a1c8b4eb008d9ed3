"""Models in the files of their libraries: explained as they are when they are called directly."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley.batch import models


@pytest.fixture
def fitted(files):
    """Rows, whether their target is large, and the target; the columns are in an order that the files do not have."""
    background = pd.read_parquet("B.parquet")
    target = background["age"] * background["income"] + background["size"]
    return background[sorted(background.columns)], target


def assert_explained(explain, model, predict, background):
    """What is in the file predicts the same: base value and values add up to the predictions."""
    explain(model=model)
    found = sharpley.load("phi")
    data = pd.read_parquet("X.parquet")[list(background.columns)]
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), predict(data), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.base_values, np.mean(predict(background)), rtol=1e-4, atol=1e-5)
    return found


def test_a_damaged_model_is_reported_without_the_stack_of_its_library(files):
    import xgboost

    background = pd.read_parquet("B.parquet")
    booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(background, label=background["age"]), 2)
    Path("m.json").write_bytes(bytes(booster.save_raw("json"))[:-300])
    with pytest.raises(ValueError, match=r"^m\.json could not be loaded as a model: (?!.*Stack trace)"):
        models.find("m.json").load()


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_xgboost(explain, fitted, suffix):
    import xgboost

    model = xgboost.XGBRegressor(n_estimators=20, max_depth=3).fit(*fitted)
    model.get_booster().save_model(f"m.{suffix}")
    found = assert_explained(explain, f"m.{suffix}", model.predict, fitted[0])
    assert found.names == sorted(fitted[0].columns)  # in the order of the model


def test_a_target_beside_the_features_of_the_model_is_left_out(explain, fitted):
    import xgboost

    xgboost.XGBRegressor(n_estimators=5).fit(*fitted).get_booster().save_model("m.json")
    fitted[0].assign(target=fitted[1]).to_parquet("B.parquet")
    explain(model="m.json")
    assert "target" not in sharpley.load("phi").names


def test_skops(explain, fitted):
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(fitted[0], fitted[1] > 0)
    skops.dump(model, "m.skops")
    found = assert_explained(explain, "m.skops", lambda rows: model.predict_proba(rows)[:, 1], fitted[0])
    assert found.output_names == ["True"]


def test_lightgbm(explain, fitted):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, num_threads=1).fit(*fitted)
    model.booster_.save_model("m.txt")
    assert_explained(explain, "m.txt", model.predict, fitted[0])


def test_catboost(explain, fitted):
    catboost = pytest.importorskip("catboost")
    settings = {"n_estimators": 20, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(**settings).fit(fitted[0], fitted[1] > 0)
    model.save_model("m.cbm")
    assert_explained(explain, "m.cbm", lambda rows: model.predict_proba(rows)[:, 1], fitted[0])
    assert isinstance(models.find("m.cbm").load(), catboost.CatBoostClassifier)


def test_onnx(explain, files):
    pytest.importorskip("onnxruntime")
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    from sklearn.ensemble import RandomForestRegressor

    background = pd.read_parquet("B.parquet")
    rows = background.to_numpy().astype(np.float32)
    model = RandomForestRegressor(5, random_state=0).fit(rows, rows[:, 0] * rows[:, 1])
    Path("m.onnx").write_bytes(to_onnx(model, rows[:1]).SerializeToString())
    assert_explained(explain, "m.onnx", lambda frame: model.predict(frame.to_numpy().astype(np.float32)), background)


def test_onnx_with_an_input_for_each_column(explain, files):
    pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    background = pd.read_parquet("B.parquet")[["size", "age"]]
    columns = make_column_transformer(("passthrough", ["size", "age"]))
    pipeline = make_pipeline(columns, LinearRegression()).fit(background, background["age"] * 2 + background["size"])
    kinds = [(name, FloatTensorType([None, 1])) for name in background.columns]
    Path("m.onnx").write_bytes(skl2onnx.to_onnx(pipeline, initial_types=kinds).SerializeToString())
    found = assert_explained(explain, "m.onnx", pipeline.predict, background)
    assert found.names == ["size", "age"]  # and not the other columns of the background
