"""Explainers of models with a closed form: exact by themselves, sampled on request, clear about the impossible."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sharpley import Background, Explainer, MarginalGame, estimate
from sharpley.games.marginal import closed_form, model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
Y = X[:, 0] * X[:, 1] + X[:, 2] + (X[:, 3] > 0.3)
FRAME = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(
    colour=RNG.choice(["red", "green", "blue"], 400, p=[0.89, 0.1, 0.01]),
    size=pd.Categorical(RNG.choice(list("SML"), 400)),
)
FRAME.loc[::9, "b"] = np.nan
TARGET = FRAME["a"] * FRAME["c"] + (FRAME["colour"] == "green") * 2 + FRAME["size"].cat.codes


@pytest.fixture(autouse=True)
def say_again():
    model.say_once.cache_clear()


def boosted(**options):
    return GradientBoostingRegressor(n_estimators=12, random_state=0, **options).fit(X, Y)


def encoder():
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
            ("words", OneHotEncoder(), ["colour"]),
            ("sizes", OrdinalEncoder(), ["size"]),
        ],
        remainder="passthrough",
    )


def compare(model, data, *, method, rows=slice(60, 65), **options):
    """Exact values by themselves, against enumeration through the model's predictions."""
    found = Explainer(model, data[:60], rng=0, **options).estimate(data[rows])
    expected = Explainer(model, data[:60], rng=0, method="exact", draws="shared", **options).estimate(data[rows])
    assert found.method == method
    assert_allclose(found.values, expected.values, atol=1e-9 * np.abs(expected.values).max())
    assert_allclose(found.base_values, expected.base_values, atol=1e-9 * np.abs(expected.values).max())
    assert (found.standard_errors == 0.0).all()
    assert found.names == expected.names
    return found


def test_trees_are_exact_by_themselves_with_few_predictions():
    calls = []

    class Counting(DecisionTreeRegressor):
        def predict(self, rows):
            calls.append(len(rows))
            return super().predict(rows)

    tree = Counting(max_depth=4, random_state=0).fit(X, Y)
    found = Explainer(tree, X).estimate(X[:100])
    assert found.method == "trees"
    assert sum(calls) <= 100 + 64  # the rows themselves, and a few mixed ones
    assert (found.n_predictions == 1).all()
    assert_allclose(found.base_values + found.values.sum(axis=1), tree.predict(X[:100]))


@pytest.mark.parametrize("method", ["antithetic", "gp", "regression", "exact"])
def test_any_other_method_samples(method):
    assert Explainer(boosted(), X[:30], method=method, rng=0).estimate(X[40:42]).method == method


def test_the_index_of_rows_and_further_calls_do_not_change_a_bit():
    explainer = Explainer(boosted(), Background(X[:50], np.arange(1.0, 51.0)), n_jobs=2)
    together = explainer.estimate(X[60:100])
    for row in (60, 77):
        assert_array_equal(explainer.estimate(X[row : row + 1]).values[0], together.values[row - 60])
    assert_array_equal(Explainer(boosted(), Background(X[:50], np.arange(1.0, 51.0))).estimate(X[60:100]).values,
                       together.values)  # fmt: skip


def test_a_model_that_is_fitted_again_is_read_again():
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    explainer = Explainer(tree, X[:50])
    before = explainer.estimate(X[60:62])
    tree.fit(X, X[:, 5] * 7.0)
    after = explainer.estimate(X[60:62])
    assert after.method == before.method == "trees"
    assert_allclose(after.base_values + after.values.sum(axis=1), tree.predict(X[60:62]))


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_containers_weights_and_groups(wrap):
    data = wrap(X) if wrap is np.asarray else wrap(X, list("abcdef")) if wrap is pl.DataFrame else pd.DataFrame(X)
    compare(boosted(), data, method="trees", groups={"some": [0, 3]})


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning", "ignore:X does not have valid:UserWarning")
@pytest.mark.parametrize("last", [boosted, Ridge], ids=["trees", "linear"])
@pytest.mark.parametrize("groups", [None, {"both": ["a", "colour"]}])
def test_pipelines_of_steps_on_single_columns(last, groups):
    """A rare category, which the first background rows do not have, belongs to its column all the same."""
    model = make_pipeline(encoder(), last()).fit(FRAME, TARGET)
    found = compare(model, FRAME, method="linear" if isinstance(model[-1], Ridge) else "trees", groups=groups)
    blue = np.flatnonzero(FRAME["colour"] == "blue")
    rows = FRAME.iloc[blue[blue >= 60][:2]]
    assert len(rows)
    again = Explainer(model, FRAME[:60], groups=groups).estimate(rows)
    assert_allclose(again.base_values + again.values.sum(axis=1), model.predict(rows))
    assert found.method == again.method


def test_pipelines_that_combine_columns_are_sampled(caplog):
    model = make_pipeline(PCA(3), GradientBoostingRegressor(n_estimators=5)).fit(X, Y)
    assert Explainer(model, X[:30], rng=0).estimate(X[40:41]).method != "trees"
    with pytest.raises(ValueError, match="cannot explain predict of this model: a step of its pipeline combines"):
        Explainer(model, X[:30], method="trees").estimate(X[40:41])


def test_probabilities_of_boosted_classifiers_are_sampled_and_the_margin_is_exact(caplog):
    boosted = HistGradientBoostingClassifier(max_iter=9).fit(X, Y > 0.5)
    with caplog.at_level(logging.WARNING, "sharpley"):
        for _ in range(2):
            assert Explainer(boosted, X[:20], rng=0).estimate(X[40:41]).method != "trees"
    said = [record.getMessage() for record in caplog.records if "margin" in record.getMessage()]
    assert len(said) == 1
    assert "output='margin' explains the margin (such as log-odds) exactly" in said[0]
    found = compare(boosted, X, method="trees", output="margin")
    assert_allclose(found.base_values + found.values.sum(axis=1), boosted.decision_function(X[60:65]))
    assert found.output_names == ["True"]


def test_probabilities_of_forests_are_exact():
    forest = RandomForestClassifier(6, max_depth=4, random_state=0).fit(X, np.where(Y > 0.5, "yes", "no"))
    assert compare(forest, X, method="trees").output_names == ["yes"]
    assert compare(forest, X, method="trees", output="no").output_names == ["no"]
    assert compare(forest, X, method="trees", output="all").values.shape == (5, 6, 2)


@pytest.mark.parametrize(
    ("linear", "output"),
    [
        (LinearRegression(), None),
        (make_pipeline(StandardScaler(), Ridge()), None),
        (LinearSVC(), None),
        (LogisticRegression(), "margin"),
    ],
    ids=str,
)
def test_linear_models_are_exact(linear, output):
    target = Y > 0.5 if hasattr(linear, "decision_function") else Y
    compare(linear.fit(X, target), X, method="linear", output=output)


def test_linear_models_with_several_outputs_are_exact():
    compare(LinearRegression().fit(X, np.c_[Y, X[:, 1]]), X, method="linear")
    compare(LogisticRegression().fit(X, np.digitize(Y, [0.0, 1.0])), X, method="linear", output="margin")


def test_models_with_a_link_are_not_linear():
    model = PoissonRegressor().fit(X, np.abs(Y))
    assert Explainer(model, X[:20], rng=0).estimate(X[30:31]).method != "linear"
    with pytest.raises(ValueError, match="sums by its coefficients differ by up to"):
        Explainer(model, X[:20], method="linear").estimate(X[30:31])


@pytest.mark.filterwarnings("ignore")  # of statsmodels
def test_statsmodels_results_are_exact():
    api = pytest.importorskip("statsmodels.api")
    compare(api.OLS(Y, X).fit(), X, method="linear")


def test_trees_that_do_not_sum_to_the_predictions_are_sampled_and_it_is_said_once(caplog):
    class Doubling(DecisionTreeRegressor):
        def predict(self, rows):
            return 2.0 * super().predict(rows)

    tree = Doubling(max_depth=3).fit(X, Y)
    with caplog.at_level(logging.WARNING, "sharpley"):
        for _ in range(2):
            assert Explainer(tree, X[:20], rng=0).estimate(X[40:41]).method != "trees"
    (said,) = [record.getMessage() for record in caplog.records]
    assert "the values of Doubling are estimated, not computed from its trees: its predictions and the sums" in said


def test_deep_trees_against_many_background_rows_are_sampled_unless_forced(monkeypatch, caplog):
    rng = np.random.default_rng(1)
    data = rng.normal(size=(500, 20))
    tree = DecisionTreeRegressor(random_state=0).fit(data, rng.normal(size=500))
    monkeypatch.setattr(closed_form, "TABLE_PLAYERS", 5)
    monkeypatch.setattr(closed_form, "MOST_WALKS", 49)
    with caplog.at_level(logging.WARNING, "sharpley"):
        sampled = Explainer(tree, data[:50], rng=0).estimate(data[60:62])
    assert sampled.method != "trees"
    assert "1 of its 1 trees have more than 5 features on a path" in caplog.text
    forced = Explainer(tree, data[:50], method="trees").estimate(data[60:62])
    assert_allclose(forced.base_values + forced.values.sum(axis=1), tree.predict(data[60:62]))
    assert forced.method == "trees"


def test_paths_with_more_features_than_a_word_has_bits_are_an_error():
    table = np.eye(80)
    tree = DecisionTreeRegressor(random_state=0).fit(table, RNG.normal(size=80))
    with pytest.raises(ValueError, match="exact values exist for at most 62; limit max_depth to 62, or group columns"):
        Explainer(tree, table, method="trees").estimate(table[:1])
    assert Explainer(tree, table, rng=0).estimate(table[:1]).method != "trees"


@pytest.mark.parametrize("method", ["trees", "linear"])
def test_closed_forms_that_do_not_exist_are_an_error(method):
    with pytest.raises(ValueError, match="it is neither a known tree ensemble nor a linear model"):
        Explainer(lambda x: x[:, 0], X[:5], method=method).estimate(X[9:10])
    with pytest.raises(ValueError, match=f"method '{method}' is for models that are explained without a link"):
        Explainer(boosted(), X[:5], method=method, link="logit").estimate(X[9:10])
    games = MarginalGame(lambda x: x[:, 0], X[:5], X[9:10])
    with pytest.raises(ValueError, match="cannot explain"):
        estimate(games, method=method)


def test_the_other_closed_form_is_named():
    with pytest.raises(ValueError, match="it is solved by method 'trees'"):
        Explainer(boosted(), X[:5], method="linear").estimate(X[9:10])


def test_a_margin_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="output='margin' is for classifiers with a decision_function"):
        Explainer(lambda x: x[:, 0], X[:5], output="margin")


def test_a_background_without_rows_is_an_error():
    with pytest.raises(ValueError, match="the background must have at least one row"):
        Explainer(boosted(), X[:0]).estimate(X[:1])


def test_categories_that_the_model_does_not_know_raise_its_own_error():
    model = make_pipeline(make_column_transformer((OneHotEncoder(), ["colour"]), remainder="drop"), Ridge())
    model.fit(FRAME[["colour"]], TARGET)
    strange = pd.DataFrame({"colour": ["pink"]})
    with pytest.raises(ValueError, match="pink"):
        Explainer(model, FRAME[["colour"]][:30]).estimate(strange)


def test_one_column_one_row_and_one_background_row():
    tree = DecisionTreeRegressor(max_depth=2).fit(X[:, :1], Y)
    found = Explainer(tree, X[:1, :1]).estimate(X[1:2, :1])
    assert found.method == "trees"
    assert_allclose(found.values[0, 0], tree.predict(X[1:2, :1])[0] - tree.predict(X[:1, :1])[0])


def test_a_row_whose_prediction_is_about_0_is_explained_like_the_others():
    """In single precision, errors are relative to the sums of all trees, not to what is left of them."""
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=50, n_jobs=1, base_score=1000.0).fit(X, 1000.0 * Y)
    nearest = np.argsort(np.abs(model.predict(X)))[:3]
    for row in nearest:
        assert Explainer(model, X[:60]).estimate(X[row : row + 1]).method == "trees"


def test_a_model_that_is_not_exact_is_compared_once_for_an_explainer():
    calls = []

    class Doubling(DecisionTreeRegressor):
        def predict(self, rows):
            calls.append(len(rows))
            return 2.0 * super().predict(rows)

    explainer = Explainer(Doubling(max_depth=3).fit(X, Y), X[:20], method="auto", rng=0)
    explainer.estimate(X[40:41])
    first = sum(calls)
    calls.clear()
    explainer.estimate(X[40:41])
    assert sum(calls) <= first - 64


def test_the_margin_of_a_boosted_classifier_in_a_pipeline():
    xgboost = pytest.importorskip("xgboost")
    classifier = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)
    model = make_pipeline(StandardScaler(), classifier).fit(X, Y > 0.5)
    found = Explainer(model, X[:60], output="margin").estimate(X[60:65])
    assert found.method == "trees"
    margins = classifier.predict(model[:-1].transform(X[60:65]), output_margin=True)
    assert_allclose(found.base_values + found.values.sum(axis=1), margins, atol=1e-5)


def test_further_rows_of_a_pipeline_may_vary_in_other_columns():
    """A category that neither the background nor the first rows have."""
    model = make_pipeline(encoder(), boosted_of_frame()).fit(FRAME, TARGET)
    red = np.flatnonzero(FRAME["colour"] == "red")
    explainer = Explainer(model, FRAME.iloc[red[:50]])
    assert explainer.estimate(FRAME.iloc[red[60:62]]).method == "trees"
    others = FRAME.iloc[np.flatnonzero(FRAME["colour"] != "red")[:4]]
    found = explainer.estimate(others)
    expected = Explainer(model, FRAME.iloc[red[:50]], method="exact", draws="shared").estimate(others)
    assert found.method == "trees"
    assert_allclose(found.values, expected.values, atol=1e-9)


def boosted_of_frame():
    return GradientBoostingRegressor(n_estimators=12, random_state=0)
