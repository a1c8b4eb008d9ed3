"""Surrogates: what they learn from walks is used, and costs neither unbiasedness nor efficiency nor error bars."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from sharpley import Background, Explainer, MarginalGame, estimate
from sharpley.estimators.draws.coding import make_codes
from sharpley.estimators.draws.visits import FoldedVisits
from sharpley.games.base import DrawFacts

RNG = np.random.default_rng(7)
DATA = RNG.normal(size=(400, 5))
DATA[:, 4] = RNG.integers(3, size=400)
ROWS = DATA[:3] + 0.25
ROWS[:, 4] = [0, 1, 2]
MANY = RNG.normal(size=(3000, 5))
MANY[:, 4] = RNG.integers(3, size=3000)
TREE = DecisionTreeRegressor(max_depth=5, min_samples_leaf=10)
BOOSTED = HistGradientBoostingRegressor(max_iter=60, early_stopping=False)


def model(x):
    """What a background row adds depends on pairs of its columns, which the survey regression does not know."""
    return 2.0 * (x[:, 0] > 0) * (x[:, 1] > 0) + (x[:, 2] > 0.5) * (x[:, 3] < 0) * (1 + x[:, 4]) + 0.3 * x[:, 0]


def rough(x):
    """A function that no tree can learn: the digits far behind the point."""
    return 10.0 * (np.abs(x[:, :4]).sum(axis=1) * 1e5 % 1.0) + x[:, 4]


def exact(background, rows, function=model, weights=None):
    games = MarginalGame(function, Background(background, weights), rows)
    return estimate(games, method="exact", draws="shared").values


def explained(surrogate, *, background=DATA, rows=ROWS, seed=0, budget=3000, function=model, **options):
    explainer = Explainer(function, background, draws="own", rng=seed, **options)
    return explainer.estimate(rows, max_predictions=budget, surrogate=surrogate)


def test_codes_keep_order_and_equality():
    columns = np.array([[3.0, 7.0], [np.nan, 2.0], [-np.inf, 7.0], [3.0, 5.0], [1e300, 2.0]])
    rows = np.array([[3.0, 7.0], [2.0, 9.0], [np.nan, np.nan], [np.inf, 2.0]])
    empty = np.array([[1.0], [2.0], [3.0], [0.0], [2.0]])  # means of the categories: 7 has 2, 2 has 2, 5 has 0
    facts = DrawFacts(empty, columns, rows, np.array([False, True]), np.arange(2))
    codes = make_codes(facts)
    assert codes.columns[0].tolist() == [1.0, -1.0, 0.0, 1.0, 2.0]
    assert codes.columns[1][3] == 0.0
    assert len(set(codes.columns[1].tolist())) == 3
    assert [codes.of_row(facts, i)[0] for i in range(4)] == [1.0, 0.5, -1.0, 2.5]
    assert codes.of_row(facts, 0)[1] == codes.columns[1][0]
    assert codes.of_row(facts, 1)[1] == -0.5  # a category that no draw has


@pytest.mark.slow
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize(("n", "budget"), [(400, 900), (60, 900)], ids=["a part of all draws", "all draws twice"])
def test_surrogates_cause_no_bias_and_intervals_hold(unbiased, n, budget):
    background = DATA[:n]
    truth = exact(background, ROWS)
    runs = [explained(TREE, background=background, seed=seed, budget=budget, unbiased=unbiased) for seed in range(300)]
    values = np.stack([run.values for run in runs])
    bias, spread = values.mean(axis=0) - truth, values.std(axis=0, ddof=1)
    limit = (4.0 / np.sqrt(300) + (0.0 if unbiased else 0.1)) * spread  # the regression's bias is of lower order
    assert (abs(bias) < limit).all()
    lower, upper = map(np.stack, zip(*(run.interval() for run in runs), strict=True))
    assert 0.90 < ((lower <= truth) & (truth <= upper)).mean() < 0.99


def error(surrogate):
    truth = exact(MANY, ROWS)
    found = [explained(surrogate, background=MANY, seed=seed) for seed in range(4)]
    return np.mean([((run.values - truth) ** 2).mean() for run in found])


def test_a_surrogate_lowers_the_error():
    without = error(None)
    assert error(BOOSTED) < 0.5 * without
    assert error("auto") < 0.5 * without


@pytest.mark.parametrize("surrogate", ["auto", TREE, RandomForestRegressor(10), ExtraTreesRegressor(10)])
def test_values_add_up_and_are_within_their_errors(surrogate):
    found = explained(surrogate)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model(ROWS), atol=1e-12)
    assert (abs(found.values - exact(DATA, ROWS)) < 6 * found.standard_errors).all()
    assert (found.n_predictions <= 3000).all()


@pytest.mark.parametrize("surrogate", ["auto", RandomForestRegressor(10)])
def test_a_row_has_the_same_values_in_every_call(surrogate):
    found = explained(surrogate)
    for options in ({"n_jobs": 2}, {"batch_size": 37}, {}):
        other = explained(surrogate, **options)
        np.testing.assert_array_equal(other.values, found.values)
        np.testing.assert_array_equal(other.standard_errors, found.standard_errors)
    alone = explained(surrogate, rows=ROWS[[1]])
    np.testing.assert_array_equal(alone.values[0], found.values[1])
    np.testing.assert_array_equal(alone.standard_errors[0], found.standard_errors[1])


def test_auto_does_without_surrogates_that_do_not_help(monkeypatch):
    rough_values, values = (explained("auto", function=function).values for function in (rough, model))
    monkeypatch.setattr("sharpley.estimators.draws.assisted.PAYS", 0.0)
    np.testing.assert_array_equal(explained("auto", function=rough).values, rough_values)
    assert (explained("auto").values != values).all()


def test_auto_does_without_surrogates_that_have_little_to_learn_from_or_take_long(monkeypatch):
    few = explained("auto", budget=400).values
    monkeypatch.setattr("sharpley.estimators.draws.assisted.PAYS", 0.0)
    np.testing.assert_array_equal(explained("auto", budget=400).values, few)
    monkeypatch.setattr("sharpley.estimators.draws.assisted.MAX_LEAVES_TIMES_DRAWS", 1e6)
    np.testing.assert_array_equal(explained("auto").values, explained(None).values)


def test_draws_of_both_folds_are_visited_evenly_and_independently():
    folds = np.arange(40) % 2
    counts = np.zeros(40)
    together = np.zeros(2)
    for seed in range(1000):
        visits = FoldedVisits(np.arange(40), np.ones(40), folds, np.random.default_rng(seed), None)
        drawn = np.concatenate([visits.extend(5), visits.extend(3)])
        assert np.bincount(folds[drawn]).tolist() == [4, 4]
        counts += np.bincount(drawn, minlength=40)
        together += 0 in drawn, (0 in drawn) and (1 in drawn)  # neighbours in different folds
    assert abs(counts - 200).max() < 5 * np.sqrt(200)
    assert abs(together[1] - together[0] / 5) < 5 * np.sqrt(together[0] / 5)


def test_groups_words_missing_values_weights_and_outputs():
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(RNG.choice(["red", "green", "blue"], size=300)),
            "name": RNG.choice(["a", "b", None], size=300),
            "x": np.where(RNG.random(300) < 0.2, np.nan, RNG.normal(size=300)),
            "y": RNG.normal(size=300),
            "z": RNG.integers(2, size=300).astype(bool),
        }
    )

    def messy(t):
        text = t["colour"].astype(str).str.len() * (1 + t["z"].astype(float))
        first = (text + t["name"].isna() * t["x"].fillna(0.5) + t["y"] ** 2).to_numpy(dtype=float)
        return np.column_stack([first, (t["y"] > 0) * text])

    weights = RNG.exponential(size=300)
    groups = {"both": ["x", "y"]}
    rows = frame.iloc[:2].assign(name=["a", "new"])
    background = Background(frame, weights)
    found = Explainer(messy, background, groups=groups, draws="own", rng=0).estimate(
        rows, max_predictions=2000, surrogate=TREE
    )
    games = MarginalGame(messy, background, rows, groups=groups)
    truth = estimate(games, method="exact", draws="shared").values
    assert (abs(found.values - truth) < 6 * found.standard_errors + 1e-12).all()
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, messy(rows), atol=1e-12)


def test_a_tolerance_is_met_earlier_with_a_surrogate():
    explainer = Explainer(model, MANY, draws="own", rng=0)
    plain, found = explainer.estimate(ROWS, tol=0.01), explainer.estimate(ROWS, tol=0.01, surrogate=TREE)
    assert found.converged.all()
    assert found.n_predictions.mean() < 0.8 * plain.n_predictions.mean()


def test_few_predictions_and_equal_rows_are_no_problem():
    least = explained(TREE, budget=1 + 2 * 2 * 4)
    assert np.isfinite(least.values).all()
    found = explained(TREE, background=np.repeat(DATA[:4], 20, axis=0), rows=DATA[:2])
    truth = exact(DATA[:4], DATA[:2])
    assert (abs(found.values - truth) < 6 * found.standard_errors + 1e-9).all()


def test_estimate_accepts_a_surrogate():
    games = MarginalGame(model, DATA, ROWS)
    found = estimate(games, draws="own", max_predictions=3000, surrogate=TREE, rng=0)
    np.testing.assert_array_equal(found.values, explained(TREE).values)


@pytest.mark.parametrize(
    ("surrogate", "error", "message"),
    [
        ("forest", ValueError, "unknown surrogate 'forest'"),
        (LinearRegression(), TypeError, "must be a tree regressor.*got LinearRegression"),
        (RandomForestRegressor, TypeError, r"RandomForestRegressor\(\) instead"),
        (3, TypeError, "must be a tree regressor"),
    ],
)
def test_what_is_no_surrogate_is_refused_before_the_model_is_called(surrogate, error, message):
    def never(x):
        raise AssertionError("the model was called")

    with pytest.raises(error, match=message):
        explained(surrogate, function=never)


def test_a_surrogate_that_cannot_be_fitted_is_refused_before_the_walks():
    predicted = []

    def counted(x):
        predicted.append(len(x))
        return model(x)

    with pytest.raises(ValueError, match="max_depth") as caught:
        explained(DecisionTreeRegressor(max_depth=-3), function=counted)
    assert "fitting the surrogate DecisionTreeRegressor(max_depth=-3)" in caught.value.__notes__[0]
    assert sum(predicted) < len(DATA) + 10  # the background, some of it twice, and the rows


def test_surrogates_need_own_draws_and_known_columns():
    with pytest.raises(ValueError, match="draws='shared'"):
        Explainer(model, DATA, draws="shared").estimate(ROWS, surrogate=TREE)
    explainer = Explainer(lambda x: model(np.asarray(x.todense())), sparse.csr_matrix(DATA), draws="own", rng=0)
    with pytest.raises(ValueError, match="sparse"):
        explainer.estimate(sparse.csr_matrix(ROWS), max_predictions=2000, surrogate=TREE)
    plain = explainer.estimate(sparse.csr_matrix(ROWS), max_predictions=2000)
    auto = explainer.estimate(sparse.csr_matrix(ROWS), max_predictions=2000, surrogate="auto")
    np.testing.assert_array_equal(auto.values, plain.values)


def test_where_draws_are_shared_a_surrogate_has_no_effect():
    found = Explainer(model, DATA[:20], rng=0).estimate(ROWS, surrogate="auto")
    assert found.method == "exact"
    np.testing.assert_allclose(found.values, exact(DATA[:20], ROWS))


def test_a_plan_knows_of_the_surrogate():
    explainer = Explainer(model, DATA, draws="own", rng=0)
    plain = explainer.plan(ROWS, max_predictions=3000)
    assert explainer.plan(ROWS, max_predictions=3000, surrogate=BOOSTED).standard_error < 0.9 * plain.standard_error
