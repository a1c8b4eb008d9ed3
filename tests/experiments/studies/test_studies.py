"""Every study runs at its smallest, so that none goes stale."""

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley_experiments.studies import (
    backgrounds,
    batch,
    common_part,
    coverage,
    design_error,
    designs,
    draws_rule,
    gp_rows,
    gp_versions,
    indices,
    large,
    noise,
    overhead,
    rough,
    stress,
    surrogates,
    tiny,
    trees,
    versions,
)

pytestmark = pytest.mark.slow


def test_design_error_writes_a_line_for_each_size(tmp_path):
    design_error.main(["--quick", "--out", str(tmp_path)])
    assert "| make_regression | 10 | 100 | " in (tmp_path / "design_error.md").read_text()


def test_designs_writes_bounds_and_variants(tmp_path):
    designs.main(["--quick", "--out", str(tmp_path)])
    assert "| 3 | 2 | " in (tmp_path / "design_bounds.md").read_text()
    assert "| paired | " in (tmp_path / "design_variants.md").read_text()


def test_overhead_measures_shap_too(tmp_path):
    overhead.main(["--quick", "--out", str(tmp_path / "overhead.md")])
    assert "| shap Permutation | 8 |" in (tmp_path / "overhead.md").read_text()


def test_noise_compares_methods_at_all_levels(tmp_path):
    noise.main(["--quick", "--out", str(tmp_path / "noise.md")])
    lines = (tmp_path / "noise.md").read_text().splitlines()
    assert lines[2] == "| noise | evaluations | noisy | gp | regression | antithetic |"
    assert len(lines) == 4 + len(noise.LEVELS) * len(noise.MULTIPLES)


def test_indices_compares_ways_of_sampling(tmp_path):
    indices.main(["--quick", "--out", str(tmp_path / "indices.md")])
    assert "| forest | banzhaf | 20 d | " in (tmp_path / "indices.md").read_text()


def test_gp_rows_compares_calls_of_different_sizes(tmp_path):
    gp_rows.main(["--quick", "--out", str(tmp_path / "gp_rows.md")])
    assert "| make_regression | 10 | 102 | 110 | " in (tmp_path / "gp_rows.md").read_text()


def test_coverage_measures_every_method(tmp_path):
    coverage.main(["--quick", "--out", str(tmp_path / "coverage.md")])
    assert "| antithetic | " in (tmp_path / "coverage.md").read_text()


def test_backgrounds_has_exact_values_within_the_intervals(tmp_path):
    backgrounds.main(["--quick", "--out", str(tmp_path)])
    table = pd.read_csv(tmp_path / "backgrounds.csv").set_index(["background", "player"]).sort_index()
    assert (tmp_path / "backgrounds.png").stat().st_size > 10_000
    exact, ours = table.loc[backgrounds.EXACT], table.loc[backgrounds.ESTIMATED]
    covered = ours["low"].le(exact["value"]) & exact["value"].le(ours["high"])
    assert covered.mean() >= 0.8
    few = table.drop([backgrounds.EXACT, backgrounds.ESTIMATED])["value"].unstack("player")
    spread = ((few - exact["value"]) ** 2).mean().mean()
    assert ((ours["value"] - exact["value"]) ** 2).mean() < 0.2 * spread


def test_surrogates_compares_errors_with_and_without(tmp_path):
    surrogates.main(["--quick", "--out", str(tmp_path / "surrogates.md")])
    assert "| xgboost | make_regression | 10 | 500 | 5 | " in (tmp_path / "surrogates.md").read_text()


def test_surrogates_has_exact_values_of_every_kind_of_model(tmp_path):
    for kind in ("mlp", "forest"):
        case = surrogates.Case(kind, "make_regression", 30, (5,), 1, 1)
        problem = surrogates.make_problem(case, tmp_path)
        total = problem.predict(problem.rows) - problem.predict(problem.background).mean()
        assert problem.exact.sum(axis=1) == pytest.approx(total, rel=1e-5)


def test_draws_rule_compares_shared_and_own_draws(tmp_path):
    draws_rule.main(["--quick", "--out", str(tmp_path)])
    assert "| make_regression | 10 | 50 | coalitions | **" in (tmp_path / "draws_rule.md").read_text()
    table = pd.read_csv(tmp_path / "draws_rule.csv")
    assert table["own"].tolist() == ["orderings", "coalitions"] * 2
    draws_rule.main(["--table", str(tmp_path / "draws_rule.csv"), "--out", str(tmp_path / "again")])
    assert (tmp_path / "again" / "draws_rule.md").read_text() == (tmp_path / "draws_rule.md").read_text()
    assert (table["low"] <= table["ratio"]).all()


def test_batch_measures_every_case(tmp_path):
    batch.main(["--quick", "--out", str(tmp_path / "batch.md")])
    text = (tmp_path / "batch.md").read_text()
    for case in ("one process", "two processes", "two separate runs"):
        assert f"| {case} | cheap | 300 | 30 | " in text
    assert "engine overhead: " in text


def test_common_part_is_a_share(tmp_path):
    common_part.main(["--quick", "--out", str(tmp_path / "common.md")])
    line = (tmp_path / "common.md").read_text().splitlines()[-1]
    assert line.startswith("| XGBoost | make_regression | 0.")


def test_common_part_is_all_if_draws_are_the_same_and_none_if_they_have_nothing_in_common():
    rng = np.random.default_rng(0)
    background, rows = rng.normal(size=(60, 8)), np.full((1, 8), 5.0)
    same = sharpley.MarginalGame(lambda x: (x > 4).prod(axis=1) + (x[:, :3] > 4).prod(axis=1), background, rows)
    assert common_part.common_share(same, 0) == pytest.approx(1.0)
    other = sharpley.MarginalGame(lambda x: np.sin(1e3 * x).prod(axis=1), background, rows)
    assert abs(common_part.common_share(other, 0)) < 0.15


def test_large_measures_every_case(tmp_path):
    large.main(["--quick", "--out", str(tmp_path / "large.md")])
    text = (tmp_path / "large.md").read_text()
    assert all(f"| {name} | " in text for name in large.QUICK_CASES)


def test_tiny_compares_forms_of_gp(tmp_path):
    tiny.main(["--quick", "--out", str(tmp_path)])
    assert "| models | 3 d | gp in pairs | " in (tmp_path / "tiny.md").read_text()
    assert (tmp_path / "tiny.png").stat().st_size > 10_000


def test_rough_compares_methods_and_tells_of_blind_runs(tmp_path):
    rough.main(["--quick", "--out", str(tmp_path)])
    table = pd.read_csv(tmp_path / "rough.csv")
    assert len(table) == rough.QUICK_GAMES * len(rough.METHODS) * len(rough.MULTIPLES)
    np.testing.assert_array_equal(table[table["method"] == rough.COMPARED_WITH]["ratio"], 1.0)
    text = (tmp_path / "rough.md").read_text()
    assert 'divided by that of "regression"' in text
    assert "all evaluated coalitions have the same value" in text
    assert (tmp_path / "rough.png").stat().st_size > 10_000


def test_versions_compares_with_a_commit(tmp_path):
    versions.main(["HEAD", "--quick", "--out", str(tmp_path / "versions.md")])
    lines = (tmp_path / "versions.md").read_text().splitlines()
    assert lines[0].startswith("Compared with HEAD, 0 of 2 cells")
    assert lines[4].startswith("| xgboost-make_regression | 10 | 52 | 2 | ")


def test_versions_names_a_commit_that_does_not_exist(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        versions.main(["nowhere", "--quick"])


def test_gp_versions_measures_and_compares(tmp_path, capsys):
    found = tmp_path / "now.jsonl"
    only = ["--suites", "rough", "--only", "0", "--multiples", "3", "--seeds", "1"]
    gp_versions.main(["measure", str(found), *only])
    gp_versions.main(["compare", str(found), str(found)])
    assert "rough 3 d: geometric mean 1.000 of 1 cells" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "multiple", "least"), [("valuation-100", 4, 0.85), ("quadratic-12", 3, 0.8)])
def test_error_bars_hold_where_they_once_broke(name, multiple, least):
    """kNN data valuation with 100 players had a coverage of .46, and exp of a quadratic form one of .57."""
    case = next(case for case in gp_versions.CASES if case.name == name)
    found = [gp_versions.run(case, multiple, seed, "gp") for seed in range(case.seeds)]
    assert np.mean([line["coverage"] for line in found]) > least


def test_stress_writes_a_page_and_has_exact_values(tmp_path, monkeypatch):
    monkeypatch.setattr(stress, "BUDGETS", {"10 d": 10, "100 d": 100})
    models = stress.stress_models(0)
    monkeypatch.setattr(stress, "stress_models", lambda instance: (models[4], models[10], models[18]))
    stress.main(["--quick", "--out", str(tmp_path)])
    page = (tmp_path / "stress.md").read_text()
    assert "| 100 d | " in page
    assert "With tol=0.05, " in page


def test_trees_measures_shap_too(tmp_path):
    trees.main(["--quick", "--out", str(tmp_path / "trees.md")])
    assert "| 6 | 10 | 100 | " in (tmp_path / "trees.md").read_text()


def test_trees_measures_memory(capsys):
    trees.main(["--quick", "--million"])
    assert "MB of memory beyond the data" in capsys.readouterr().out
