"""What shap's documentation does with explanations, and what people type who half remember the interface."""

import numpy as np
import pandas as pd
import pytest
import shap
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import sharpley
from sharpley.adapters.shap import PermutationExplainer

X, y = load_wine(return_X_y=True, as_frame=True)
ROWS = X[:30].rename(index="wine {}".format)
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of shap and matplotlib, which draw here
    pytest.mark.usefixtures("no_windows"),
]


def explanation(kind):
    if kind == "regression":
        return sharpley.Explainer(RandomForestRegressor(3, random_state=0).fit(X, y), X, rng=0)(ROWS)
    if kind == "binary":
        return sharpley.Explainer(RandomForestClassifier(3, random_state=0).fit(X, y == 1), X, rng=0)(ROWS)
    return sharpley.Explainer(RandomForestClassifier(3, random_state=0).fit(X, y), X, rng=0)(ROWS)[:, :, "1"]


@pytest.mark.parametrize("kind", ["regression", "binary", "one class of several"])
def test_01_plots_are_ordered_by_sums_and_maxima(kind):
    found = explanation(kind)
    order = found.sum(1).argsort.flip.values
    np.testing.assert_array_equal(order, np.argsort(found.values.sum(axis=1))[::-1])
    shap.plots.heatmap(found, instance_order=found.sum(1))
    shap.plots.heatmap(found, feature_values=found.abs.max(0))
    shap.plots.beeswarm(found, order=found.abs.max(0))
    shap.plots.scatter(found[:, found.abs.mean(0).argsort[-1]])
    shap.plots.scatter(found[:, ["hue", "ash"]])


@pytest.mark.parametrize("kind", ["regression", "binary", "one class of several"])
def test_02_one_row_is_calculated_with(kind):
    found = explanation(kind)
    np.testing.assert_array_equal(found[3].abs.values, np.abs(found.values[3]))
    assert found[3].instance_names == "wine 3"
    assert found[3].output_names == found[3].abs.output_names == found.output_names
    assert isinstance(found[3], shap.Explanation)
    shap.plots.bar(found[3].abs)


def test_03_one_row_says_what_it_cost():
    explainer = sharpley.Explainer(RandomForestRegressor(3, random_state=0).fit(X, y), X, rng=0)
    found = explainer(X.iloc[3])
    assert found.n_predictions == explainer.estimate(X.iloc[3]).n_predictions
    assert found.compute_time > 0


def test_04_dates_without_a_time_are_shown_without_one():
    frame = pd.DataFrame({"day": pd.date_range("2024-02-28", periods=4), "hour": pd.date_range("2024", periods=4)})
    frame.loc[2, "hour"] += pd.Timedelta("1h")
    frame["wait"] = pd.to_timedelta([1, 2, None, 3], unit="D")
    found = sharpley.Explainer(lambda rows: rows["day"].dt.day.to_numpy(float), frame)(frame)
    assert found.display_data[:, 0].tolist() == ["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"]
    assert found.display_data[0, 1] == "2024-01-01 00:00:00"
    assert found.display_data[:, 2].tolist() == ["1 days", "2 days", "NaT", "3 days"]
    mixed = pd.DataFrame({"day": pd.Series([*frame["day"][:2], np.nan], dtype=object), "x": [1.0, 2.0, 3.0]})
    found = sharpley.Explainer(lambda rows: rows["x"], mixed)(mixed)
    assert found.display_data[:, 0].tolist() == ["2024-02-28", "2024-02-29", "nan"]


@pytest.mark.parametrize("make", [list, np.array, pd.Series])
def test_05_lists_of_texts_are_no_tables(make):
    texts = make(["a good film", "a bad film"] * 3)
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0] * 3)
    with pytest.raises(TypeError, match=r"list of texts, .*PermutationExplainer\(model, shap\.maskers\.Text\(\)\)"):
        sharpley.Explainer(model, texts)
    found = PermutationExplainer(model, shap.maskers.Text())(["a good film"], silent=True)  # as the message says
    words = [word.strip() for word in found.data[0]]
    assert found.values[0][words.index("good"), 1] > 0.1


@pytest.mark.parametrize("name", ["max_evals", "max_predictions", "tol", "progress"])
def test_06_arguments_of_calls_are_not_those_of_the_explainer(name):
    with pytest.raises(TypeError, match=rf"has no argument '{name}'; use it in calls, as in explainer\(X, {name}="):
        sharpley.Explainer(len, X, **{name: 1})


@pytest.mark.parametrize("name", ["rng", "method", "output"])
def test_07_arguments_of_the_explainer_are_not_those_of_calls(name):
    explainer = sharpley.Explainer(lambda rows: rows["hue"], X)
    with pytest.raises(TypeError, match=f"has no argument '{name}'; use {name}= of the explainer"):
        explainer(X[:2], **{name: 1})


def test_08_one_player_and_one_row_are_singular():
    estimate = sharpley.Explainer(lambda rows: rows["hue"], X, rng=0).estimate(X[:1])
    assert "of 1 row and 13 players by" in str(estimate)
    assert "of 1 player by" in str(estimate[0, "hue"])


@pytest.mark.parametrize("name", ["phi.csv", "phi.pkl", "phi.v2.XLSX"])
def test_09_a_file_has_the_format_that_its_name_says(name, tmp_path):
    estimate = sharpley.Explainer(lambda rows: rows["hue"], X, rng=0).estimate(X[:2])
    with pytest.raises(ValueError, match=r"saved as Parquet files, got '.*'; use '.*\.parquet', or .* such as to_csv"):
        estimate.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    estimate.save(tmp_path / "phi")
    np.testing.assert_array_equal(sharpley.load(tmp_path / "phi").values, estimate.values)


@pytest.mark.parametrize(
    ("labels", "output", "other"), [([1, 2, 3], 1, "2"), ([1, 2, 3], np.int64(2), "3"), ([-1, 1, 5], -1, "5")]
)
def test_10_a_number_that_may_be_a_class_or_a_position_is_not_guessed(labels, output, other):
    model = LogisticRegression(max_iter=10).fit(X, np.array(labels)[y])
    message = rf"output={output} may be the class '{output}' or position \d, the class '{other}'; give the name"
    with pytest.raises(ValueError, match=message):
        sharpley.Explainer(model, X, output=output)
    assert sharpley.Explainer(model, X, output=str(output), rng=0).estimate(X[:2]).output_names == [str(output)]


def test_11_positions_that_are_no_other_class_are_positions():
    ones = LogisticRegression(max_iter=10).fit(X, y + 1)
    assert sharpley.Explainer(ones, X, output=0, rng=0).estimate(X[:2]).output_names == ["1"]
    zeros = LogisticRegression(max_iter=10).fit(X, y)
    assert sharpley.Explainer(zeros, X, output=[2, -3], rng=0).estimate(X[:2]).output_names == ["2", "0"]
    binary = LogisticRegression(max_iter=10).fit(X, np.where(y == 1, 2, 1))
    assert sharpley.Explainer(binary, X, rng=0).estimate(X[:2]).output_names == ["2"]
    with pytest.raises(ValueError, match=r"unknown output 1\.0; give a position from 0 to 2"):
        sharpley.Explainer(zeros, X, output=1.0)


def test_12_counts_are_not_taken_for_one_hot_columns_because_of_one_row():
    flats = pd.DataFrame({"bedrooms": [1, 0, 2, 3], "bathrooms": [0, 0, 1, 2], "area": [20.0, 30.0, 60.0, 90.0]})
    groups = {"rooms": ["bedrooms", "bathrooms"]}
    explainer = sharpley.Explainer(lambda rows: rows["area"] * rows["bedrooms"], flats, groups=groups, rng=0)
    assert explainer(flats.iloc[0]).display_data.tolist() == ["(1, 0)", 20.0]
    assert explainer(flats[:2]).display_data[:, 0].tolist() == explainer(flats).display_data[:2, 0].tolist()
    months = pd.DataFrame({"month_may": [1, 0, 0], "month_june": [0, 1, 0], "x": [1.0, 2.0, 3.0]})
    for background in (months, months.mean().to_frame().T):
        model = sharpley.Explainer(lambda rows: rows["x"] * rows["month_may"], background, groups={"month": [0, 1]})
        assert model(months.astype(float)).display_data[:, 0].tolist() == ["may", "june", "none"]
