"""Models of many libraries are called in their natural way; libraries that are not installed are skipped.

``make test-models`` installs all of them and runs this file.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tabular_data import DATA, FRAME

from sharpley import Explainer

LABELS = np.where(DATA[:, 0] * DATA[:, 1] > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(DATA[:, 0] + DATA[:, 1], [-0.5, 0.5])]
NAMED = pd.DataFrame(DATA, columns=list("abcde"))
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0, 3.0])


def check(model, expected, data=DATA, **options):
    """Base value and values add up to the expected outputs of rows 10 to 12."""
    estimate = Explainer(model, data[:10], rng=0, **options).estimate(data[10:13])
    np.testing.assert_allclose(estimate.base_values + estimate.values.sum(axis=1), expected, atol=1e-5)
    return estimate


@pytest.mark.parametrize("data", [DATA, NAMED])
def test_torch_modules_are_called_on_tensors_without_dropout(data):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    inputs = torch.tensor(DATA[10:13], dtype=torch.float32)
    assert module.training
    check(module, module.eval()(inputs).detach().numpy(), data)
    module.train()
    check(module, module.eval()(inputs).detach().numpy(), data)
    module.train()
    Explainer(module, data[:5]).estimate(data[:1])
    assert module.training  # as it was before


def test_functions_that_return_tensors_with_gradients_are_read():
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(5, 1)
    check(
        lambda t: layer(torch.tensor(t, dtype=torch.float32)), layer(torch.tensor(DATA[10:13]).float()).detach()[:, 0]
    )


@pytest.mark.filterwarnings("ignore")  # of Keras and its backends
def test_keras_models_predict_without_a_progress_bar(monkeypatch, capfd):
    pytest.importorskip("torch")
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1)])
    expected = model.predict(DATA[10:13], verbose=0)[:, 0]
    capfd.readouterr()
    check(model, expected)
    assert capfd.readouterr().out == ""


def test_xgboost_boosters_get_a_matrix_of_their_own():
    xgboost = pytest.importorskip("xgboost")
    for data in (DATA, NAMED):
        booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(data, DATA @ WEIGHTS), 10)
        check(booster, booster.predict(xgboost.DMatrix(data[10:13])), data)
    named = xgboost.train({}, xgboost.DMatrix(NAMED, DATA @ WEIGHTS), 3)
    check(named, named.predict(xgboost.DMatrix(NAMED[10:13])))  # an array, for a Booster of named features


def test_lightgbm_boosters_and_classifiers():
    lightgbm = pytest.importorskip("lightgbm")
    booster = lightgbm.train({"verbose": -1}, lightgbm.Dataset(DATA, DATA @ WEIGHTS), 10)
    check(booster, booster.predict(DATA[10:13]))
    classifier = lightgbm.LGBMClassifier(verbose=-1).fit(NAMED, LABELS)
    estimate = check(classifier, classifier.predict_proba(NAMED[10:13])[:, 1], NAMED)
    assert estimate.output_names == ["yes"]


def test_catboost_reads_strings_itself():
    catboost = pytest.importorskip("catboost")
    data = FRAME[["age", "job", "member"]].astype({"job": object})
    target = np.where((FRAME["age"] > 40) ^ (FRAME["job"] == "smith"), "old", "young")
    model = catboost.CatBoostClassifier(iterations=20, verbose=0, cat_features=["job"], allow_writing_files=False)
    model.fit(data, target)
    estimate = check(model, model.predict_proba(data[10:13])[:, 1], data)
    assert estimate.output_names == ["young"]
    regressor = catboost.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False).fit(DATA, DATA @ WEIGHTS)
    check(regressor, regressor.predict(DATA[10:13]))


def test_statsmodels_results_with_and_without_a_formula():
    statsmodels = pytest.importorskip("statsmodels.api")
    formula = pytest.importorskip("statsmodels.formula.api")
    target = pd.Series(DATA @ WEIGHTS + 0.1 * DATA[:, 0] ** 2)
    constant = statsmodels.add_constant(NAMED)
    check(
        statsmodels.OLS(target, constant).fit(),
        statsmodels.OLS(target, constant).fit().predict(constant)[10:13],
        constant,
    )
    fitted = formula.ols("y ~ a * b + c", NAMED.assign(y=target)).fit()
    check(fitted, fitted.predict(NAMED)[10:13], NAMED)


def test_onnx_sessions_of_regressors_and_classifiers():
    onnxruntime = pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")

    def session(model, **options):
        onnx = skl2onnx.to_onnx(model, DATA[:1].astype(np.float32), **options)
        return onnxruntime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])

    linear = LinearRegression().fit(DATA, DATA @ WEIGHTS)
    check(session(linear), linear.predict(DATA[10:13]))
    classifier = LogisticRegression().fit(DATA, THREE)
    probabilities = classifier.predict_proba(DATA[10:13])
    check(session(classifier, options={"zipmap": False}), probabilities)
    named = check(session(classifier), probabilities)  # a dict for each row
    assert named.output_names == ["a", "b", "c"]


def test_several_classifiers_in_one_have_numbered_outputs():
    targets = np.stack([LABELS, THREE], axis=1)
    model = MultiOutputClassifier(LogisticRegression()).fit(DATA, targets)
    expected = np.concatenate(model.predict_proba(DATA[10:13]), axis=1)
    estimate = check(model, expected)
    assert estimate.output_names == ["0: no", "0: yes", "1: a", "1: b", "1: c"]
    forest = RandomForestClassifier(10, random_state=0).fit(DATA, targets)
    both = np.concatenate(forest.predict_proba(DATA[10:13]), axis=1)
    assert check(forest, both, output="all").values.shape == (3, 5, 5)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        CalibratedClassifierCV(LogisticRegression()),
        StackingClassifier([("logistic", LogisticRegression()), ("forest", RandomForestClassifier(5, random_state=0))]),
    ],
)
def test_a_binary_classifier_explains_its_positive_class(model):
    model.fit(DATA, LABELS)
    probabilities = model.predict_proba(DATA[10:13])
    estimate = check(model, probabilities[:, 1])
    assert estimate.output_names == ["yes"]
    assert check(model, probabilities[:, 0], output="no").output_names == ["no"]
    assert check(model, probabilities, output="all").output_names == ["no", "yes"]
    assert check(model.predict_proba, probabilities).output_names == ["no", "yes"]


def test_the_positive_class_is_announced_once(caplog):
    from sharpley.games.marginal.model import say_once

    say_once.cache_clear()
    model = LogisticRegression().fit(DATA, LABELS)
    for _ in range(3):
        Explainer(model, DATA[:5]).estimate(DATA[10:11])
    assert [record.getMessage() for record in caplog.records] == [
        "sharpley: explaining predict_proba of the class 'yes'; output='no' selects the other class, "
        "and output='all' both"
    ]
    caplog.clear()
    Explainer(model, DATA[:5], output="no").estimate(DATA[10:11])
    Explainer(LogisticRegression().fit(DATA, THREE), DATA[:5]).estimate(DATA[10:11])
    assert not caplog.records


def test_outputs_are_selected_by_name_and_position():
    model = LogisticRegression().fit(DATA, THREE)
    probabilities = model.predict_proba(DATA[10:13])
    assert check(model, probabilities).output_names == ["a", "b", "c"]
    assert check(model, probabilities[:, 1], output="b").values.shape == (3, 5)
    check(model, probabilities[:, 2], output=-1)
    assert check(model, probabilities[:, [2, 0]], output=["c", 0]).output_names == ["c", "a"]
    with pytest.raises(ValueError, match=r"unknown output 'd'; give a position from 0 to 2, or one of the names \['a'"):
        Explainer(model, DATA[:5], output="d")
    with pytest.raises(ValueError, match="unknown output 3; give a position from 0 to 2"):
        Explainer(lambda t: t[:, :3], DATA[:5], output=3).estimate(DATA[:1])


def test_decision_functions_have_class_names():
    binary, several = SVC().fit(DATA, LABELS), SVC().fit(DATA, THREE)
    assert check(binary, binary.decision_function(DATA[10:13])).output_names == ["yes"]
    assert check(several, several.decision_function(DATA[10:13])).output_names == ["a", "b", "c"]
    pairs = SVC(decision_function_shape="ovo").fit(DATA, np.array(list("abcd"))[np.arange(60) % 4])
    assert check(pairs, pairs.decision_function(DATA[10:13])).output_names is None


def test_columns_of_a_frame_that_a_model_returns_are_output_names():
    def model(rows):
        return pd.DataFrame({"low": rows[:, 0], "high": rows[:, 1] * rows[:, 2]})

    expected = model(DATA[10:13]).to_numpy()
    assert check(model, expected).output_names == ["low", "high"]
    assert check(model, expected[:, 1], output="high").output_names == ["high"]
    assert check(lambda t: pd.DataFrame(t[:, :2]), DATA[10:13, :2]).output_names is None


def test_labels_say_to_pass_the_classifier_itself():
    model = LogisticRegression().fit(DATA, LABELS)
    message = "predict must return numbers, but returned labels such as '(yes|no)'; pass the classifier itself"
    with pytest.raises(TypeError, match=message):
        Explainer(model.predict, DATA[:5]).estimate(DATA[:1])
    with pytest.raises(TypeError, match=message):
        Explainer(model.fit(DATA, LABELS.astype(object)).predict, DATA[:5]).estimate(DATA[:1])


def hard(labels):
    parts = [("linear", LogisticRegression()), ("trees", RandomForestClassifier(3, random_state=0))]
    return VotingClassifier(parts, voting="hard").fit(DATA, labels)


class Bare:
    """A model that is known by its attributes alone."""

    def __init__(self, **attributes):
        self.__dict__ |= attributes

    def predict(self, rows):
        return (np.asarray(rows)[:, 0] > 0).astype(int)


NUMBERS = (DATA[:, 0] > 0).astype(int) + (DATA[:, 1] > 0)
CLUSTERS = KMeans(3, n_init=1, random_state=0).fit(DATA)
LABELLERS = {
    "votes": (hard(NUMBERS), r"model\.predict\(X\) == 2, .*, or probabilities, which it has if .* voting='soft'"),
    "votes of text": (hard(LABELS), r"model\.predict\(X\) == 'yes', .* voting='soft'"),
    "clusters": (CLUSTERS, r"model\.predict\(X\) == 2, .*, or distances, as in Explainer\(model\.transform"),
    "pipeline": (make_pipeline(StandardScaler(), hard(NUMBERS)).fit(DATA, NUMBERS), r"model\.predict\(X\) == 2"),
    "search": (GridSearchCV(hard(NUMBERS), {}, cv=2).fit(DATA, NUMBERS), r"model\.predict\(X\) == 2"),
    "attribute classes_": (Bare(classes_=np.array([0, 1])), r"model\.predict\(X\) == 1"),
    "attribute labels_": (Bare(labels_=np.array([0, 1, 0])), r"model\.predict\(X\) == 1"),
    "old tag": (Bare(_estimator_type="classifier"), r"model\.predict\(X\) == 1"),
    "several": (
        MultiOutputClassifier(hard(NUMBERS)).fit(DATA, np.stack([NUMBERS, 1 - NUMBERS], axis=1)),
        r"model\.predict\(X\)\[:, 0\] == 1",
    ),
}


@pytest.mark.parametrize("name", LABELLERS)
def test_labels_are_not_explained_unless_they_are_asked_for(name):
    model, message = LABELLERS[name]
    with pytest.raises(
        TypeError, match=r"predict of \w+ returns labels, whose mean says nothing\. Explain .*" + message
    ):
        Explainer(model, DATA)
    meant = np.asarray(model.predict(DATA[10:13]))
    check(lambda rows: np.asarray(model.predict(rows) == meant[0]), meant == meant[0])
    if meant.dtype.kind == "U":
        with pytest.raises(TypeError, match="output='label' needs labels that are numbers, got 'yes'"):
            Explainer(model, DATA, output="label")
    else:
        found = check(model, meant, output="label")
        assert found.output_names == (["label"] if meant.ndim == 1 else None)
        check(model.predict, meant)  # a function is what its author means


def test_labels_can_be_asked_for_where_there_are_probabilities():
    model = RandomForestClassifier(3, random_state=0).fit(DATA, NUMBERS)
    check(model, model.predict_proba(DATA[10:13]))
    check(model, model.predict(DATA[10:13]), output="label")
    named = RandomForestClassifier(3, random_state=0).fit(DATA, np.where(NUMBERS > 0, "label", "other"))
    check(named, named.predict_proba(DATA[10:13])[:, 0], output="label")  # a class of that name


def test_regressors_with_integers_are_explained():
    class Rounded(LinearRegression):
        def predict(self, rows):
            return super().predict(rows).round().astype(int)

    model = Rounded().fit(DATA, 10 * DATA[:, 0])
    check(model, model.predict(DATA[10:13]))
    check(Bare(), Bare().predict(DATA[10:13]))  # nothing says that these are labels


@pytest.mark.parametrize("objective", ["multi:softmax", "multi:softprob"])
def test_boosters_that_return_classes_are_recognised(objective):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"objective": objective, "num_class": 3}, xgboost.DMatrix(DATA, label=NUMBERS), 3)
    meant = booster.predict(xgboost.DMatrix(DATA[10:13]))
    if objective == "multi:softprob":
        check(booster, meant)
        return
    with pytest.raises(TypeError, match=r"predict of Booster returns labels.*with objective 'multi:softprob'"):
        Explainer(booster, DATA)
    check(booster, meant, output="label")


class Panic(BaseException):
    """As polars' panics, this is no Exception."""


@pytest.mark.parametrize("kind", [ValueError, Panic])
def test_exceptions_of_any_kind_say_for_which_rows_the_model_was_called(kind):
    def model(rows):
        raise kind("broken")

    with pytest.raises(kind) as caught:
        Explainer(model, DATA[:5]).estimate(DATA[:1])
    assert caught.value.__notes__ == ["sharpley: raised by model on 5 rows: rows 0..4 of the background"]
