"""Tree games compared with calls of ``predict``, with shap's TreeExplainer, and with walks along orderings."""

import numpy as np
import pandas as pd
import pytest
import shap
import xgboost

from sharpley import Antithetic, MarginalGame, estimate, from_orderings
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import TreeGame
from sharpley.games.marginal.background import Background

D = 6


def data(n=300, *, missing=False, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, D))
    x[:, 3] = np.round(x[:, 3])
    y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + (x[:, 3] > 0) * x[:, 4]
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    return x, y


def regressor(x, y, **options):
    return xgboost.XGBRegressor(n_estimators=options.pop("n_estimators", 20), max_depth=4, **options).fit(x, y)


def margin(model):
    return lambda table: model.predict(table, output_margin=True)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["regressor", "classifier", "stump", "leaf"])
def test_values_equal_those_from_calling_predict(kind, missing):
    x, y = data(missing=missing)
    if kind == "classifier":
        model = xgboost.XGBClassifier(n_estimators=15, max_depth=5).fit(x, y > 0)
    else:
        options = {"stump": {"max_leaves": 2}, "leaf": {"gamma": 1e9}, "regressor": {}}[kind]
        model = regressor(x, y, **options)
    game = TreeGame(model, x[:30], x[40:43])
    coalitions = all_coalitions(D)
    if missing:  # MarginalGame passes NaN on to XGBoost, which treats it as missing
        assert np.isnan(x[40:43]).any()
    np.testing.assert_allclose(game(coalitions), MarginalGame(margin(model), x[:30], x[40:43])(coalitions), atol=2e-6)


@pytest.mark.parametrize("m", [0, 1, 63, 64, 65, 130])
def test_values_do_not_depend_on_the_blocks_of_64_coalitions(m):
    """A coalition has the same value alone and among any number of others."""
    x, y = data()
    game = TreeGame(regressor(x, y), x[:30], x[40:42])
    every = all_coalitions(D)
    alone = np.concatenate([game(every[i : i + 1]) for i in range(len(every))], axis=1)
    which = np.random.default_rng(m).integers(len(every), size=m)
    np.testing.assert_array_equal(game(every[which]), alone[:, which])


def test_shapley_values_equal_those_of_treeshap():
    x, y = data()
    model = regressor(x, y, n_estimators=50)
    exact = shap.TreeExplainer(model, x[:40]).shap_values(x[50:55])
    np.testing.assert_allclose(TreeGame(model, x[:40], x[50:55]).shapley_values(), exact, atol=1e-5)


def test_background_weights_are_used():
    x, y = data()
    model = regressor(x, y)
    twice = TreeGame(model, x[[0, 0, 1]], x[9:10])
    weighted = TreeGame(model, Background(x[[0, 1]], weights=[2.0, 1.0]), x[9:10])
    np.testing.assert_allclose(twice.shapley_values(), weighted.shapley_values())
    assert len(weighted._terms[0].weights) == len(twice._terms[0].weights)


def test_contributions_equal_those_of_walks_through_coalitions():
    x, y = data()
    game = TreeGame(regressor(x, y), x[:20], x[30:32])
    orderings = Antithetic(D, rng=0).random(10)
    contributions = game.contributions(orderings)
    assert contributions.shape == (2, 10, D)
    for row in range(2):
        single = from_orderings(lambda coalitions, row=row: game(coalitions)[row], orderings)
        np.testing.assert_allclose(contributions[row].mean(axis=0), single.values, atol=1e-12)


def test_early_stopping_is_respected():
    x, y = data(600)
    model = xgboost.XGBRegressor(n_estimators=200, early_stopping_rounds=2, learning_rate=0.8)
    model.fit(x[:300], y[:300], eval_set=[(x[300:], y[300:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    game = TreeGame(model, x[:10], x[20:22])
    np.testing.assert_allclose(game.endpoints()[:, 1, 0], model.predict(x[20:22]), atol=1e-5)


def test_estimators_accept_tree_games():
    x, y = data()
    game = TreeGame(regressor(x, y), x[:20], x[30:33])
    found = estimate(game, method="exact", max_evals=2**D)
    np.testing.assert_allclose(found.values, game.shapley_values(), atol=1e-10)


def test_the_models_missing_value_is_respected():
    x, y = data()
    x[::7, 1] = -999.0
    model = regressor(x, y, missing=-999.0)
    coalitions = all_coalitions(D)
    ours = TreeGame(model, x[:30], x[40:44])(coalitions)
    np.testing.assert_allclose(ours, MarginalGame(margin(model), x[:30], x[40:44])(coalitions), atol=2e-6)


def test_columns_in_another_order_raise_an_error():
    x, y = data()
    table = pd.DataFrame(x, columns=list("abcdef"))
    model = regressor(table, y)
    assert TreeGame(model, table[:5], table[9:10]).d == D
    with pytest.raises(ValueError, match="rows must have the model's columns in its order"):
        TreeGame(model, table[:5], table[list("fedcba")][9:10])


def test_too_many_features_raise_an_error(monkeypatch):
    from sharpley.games import tree_game

    x, y = data()
    monkeypatch.setattr(tree_game, "MAX_FEATURES", 5)
    with pytest.raises(ValueError, match="at most 4 features can be read, got 6"):
        TreeGame(regressor(x, y), x[:5], x[9:10])


def test_a_booster_is_accepted():
    x, y = data()
    model = regressor(x, y)
    ours, theirs = (TreeGame(m, x[:5], x[9:10]).shapley_values() for m in (model, model.get_booster()))
    np.testing.assert_array_equal(ours, theirs)


def test_rows_with_equal_hashes_are_distinguished(monkeypatch):
    from sharpley.games import tree_game as trees

    rows = np.array([[1, 2], [2, 1], [1, 2], [3, 3]], dtype=np.int16)

    class Zeros:
        def integers(self, *args, size, dtype):
            return np.zeros(size, dtype=dtype)

    monkeypatch.setattr(trees.np.random, "default_rng", lambda seed: Zeros())
    first, which = trees._group_equal(rows)
    np.testing.assert_array_equal(rows[first][which], rows)
    assert len(first) == 3


def unsupported():
    x, y = data()
    model = regressor(x, y)
    three = xgboost.XGBClassifier(n_estimators=2).fit(x, np.arange(300) % 3)
    linear = xgboost.train({"booster": "gblinear"}, xgboost.DMatrix(x, y), 2)
    yield "not a model", "trees", x, x, TypeError, "model must be an XGBoost Booster"
    yield "classes", three, x, x, ValueError, "only models with one output can be read, got 3 outputs"
    yield "linear", linear, x, x, ValueError, "only boosted trees can be read, got .* booster 'gblinear'"
    yield "columns", model, x[:, :3], x, ValueError, r"background must have shape \(n, 6\)"
    yield "no rows", model, x, x[:0], ValueError, r"rows must have shape \(n, 6\) with n ≥ 1"


@pytest.mark.parametrize("what", ["not a model", "classes", "linear", "columns", "no rows"])
def test_unsupported_models_and_data_raise_an_error(what):
    _, model, background, rows, error, message = next(case for case in unsupported() if case[0] == what)
    with pytest.raises(error, match=message):
        TreeGame(model, background, rows)


def test_invalid_coalitions_and_orderings_raise_an_error():
    x, y = data()
    game = TreeGame(regressor(x, y), x[:5], x[9:10])
    with pytest.raises(ValueError, match=r"coalitions must have shape \(m, 6\)"):
        game([[True, False]])
    with pytest.raises(ValueError, match="orderings must have 6 players, got 3"):
        game.contributions([[0, 1, 2]])


def test_predictions_that_are_not_a_sum_of_the_trees_raise_an_error(monkeypatch):
    from sharpley.games import tree_game as trees

    x, y = data()
    model = regressor(x, y)
    monkeypatch.setattr(trees, "sums_of_leaves", lambda forest, rows: rows[:, :1])
    with pytest.raises(ValueError, match="not a sum of its trees plus a constant"):
        TreeGame(model, x[:5], x[9:15])
