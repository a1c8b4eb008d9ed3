"""Tree regressors of several libraries: read as trees, and explained in closed form."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from sharpley import Background, MarginalGame, estimate
from sharpley.games.trees import closed_form
from sharpley.games.trees.closed_form import coded, sums_of_leaves, tree_values
from sharpley.games.trees.regressors import read_regressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)).astype(np.float32)
X[:, 3] = np.round(X[:, 3])
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) * X[:, 4] + (X[:, 3] > 0)
WEIGHTS = RNG.exponential(size=60)
WEIGHTS /= WEIGHTS.sum()


def xgboost_regressor():
    return pytest.importorskip("xgboost").XGBRegressor(n_estimators=15)


def lightgbm_regressor():
    return pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=15, verbose=-1)


REGRESSORS = {
    "tree": DecisionTreeRegressor,
    "stump": lambda: DecisionTreeRegressor(max_depth=1),
    "leaf": lambda: HistGradientBoostingRegressor(min_samples_leaf=1000),
    "random forest": lambda: RandomForestRegressor(8),
    "extra trees": lambda: ExtraTreesRegressor(5),
    "boosted": lambda: GradientBoostingRegressor(n_estimators=20),
    "histogram boosted": lambda: HistGradientBoostingRegressor(max_iter=20),
    "XGBoost": xgboost_regressor,
    "LightGBM": lightgbm_regressor,
}


@pytest.fixture(params=REGRESSORS)
def model(request):
    return REGRESSORS[request.param]().fit(X, Y)


def by_enumeration(model, groups=None):
    games = MarginalGame(model.predict, Background(X[:60], WEIGHTS), X[200:203], groups=groups)
    return estimate(games, method="exact", draws="shared").values


def in_closed_form(model, players, d):
    forest = read_regressor(model, X)
    return tree_values(forest, coded(forest, X[:60]), WEIGHTS, coded(forest, X[200:203]), players, d)[0][:, :, 0]


def test_sums_of_leaves_are_the_predictions_up_to_a_constant(model):
    forest = read_regressor(model, X)
    assert np.ptp(model.predict(X) - sums_of_leaves(forest, X)[:, 0]) < 2e-6


def test_closed_form_equals_enumeration(model):
    np.testing.assert_allclose(in_closed_form(model, np.arange(5), 5), by_enumeration(model), atol=2e-6)


def test_columns_of_one_player_count_together(model):
    expected = by_enumeration(model, groups={"first": [0, 2], "second": [1, 4]})
    np.testing.assert_allclose(in_closed_form(model, np.array([0, 1, 0, 2, 1]), 3), expected, atol=2e-6)


def test_the_background_is_processed_in_parts(monkeypatch):
    model = REGRESSORS["boosted"]().fit(X, Y)
    whole = in_closed_form(model, np.arange(5), 5)
    monkeypatch.setattr(closed_form, "MOST_CODES", 7 * 4 * 5)
    monkeypatch.setattr(closed_form, "ROWS_AT_ONCE", 3)
    np.testing.assert_allclose(in_closed_form(model, np.arange(5), 5), whole, atol=1e-12)


def test_trees_deeper_than_one_word_of_players_are_refused():
    table = np.eye(80, dtype=np.float32)  # each split separates one row from the others
    forest = read_regressor(DecisionTreeRegressor().fit(table, RNG.normal(size=80)), table)
    with pytest.raises(ValueError, match="max_depth"):
        tree_values(forest, coded(forest, table), np.full(80, 1 / 80), coded(forest, table), np.arange(80), 80)


@pytest.mark.parametrize("other", [LinearRegression(), RandomForestClassifier(), np.mean])
def test_other_models_are_refused(other):
    with pytest.raises(TypeError, match="tree regressor"):
        read_regressor(other, X)


def test_models_that_are_not_a_sum_of_their_trees_are_refused():
    start = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="not a sum of its trees"):
        read_regressor(start, X)
