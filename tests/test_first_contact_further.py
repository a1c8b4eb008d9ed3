"""Ten further things that people with shap in their fingers try, with other models and data than in the first 25.

1 class of several by position   5 scores of a pipeline       9 explainers and results are pickled
2 summary plot, shap's old way   6 images as columns         10 a transformed target, native categories
3 dates, flags, missing integers 7 several targets
4 cohorts of one's own           8 the mean of absolute values
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import shap
from matplotlib import pyplot as plt
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_digits, load_linnerud, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import sharpley
from sharpley.adapters.shap import KernelExplainer

X, y = load_wine(return_X_y=True, as_frame=True)
FOREST = RandomForestRegressor(5, random_state=0).fit(X, y)
RNG = np.random.default_rng(0)
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of shap and matplotlib, which draw here
    pytest.mark.usefixtures("no_windows"),
]


def test_01_a_class_of_several_by_position():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    explanation = sharpley.Explainer(model, X[:20], rng=0)(X[:3])
    shap.plots.waterfall(explanation[0, :, 2], show=False)
    shap.plots.heatmap(explanation[..., 1], show=False)
    np.testing.assert_array_equal(explanation[..., 1].values, explanation[:, :, "1"].values)


def test_02_summary_and_force_plot_of_shaps_old_interface():
    explainer = KernelExplainer(FOREST.predict, shap.sample(X, 20))
    values = explainer.shap_values(X.iloc[:4], nsamples=100)
    shap.summary_plot(values, X[:4], show=False)
    shap.dependence_plot("alcohol", values, X[:4], show=False)
    shap.force_plot(explainer.expected_value, values[0], X.iloc[0], matplotlib=True, show=False)
    np.testing.assert_allclose(explainer.expected_value + values.sum(axis=1), FOREST.predict(X[:4]), atol=1e-9)


def test_03_dates_flags_and_missing_integers():
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=150),
            "flag": RNG.random(150) < 0.5,
            "count": pd.array([None, *RNG.integers(0, 9, 149)], dtype="Int64"),
        }
    )

    def model(rows):
        return rows["when"].dt.month.to_numpy() + 2.0 * rows["flag"].to_numpy() + rows["count"].fillna(0).astype(float)

    explanation = sharpley.Explainer(model, frame, rng=0)(frame[:20])
    np.testing.assert_allclose(explanation.values[:, 1], 2 * (frame["flag"][:20] - frame["flag"].mean()), atol=1e-9)
    shap.plots.beeswarm(explanation, show=False)
    shap.plots.scatter(explanation[:, "when"], show=False)
    shap.plots.waterfall(explanation[0], show=False)


def test_04_cohorts_of_ones_own():
    explanation = sharpley.Explainer(FOREST, X[:20], rng=0)(X[:30])
    strong = np.where(X["alcohol"][:30] > 13.5, "strong", "mild")
    shap.plots.bar(explanation.cohorts(strong).abs.mean(0), show=False)
    assert {"strong", "mild"} <= {text.get_text().split(" ")[0] for text in plt.gca().get_legend().get_texts()}


def test_05_the_score_of_a_pipeline():
    model = make_pipeline(StandardScaler(), SVC()).fit(X, np.where(y > 0, "other", "first"))
    explanation = sharpley.Explainer(model, X[:20], rng=0)(X[:5])
    np.testing.assert_allclose(
        explanation.base_values + explanation.values.sum(axis=1), model.decision_function(X[:5]), atol=1e-9
    )
    shap.plots.beeswarm(explanation, show=False)


def test_06_images_as_columns():
    pixels, digits = load_digits(return_X_y=True)
    model = RandomForestClassifier(5, random_state=0).fit(pixels, digits)
    explanation = sharpley.Explainer(model, pixels, method="antithetic", rng=0)(pixels[:1], max_evals=100)
    of_class = [explanation.values[:, :, k].reshape(-1, 8, 8) for k in range(3)]
    shap.image_plot(of_class, pixels[:1].reshape(-1, 8, 8), show=False)


def test_07_several_targets():
    body = load_linnerud(as_frame=True)
    model = RandomForestRegressor(5, random_state=0).fit(body.data, body.target)
    explanation = sharpley.Explainer(model, body.data, output_names=list(body.target))(body.data[:4])
    shap.plots.bar(explanation[:, :, "Pulse"], show=False)
    assert explanation.shape == (4, 3, 3)


def test_08_the_mean_of_absolute_values():
    explainer = sharpley.Explainer(FOREST, X[:20], rng=0)
    explanation, frame = explainer(X[:30]), explainer.estimate(X[:30]).to_frame()
    ranking = pd.Series(explanation.abs.mean(0).values, index=explanation.feature_names)
    of_frame = frame["value"].abs().groupby(frame["feature"]).mean()
    pd.testing.assert_series_equal(
        of_frame.sort_index(), ranking.sort_index(), check_names=False, check_index_type=False
    )


def test_09_explainers_and_results_are_pickled():
    explainer = sharpley.Explainer(FOREST, X[:20], rng=0)
    explanation = explainer(X[:2])
    for again in (pickle.loads(pickle.dumps(explainer))(X[:2]), pickle.loads(pickle.dumps(explanation))):
        np.testing.assert_array_equal(again.values, explanation.values)


def test_10_a_transformed_target_and_native_categories():
    frame = pd.DataFrame(
        {"kind": pd.Categorical(RNG.choice(list("abc"), 200)), "x": np.where(RNG.random(200) < 0.1, np.nan, 1.0)}
    )
    target = np.exp(frame["x"].fillna(0) + (frame["kind"] == "a"))
    inner = HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=10)
    model = TransformedTargetRegressor(inner, func=np.log, inverse_func=np.exp).fit(frame, target)
    explanation = sharpley.Explainer(model, frame, rng=0)(frame[:10])
    shap.plots.scatter(explanation[:, "kind"], show=False)
    np.testing.assert_allclose(explanation.base_values + explanation.values.sum(axis=1), model.predict(frame[:10]))
