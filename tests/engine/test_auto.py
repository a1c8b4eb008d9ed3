"""The choice of method "auto", and the warning about slow estimators."""

import time

import numpy as np
import pytest

from sharpley import Explainer, shapley_values
from sharpley.engine import timing
from sharpley.engine.auto import Problem, choose
from sharpley.engine.timing import EstimatorTimeWarning
from sharpley.games import UnanimitySum

GAME = UnanimitySum.random(14, n_terms=40, max_order=4, rng=0)


@pytest.mark.parametrize(
    ("problem", "method"),
    [
        (Problem(d=10, budget=1024), "exact"),
        (Problem(d=10, budget=1024, may_stop=True), "gp"),
        (Problem(d=10, budget=1023), "gp"),
        (Problem(d=10, budget=12), "gp"),
        (Problem(d=10, budget=11), "antithetic"),  # which then raises an error, since the budget is too small
        (Problem(d=500, budget=1000), "gp"),
        (Problem(d=30, budget=602), "gp"),
        (Problem(d=30, budget=602, outputs=1000), "regression"),  # every output is a game
        (Problem(d=390, budget=785), "gp"),
        (Problem(d=390, budget=785, rows=30), "monte-carlo"),  # a minute of linear algebra for very few predictions
        (Problem(d=30, budget=602, rows=10, draws=100), "gp"),
        (Problem(d=107, budget=5352, rows=10), "gp"),
        (Problem(d=107, budget=5352, rows=50), "regression"),  # a minute of linear algebra for very few predictions
        (Problem(d=107, budget=5352, rows=50, draws=100), "gp"),  # the same for a hundred times as many predictions
        (Problem(d=107, budget=5352, rows=100_000), "gp"),  # one factorisation for all rows
        (Problem(d=107, budget=5352, rows=100_000, patterns=1000), "regression"),  # a thousand factorisations
        (Problem(d=2000, budget=40_002), "regression"),
        (Problem(d=1, budget=2), "exact"),
    ],
)
def test_auto_chooses_by_its_rule(problem, method):
    assert choose(problem) == method


def test_choice_is_reported_and_can_be_overridden():
    chosen = shapley_values(GAME, 14, max_evals=282, rng=0)
    assert chosen.method == "gp"
    named = shapley_values(GAME, 14, method="gp", max_evals=282, rng=0)
    np.testing.assert_array_equal(chosen.values, named.values)
    assert shapley_values(GAME, 14, method="antithetic", max_evals=282, rng=0).method == "antithetic"


def test_the_choice_depends_on_the_rows_and_the_background_of_an_explanation(monkeypatch):
    seen = []
    monkeypatch.setattr("sharpley.engine.auto.choose", lambda problem: seen.append(problem) or "antithetic")
    rng = np.random.default_rng(0)
    Explainer(lambda x: x[:, 0] * x[:, 1], rng.normal(size=(7, 5)), rng=0).estimate(
        rng.normal(size=(3, 5)), max_evals=30
    )
    assert seen == [Problem(d=5, budget=30, rows=3, draws=7)]


def test_the_warning_about_slow_estimates_names_a_faster_method(monkeypatch):
    monkeypatch.setattr(timing, "MIN_REPORTED_SECONDS", 0.0)
    message = r"'gp' took .* s of its own, in addition to .* s of model calls; method='regression' is faster"
    with pytest.warns(EstimatorTimeWarning, match=message):
        shapley_values(GAME, 14, method="gp", max_evals=282, rng=0)


def test_there_is_no_warning_if_the_model_takes_longer(monkeypatch, recwarn):
    monkeypatch.setattr(timing, "MIN_REPORTED_SECONDS", 0.0)

    def slow(coalitions):
        time.sleep(0.5)  # much longer than the few milliseconds of a fit
        return GAME(coalitions)

    shapley_values(slow, 14, method="regression", max_evals=282, rng=0)
    assert not [w for w in recwarn if issubclass(w.category, EstimatorTimeWarning)]


def test_there_is_no_warning_about_quick_estimates(recwarn):
    shapley_values(GAME, 14, method="gp", max_evals=282, rng=0)
    assert not [w for w in recwarn if issubclass(w.category, EstimatorTimeWarning)]


def test_the_result_names_all_methods_that_were_used():
    """The second row differs from the background in three features, the third in none."""
    background = np.zeros((5, 14))
    rows = np.ones((3, 14))
    rows[1, 3:] = 0.0
    rows[2] = 0.0
    explainer = Explainer(lambda x: np.tanh(x).sum(axis=1) ** 2, background, rng=0)
    both = explainer.estimate(rows, max_evals=282)
    assert both.method == "gp and exact"
    assert (both.standard_errors[1:] == 0).all()
    assert explainer.estimate(rows[:1], max_evals=282).method == "gp"
    assert explainer.estimate(rows[1:], max_evals=282).method == "exact"
    named = Explainer(lambda x: np.tanh(x).sum(axis=1) ** 2, background, rng=0, method="antithetic")
    assert named.estimate(rows, max_evals=282).method == "antithetic"


@pytest.mark.parametrize("method", ["auto", "antithetic"])
@pytest.mark.parametrize("max_evals", [2, 3, 6, 8, 10, 12, 14, 20, 25])
def test_every_budget_from_the_least_on_gives_an_answer(max_evals, method):
    """Also where the budget is close to all coalitions, but too small for orderings that share all draws."""
    data = np.random.default_rng(0).normal(size=(150, 4))
    explainer = Explainer(lambda x: x[:, 0] * x[:, 1] + x[:, 2], data, method=method, rng=0)
    found = explainer.estimate(data[:1], max_evals=max_evals)
    assert found.n_predictions[0] <= 100 * max_evals
