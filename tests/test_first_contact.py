"""Twenty-five things that people with shap in their fingers try in the first ten minutes, typed as they would do it.

1 binary classifier            10 one row of a frame            19 a function of a frame
2 its beeswarm and bar         11 one row of an array           20 sparse text features
3 multi-class, by name         12 frame and array together      21 stacked and calibrated models
4 regression on arrays         13 log-odds                      22 shap.kmeans as background
5 scatter of an array          14 a table of results            23 shap's PermutationExplainer replaced
6 pipeline with strings        15 saving and loading            24 error bars in a picture
7 missing values               16 printing                      25 a tolerance, all cores, a progress bar
8 categories                   17 polars
9 one-hot columns together     18 an XGBoost Booster
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import shap
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sharpley

X, y = load_diabetes(return_X_y=True, as_frame=True)
HIGH = np.where(y > 140, "high", "low")
CLASSIFIER = RandomForestClassifier(10, random_state=0).fit(X, HIGH)
FOREST = RandomForestRegressor(10, random_state=0).fit(X.to_numpy(), y)
RNG = np.random.default_rng(0)
FLATS = pd.DataFrame(
    {
        "area": np.where(RNG.random(200) < 0.1, np.nan, RNG.uniform(20, 120, 200)),
        "district": RNG.choice(["hill", "park"], 200),
        "heating": pd.Categorical(RNG.choice(["gas", "wood"], 200)),
    }
)
RENT = FLATS["area"].fillna(50) * (8 + 4 * (FLATS["district"] == "park"))
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of shap and matplotlib, which draw here
    pytest.mark.usefixtures("no_windows"),
]


def adds_up(estimate, predictions):
    np.testing.assert_allclose(estimate.base_values + estimate.values.sum(axis=-1), predictions, atol=1e-6)


def test_01_a_binary_classifier():
    estimate = sharpley.Explainer(CLASSIFIER, X[:20], rng=0).estimate(X[100:103])
    assert estimate.output_names == ["low"]
    adds_up(estimate, CLASSIFIER.predict_proba(X[100:103])[:, 1])


def test_02_its_beeswarm_and_bar():
    explanation = sharpley.Explainer(CLASSIFIER, X[:20], rng=0)(X[100:110])
    shap.plots.beeswarm(explanation)
    shap.plots.bar(explanation)


def test_03_a_class_of_several_by_its_name():
    iris = load_iris(as_frame=True)
    model = RandomForestClassifier(10, random_state=0).fit(iris.data, iris.target_names[iris.target])
    explanation = sharpley.Explainer(model, iris.data[::5], rng=0)(iris.data[::10])
    shap.plots.beeswarm(explanation[:, :, "setosa"])
    assert explanation[:, :, "setosa"].shape == (15, 4)


def test_04_a_regression_on_arrays():
    rows = X.to_numpy()
    adds_up(sharpley.Explainer(FOREST, rows[:20], rng=0).estimate(rows[100:103]), FOREST.predict(rows[100:103]))


def test_05_scatter_and_heatmap_of_arrays():
    rows = X.to_numpy()
    explanation = sharpley.Explainer(FOREST, rows[:20], rng=0)(rows[100:120])
    shap.plots.scatter(explanation[:, 2])
    shap.plots.heatmap(explanation)
    assert explanation[:, "Feature 2"].shape == (20,)


def pipeline():
    encode = make_column_transformer((OneHotEncoder(), ["district", "heating"]), remainder="passthrough")
    return make_pipeline(encode, HistGradientBoostingRegressor(max_iter=20, random_state=0)).fit(FLATS, RENT)


def test_06_a_pipeline_with_strings():
    model = pipeline()
    explanation = sharpley.Explainer(model, FLATS[:30], rng=0)(FLATS[100:105])
    shap.plots.waterfall(explanation[0])
    adds_up(explanation, model.predict(FLATS[100:105]))
    assert explanation.display_data[0, 1] == FLATS["district"][100]


def test_07_missing_values_stay_missing():
    seen = []

    def model(rows):
        seen.append(rows["area"].isna().any())
        return rows["area"].fillna(0).to_numpy()

    sharpley.Explainer(model, FLATS[:30]).estimate(FLATS[100:105])
    assert any(seen)


def test_08_categories_stay_categories():
    def model(rows):
        assert rows["heating"].dtype == FLATS["heating"].dtype
        return rows["heating"].cat.codes.to_numpy() * 1.0

    sharpley.Explainer(model, FLATS[:30]).estimate(FLATS[100:105])


def test_09_one_hot_columns_together():
    months = pd.get_dummies(pd.Series(RNG.choice(["may", "aug"], 60)), prefix="month").assign(size=RNG.normal(size=60))
    model = LinearRegression().fit(months, months["month_may"] * 3 + months["size"])
    groups = {"month": ["month_aug", "month_may"]}
    explanation = sharpley.Explainer(model, months[:20], groups=groups)(months[20:30])
    shap.plots.waterfall(explanation[0])
    assert set(explanation.display_data[:, 0]) == {"may", "aug"}


def test_10_one_row_of_a_frame():
    explanation = sharpley.Explainer(CLASSIFIER, X[:20], rng=0)(X.iloc[100])
    shap.plots.waterfall(explanation)


def test_11_one_row_of_an_array():
    estimate = sharpley.Explainer(FOREST, X.to_numpy()[:20], rng=0).estimate(X.to_numpy()[100])
    assert estimate.values.shape == (10,)


def test_12_a_frame_and_an_array_together():
    estimate = sharpley.Explainer(CLASSIFIER, X[:20], rng=0).estimate(X.to_numpy()[100:103])
    adds_up(estimate, CLASSIFIER.predict_proba(X[100:103])[:, 1])


def test_13_log_odds():
    model = LogisticRegression().fit(X, HIGH)
    estimate = sharpley.Explainer(model, X[:20], link="logit").estimate(X[100:103])
    adds_up(estimate, model.decision_function(X[100:103]))


def test_14_a_table_of_results():
    frame = sharpley.Explainer(CLASSIFIER, X[:20], rng=0).estimate(X[100:103]).to_frame()
    assert len(frame) == 30
    assert {"row", "feature", "value", "standard_error", "lower", "upper"} <= set(frame.columns)


def test_15_saving_and_loading(tmp_path):
    estimate = sharpley.Explainer(CLASSIFIER, X[:20], rng=0).estimate(X[100:103])
    estimate.save(tmp_path / "phi.parquet")
    np.testing.assert_array_equal(sharpley.load(tmp_path / "phi.parquet").values, estimate.values)


def test_16_printing(capsys):
    print(sharpley.Explainer(CLASSIFIER, X[:20], rng=0).estimate(X[100:103])[0])
    assert "bmi" in capsys.readouterr().out


def test_17_polars():
    frame = pl.from_pandas(X)
    estimate = sharpley.Explainer(lambda t: FOREST.predict(t.to_numpy()), frame[:20], rng=0).estimate(frame[100:103])
    adds_up(estimate, FOREST.predict(X.to_numpy()[100:103]))
    assert estimate.names == list(X.columns)


def test_18_a_booster():
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"max_depth": 3}, xgboost.DMatrix(X, y), 10)
    estimate = sharpley.Explainer(booster, X[:20], rng=0).estimate(X[100:103])
    np.testing.assert_allclose(
        estimate.base_values + estimate.values.sum(axis=1), booster.predict(xgboost.DMatrix(X[100:103])), rtol=1e-5
    )


def test_19_a_function_of_a_frame():
    estimate = sharpley.Explainer(lambda t: t["bmi"] * t["bp"], X[:20]).estimate(X[100:103])
    adds_up(estimate, X["bmi"][100:103] * X["bp"][100:103])


def test_20_sparse_text_features():
    texts = ["good film", "bad film", "good good plot", "bad plot", "film"] * 4
    table = TfidfVectorizer().fit_transform(texts)
    model = LogisticRegression().fit(table, ["good" in text for text in texts])
    adds_up(sharpley.Explainer(model, table[:5], rng=0).estimate(table[5:8]), model.predict_proba(table[5:8])[:, 1])


def test_21_stacked_and_calibrated_models():
    calibrated = CalibratedClassifierCV(LogisticRegression(), cv=2)
    model = StackingClassifier([("calibrated", calibrated), ("forest", CLASSIFIER)], cv=2).fit(X, HIGH)
    adds_up(sharpley.Explainer(model, X[:10], rng=0).estimate(X[100:101]), model.predict_proba(X[100:101])[:, 1])


def test_22_kmeans_as_background():
    estimate = sharpley.Explainer(CLASSIFIER, shap.kmeans(X, 5), rng=0).estimate(X[100:103])
    adds_up(estimate, CLASSIFIER.predict_proba(X[100:103])[:, 1])


def test_23_shaps_explainer_replaced():
    from sharpley.adapters.shap import PermutationExplainer

    ours, theirs = PermutationExplainer, shap.PermutationExplainer
    rows = X.to_numpy()
    found = [make(FOREST.predict, rows[:10])(rows[100:102], max_evals=1024, silent=True) for make in (ours, theirs)]
    np.testing.assert_allclose(found[0].values, found[1].values, atol=3)
    assert found[0].feature_names == found[1].feature_names


def test_24_error_bars_in_a_picture():
    estimate = sharpley.Explainer(FOREST, X.to_numpy()[:20], rng=0).estimate(X.to_numpy()[100:103], max_evals=60)
    assert len(sharpley.plotting.intervals(estimate).get_legend().get_texts()) == 3


def test_25_a_tolerance_all_cores_and_a_progress_bar(capsys):
    explainer = sharpley.Explainer(FOREST.predict, X.to_numpy()[:20], rng=0, n_jobs=2)
    estimate = explainer.estimate(X.to_numpy()[100:103], tol=0.05, progress=True)
    assert estimate.converged.all()
    assert "Shapley" in capsys.readouterr().err
