"""The benchmark of backgrounds: its models, reference values, ways to explain and cells."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sharpley_experiments.bench import run as games_run
from sharpley_experiments.bench.population import explainers, measure, problems, references, run
from sharpley_experiments.bench.population.explainers import FLOOR, OURS, OURS_ON_FEW, SHAP, Answer, Way, ways
from sharpley_experiments.bench.population.problems import LEVELS, Problem, Table, problem
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.readers import BANK_CATEGORICAL


def interacting(rows):
    """A model of any number of columns with interactions of three: antithetic pairs are exact for those of two."""
    rows = np.asarray(rows)
    return rows.sum(axis=1) + rows[:, 0] * rows[:, 1] * rows[:, -1] + np.maximum(rows[:, 2], rows[:, 3])


def tiny(d, n=120):
    rng = np.random.default_rng(d)
    table = Table(interacting, rng.normal(size=(n, d)), rng.normal(size=(3, d)))
    return Problem("tiny", table, table, interacting)


@pytest.fixture
def tiny_problem(monkeypatch):
    chosen = tiny(6, 300)
    monkeypatch.setattr(measure, "problem", lambda game, data: chosen)
    return chosen


def test_levels_are_those_of_the_reader():
    """``readers.bank`` numbers the sorted words of each column that has words."""
    assert set(LEVELS) == BANK_CATEGORICAL
    assert all(list(words) == sorted(set(words)) for words in LEVELS.values())


def test_a_pipeline_is_one_function_in_three_forms():
    rng = np.random.default_rng(0)
    names = ("age", *LEVELS, "balance")
    x = np.column_stack([rng.integers(0, len(LEVELS.get(name, range(60))), 400) for name in names]).astype(float)
    y = (x[:, 1] + x[:, 8] + rng.normal(size=400) > 8).astype(float)
    made = problems._pipeline("pipeline-bank", Dataset("bank", x, y, names, True), x[:50], x[50:60])
    assert list(made.table.population["month"][:3]) == [LEVELS["month"][int(code)] for code in x[:3, 8]]
    assert made.table.population["age"].dtype == np.int64
    in_words = made.table.predict(made.table.population)
    assert np.ptp(in_words) > 0.5
    np.testing.assert_allclose(made.numbers.predict(x[:50]), in_words)
    np.testing.assert_allclose(made.fast(x[:50]), in_words)


def test_the_population_is_what_is_not_explained():
    made = problem("xgboost-make_regression", None)
    assert made.numbers.population.shape == (990, 10)
    everything = np.concatenate([made.numbers.rows, made.numbers.population])
    assert len(np.unique(everything, axis=0)) == len(load("make_regression").X)
    assert made.varying.all()


def test_reference_values_by_trees_and_by_all_coalitions_agree():
    made = problem("xgboost-make_regression", None)
    few = made.numbers.population[:20]
    np.testing.assert_allclose(
        references.values_for(made, few), references.values_for(made._replace(trees=None), few), atol=1e-3
    )


def test_reference_values_of_a_long_run_have_honest_errors(tmp_path, monkeypatch):
    """The same values by all coalitions are exact."""
    made = tiny(6)
    exact = references.values_for(made, made.numbers.population)
    monkeypatch.setattr(references, "ENUMERATED_PLAYERS", 5)
    found = references.reference(made, tmp_path, pairs=2000)
    error = ((found.values - exact) ** 2).mean()
    assert 0 < found.variance < 1e-3
    assert 0.2 * found.variance < error < 5 * found.variance
    nearly = references.values_for(made, made.numbers.population[:50])
    monkeypatch.undo()
    np.testing.assert_allclose(nearly, references.values_for(made, made.numbers.population[:50]), atol=0.02)


def test_reference_values_are_kept_and_those_of_other_models_are_not_taken_for_them(tmp_path):
    made = tiny(4)
    first = references.reference(made, tmp_path)
    kept = next(tmp_path.glob("*.npz"))
    np.savez(kept, values=first.values + 1, variance=0.5)
    assert references.reference(made, tmp_path).variance == 0.5
    other = made._replace(fast=lambda rows: 2 * interacting(rows))
    np.testing.assert_allclose(references.reference(other, tmp_path).values, 2 * first.values)


@pytest.mark.parametrize(
    "method",
    [
        *(OURS, OURS_ON_FEW, "shap Kernel, 100 rows", "shap Kernel, k-means 10"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in SHAP if "Permutation" in name),  # compiles
    ],
)
def test_budgets_are_spent(tiny_problem, tmp_path, method):
    row = measure.measure(game="tiny", method=method, multiple=8, seed=0, data=None, folder=str(tmp_path))[0]
    budget = measure.budget_of(8, 6)
    assert budget == 5000
    assert (100 if "k-means" in method else 0.3 * budget) < row["predictions"]  # k-means: 62 coalitions
    assert row["predictions"] <= (1.5 if "Permutation" in method else 1.0) * budget
    assert 0 < row["mse"] / row["size"] < 0.5
    assert 0 < row["own_seconds"] < row["seconds"]


def test_a_budget_pays_for_the_whole_population_too(tiny_problem, tmp_path):
    """With a budget that pays for hardly more, there is hardly anything left to explain with."""
    spent = [
        measure.measure(game="tiny", method=OURS, multiple=multiple, seed=0, data=None, folder=str(tmp_path))[0]
        for multiple in (2, 4)
    ]
    assert [row["predictions"] <= measure.budget_of(m, 6) for row, m in zip(spent, (2, 4), strict=True)] == [True] * 2
    calls = explainers.explained(ways()[OURS], tiny_problem.table._replace(predict=interacting), 1400, 0)
    assert calls.interval is not None
    with pytest.raises(ValueError, match="max_predictions"):
        explainers.explained(ways()[OURS], tiny_problem.table, 102, 0)  # 102 for the population of 300, for 3 rows


def test_exact_values_for_few_rows_differ_from_those_for_all(tiny_problem, tmp_path):
    rows = [
        measure.measure(game="tiny", method=FLOOR, multiple=0, seed=seed, data=None, folder=str(tmp_path))[0]
        for seed in (0, 1)
    ]
    assert rows[0]["mse"] != rows[1]["mse"]
    assert all(1e-4 < row["mse"] / row["size"] < 0.5 for row in rows)
    assert "predictions" not in rows[0]
    assert "coverage" not in rows[0]


def test_who_can_spend_what():
    way = SHAP["shap Permutation, 1000 rows"]
    assert way.can_spend(50_200, 10, 2000)
    assert not way.can_spend(20_200, 10, 2000)  # 20 coalitions, but an ordering and its reverse need 21
    assert way.can_spend(20_200, 10, 900)
    assert Way(way.explain, None).can_spend(1, 10, 2000)


def test_methods_that_need_more_have_no_line(tiny_problem, tmp_path):
    method = "shap Kernel, 100 rows"
    assert measure.measure(game="tiny", method=method, multiple=1, seed=0, data=None, folder=str(tmp_path)) == []


def test_coverage_counts_players_that_may_matter():
    values = np.array([[1.0, 2.0, 0.0], [1.0, 5.0, 0.0]])
    varying = np.array([[True, True, False], [True, True, False]])
    interval = np.full((2, 3), 0.5), np.full((2, 3), 2.5)
    assert measure._coverage(interval, values, varying) == 0.75
    assert measure._coverage((values, values), values, varying) == 1.0


def test_other_libraries_get_numbers_and_ours_gets_the_frame(monkeypatch, tmp_path):
    frame = pd.DataFrame(tiny(6).table.population)
    made = tiny(6)._replace(table=Table(lambda rows: interacting(rows.to_numpy()), frame, frame[:3]))
    made = made._replace(numbers=made.numbers._replace(rows=frame[:3].to_numpy()))
    monkeypatch.setattr(measure, "problem", lambda game, data: made)
    seen = []

    def spy(table, predictions, seed):
        seen.append(type(table.rows))
        return Answer(np.zeros((3, 6)))

    ours, theirs = Way(spy, None, takes_frames=True), Way(spy, 100)
    monkeypatch.setattr(measure, "ways", lambda: {"ours": ours, "theirs": theirs})
    for name in ("ours", "theirs"):
        measure.measure(game="tiny", method=name, multiple=5, seed=0, data=None, folder=str(tmp_path))
    assert seen == [pd.DataFrame, np.ndarray]


@pytest.fixture
def without_data(monkeypatch):
    monkeypatch.setattr(games_run, "number_of_rows", lambda name, data: 1000)


def test_which_cells_there_are(without_data):
    cells = run.cells_of(("xgboost-bank", "xgboost-year"), (OURS, FLOOR), None, seeds=10)
    counts = pd.DataFrame(cells).groupby(["game", "method", "multiple"]).size()
    assert counts["xgboost-bank", OURS].to_dict() == {2: 10, 5: 10, 10: 10, 20: 10, 50: 3, 100: 3}
    assert counts["xgboost-year", OURS].to_dict() == {2: 10, 5: 10, 10: 10, 20: 3}
    assert counts["xgboost-year", FLOOR].to_dict() == {0: 10}
    first = [cell["seed"] < run.FEW_SEEDS for cell in cells]
    assert first == sorted(first, reverse=True)  # three seeds of everything, then the others
    assert len(run.cells_of(("xgboost-bank",), (OURS,), None, seeds=2)) == 12


def quick(out, *methods):
    return run.run(out, data=None, methods=list(methods), quick=True)


def test_a_run_resumes_and_drops_what_is_out_of_date(tmp_path):
    lines = quick(tmp_path, OURS, FLOOR)
    assert list(zip(lines["method"], lines["multiple"], strict=True)) == [(FLOOR, 0), (OURS, 2), (OURS, 5)]
    assert list(lines["seeds"]) == [2, 2, 2]
    assert lines["coverage"].notna().tolist() == [False, True, True]
    for path in (tmp_path / "cells").glob("*.json"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["cell"]["multiple"] == 2:
            stored["cell"]["version"] = "an earlier one"
            path.write_text(json.dumps(stored), encoding="utf-8")
    lines = quick(tmp_path, FLOOR)
    assert list(zip(lines["method"], lines["multiple"], strict=True)) == [(FLOOR, 0), (OURS, 5)]


def test_shapiq_explains_row_by_row_with_the_rows_that_it_draws(monkeypatch):
    """With a substitute for shapiq, which needs a newer Python than the library."""
    seen = []

    class TabularExplainer:
        def __init__(self, model, data, **options):
            seen.append((len(data), options))

        def explain(self, row, *, budget):
            seen.append(budget)
            return SimpleNamespace(get_n_order_values=lambda order: row * order)

    shapiq = ModuleType("shapiq")
    shapiq.TabularExplainer = TabularExplainer
    monkeypatch.setitem(sys.modules, "shapiq", shapiq)
    monkeypatch.setattr(explainers, "find_spec", lambda library: object())
    table = tiny(6).table
    found = ways()["shapiq Tabular, 100 rows"].explain(table, 3200, 7)
    np.testing.assert_array_equal(found.values, table.rows)
    options = {"index": "SV", "max_order": 1, "sample_size": 100, "random_state": 7}
    assert seen == [(120, options), 31, 31, 31]
    monkeypatch.setattr(explainers, "find_spec", lambda library: None)
    assert not any("shapiq" in name for name in ways())
