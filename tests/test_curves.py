"""The paper's evaluation: games, lines, errors, figures and claims."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sharpley import from_orderings
from sharpley.estimators.exact import all_coalitions
from sharpley.experiments.constants import PLAYERS, PRESETS
from sharpley.experiments.curves import CURVES, figures
from sharpley.experiments.curves.claims import (
    about_candidates,
    about_existing,
    about_kernels,
    about_networks,
    about_proposed,
    about_scales,
)
from sharpley.experiments.curves.compare import below_one, finding, hardly_below_one, verdict, versus
from sharpley.experiments.curves.counting import EveryTime, estimate_every_time
from sharpley.experiments.curves.games import CurveGames, curve_games
from sharpley.experiments.curves.measure import SIZES, _estimates, measure
from sharpley.experiments.curves.series import EXISTING, NESTED, SCALES, SETS, most_orderings, scaled
from sharpley.experiments.exhibits import Context
from sharpley.experiments.intervals import mean_interval, ratio_interval
from sharpley.experiments.lookup import TableGames
from sharpley.games import UnanimitySum

GAME = UnanimitySum.random(6, n_terms=15, max_order=4, rng=0)


@pytest.fixture(scope="module")
def games():
    coalitions = all_coalitions(6)
    order = np.argsort(coalitions @ (2 ** np.arange(6)[::-1]))
    table = np.stack([GAME(coalitions[order]), -2.0 * GAME(coalitions[order])])
    return CurveGames(TableGames(table), np.stack([GAME.shapley_values(), -2.0 * GAME.shapley_values()]))


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    return curve_games("gbdt", "make_regression", 3, 20, 200, None, str(tmp_path_factory.mktemp("cells")))


@pytest.mark.parametrize("series", ["monte-carlo", "orthogonal", "herding", "sbq"])
def test_beginnings_of_a_sequence_are_smaller_samples(games, series):
    """What one evaluation of the longest sequence says of n is the weighted mean over its first n."""
    found = dict(_estimates(games, series, 3, [10, 20, 50]))
    seed = np.random.SeedSequence([3, *series.encode()])
    sampler = NESTED[series](6, rng=seed)
    orderings = sampler.random(50)
    for n in (10, 20, 50):
        expected = from_orderings(GAME, orderings[:n], sampler.weights(orderings[:n])).values
        np.testing.assert_allclose(found[n][0], expected, atol=1e-12)
        np.testing.assert_allclose(found[n][1], -2.0 * expected, atol=1e-12)


def test_trees_tables_and_walks_give_the_same_contributions(trees):
    """With few players trees are looked up, with many they have a closed form, and a walk is always possible."""
    from sharpley.experiments.constants import SEED
    from sharpley.experiments.curves.games import _first_rows
    from sharpley.experiments.datasets import load
    from sharpley.experiments.models import make_task, train_xgboost
    from sharpley.games import TreeGame
    from sharpley.samplers import MonteCarlo

    assert isinstance(trees.games, TableGames)
    orderings = MonteCarlo(10, rng=0).random(5)
    walked = CurveGames(_Anonymous(trees.games), None).contributions(orderings)
    np.testing.assert_allclose(walked, trees.contributions(orderings), atol=1e-12)
    dataset = _first_rows(load("make_regression", None), 200)
    task = make_task(dataset, train_xgboost(dataset), rows=3, background=20, seed=SEED)
    closed_form = CurveGames(TreeGame(task.model, task.background, task.rows), None).contributions(orderings)
    np.testing.assert_allclose(walked, closed_form, atol=1e-6)


class _Anonymous:
    """The same games, not known to be trees."""

    def __init__(self, games):
        self._games = games

    def __getattr__(self, name):
        return getattr(self._games, name)


@pytest.mark.parametrize("series", [*EXISTING, *SETS, "regression", "gp", "antithetic"])
def test_every_line_estimates_shapley_values(trees, series):
    n = {"gp": 20, "regression": 20}.get(series, 100)
    (_, estimate), *_ = _estimates(trees, series, 0, [n])
    assert ((estimate - trees.exact) ** 2).mean() < 0.02 * (trees.exact**2).mean()


def test_evaluations_are_paid_for_every_time(games):
    """More of them than there are coalitions, and the estimate is still that of sampling, not exact."""
    store = EveryTime(6)
    twice = np.zeros((2, 6), dtype=bool)
    np.testing.assert_array_equal(store.add(twice), [2, 3])
    assert store.add_within(twice, 5) is None
    assert len(store) == 4
    few, many = (
        estimate_every_time(games.games, EXISTING["owen-halved"], budget, np.random.SeedSequence(1))
        for budget in (100, 20_000)
    )
    errors = [np.abs(values - games.exact).max() for values in (few, many)]
    assert 1e-6 < errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("series", ["owen", "stratified"])
def test_methods_start_where_they_have_enough(games, series):
    assert dict(_estimates(games, series, 0, [1])) == {}


def test_trials_are_independent_and_repeatable(tmp_path):
    settings = {
        "kind": "gbdt",
        "dataset": "make_regression",
        "series": "antithetic",
        "largest": 50,
        "rows": 3,
        "background": 20,
        "n_train": 200,
        "data": None,
        "folder": str(tmp_path),
    }
    first, again, other = (measure(trial=trial, **settings) for trial in (0, 0, 1))
    assert first == again != other
    assert [row["n"] for row in first] == [10, 20, 50]
    assert [row["marginal_evals"] for row in first] == [100, 200, 500]


def test_lines_end_where_they_would_take_too_long():
    assert most_orderings("sbq", 10) == 1000
    assert most_orderings("stratified", 107) == 0
    assert most_orderings("antithetic", 107) > max(SIZES)


def test_errors_against_the_mean_of_trials_are_unbiased():
    """For estimates that are the truth plus noise of variance 4: T/(T−1) makes up for the common mean."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": "bank",
            "series": "a",
            "n": 10,
            "trial": t,
            "estimate": (7 + 2 * rng.standard_normal(20_000)).tolist(),
        }
        for t in range(4)
    ]
    table = pd.DataFrame(figures._errors(rows))
    assert set(table["reference"]) == {"mean of trials"}
    assert table["mse"].mean() == pytest.approx(4.0, rel=0.02)


def test_intervals_of_ratios():
    rng = np.random.default_rng(0)
    found = ratio_interval(rng.normal(2.0, 0.2, 400), rng.normal(4.0, 0.2, 400))
    assert found.low < 0.5 < found.high
    assert found.high - found.low < 0.02
    assert mean_interval(np.ones(5)) == (1.0, 1.0, 1.0)


def lines(errors, n=100, datasets=tuple(PLAYERS), trials=8):
    """A table of errors by series: a number, or one for each data set; ten percent noise."""
    rng = np.random.default_rng(0)
    rows = []
    for series, level in errors.items():
        for dataset in datasets:
            mean = level.get(dataset, level.get("")) if isinstance(level, dict) else level
            for trial in range(trials):
                rows.append(
                    {
                        "dataset": dataset,
                        "d": PLAYERS[dataset],
                        "series": series,
                        "n": n,
                        "marginal_evals": n * PLAYERS[dataset],
                        "trial": trial,
                        "reference": "exact",
                        "mse": mean * rng.uniform(0.9, 1.1),
                    }
                )
    return pd.DataFrame(rows)


def verdicts(findings):
    return [finding.verdict for finding in findings]


def test_ratios_are_of_mean_errors_at_the_largest_common_number():
    table = pd.concat([lines({"a": 1.0, "b": 2.0}, n=10), lines({"a": 1.0}, n=50)])
    assert versus(table, "bank", "a", "b").value == pytest.approx(0.5, rel=0.1)


def test_claims_about_existing_methods():
    everyone = {"monte-carlo": 2.0, "owen": 2.0, "owen-halved": 2.0, "stratified": 2.0}
    assert verdicts(about_existing(lines({"antithetic": 1.0, **everyone}))) == ["holds"] * 4
    assert verdicts(about_existing(lines({"antithetic": 3.0, **everyone}))) == ["does not hold"] * 4
    mixed = {"": 1.0, "adult": 3.0}
    assert verdicts(about_existing(lines({"antithetic": mixed, **everyone}))) == ["holds in part"] * 4


AS_PRINTED = {
    "antithetic": 1.0,
    "orthogonal": 0.8,
    "sobol": {"": 1.5, "cal_housing": 0.7, "make_regression": 0.7},
    "herding": {"": 1.5, "cal_housing": 0.5, "make_regression": 0.5},
    "sbq": {"": 1.4, "cal_housing": 0.3, "make_regression": 0.3},
}


def test_claims_about_proposed_methods():
    assert verdicts(about_proposed(lines(AS_PRINTED))) == ["holds"] * 8
    assert verdicts(about_networks(lines({**AS_PRINTED, "sobol": 1.0}))) == ["holds"] * 4
    opposite = {name: level if name == "antithetic" else 2.5 for name, level in AS_PRINTED.items()}
    found = verdicts(about_proposed(lines({**opposite, "antithetic": 2.0})))
    assert found[0] == found[1] == "does not hold"
    assert found[5] == "does not hold"


def test_claims_about_scales():
    best_differs = {scaled(s): {"": 1.0 + 0.1 * abs(np.log2(s / 4)), "adult": 1.0 + 0.1 * np.log2(s)} for s in SCALES}
    assert verdicts(about_scales(lines(best_differs))) == ["holds", "holds"]
    small_is_best = {scaled(s): float(s) for s in SCALES}
    assert verdicts(about_scales(lines(small_is_best))) == ["does not hold", "does not hold"]


def test_claims_about_candidates():
    assert (
        verdicts(
            about_candidates(lines({f"{c} candidates": e for c, e in [(5, 2.0), (10, 1.5), (25, 1.0), (50, 0.98)]}))
        )
        == ["holds"] * 3
    )
    falling = {f"{c} candidates": e for c, e in [(5, 1.0), (10, 1.0), (25, 2.0), (50, 1.0)]}
    assert verdicts(about_candidates(lines(falling))) == ["does not hold"] * 3


def test_claims_about_kernels():
    lags = {"": 1.0, "cal_housing": 2.0, "make_regression": 2.0}
    assert verdicts(about_kernels(lines({"mallows": 1.0, "kendall": lags, "spearman": 3.0}))) == ["holds"] * 5
    equal = verdicts(about_kernels(lines({"mallows": 1.0, "kendall": 1.0, "spearman": 1.0})))
    assert equal == ["holds", "holds", "does not hold", "does not hold", "does not hold"]


@pytest.fixture
def context(tmp_path, monkeypatch):
    """One small data set, few trials."""
    monkeypatch.setattr(figures, "PLAYERS", {"make_regression": 10})
    return Context(replace(PRESETS["quick"], n_few_players=20), tmp_path)


@pytest.mark.parametrize("name", ["existing-gbdt", "lambda-gbdt"])
def test_figures_are_drawn_from_tables_alone(context, name, tmp_path):
    exhibit = CURVES[name]
    table = exhibit.compute(context)
    assert list(table) == ["dataset", "d", "series", "n", "marginal_evals", "trial", "reference", "mse"]
    stored = set(tmp_path.iterdir())
    pd.testing.assert_frame_equal(exhibit.compute(context), table)
    assert set(tmp_path.iterdir()) == stored  # nothing was measured twice
    table.to_csv(tmp_path / "table.csv", index=False)
    again = pd.read_csv(tmp_path / "table.csv")
    figure = exhibit.draw(again, "preset: quick")
    assert "preset: quick" in [text.get_text() for text in figure.texts]
    figure.savefig(tmp_path / "figure.png")
    assert len(exhibit.tabulate(again)) == 1


def test_networks_are_measured_against_exact_values_and_means(context):
    table = CURVES["proposed-mlp"].compute(context)
    assert set(table["reference"]) == {"exact", "mean of trials"}
    exact = table[table["reference"] == "exact"].groupby("series")["mse"].mean()
    assert exact["gp"] < exact["antithetic"]


def test_what_trials_cannot_tell_is_undecided():
    assert [verdict(*counts, 3) for counts in ((3, 0), (1, 0), (1, 2), (0, 1), (0, 0))] == [
        "holds",
        "holds in part",
        "holds in part",
        "does not hold",
        "undecided",
    ]
    noisy = lines({"a": 1.0, "b": 1.0})
    noisy["mse"] *= np.random.default_rng(0).gamma(0.1, size=len(noisy))
    ratios = {"bank": versus(noisy, "bank", "a", "b")}
    assert finding("", ratios, below_one, hardly_below_one, "").verdict == "undecided"
