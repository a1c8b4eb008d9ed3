"""Forecasts of long runs."""

import time

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley import Explainer, LongRunWarning
from sharpley.engine import progress
from sharpley.forecast import choose_pilot, make_forecast
from sharpley.games.marginal.model import CallTime

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(300, 7))


def model(x):
    x = np.asarray(x)
    return x[:, 0] * x[:, 1] * x[:, 2] + np.abs(x[:, 3:]).sum(axis=1)


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame, np.ndarray.tolist])
def test_a_plan_forecasts_predictions_calls_and_errors(wrap):
    calls = []

    def counting(x):
        calls.append(len(x))
        return model(x)

    explainer = Explainer(counting, wrap(DATA), rng=0, batch_size=400)
    forecast = explainer.plan(wrap(DATA[:50] + 0.5), max_predictions=2000)
    calls.clear()
    found = explainer.estimate(wrap(DATA[:50] + 0.5), max_predictions=2000)
    assert forecast.predictions == pytest.approx(found.n_predictions.sum(), rel=0.02)
    assert forecast.model_calls == pytest.approx(len(calls), rel=0.3)
    typical = np.sqrt((found.standard_errors**2).mean())
    assert forecast.standard_error == pytest.approx(typical, rel=0.3)
    low, high = forecast.standard_error_interval
    assert low < typical < high
    assert forecast.pilot_rows == 20
    assert "standard errors about" in str(forecast)


def test_a_plan_forecasts_the_time_of_a_slow_model():
    def slow(x):
        time.sleep(0.02)
        return model(x)

    explainer = Explainer(slow, DATA, rng=0)
    forecast = explainer.plan(DATA[:30] + 0.5, max_predictions=500)
    assert forecast.model_seconds >= 0.015 * forecast.model_calls
    assert forecast.seconds >= forecast.model_seconds


@pytest.mark.parametrize("kind", ["RandomForestRegressor", "GradientBoostingRegressor"])
def test_a_plan_of_trees_recommends_no_other_library(kind):
    from sklearn import ensemble

    trees = getattr(ensemble, kind)(n_estimators=3, random_state=0).fit(DATA, model(DATA))
    assert "shap" not in str(Explainer(trees, DATA, rng=0).plan(DATA[:9] + 0.5, max_predictions=200))


def hard_in_few_rows(x):
    """A model with most of its error in rows with a large first feature."""
    return x[:, 0] + np.exp(1.5 * x[:, 1]) * x[:, 2] * x[:, 3]


def test_errors_are_forecast_where_rows_differ_in_difficulty():
    """Of 40 pilots, at least 33 intervals contain the later error (95% minus three standard errors); none is wide."""
    rows = np.random.default_rng(1).normal(size=(600, 7))
    later = Explainer(hard_in_few_rows, DATA, rng=0).estimate(rows, max_predictions=200)
    squares = np.square(later.standard_errors).mean(axis=1)
    typical, predictions = np.sqrt(squares.mean()), hard_in_few_rows(rows)[:, None]
    assert np.sqrt(squares[[0, 299, 599]].mean()) / typical == pytest.approx(0.3, abs=0.2)  # so it is difficult
    inside, ratios = [], []
    for seed in range(40):
        pilot = choose_pilot(predictions, 20, np.random.default_rng(seed))
        found = make_forecast(600, pilot, np.arange(0), lambda which: (later[which], CallTime()), 1000, RNG)
        low, high = found.standard_error_interval
        inside.append(low <= typical <= high)
        ratios.append(found.standard_error / typical)
        assert high / low < 6
    assert sum(inside) >= 33
    assert np.quantile(ratios, [0.1, 0.9]) == pytest.approx([0.8, 1.25], abs=0.25)


def test_a_pilot_is_random_seeded_and_spread_over_all_predictions():
    predictions = np.arange(1000.0)[:, None]
    one, same, other = (choose_pilot(predictions, 20, np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.positions, same.positions)
    assert (one.positions != other.positions).any()
    assert np.diff(one.positions).max() < 200
    shares = one.weights / one.weights.sum()
    assert shares @ predictions[one.positions, 0] == pytest.approx(499.5, rel=0.1)
    assert len(set(choose_pilot(predictions[:5], 20, RNG).positions)) == 5
    assert len(choose_pilot(np.zeros((50, 3)), 20, RNG).positions) == 20  # a constant model


class Timed:
    """Estimates that take a second for each call and a millisecond for each prediction, after a first, slow one."""

    def __init__(self):
        self.calls = 0

    def __call__(self, which):
        self.calls += 1
        shape, n_predictions = (len(which), 2), np.full(len(which), 100)
        seconds = 1.0 + 0.1 * len(which) + (100.0 if self.calls == 1 else 0.0)
        moments = np.ones(shape), np.ones(shape), np.zeros(len(which))
        found = sharpley.ShapleyEstimate(
            *moments, n_predictions, "exact", True, np.ones(shape), None, n_predictions, compute_time=seconds
        )
        return found, CallTime(3, seconds / 2)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 20, 200])
def test_times_are_extrapolated_from_calls_of_different_size_without_the_first(count):
    pilot = choose_pilot(np.arange(1000.0)[:, None], count, np.random.default_rng(0))
    found = make_forecast(1000, pilot, np.arange(0), Timed(), 10**6, RNG)
    assert found.predictions == 100_000
    assert found.pilot_rows == count
    low, high = found.seconds_interval
    assert low <= found.seconds <= high
    if count > 5:  # fewer rows do not tell what a call takes from what a prediction takes
        assert found.seconds == pytest.approx(101.0, rel=0.02)
        assert found.model_seconds == pytest.approx(50.5, rel=0.02)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_plan_of_few_rows(n):
    forecast = Explainer(model, DATA, rng=0).plan(DATA[:n] + 0.5, max_predictions=200)
    assert (forecast.rows, forecast.pilot_rows) == (n, n)
    assert forecast.standard_error_interval == (forecast.standard_error, forecast.standard_error)  # no other rows


def test_an_exact_plan_has_no_error():
    forecast = Explainer(lambda x: x[:, 0] * x[:, 1], DATA[:20, :2], rng=0).plan(DATA[:100, :2])
    assert forecast.standard_error_interval == (0.0, 0.0)
    assert "standard errors about 0 (0 to 0), 0.0% of the values (from 20 rows)" in str(forecast)


def test_a_plan_of_trees_says_that_values_are_exact():
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit(DATA, model(DATA))
    plan = Explainer(forest, DATA, rng=0).plan(DATA[:2] + 0.5, n_rows=10_000)
    assert (plan.method, plan.rows, plan.standard_error) == ("trees", 10_000, 0.0)
    assert "exact over all background rows" in str(plan)
    assert "TreeExplainer" not in str(plan)
    sampled = Explainer(forest, DATA, rng=0, method="antithetic").plan(DATA[:2] + 0.5)
    assert "exact over all background rows" not in str(sampled)


def test_a_long_run_says_so(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_TO_JUDGE", 0.0)
    monkeypatch.setattr(progress, "LONG_SECONDS", 0.01)

    def slow(x):
        time.sleep(0.01)
        return model(x)

    with pytest.warns(LongRunWarning, match=r"will take about .* more minutes; fewer rows, a smaller max_predictions"):
        Explainer(slow, DATA, rng=0, batch_size=100).estimate(DATA[:3] + 0.5, max_predictions=1000)


class Clock:
    """A clock that the test sets."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(progress.time, "perf_counter", lambda: self.now)


def advance(bar, clock, seconds, count=10):
    clock.now += seconds
    bar.advance(count)


@pytest.mark.parametrize("slow_steps", [[0], [1], [2], [0, 2]])
def test_compilation_is_no_long_run(monkeypatch, recwarn, slow_steps):
    clock, bar = Clock(monkeypatch), progress.Progress(False, 1000)
    for step in range(100):
        advance(bar, clock, 20.0 if step in slow_steps else 0.5)
    assert not recwarn


def test_a_tolerance_is_no_long_run_before_it_has_taken_long(monkeypatch, recwarn):
    clock, bar = Clock(monkeypatch), progress.Progress(False, 100_000, is_limit=True)
    for _ in range(20):
        advance(bar, clock, 2.9)
    assert not recwarn
    with pytest.warns(LongRunWarning, match="up to .* more minutes, unless the tolerance is met before"):
        advance(bar, clock, 2.9)


def test_a_plan_needs_a_sufficient_budget():
    with pytest.raises(ValueError, match="the least budget is max_predictions=13"):
        Explainer(model, DATA).plan(DATA[:2] + 0.5, max_predictions=5)


def test_times_are_readable():
    assert sharpley.forecast.readable(7200) == "2 h"
