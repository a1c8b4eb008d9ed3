"""Agreement with shap: the same values, and an Explanation that works with its plots."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import shap
from sklearn.datasets import load_diabetes
from xgboost import XGBClassifier, XGBRegressor

import sharpley

mpl.use("Agg")
DATA, TARGET = load_diabetes(return_X_y=True, as_frame=True)
BACKGROUND, ROWS = DATA.iloc[:30], DATA.iloc[100:120]


@pytest.fixture(scope="module")
def regressor():
    return XGBRegressor(n_estimators=40, max_depth=4).fit(DATA, TARGET)


@pytest.fixture(scope="module")
def tree_values(regressor):
    explainer = shap.TreeExplainer(regressor, data=BACKGROUND, feature_perturbation="interventional")
    return explainer.shap_values(ROWS)


def test_exact_values_agree_with_shap(regressor, tree_values):
    explainer = sharpley.Explainer(regressor.predict, BACKGROUND, rng=0)
    estimate = explainer.estimate(ROWS, max_evals=1024)
    assert estimate.method == "exact"
    np.testing.assert_allclose(estimate.values, tree_values, rtol=1e-4, atol=1e-4)  # predictions are float32

    def double(rows):  # predictions are float64
        x = np.asarray(rows)
        return x[:, 0] * x[:, 1] + np.sin(5 * x[:, 2:]).prod(axis=1) * 100

    ours = sharpley.Explainer(double, BACKGROUND.to_numpy()).estimate(ROWS.to_numpy()[:3], max_evals=1024)
    masker = shap.maskers.Independent(BACKGROUND.to_numpy(), max_samples=30)
    theirs = shap.ExactExplainer(double, masker)(ROWS.to_numpy()[:3])
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-6)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, atol=1e-6)


def test_exact_values_agree_with_interventional_tree_shap():
    """The model predicts in double precision; XGBoost's predictions are rounded to single precision."""
    from sklearn.ensemble import GradientBoostingRegressor

    data = DATA.to_numpy().astype(np.float32).astype(np.float64)  # the model's trees compare in single precision
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(data, TARGET)
    background, rows = data[:30], data[100:105]
    tree = shap.TreeExplainer(model, data=background, feature_perturbation="interventional").shap_values(rows)
    estimate = sharpley.Explainer(model.predict, background).estimate(rows, max_evals=1024)
    np.testing.assert_allclose(estimate.values, tree, atol=1e-6)


def test_explanations_of_a_classifiers_margins_agree_with_tree_shap():
    model = XGBClassifier(n_estimators=30, max_depth=3).fit(DATA, TARGET > 140)
    tree = shap.TreeExplainer(model, data=BACKGROUND, feature_perturbation="interventional").shap_values(ROWS[:3])
    explainer = sharpley.Explainer(lambda t: model.predict(t, output_margin=True), BACKGROUND)
    np.testing.assert_allclose(explainer.estimate(ROWS[:3], max_evals=1024).values, tree, atol=1e-5)


SAMPLED = [name for name, record in sharpley.METHODS.items() if record.factory is not None and name != "exact"]
CAUTIOUS = ("gp", "sobol", "herding", "sbq", "design")  # whose error bars come from models of the game


@pytest.mark.parametrize("method", SAMPLED)
def test_sampled_values_agree_within_their_error_bars(regressor, tree_values, method):
    """Coverage of 95% intervals on a real model: 20 rows × 10 features × 5 seeds."""
    covered = []
    for seed in range(5):
        explainer = sharpley.Explainer(regressor.predict, BACKGROUND, method=method, rng=seed)
        lower, upper = explainer.estimate(ROWS, max_evals=500).interval(0.95)
        covered.append((lower - 1e-4 <= tree_values) & (tree_values <= upper + 1e-4))
    assert np.mean(covered) >= 0.90
    if method not in CAUTIOUS:
        assert np.mean(covered) <= 0.99


@pytest.fixture(scope="module")
def explanation(regressor):
    return sharpley.Explainer(regressor.predict, BACKGROUND, method="antithetic", rng=0)(ROWS, max_evals=200)


def test_explanation_has_the_attributes_that_shap_users_expect(explanation, regressor):
    assert isinstance(explanation, shap.Explanation)
    assert explanation.shape == (20, 10)
    assert explanation.base_values.shape == (20,)
    assert explanation.feature_names == list(DATA.columns)
    np.testing.assert_allclose(explanation.data, ROWS)
    np.testing.assert_allclose(
        explanation.base_values + explanation.values.sum(axis=1), regressor.predict(ROWS), rtol=1e-4
    )
    assert (explanation.error_std > 0).any()
    assert (explanation.lower_bounds <= explanation.values).all()
    assert (explanation.values <= explanation.upper_bounds).all()
    one = explanation[3]
    np.testing.assert_array_equal(one.lower_bounds, explanation.lower_bounds[3])


PLOTS = {
    "bar": lambda e: shap.plots.bar(e, show=False),
    "bar of one row": lambda e: shap.plots.bar(e[0], show=False),
    "beeswarm": lambda e: shap.plots.beeswarm(e, show=False),
    "violin": lambda e: shap.plots.violin(e, show=False),
    "heatmap": lambda e: shap.plots.heatmap(e, show=False),
    "waterfall": lambda e: shap.plots.waterfall(e[0], show=False),
    "scatter": lambda e: shap.plots.scatter(e[:, 2], show=False),
    "scatter coloured": lambda e: shap.plots.scatter(e[:, 2], color=e[:, 3], show=False),
    "force": lambda e: shap.plots.force(e[0], matplotlib=True, show=False),
    "force of many": shap.plots.force,
    "embedding": lambda e: shap.plots.embedding(2, e.values, feature_names=list(e.feature_names), show=False),
    "group difference": lambda e: shap.plots.group_difference(e.values, e.data[:, 1] > 0, show=False),
    "decision": lambda e: shap.plots.decision(
        float(e.base_values[0]), e.values, feature_names=list(e.feature_names), show=False
    ),
}


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.filterwarnings("ignore")  # warnings of shap itself
def test_all_plots_of_tabular_data_work(name, explanation):
    import matplotlib.pyplot as plt

    PLOTS[name](explanation)
    plt.close("all")


@pytest.mark.filterwarnings("ignore")  # warnings of shap itself
def test_waterfall_draws_the_error_bars(explanation):
    import matplotlib.pyplot as plt

    figure = shap.plots.waterfall(explanation[0], show=False).get_figure()
    bars = [c for ax in figure.axes for c in ax.containers if type(c).__name__ == "ErrorbarContainer"]
    assert len(bars) == 10
    widths = sorted(np.ptp(bar[2][0].get_segments()[0][:, 0]) for bar in bars)
    np.testing.assert_allclose(widths, np.sort(explanation.upper_bounds[0] - explanation.lower_bounds[0]), rtol=1e-6)
    plt.close("all")


@pytest.mark.parametrize("name", ["bar", "beeswarm", "violin", "heatmap", "waterfall", "scatter", "force"])
@pytest.mark.filterwarnings("ignore")  # warnings of shap itself
def test_plots_of_frames_with_strings_and_categories_work(name):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "word": rng.choice(["a", "b", "c"], 40),
            "size": pd.Categorical(rng.choice(["S", "L"], 40)),
            "flag": rng.random(40) < 0.5,
            "number": rng.normal(size=40),
        }
    )

    def model(rows):
        return (rows["word"] == "a") * 2.0 + rows["size"].cat.codes * rows["number"] + rows["flag"]

    PLOTS[name](sharpley.Explainer(lambda t: model(t).to_numpy(), frame.iloc[:10], rng=0)(frame.iloc[10:]))
    plt.close("all")


@pytest.mark.filterwarnings("ignore")  # warnings of shap itself
def test_plots_of_one_of_several_outputs_work():
    import matplotlib.pyplot as plt

    data = DATA.to_numpy()
    explainer = sharpley.Explainer(lambda t: np.stack([t[:, 0], t[:, 1] * t[:, 2]], axis=1), data[:10], rng=0)
    explanation = explainer(data[10:20])
    assert explanation.shape == (10, 10, 2)
    shap.plots.beeswarm(explanation[:, :, 1], show=False)
    shap.plots.waterfall(explanation[0, :, 1], show=False)
    plt.close("all")
