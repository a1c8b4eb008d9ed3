"""Forecasts of long runs."""

import time

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley import Explainer, LongRunWarning
from sharpley.engine import progress

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
    assert forecast.standard_error == pytest.approx(typical, rel=0.5)
    assert forecast.pilot_rows == 3
    assert "standard errors about" in str(forecast)


def test_a_plan_forecasts_the_time_of_a_slow_model():
    def slow(x):
        time.sleep(0.02)
        return model(x)

    explainer = Explainer(slow, DATA, rng=0)
    forecast = explainer.plan(DATA[:30] + 0.5, max_predictions=500)
    assert forecast.model_seconds >= 0.02 * forecast.model_calls
    assert forecast.seconds >= forecast.model_seconds


def test_a_plan_of_trees_says_that_values_are_exact():
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit(DATA, model(DATA))
    plan = Explainer(forest, DATA, rng=0).plan(DATA[:2] + 0.5, n_rows=10_000)
    assert (plan.method, plan.rows, plan.standard_error) == ("trees", 10_000, 0.0)
    assert "exact over all background rows" in str(plan)
    assert "TreeExplainer" not in str(plan)
    assert Explainer(forest, DATA, rng=0, method="antithetic").plan(DATA[:2] + 0.5).notes == []
    assert Explainer(model, DATA, rng=0).plan(DATA[:2] + 0.5, max_predictions=200).notes == []


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
