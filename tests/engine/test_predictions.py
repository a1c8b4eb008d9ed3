"""Budgets in predictions: what is spent, what is said of it, and what is refused."""

import numpy as np
import pytest

import sharpley
from sharpley import Explainer, RandomModelWarning, estimate, shapley_values
from sharpley.games import Airport

RNG = np.random.default_rng(3)
DATA = RNG.normal(size=(500, 9))


class Counting:
    """A model that counts the rows it is asked for."""

    def __init__(self):
        self.rows = 0

    def __call__(self, x):
        self.rows += len(x)
        return x[:, 0] * x[:, 1] * x[:, 2] + np.abs(x[:, 3:]).sum(axis=1)


@pytest.mark.parametrize("draws", ["auto", "own", "shared"])
@pytest.mark.parametrize("background", [3, 60, 500])
@pytest.mark.parametrize("budget", [{"max_predictions": 16_000}, {"max_evals": 200}])
def test_predictions_are_counted_and_never_exceed_the_budget(draws, background, budget):
    model = Counting()
    found = Explainer(model, DATA[:background], draws=draws, rng=0).estimate(DATA[:2] + 0.5, **budget)
    per_eval = background if draws == "shared" else min(background, 100)
    most = budget.get("max_predictions", budget.get("max_evals", 0) * per_eval)
    assert (found.n_predictions <= most).all()
    # Once for the explainer: the background, and four of its rows twice. n_predictions has v(∅) if draws are shared.
    once = background + min(4, background)
    of_rows = int(found.n_predictions.sum())
    with_empty = 0 if found.method in ("antithetic", "regression") and draws != "shared" else 2 * background
    assert model.rows == once + of_rows - with_empty


def test_the_background_is_predicted_once_for_an_explainer():
    model = Counting()
    explainer = Explainer(model, DATA, draws="own", rng=0)
    first = explainer.estimate(DATA[:2] + 0.5, max_predictions=1000)
    before = model.rows
    second = explainer.estimate(DATA[:2] + 0.5, max_predictions=1000)
    assert model.rows - before == second.n_predictions.sum() + 4  # four rows tell whether the model has changed
    np.testing.assert_array_equal(first.values, second.values)


def test_a_model_that_is_fitted_again_is_noticed():
    scale = [1.0]
    explainer = Explainer(lambda x: scale[0] * x[:, 0] * x[:, 1], DATA, draws="own", rng=0)
    before = explainer.estimate(DATA[:2] + 0.5, max_predictions=1000)
    scale[0] = 3.0
    after = explainer.estimate(DATA[:2] + 0.5, max_predictions=1000)
    np.testing.assert_allclose(after.values, 3.0 * before.values)
    np.testing.assert_allclose(after.base_values, 3.0 * before.base_values)


def test_attributes_of_an_explainer_may_be_changed():
    explainer = Explainer(lambda x: x[:, 0] * x[:, 1], DATA, draws="own", rng=0)
    explainer.estimate(DATA[:2] + 0.5, max_predictions=1000)
    explainer.background = sharpley.Background(DATA[:200])
    found = explainer.estimate(DATA[:2] + 0.5, max_predictions=1000)
    np.testing.assert_allclose(found.base_values, (DATA[:200, 0] * DATA[:200, 1]).mean())


def test_a_large_background_does_not_make_a_call_dearer():
    models = Counting(), Counting()
    for model, data in zip(models, (DATA[:100], DATA), strict=True):
        Explainer(model, data, rng=0).estimate(DATA[:3] + 0.5)
    few, many = (model.rows - n for model, n in zip(models, (104, 504), strict=True))
    assert few <= 3 * 182 * 100
    assert few < many <= 3 * 182 * 100


def test_a_random_model_is_noticed_and_named():
    noise = np.random.default_rng(0)

    def dropout(x):
        return x.sum(axis=1) + noise.normal(size=len(x))

    with pytest.warns(
        RandomModelWarning, match=r"dropout is random: for background row 0 it returned .* evaluation mode"
    ):
        Explainer(dropout, DATA, rng=0).estimate(DATA[:1] + 0.5, max_predictions=500)


def test_single_precision_is_not_random():
    calls = []

    def single(x):
        calls.append(len(x))
        return (x.sum(axis=1) + 1e-7 * len(calls)).astype(np.float32)

    Explainer(single, DATA, rng=0).estimate(DATA[:1] + 0.5, max_predictions=500)


def test_own_draws_need_draws():
    with pytest.raises(ValueError, match="draws='own' needs games with several draws"):
        shapley_values(Airport((1.0, 2.0, 4.0)), draws="own")
    with pytest.raises(ValueError, match="draws='own' needs games with several draws"):
        Explainer(Counting(), DATA[:1], draws="own").estimate(DATA[:1] + 0.5)


@pytest.mark.parametrize("method", ["gp", "owen", "stratified", "exact", "gp-unbiased"])
def test_own_draws_need_orderings(method):
    with pytest.raises(ValueError, match=f"draws='own' is for methods that sample orderings, .*; got '{method}'"):
        Explainer(Counting(), DATA, method=method, draws="own").estimate(DATA[:1] + 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": "each"}, "unknown draws 'each'; choose one of 'auto', 'shared', 'own'"),
        ({"max_predictions": 1}, "max_predictions must be at least 2, got 1"),
        ({"max_predictions": 1.5}, "max_predictions must be an integer, got 1.5"),
    ],
)
def test_invalid_arguments_raise_errors(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        estimate(Airport((1.0, 2.0, 4.0)), **arguments)


def test_too_few_predictions_raise_an_error_before_the_model_is_called():
    model = Counting()
    with pytest.raises(ValueError, match=r"max_predictions=16 .* 9 players: the least budget is max_predictions=17$"):
        Explainer(model, DATA).estimate(DATA[:1] + 0.5, max_predictions=16)
    with pytest.raises(ValueError, match=r"method 'gp' with 9 players: it needs at least 5001; the least of all is 17"):
        Explainer(model, DATA, method="gp").estimate(DATA[:1] + 0.5, max_predictions=600)
    assert model.rows == 0
    assert Explainer(model, DATA, rng=0).estimate(DATA[:1] + 0.5, max_predictions=17).n_predictions[0] <= 17


def test_auto_shares_few_draws_and_owns_many():
    def used(n, **budget):
        return Explainer(Counting(), DATA[:n], rng=0).estimate(DATA[:1] + 0.5, **budget).method

    assert used(30, max_evals=82) == "gp"
    assert used(30, max_evals=80) == "regression"  # fewer than d² coalitions
    assert used(100, max_evals=122) == "gp"
    assert used(100, max_evals=121) == "regression"  # fewer than 1.5 d²
    assert used(101, max_evals=122) == "regression"
    assert used(301, max_evals=242) == "antithetic"  # enough coalitions for each draw, but many draws
    assert used(500, max_predictions=100_000) == "gp"  # pays for all draws of 200 coalitions
    assert used(500, max_predictions=500 * 512 + 2) == "exact"
    assert used(100, max_evals=20) == "antithetic"  # too few for gp


def test_several_million_players_are_refused_at_once():
    with pytest.raises(ValueError, match="10000000 players are too many: at most 32768 are possible"):
        shapley_values(lambda s: s[:, 0], 10**7, max_evals=2 * 10**7)


def test_results_say_how_many_predictions():
    assert shapley_values(Airport((1.0, 2.0, 4.0))).n_predictions == 8
    found = sharpley.from_orderings(Airport((1.0, 2.0, 4.0)), [[0, 1, 2]])
    assert found.n_predictions == found.n_evals == 4


@pytest.mark.filterwarnings("ignore:.*did not reach tol")
def test_a_tolerance_does_not_make_rows_with_equal_values_exceed_the_budget():
    data = RNG.integers(2, size=(400, 30)).astype(float)
    model = Counting()
    found = Explainer(model, data, draws="own", rng=0).estimate(data[:6], tol=1e-6, max_predictions=3000)
    assert not found.converged.any()
    assert model.rows == 404 + found.n_predictions.sum() <= 404 + 6 * 3000


def test_predictions_for_the_background_are_counted_in_every_call():
    model = Counting()
    explainer = Explainer(model, DATA, rng=0)
    first = explainer.estimate(DATA[:3] + 0.5, max_predictions=200)
    assert first.background_predictions == len(DATA) + 4
    assert model.rows == first.background_predictions + first.n_predictions.sum()
    model.rows = 0
    second = explainer.estimate(DATA[:3] + 0.5, max_predictions=200)
    assert second.background_predictions == 4
    assert model.rows == 4 + second.n_predictions.sum()


@pytest.mark.parametrize(("draws", "expected"), [("auto", 1), ("own", 1), ("shared", 501)])
def test_one_player_costs_one_prediction_unless_draws_are_shared(draws, expected):
    calls = []
    one = Explainer(lambda x: calls.append(len(x)) or x[:, 0] ** 2, DATA[:, :1], draws=draws, rng=0)
    found = one.estimate(DATA[:3, :1] + 0.5, max_predictions=600)
    assert found.n_predictions.tolist() == [expected] * 3
    assert sum(calls) == found.background_predictions + 3
    np.testing.assert_allclose(found.values[:, 0], (DATA[:3, 0] + 0.5) ** 2 - (DATA[:, 0] ** 2).mean())
