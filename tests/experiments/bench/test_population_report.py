"""Tables and figures of the benchmark of backgrounds, and its command."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sharpley.app.cli import app
from sharpley_experiments.bench.population import problems, report, run
from sharpley_experiments.bench.population.draw import draw_opening
from sharpley_experiments.bench.population.explainers import FLOOR, OURS, OURS_ON_FEW


def line(game, method, multiple, error, **more):
    found = {"game": game, "method": method, "multiple": multiple, "d": 10, "population": 2000, "mse": 2 * error}
    spent = {"predictions": 90.0 * (multiple * 10 + 2), "seconds": 0.2, "own_seconds": 0.1}
    known = {"size": 2.0, "reference_variance": 0.0}
    return [{**found, **known, **spent, **more, "seed": seed} for seed in range(3)]


@pytest.fixture
def lines():
    rows = line("xgboost-bank", FLOOR, 0, 0.02, predictions=np.nan, seconds=np.nan, own_seconds=np.nan)
    for multiple in (10, 20):
        rows += line("xgboost-bank", OURS, multiple, 2e-4, coverage=0.94)
        rows += line("xgboost-bank", OURS_ON_FEW, multiple, 0.02, coverage=0.4)
        rows += line("xgboost-bank", "shap Kernel, 100 rows", multiple, 0.04)
        rows += line("xgboost-bank", "shap Kernel, k-means 10", multiple, 0.03)
    return run.summarised(pd.DataFrame(rows))


def test_tables_compare_with_few_rows_and_with_the_best_peer(lines):
    table = report.headline_table(lines)
    assert table.count("| shap Kernel, k-means 10 | 3.0e-02 | 2.0e-04 | **100.0** (100.0 to 100.0) | **150.0**") == 2
    assert "at the reference" not in table
    unsure = lines.assign(reference=1e-4)
    assert report.headline_table(unsure).count("at the reference’s own error") == 2
    assert "| sharpley: xgboost-bank | 94% | 94% |" in report.coverage_table(lines)
    assert "| sharpley | 90% | 90% |" in report.spent_table(lines)


def test_the_opening_table_has_the_default_budget(lines):
    more = pd.concat([lines, lines[lines["multiple"] == 20].assign(multiple=50)])
    last = report.opening_table(more).splitlines()[-1]
    assert last == "| XGBoost, bank | 10 | 20 d | – | 4.0e-02 | – | 2.0e-02 | 2.0e-04 |"


def test_the_readme_and_the_page_agree_with_the_measurements(results):
    measured = pd.read_csv(results / "population.csv")
    readme = (results.parents[1] / "README.md").read_text(encoding="utf-8")
    assert report.opening_table(measured) in readme
    note, _, tables = (results / "population.md").read_text(encoding="utf-8").partition("\n\n")
    assert report.markdown(measured, note) == f"{note}\n\n{tables}"
    assert set(measured["game"]) == set(problems.GAMES)
    ours = measured[measured["method"] == OURS].set_index(["game", "multiple"])["error"]
    peers = report._peers(measured).groupby(["game", "multiple"])["error"].min()
    assert (ours < peers.reindex(ours.index)).all()  # the README says so


def test_errors_are_drawn_at_the_predictions_that_were_made(lines):
    panel = draw_opening(lines, "note").axes[0]
    drawn = {drawn.get_label(): drawn for drawn in panel.get_lines()}
    np.testing.assert_allclose(drawn["sharpley, all rows"].get_xdata(), [9180.0, 18180.0])
    np.testing.assert_allclose(drawn["exact values for 100 rows"].get_ydata(), 0.02)
    assert OURS_ON_FEW not in drawn


def test_useless_errors_do_not_flatten_the_picture(lines):
    worst = lines["method"].str.startswith("shap")
    panel = draw_opening(lines.assign(high=lines["high"].where(~worst, 1e33)), "note").axes[0]
    assert panel.get_ylim()[1] <= 3.0


def test_tables_and_figures_are_written(lines, tmp_path):
    paths = report.write(lines, tmp_path, "versions")
    assert [path.name for path in paths] == ["population.csv", "population.md", "population.png", "population_all.png"]
    page = paths[1].read_text(encoding="utf-8")
    assert "### (20 d + 2) · 100 predictions" in page
    assert "| exact, 100 rows | 2.0e-02 ±0% |" in page
    again = pd.read_csv(paths[0])
    assert report.markdown(again, "versions") == page


def test_command(tmp_path):
    arguments = ["bench", "--population", "--quick", "--method", OURS, "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "population.md").exists()
    wrong = CliRunner().invoke(app, [*arguments, "--game", "airport"])
    assert wrong.exit_code == 2
    assert "xgboost-bank" in wrong.output
