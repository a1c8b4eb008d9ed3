"""What a hostile newcomer tried next: odd classifiers, odd tables, and pictures that must not mislead.

1 scores of pairs of classes       7 one row with missing values      13 rows with several labels
2 several labels at once           8 one sparse row                   14 masks of rows
3 log-probabilities have classes   9 categories seen only in part     15 plots of ours appear
4 order of categories and dates   10 flags and numbers in k-means     16 rounding errors are not printed
5 numbers with missing values     11 pools of CatBoost                17 arguments of shap
6 dates in every plot             12 a function as background         18 a plan with groups
"""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import shap
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import sharpley

X, y = load_wine(return_X_y=True, as_frame=True)
X = X.iloc[:, :5]
LABELS = np.stack([y == 0, X["alcohol"] > 13], axis=1).astype(int)
RNG = np.random.default_rng(0)
N = 60
VISITS = pd.DataFrame(
    {
        "age": pd.array([None, *RNG.integers(2, 120, N - 1)], dtype="Int64"),
        "member": pd.array([None, *(RNG.random(N - 1) < 0.5)], dtype="boolean"),
        "grade": pd.Categorical(RNG.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
        "city": pd.Categorical(RNG.choice(["Oslo", "Rome"], N)),
        "since": pd.date_range("2024-01-01", periods=N)[::-1],
        "stay": pd.to_timedelta(RNG.integers(1, 300, N), unit="h"),
    }
)
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of shap, matplotlib and scikit-learn
    pytest.mark.usefixtures("no_windows"),
]


def visits_model(rows):
    length = rows["stay"].dt.total_seconds() / 3600
    return rows["age"].fillna(40).astype(float) + 5 * rows["grade"].cat.codes + length + rows["since"].dt.month


def explained(frame=VISITS, **options):
    return sharpley.Explainer(visits_model, VISITS, rng=0)(frame, **options)


def test_01_scores_of_pairs_of_classes_have_no_names_of_classes():
    rows, digits = X.to_numpy(), np.arange(len(X)) % 4
    model = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")).fit(rows, digits)
    estimate = sharpley.Explainer(model, rows[:10], rng=0).estimate(rows[:2])
    assert estimate.values.shape == (2, 5, 6)
    assert estimate.output_names is None
    with pytest.raises(ValueError, match="unknown output '3'; give a position from 0 to 5"):
        sharpley.Explainer(model, rows[:10], output="3").estimate(rows[:2])


@pytest.mark.parametrize(
    "make", [MLPClassifier((3,), max_iter=20, random_state=0), ClassifierChain(LogisticRegression())]
)
def test_02_several_labels_are_not_the_two_classes_of_one(make):
    model = make_pipeline(StandardScaler(), make).fit(X, LABELS)
    estimate = sharpley.Explainer(model, X[:10], rng=0).estimate(X[:2])
    assert estimate.output_names is None
    np.testing.assert_allclose(estimate.base_values + estimate.values.sum(axis=1), model.predict_proba(X[:2]))
    named = sharpley.Explainer(model, X[:10], output_names=["first", "strong"]).estimate(X[:2])
    assert named.output_names == ["first", "strong"]


def test_03_log_probabilities_have_the_names_of_classes():
    model = LogisticRegression(max_iter=2000).fit(X, np.array(["a", "b", "c"])[y])
    explanation = sharpley.Explainer(model.predict_log_proba, X[:10], rng=0)(X[:2])
    assert explanation.output_names == ["a", "b", "c"]


@pytest.mark.parametrize(
    "frame", [VISITS, pl.from_pandas(VISITS[["grade", "since", "stay"]]).cast({"grade": pl.String})]
)
def test_04_points_are_placed_in_the_order_of_categories_dates_and_durations(frame):
    if isinstance(frame, pl.DataFrame):
        frame = frame.cast({"grade": pl.Enum(["low", "mid", "high"])})
    explanation = sharpley.Explainer(lambda rows: np.zeros(len(rows)), frame)(frame)
    data = dict(zip(explanation.feature_names, explanation.data.T, strict=True))
    np.testing.assert_array_equal(data["grade"], VISITS["grade"].cat.codes)
    np.testing.assert_array_equal(data["since"], np.arange(N)[::-1])
    np.testing.assert_array_equal(np.argsort(data["stay"], kind="stable"), np.argsort(VISITS["stay"], kind="stable"))


def test_05_integers_with_missing_values_stay_numbers():
    explanation = explained()
    np.testing.assert_array_equal(explanation[:, "age"].data, VISITS["age"].to_numpy(float, na_value=np.nan))
    assert explanation.display_data[1, 0] == VISITS["age"][1]
    assert np.isnan(explanation.display_data[0, 0])


@pytest.mark.parametrize("name", ["bar", "waterfall", "force"])
def test_06_dates_and_missing_values_are_in_every_plot_of_one_row(name):
    options = {"matplotlib": True} if name == "force" else {}
    getattr(shap.plots, name)(explained()[0], show=False, **options)


def test_07_one_row_may_have_missing_flags():
    one, same = explained(VISITS.iloc[0]), explained(VISITS.iloc[[0]])
    np.testing.assert_array_equal(one.values, same.values[0])


def test_08_one_sparse_row():
    table = scipy.sparse.random_array((40, 8), density=0.3, format="csr", random_state=0)
    model = Ridge().fit(table, np.arange(40.0))
    explainer = sharpley.Explainer(model, table, rng=0)
    np.testing.assert_array_equal(explainer(table[0]).values, explainer(table[[0]]).values[0])


@pytest.mark.parametrize("convert", [lambda c: c.cat.remove_unused_categories(), lambda c: c.astype(str)])
def test_09_categories_of_which_only_some_are_there_become_those_of_the_background(convert):
    some = VISITS[VISITS["city"] == "Oslo"][:3]
    converted = some.assign(city=convert(some["city"]))
    assert converted["city"].dtype != some["city"].dtype
    np.testing.assert_array_equal(explained(converted).values, explained(some).values)
    with pytest.raises(TypeError, match="column 'city' is"):
        explained(some.assign(city=["Oslo", "Oslo", "Paris"]))


def test_10_flags_and_numbers_are_summarised_together():
    mixed = X.assign(flag=X["alcohol"] > 13)
    background = sharpley.Background.kmeans(mixed, 4, rng=0)
    assert background.rows["flag"].dtype == bool
    with pytest.raises(TypeError, match=r"k-means needs numbers.*Background.sample"):
        sharpley.Background.kmeans(X.assign(text="a"), 4)


def test_11_pools_say_what_to_pass(monkeypatch):
    class Pool:
        pass

    monkeypatch.setitem(sys.modules, "catboost", SimpleNamespace(Pool=Pool))
    with pytest.raises(TypeError, match="catboost Pool, which is not read; pass the table"):
        sharpley.Explainer(visits_model, Pool())


def test_12_functions_and_transformers_say_where_they_belong():
    with pytest.raises(TypeError, match=r"if it is a masker, use sharpley.adapters.shap.PermutationExplainer"):
        sharpley.Explainer(visits_model, lambda mask, row: row * mask)
    with pytest.raises(TypeError, match=r"pass one of its methods, as in model\.transform"):
        sharpley.Explainer(PCA(2).fit(X), X)


def test_13_rows_with_several_labels(tmp_path):
    frame = X[:6].set_index(pd.MultiIndex.from_product([[1, 2], list("abc")]))
    estimate = sharpley.Explainer(lambda rows: rows["alcohol"], frame).estimate(frame)
    assert estimate.to_frame(wide=True).index[1] == (1, "b")
    assert estimate.to_frame()["row"].iloc[5] == (1, "b")
    estimate.save(tmp_path / "phi.parquet")
    np.testing.assert_array_equal(sharpley.load(tmp_path / "phi.parquet").values, estimate.values)


def test_14_rows_are_selected_by_a_series_of_flags():
    estimate = sharpley.Explainer(lambda rows: rows["alcohol"], X[:10]).estimate(X[:9])
    strong = X["alcohol"][:9] > 14
    assert len(estimate[strong]) == strong.sum() > 0


def test_15_plots_of_ours_appear_where_people_look():
    estimate = sharpley.Explainer(lambda rows: rows["alcohol"], X[:10]).estimate(X.iloc[0])
    ax = sharpley.plotting.intervals(estimate)
    assert plt.get_fignums() == [ax.figure.number]
    axes = plt.figure().subplots()
    assert sharpley.plotting.intervals(estimate, ax=axes) is axes


def test_16_rounding_errors_are_not_printed():
    iris = load_iris(as_frame=True).data
    estimate = sharpley.Explainer(lambda rows: rows.iloc[:, 0] * 1e3 / 3 + rows.iloc[:, 1], iris).estimate(iris[:2])
    unused = estimate.values[0, 2:]
    assert np.abs(unused).max() < 1e-12
    assert " 0 ± " in str(estimate[0])
    assert "e-1" not in str(estimate[0]).replace("± ", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": 0}, r"Explainer.__init__\(\) has no argument 'seed'; use rng=0"),
        ({"masker": X}, "has no argument 'masker'; use background rows"),
    ],
)
def test_17_arguments_of_shaps_constructor(arguments, message):
    with pytest.raises(TypeError, match=message):
        sharpley.Explainer(visits_model, **arguments)


@pytest.mark.parametrize(
    ("name", "remedy"), [("nsamples", "max_evals="), ("silent", "progress=False"), ("error_bounds", "no argument")]
)
def test_17_arguments_of_shaps_calls(name, remedy):
    explainer = sharpley.Explainer(visits_model, VISITS)
    for call in (explainer, explainer.estimate, explainer.plan):
        with pytest.raises(TypeError, match=f"has no argument '{name}'; use {remedy}"):
            call(VISITS, **{name: 1})


@pytest.mark.parametrize("groups", [None, {"both": ["alcohol", "ash"]}])
def test_18_a_plan_of_trees_recommends_nothing_else(groups):
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    plan = str(sharpley.Explainer(forest, X, groups=groups, rng=0).plan(X[:2]))
    assert "exact over all background rows" in plan
    assert "TreeExplainer" not in plan
