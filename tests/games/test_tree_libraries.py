"""Trees of many libraries, read and explained exactly; libraries that are not installed are skipped.

``make test-models`` installs all of them and runs this file. The oracle is enumeration of all coalitions through the
model's own predictions.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sharpley import Explainer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
X[:, 3] = np.round(X[:, 3])
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) * X[:, 4] + (X[:, 3] > 0)
GAPS = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
TWO, THREE = (Y > 0).astype(int), np.digitize(Y, [-0.5, 0.5])
FRAME = pd.DataFrame(X, columns=list("abcde")).assign(d=pd.Categorical(RNG.choice(list("uvwxyz"), 300)))
OF_FRAME = Y + FRAME["d"].cat.codes.to_numpy() % 3


def xgb(kind="XGBRegressor", **options):
    options = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1, **options}
    return getattr(pytest.importorskip("xgboost"), kind)(**options)


def lgb(kind="LGBMRegressor", **options):
    options = {"n_estimators": 12, "num_leaves": 8, "verbose": -1, "n_jobs": 1, **options}
    return getattr(pytest.importorskip("lightgbm"), kind)(**options)


def cat(kind="CatBoostRegressor", **options):
    options = {"iterations": 12, "depth": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1, **options}
    return getattr(pytest.importorskip("catboost"), kind)(**options)


def fit(model, data, target):
    return model.fit(data, target)


def early_stopped():
    model = xgb(n_estimators=200, early_stopping_rounds=2, learning_rate=0.8)
    model.fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return model


def light_early_stopped():
    lightgbm = pytest.importorskip("lightgbm")
    model = lgb(n_estimators=200, learning_rate=0.8)
    stop = lightgbm.early_stopping(2, verbose=False)
    model.fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])], callbacks=[stop])
    assert model.best_iteration_ < 200
    return model


CASES = {
    "XGBoost": (lambda: fit(xgb(), X, Y), X, None),
    "XGBoost with gaps": (lambda: fit(xgb(), GAPS, Y), GAPS, None),
    "XGBoost, one leaf": (lambda: fit(xgb(gamma=1e9), X, Y), X, None),
    "XGBoost, base score": (lambda: fit(xgb(base_score=7.0), X, Y), X, None),
    "XGBoost, missing value": (lambda: fit(xgb(missing=0.0), X, Y), X, None),
    "XGBoost, dropped trees": (lambda: fit(xgb(booster="dart", rate_drop=0.5), X, Y), X, None),
    "XGBoost, random forest": (lambda: fit(xgb("XGBRFRegressor"), X, Y), X, None),
    "XGBoost, Booster": (lambda: fit(xgb(), X, Y).get_booster(), X, None),
    "XGBoost, early stopping": (early_stopped, X, None),
    "XGBoost, margin": (lambda: fit(xgb("XGBClassifier"), X, TWO), X, "margin"),
    "XGBoost, margins": (lambda: fit(xgb("XGBClassifier"), X, THREE), X, "margin"),
    "XGBoost, Poisson margin": (lambda: fit(xgb(objective="count:poisson"), X, THREE), X, "margin"),
    "XGBoost, targets": (lambda: fit(xgb(), X, np.c_[Y, Y**2]), X, None),
    "XGBoost, vector leaves": (lambda: fit(xgb(multi_strategy="multi_output_tree"), X, np.c_[Y, Y**2]), X, None),
    "XGBoost, categories": (
        lambda: fit(xgb(enable_categorical=True, max_cat_to_onehot=1), FRAME, OF_FRAME),
        FRAME,
        None,
    ),
    "XGBoost, one-hot categories": (
        lambda: fit(xgb(enable_categorical=True, max_cat_to_onehot=99), FRAME, OF_FRAME),
        FRAME,
        None,
    ),
    "LightGBM": (lambda: fit(lgb(), X, Y), X, None),
    "LightGBM with gaps": (lambda: fit(lgb(), GAPS, Y), GAPS, None),
    "LightGBM, no gaps in training": (lambda: fit(lgb(), X, Y), GAPS, None),
    "LightGBM, Booster": (lambda: fit(lgb(), X, Y).booster_, X, None),
    "LightGBM, random forest": (
        lambda: fit(lgb(boosting_type="rf", bagging_freq=1, bagging_fraction=0.5), X, Y),
        X,
        None,
    ),
    "LightGBM, early stopping": (light_early_stopped, X, None),
    "LightGBM, margin": (lambda: fit(lgb("LGBMClassifier"), X, TWO), X, "margin"),
    "LightGBM, margins": (lambda: fit(lgb("LGBMClassifier"), X, THREE), X, "margin"),
    "LightGBM, categories": (
        lambda: fit(lgb(min_data_per_group=1, cat_smooth=1, max_cat_to_onehot=1), FRAME, OF_FRAME),
        FRAME,
        None,
    ),
    "CatBoost": (lambda: fit(cat(), X, Y), X, None),
    "CatBoost with gaps": (lambda: fit(cat(), GAPS, Y), GAPS, None),
    "CatBoost, gaps last": (lambda: fit(cat(nan_mode="Max"), GAPS, Y), GAPS, None),
    "CatBoost, leaf by leaf": (lambda: fit(cat(grow_policy="Lossguide"), X, Y), X, None),
    "CatBoost, margin": (lambda: fit(cat("CatBoostClassifier"), X, TWO), X, "margin"),
    "CatBoost, margins": (lambda: fit(cat("CatBoostClassifier"), X, THREE), X, "margin"),
    "tree": (lambda: fit(DecisionTreeRegressor(), X, Y), X, None),
    "tree with gaps": (lambda: fit(DecisionTreeRegressor(max_depth=5), GAPS, Y), GAPS, None),
    "stump": (lambda: fit(DecisionTreeRegressor(max_depth=1), X, Y), X, None),
    "tree, targets": (lambda: fit(DecisionTreeRegressor(max_depth=4), X, np.c_[Y, Y**2]), X, None),
    "tree, classes": (lambda: fit(DecisionTreeClassifier(max_depth=4), X, TWO), X, None),
    "tree, three classes": (lambda: fit(DecisionTreeClassifier(max_depth=4), X, THREE), X, [2, 0]),
    "random forest": (lambda: fit(RandomForestRegressor(8), X, Y), X, None),
    "random forest, classes": (lambda: fit(RandomForestClassifier(8), X, TWO), X, None),
    "random forest, all classes": (lambda: fit(RandomForestClassifier(8), X, THREE), X, "all"),
    "extra trees": (lambda: fit(ExtraTreesRegressor(5), X, Y), X, None),
    "extra trees, classes": (lambda: fit(ExtraTreesClassifier(5), X, THREE), X, None),
    "boosted": (lambda: fit(GradientBoostingRegressor(n_estimators=15), X, Y), X, None),
    "boosted, margin": (lambda: fit(GradientBoostingClassifier(n_estimators=9), X, TWO), X, "margin"),
    "boosted, margins": (lambda: fit(GradientBoostingClassifier(n_estimators=9), X, THREE), X, "margin"),
    "histograms": (lambda: fit(HistGradientBoostingRegressor(max_iter=15), X, Y), X, None),
    "histograms with gaps": (lambda: fit(HistGradientBoostingRegressor(max_iter=15), GAPS, Y), GAPS, None),
    "histograms, one leaf": (lambda: fit(HistGradientBoostingRegressor(min_samples_leaf=999), X, Y), X, None),
    "histograms, margins": (lambda: fit(HistGradientBoostingClassifier(max_iter=9), X, THREE), X, "margin"),
    "histograms, categories": (
        lambda: fit(HistGradientBoostingRegressor(max_iter=15, categorical_features="from_dtype"), FRAME, OF_FRAME),
        FRAME,
        None,
    ),
}


@pytest.mark.filterwarnings("ignore")  # of the libraries
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_enumeration_through_predictions(name):
    make, data, output = CASES[name]
    model = make()
    options = {"rng": 0, "output": output, "groups": {"two": [1, 2]}}
    found = Explainer(model, data[:60], **options).estimate(data[60:64])
    expected = Explainer(model, data[:60], method="exact", draws="shared", **options).estimate(data[60:64])
    assert found.method == "trees"
    scale = np.abs(expected.values).max() + np.abs(expected.base_values).max()
    assert_allclose(found.values, expected.values, atol=2e-6 * scale)
    assert_allclose(found.base_values, expected.base_values, atol=2e-6 * scale)
    assert (found.standard_errors == 0.0).all()
    assert (np.asarray(found.n_predictions) < 60).all()
    assert found.output_names == expected.output_names


@pytest.mark.filterwarnings("ignore")  # of the libraries
# Not histograms: with scikit-learn 1.9, shap 0.51's values of these do not add up to the predictions.
@pytest.mark.parametrize("name", ["XGBoost", "LightGBM", "CatBoost", "random forest", "boosted"])
def test_values_are_those_of_shap_with_all_background_rows(name):
    import shap

    make, data, _ = CASES[name]
    model = make()
    masker = shap.maskers.Independent(data[:200], max_samples=200)
    theirs = shap.TreeExplainer(model, masker).shap_values(data[200:210], check_additivity=False)
    ours = Explainer(model, data[:200]).estimate(data[200:210])
    assert ours.method == "trees"
    assert_allclose(ours.values, np.reshape(theirs, ours.values.shape), atol=1e-6 * np.abs(theirs).max())


def test_trees_with_linear_leaves_are_sampled(caplog):
    model = lgb(linear_tree=True).fit(X, Y)
    assert Explainer(model, X[:20], rng=0).estimate(X[30:31]).method != "trees"
    with pytest.raises(ValueError, match=r"method 'trees' cannot explain predict of this model: .*linear leaves"):
        Explainer(model, X[:20], method="trees").estimate(X[30:31])


@pytest.mark.filterwarnings("ignore")  # of the library
def test_catboost_trees_that_split_categories_are_sampled():
    frame = FRAME.assign(d=FRAME["d"].astype(str))
    model = cat(cat_features=["d"]).fit(frame, OF_FRAME)
    assert Explainer(model, frame[:20], rng=0).estimate(frame[30:31]).method != "trees"
