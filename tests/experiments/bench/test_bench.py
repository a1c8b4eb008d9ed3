"""The benchmark against shap and shapiq: its games, times, peers and tables."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sharpley import estimate
from sharpley.app.cli import app
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import UnanimitySum, WeightedVoting
from sharpley.games.callables import CallableGame
from sharpley_experiments.bench import measure as bench
from sharpley_experiments.bench import peers, report, run
from sharpley_experiments.bench.games import CLOSED_FORM_PLAYERS, CLOSED_FORMS, GAMES, bench_game
from sharpley_experiments.bench.measure import Timed, measure
from sharpley_experiments.bench.peers import available_peers
from sharpley_experiments.bench.run import MULTIPLES, _cells, players_of, summarised
from sharpley_experiments.bench.shapiq_games import SHAPIQ_GAMES
from sharpley_experiments.common.lookup import TableGames

VOTES = WeightedVoting((4, 3, 2, 2, 1, 1), quota=7)


def test_looked_up_values_are_those_of_the_game():
    coalitions = all_coalitions(6)
    order = np.argsort(coalitions @ (2 ** np.arange(6)[::-1]))
    games = TableGames(np.stack([VOTES(coalitions[order]), 2 * VOTES(coalitions[order])]))
    assert games.d == 6
    shuffled = np.random.default_rng(0).permutation(coalitions)
    np.testing.assert_array_equal(games.evaluator()(np.ones(64, int), shuffled)[:, 0], 2 * VOTES(shuffled))
    exact = estimate(games, method="exact", max_evals=64).values
    np.testing.assert_allclose(exact, np.outer([1, 2], VOTES.shapley_values()), atol=1e-12)


def test_games_with_closed_forms_are_stable():
    for name in CLOSED_FORMS:
        game = bench_game(name, None, "")
        assert game.exact.shape == (1, CLOSED_FORM_PLAYERS)
        assert game.games.d == players_of(name)
        ends = game.games.endpoints()
        assert game.exact.sum() == pytest.approx(ends[0, 1, 0] - ends[0, 0, 0])


def test_tree_game_of_the_benchmark(tmp_path):
    row = measure(game="xgboost-make_regression", method="gp", multiple=10, seed=0, data=None, folder=str(tmp_path))[0]
    assert row["d"] == 10
    assert row["evaluations"] == 102
    assert 0 < row["mse"] / row["size"] < 1e-3
    assert 0 < row["own_seconds"] < row["seconds"]


def test_distinct_coalitions_are_counted():
    timed = Timed(CallableGame(VOTES, 6))
    timed.endpoints()
    evaluate = timed.evaluator()
    coalitions = np.repeat(all_coalitions(6), 3, axis=0)
    evaluate(np.zeros(len(coalitions), int), coalitions)
    assert timed.evaluations == 64


@pytest.mark.parametrize(
    "method", [pytest.param("shap Permutation", marks=pytest.mark.slow), "shap Kernel"]
)  # compiles
def test_peers_estimate_shapley_values(method):
    """Errors fall with the budget, and (nearly) vanish if the budget covers all coalitions."""
    game = UnanimitySum.random(8, n_terms=20, max_order=4, rng=0)
    truth = game.shapley_values()
    few, many = (available_peers()[method](game, 8, budget, 0) for budget in (40, 256))
    assert np.abs(few - truth).mean() < 0.5 * np.abs(truth).mean()
    assert np.abs(many - truth).max() < (1e-9 if method == "shap Kernel" else 0.25)


class Substitute:
    """A substitute for shapiq, which needs a newer Python than the library."""

    def __init__(self, monkeypatch, name, approximate):
        self.made = {}
        made = self.made

        class Approximator:
            def __init__(self, **options):
                made.update(options)

            def approximate(self, budget, game):
                return approximate(budget, game)

        shapiq, module = ModuleType("shapiq"), ModuleType("shapiq.approximator")
        setattr(module, name, Approximator)
        shapiq.approximator = module
        monkeypatch.setitem(sys.modules, "shapiq", shapiq)
        monkeypatch.setitem(sys.modules, "shapiq.approximator", module)
        monkeypatch.setattr(peers, "find_spec", lambda library: object())


@pytest.mark.parametrize(
    ("name", "d", "options"),
    [
        ("KernelSHAP", 30, {"pairing_trick": True}),
        ("PolySHAP", 30, {"pairing_trick": True, "max_order": 3}),
        ("PolySHAP", 107, {"pairing_trick": True, "max_order": 2}),  # order 3 would have 200,000 terms
        ("RegressionMSR", 30, {"index": "SV"}),
        ("SVARM", 30, {}),
        ("kADDSHAP", 30, {"pairing_trick": True}),
        ("ProxySHAP", 30, {"index": "SV", "max_order": 1, "adjustment": True}),
        ("SPEX", 30, {"index": "SV", "max_order": 1}),
        ("ShaplEIG", 30, {"show_progress": False}),
    ],
)
def test_shapiqs_estimators_get_the_whole_budget_and_their_best_options(monkeypatch, name, d, options):
    seen = {}

    def approximate(budget, game):
        seen.update(budget=budget, values=game(np.array([[0, 1]], dtype=int)))
        return SimpleNamespace(values=np.array([9.0, 5.0]), interaction_lookup={(): 0, (3,): 1})

    shapiq = Substitute(monkeypatch, name, approximate)
    found = available_peers()
    assert set(found) == {"shap Permutation", "shap Kernel", f"shapiq {name}"}  # those that the installed version has
    values = found[f"shapiq {name}"](lambda coalitions: np.where(coalitions.dtype == bool, 1.0, 0.0), d, 302, 7)
    np.testing.assert_array_equal(values, 5.0 * (np.arange(d) == 3))  # players that are not mentioned have value 0
    assert shapiq.made == {"n": d, "random_state": 7, **options}
    assert seen == {"budget": 302, "values": 1.0}


def test_peers_whose_library_is_missing_are_not_there(monkeypatch):
    Substitute(monkeypatch, "ShaplEIG", None)
    monkeypatch.setattr(peers, "find_spec", lambda library: None if library == "botorch" else object())
    assert set(available_peers()) == {"shap Permutation", "shap Kernel"}


def test_a_peer_that_needs_more_evaluations_has_no_line(monkeypatch, tmp_path):
    def approximate(budget, game):
        raise ValueError("Insufficient budget to compute the transform." if budget < 200 else "something else")

    Substitute(monkeypatch, "SPEX", approximate)
    settings = {"game": "airport", "method": "shapiq SPEX", "seed": 0, "data": None, "folder": str(tmp_path)}
    assert measure(multiple=5, **settings) == []
    with pytest.raises(ValueError, match="something else"):
        measure(multiple=10, **settings)


def test_a_peer_that_exceeds_the_budget_is_an_error(monkeypatch, tmp_path):
    def greedy(game, d, budget, seed):
        game(np.random.default_rng(seed).random((3 * budget, d)) < 0.5)
        return np.zeros(d)

    monkeypatch.setattr(bench, "available_peers", lambda: {"greedy": greedy})
    with pytest.raises(RuntimeError, match="greedy evaluated 456 coalitions of airport, more than 152 a row"):
        measure(game="airport", method="greedy", multiple=5, seed=0, data=None, folder=str(tmp_path))


def test_peers_see_only_players_that_matter():
    """A peer that only records its number of players."""
    seen = []

    timed = Timed(TableGames(np.zeros((2, 64))))
    timed.varying = lambda: np.array([[True] * 6, [True] * 4 + [False] * 2])
    bench_peers = {"spy": lambda game, d, budget, seed: seen.append(d) or np.full(d, 1.0)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "available_peers", lambda: bench_peers)
        values = bench._peers(timed, "spy", 20, 0)
    assert seen == [6, 4]
    np.testing.assert_array_equal(values[1], [1, 1, 1, 1, 0, 0])


def test_methods_that_need_more_evaluations_have_no_line(tmp_path):
    assert measure(game="airport", method="stratified", multiple=5, seed=0, data=None, folder=str(tmp_path)) == []


@pytest.fixture
def without_data(monkeypatch):
    monkeypatch.setattr(run, "number_of_rows", lambda name, data: 1000)


def test_methods_without_a_line_are_named(tmp_path):
    result = CliRunner().invoke(
        app, ["bench", "--game", "airport", "--method", "stratified", "--quick", "--out", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "no budget of these games is large enough" in result.stderr


def test_a_report_shows_what_was_measured_earlier(tmp_path):
    run.run(tmp_path, data=None, games=["airport"], methods=["antithetic"], quick=True)
    lines = run.run(tmp_path, data=None, games=["voting"], methods=["regression"], quick=True)
    assert list(zip(lines["game"], lines["method"], lines["multiple"], strict=True)) == [
        *(("airport", "antithetic", multiple) for multiple in (5, 10)),
        *(("voting", "regression", multiple) for multiple in (5, 10)),
    ]
    kept = next(path for path in (tmp_path / "cells").glob("*.json") if "airport" in path.read_text(encoding="utf-8"))
    kept.unlink()  # so that one of its budgets lacks a seed
    lines = run.run(tmp_path, data=None, games=["voting"], methods=["regression"], quick=True)
    assert (lines["game"] == "airport").sum() == 1


def test_what_a_cell_depends_on(monkeypatch, without_data):
    assert run.made_from("airport", None) == ""
    monkeypatch.setattr(run, "with_version", lambda library: f"{library} 9.9")
    assert run.made_from("xgboost-year", None) == ", xgboost 9.9, 1000 rows"
    assert run.made_from("mlp-bank", None) == ", scikit-learn 9.9, 1000 rows"
    assert run.made_from("shapiq-soum", None) == ", shapiq 9.9, scikit-learn 9.9"


def test_which_cells_there_are(without_data):
    everything = [cell for game in GAMES for cell in _cells(game, "gp", None, quick=False)]
    multiples = {game: {c["multiple"] for c in everything if c["game"] == game} for game in GAMES}
    assert multiples["xgboost-cal_housing"] == {5, 10, 20}  # 50 d exceeds 2^8
    assert multiples["xgboost-year"] == set(MULTIPLES)
    assert len([c for c in everything if c["game"] == "xgboost-adult" and c["multiple"] == 50]) == 10
    slow = _cells("xgboost-adult", "shapiq SVARM", None, quick=False)
    assert {c["multiple"] for c in slow} == {5, 10, 20}
    assert len(slow) == 9
    assert len(_cells("xgboost-breast_cancer", "shapiq PolySHAP", None, quick=False)) == 43  # three seeds at 100 d
    assert len(_cells("voting", "shapiq PolySHAP", None, quick=False)) == 50
    assert {c["multiple"] for c in everything if c["game"] == "shapiq-soum"} == {5, 10, 20, 50}
    slowest = _cells("shapiq-soum", "shapiq ShaplEIG", None, quick=False)
    assert [(c["multiple"], c["seed"]) for c in slowest] == [(5, 0), (5, 1), (10, 0), (10, 1)]
    assert _cells("shapiq-soum-of-4", "shapiq ShaplEIG", None, quick=False) == []  # 15 players


def test_games_are_chosen_by_patterns():
    assert run.matching_games(["airport", "shapiq-*"]) == ["airport", *SHAPIQ_GAMES]
    with pytest.raises(ValueError, match="airport"):
        run.matching_games(["chess-*"])


def test_games_of_libraries_that_are_missing_are_left_out(monkeypatch):
    monkeypatch.setattr(run, "find_spec", lambda library: None)
    assert set(GAMES) - set(run.available_games()) == set(SHAPIQ_GAMES)
    monkeypatch.setattr(run, "find_spec", lambda library: object())
    assert run.available_games() == GAMES


def test_auto_chooses_gp_on_the_games_of_shapiq():
    """The benchmark measures gp, and its page says that this is what "auto" does."""
    for game in SHAPIQ_GAMES:
        d = players_of(game)
        for multiple in run.SHAPIQ_MULTIPLES:
            found = estimate(TableGames(np.zeros((1, 2**d))), max_evals=multiple * d + 2, rng=0)
            assert found.method == "gp"


@pytest.fixture
def lines():
    rows = [
        {"game": game, "method": method, "multiple": multiple, "seed": seed, "d": 30, "mse": error * (1 + 0.1 * seed),
         "size": 2.0, "reference_variance": 0.0, "evaluations": 302.0, "own_seconds": 0.1, "seconds": 0.2}
        for game in ("airport", "voting")
        for multiple in (10, 50)
        for method, error in (("gp", 1e-4), ("antithetic", 1e-2), ("shap Kernel", 1e-3), ("shapiq SVARM", 5e-4))
        for seed in range(4)
    ]  # fmt: skip
    return summarised(pd.DataFrame(rows))


def test_errors_are_relative_and_have_intervals(lines):
    line = lines[(lines["method"] == "gp") & (lines["game"] == "airport")].iloc[0]
    assert line["error"] == pytest.approx(1.15e-4 / 2)
    assert line["low"] < line["error"] < line["high"]
    assert line["seeds"] == 4


def test_methods_that_are_better_are_listed(lines):
    assert report.shortfall_table(lines).count("\n") == 2  # nothing but the head
    worse = lines.assign(error=lines["error"].where(lines["method"] != "gp", 4e-4), low=lines["low"] * 0.5)
    table = report.shortfall_table(worse)
    assert table.count("| airport | 302 |") == 1
    line = next(line for line in table.splitlines() if line.startswith("| airport | 302 |"))
    assert "| shapiq SVARM | 0.72 (" in line  # 1.15 × 5e-4 / 2 against 4e-4
    assert "shap Kernel" not in table


def test_headline_names_the_best_peer_and_the_aim(lines):
    table = report.headline_table(lines)
    assert "shapiq SVARM" in table
    assert "shap Kernel" not in table
    assert table.count("**5.0 (") == 4
    worse = lines.assign(error=lines["error"].where(lines["method"] != "gp", lines["error"] * 2))
    assert "2.5 (" in report.headline_table(worse)
    assert "aim 4" in report.headline_table(worse)


def test_the_readme_agrees_with_the_measurements(results):
    measured = pd.read_csv(results / "bench.csv").set_index(["game", "multiple", "method"])["error"].sort_index()
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    section = text.split("## How few evaluations")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (XGBoost|network), (\w+) \| (\d+) \| (.*) \|$", section, re.MULTILINE)
    assert len(rows) == len(GAMES) - len(CLOSED_FORMS) - len(SHAPIQ_GAMES)
    for kind, name, d, cells in rows:
        game = f"{'mlp' if kind == 'network' else 'xgboost'}-{name}"
        assert int(d) == players_of(game)
        shown = cells.split(" | ")
        for multiple, of_budget in ((10, shown[:3]), (50, shown[3:])):
            if multiple * int(d) >= 2 ** int(d):
                assert of_budget == ["–"] * 3
                continue
            errors = measured[game, multiple]
            others = [errors["shap Permutation"], errors["shap Kernel"], errors.filter(like="shapiq").min()]
            factors = [other / errors["gp"] for other in others]
            assert of_budget == [f"{f:.1f}" if f < 10 else f"{f:.0f}" for f in factors]


def test_tables_and_figure_are_written(lines, tmp_path):
    paths = report.write(lines, tmp_path, "versions")
    assert [path.name for path in paths] == ["bench.csv", "bench.md", "bench.png"]
    page = paths[1].read_text(encoding="utf-8")
    assert "### 10 d evaluations" in page
    assert "**5.8e-05 ±" in page
    again = pd.read_csv(paths[0])
    assert report.headline_table(again).count("\n") == report.headline_table(lines).count("\n")
    of_shapiq = lines.assign(game=lines["game"].replace("voting", "shapiq-soum"))
    both = report.write(of_shapiq, tmp_path, "versions")
    assert [path.name for path in both[3:]] == ["bench_shapiq.csv", "bench_shapiq.md", "bench_shapiq.png"]
    assert set(pd.read_csv(both[0])["game"]) == {"airport"}
    assert set(pd.read_csv(both[3])["game"]) == {"shapiq-soum"}


def test_command(tmp_path):
    arguments = ["bench", "--quick", "--game", "airport", "--method", "antithetic", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "bench.md").exists()
    wrong = CliRunner().invoke(app, [*arguments[:3], "chess", *arguments[4:]])
    assert wrong.exit_code == 2
    assert "airport" in wrong.output
