"""The paper's evaluation: games, methods, errors, figures and claims."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sharpley import from_orderings
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import UnanimitySum
from sharpley_experiments.common.constants import LATER_REVISIONS, PLAYERS
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.intervals import mean_interval, ratio_interval
from sharpley_experiments.common.lookup import TableGames, digest
from sharpley_experiments.common.models import make_task, train_xgboost
from sharpley_experiments.paper.constants import CURVE_SIZES, PRESETS, SCALES
from sharpley_experiments.paper.evaluation import CURVES, figures
from sharpley_experiments.paper.evaluation.claims import (
    about_candidates,
    about_existing,
    about_kernels,
    about_networks,
    about_proposed,
    about_scales,
)
from sharpley_experiments.paper.evaluation.compare import below_one, finding, hardly_below_one, versus
from sharpley_experiments.paper.evaluation.counting import EveryTime, estimate_every_time
from sharpley_experiments.paper.evaluation.games import CurveGames, curve_games
from sharpley_experiments.paper.evaluation.measure import _estimates, measure
from sharpley_experiments.paper.evaluation.series import (
    EARLIER_ESTIMATORS,
    SAMPLERS_OF_SEQUENCES,
    SAMPLERS_OF_SETS,
    most_orderings,
    scaled,
)
from sharpley_experiments.paper.exhibits import Context, verdict
from sharpley_experiments.paper.tables.printed import DATA

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
def test_the_first_orderings_of_a_sequence_are_a_smaller_sample(games, series):
    """The estimate at n, from an evaluation of the longest sequence, is the weighted mean over its first n."""
    found = dict(_estimates(games, series, 3, [10, 20, 50]))
    seed = np.random.SeedSequence([3, *series.encode()])
    sampler = SAMPLERS_OF_SEQUENCES[series](6, rng=seed)
    orderings = sampler.random(50)
    for n in (10, 20, 50):
        expected = from_orderings(GAME, orderings[:n], sampler.weights(orderings[:n])).values
        np.testing.assert_allclose(found[n][0], expected, atol=1e-12)
        np.testing.assert_allclose(found[n][1], -2.0 * expected, atol=1e-12)


def test_trees_tables_and_walks_give_the_same_contributions(trees):
    """Trees are looked up with few players and have a closed form with many; a walk is always possible."""
    from sharpley.games import TreeGame
    from sharpley.samplers import MonteCarlo
    from sharpley_experiments.common.constants import SEED
    from sharpley_experiments.paper.evaluation.games import rows_to_train_on

    assert isinstance(trees.games, TableGames)
    orderings = MonteCarlo(10, rng=0).random(5)
    walked = CurveGames(_Anonymous(trees.games), None).contributions(orderings)
    np.testing.assert_allclose(walked, trees.contributions(orderings), atol=1e-12)
    dataset = rows_to_train_on(load("make_regression", None), 200)
    task = make_task(dataset, train_xgboost(dataset), rows=3, background=20, seed=SEED)
    closed_form = CurveGames(TreeGame(task.model, task.background, task.rows), None).contributions(orderings)
    np.testing.assert_allclose(walked, closed_form, atol=1e-6)


class _Anonymous:
    """The same games, without their closed form."""

    def __init__(self, games):
        self._games = games

    def __getattr__(self, name):
        return getattr(self._games, name)


@pytest.mark.parametrize("series", [*EARLIER_ESTIMATORS, *SAMPLERS_OF_SETS, "regression", "gp", "antithetic"])
def test_every_line_estimates_shapley_values(trees, series):
    n = {"gp": 20, "regression": 20}.get(series, 100)
    (_, estimate), *_ = _estimates(trees, series, 0, [n])
    assert ((estimate - trees.exact) ** 2).mean() < 0.02 * (trees.exact**2).mean()


def test_repeated_evaluations_count_every_time(games):
    """With a budget above the number of coalitions, the estimate is still a sampling estimate, not exact."""
    store = EveryTime(6)
    twice = np.zeros((2, 6), dtype=bool)
    np.testing.assert_array_equal(store.add(twice), [2, 3])
    assert store.add_within(twice, 5) is None
    assert len(store) == 4
    few, many = (
        estimate_every_time(games.games, EARLIER_ESTIMATORS["owen-halved"], budget, np.random.SeedSequence(1))
        for budget in (100, 20_000)
    )
    errors = [np.abs(values - games.exact).max() for values in (few, many)]
    assert 1e-6 < errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("series", ["owen", "stratified"])
def test_methods_start_at_their_minimum_budget(games, series):
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
    assert most_orderings("antithetic", 107) > max(CURVE_SIZES)


def test_errors_against_the_mean_of_trials_are_unbiased():
    """For estimates that are the truth plus noise of variance 4, T/(T−1) corrects for the common mean."""
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
    sure_but_wrong = [{**row, "series": "gp", "estimate": [9.0] * 20_000} for row in rows]
    both = pd.DataFrame(figures._errors([*rows, *sure_but_wrong]))
    np.testing.assert_array_equal(both[both["series"] == "a"]["mse"], table["mse"])
    assert both[both["series"] == "gp"]["mse"].mean() == pytest.approx(
        5.0, rel=0.02
    )  # 2² plus 4/4, the variance of the mean


def test_intervals_of_ratios():
    rng = np.random.default_rng(0)
    found = ratio_interval(rng.normal(2.0, 0.2, 400), rng.normal(4.0, 0.2, 400))
    assert found.low < 0.5 < found.high
    assert found.high - found.low < 0.02
    assert mean_interval(np.ones(5)) == (1.0, 1.0, 1.0)
    assert mean_interval(np.zeros(5)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("trials", [2, 3, 10, 25])
def test_intervals_have_their_coverage_with_few_trials(trials):
    """Errors of equal methods, as skewed as χ² with ten degrees of freedom."""
    rng = np.random.default_rng(trials)
    errors = rng.gamma(5.0, size=(2, 1000, trials))
    ratios = [ratio_interval(a, b) for a, b in zip(*errors, strict=True)]
    assert 0.93 <= np.mean([ratio.low <= 1.0 <= ratio.high for ratio in ratios]) <= 0.99
    means = [mean_interval(a) for a in errors[0]]
    assert 0.93 <= np.mean([mean.low <= 5.0 <= mean.high for mean in means]) <= 0.97


def lines(errors, n=100, datasets=tuple(PLAYERS), trials=8):
    """A table of errors with 10% noise; ``errors`` has, by series, one mean or a mean for each data set."""
    rng = np.random.default_rng(0)
    rows = []
    for series, level in errors.items():
        for dataset in datasets:
            mean = level.get(dataset, level.get("")) if isinstance(level, dict) else level
            for trial in range(trials):
                rows.append(
                    {
                        "dataset": dataset,
                        "data_rows": 7000 if dataset == "year" else DATA[dataset][0],
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


def test_mean_errors_are_compared_at_the_largest_common_number_of_orderings():
    both, one = {"a": 1.0, "b": 2.0}, {"a": 1.0}
    table = pd.concat([lines({"a": 3.0, "b": 2.0}, n=5), lines(both, n=10), lines(one, n=50)])
    found = versus(table, "bank", "a", "b")
    assert found.ratio.value == pytest.approx(0.5, rel=0.1)
    assert (found.n, found.n_below, found.n_common) == (10, 1, 2)
    assert re.fullmatch(r"bank 0\.\d\d \(.*\) at n = 10, below 1 for 1 of 2 n", str(found))
    assert str(versus(table, "year", "a", "b")).startswith("year (7,000 rows) 0.")
    assert versus(table, "bank", "a", "b", choose=min).n == 5


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
    few = lines({**AS_PRINTED, "orthogonal": 1.0}, n=10)
    assert verdicts(about_proposed(pd.concat([few, lines(AS_PRINTED)]))) == ["holds"] * 15
    assert verdicts(about_networks(lines({**AS_PRINTED, "sobol": 1.0}))) == ["holds"] * 4
    opposite = {name: level if name == "antithetic" else 2.5 for name, level in AS_PRINTED.items()}
    found = verdicts(about_proposed(lines({**opposite, "antithetic": 2.0})))
    assert found[:2] == ["does not hold"] * 2
    assert found[9] == "does not hold"


@pytest.mark.parametrize(
    ("behind", "expected"),
    [(6, "holds in part"), (4, "holds"), (3, "holds in part"), (1, "does not hold"), (0, "does not hold")],
)
def test_four_of_six_means_exactly_four(behind, expected):
    sobol = {name: 2.0 if i < behind else 0.5 for i, name in enumerate(PLAYERS)}
    table = lines({**AS_PRINTED, "sobol": sobol})
    assert next(f for f in about_proposed(table) if "four of six" in f.claim).verdict == expected


def test_claims_about_scales():
    steps = {s: np.log2(s) for s in SCALES}
    best_differs = {scaled(s): {"": 1.0 + 0.2 * abs(k - 2), "adult": 1.0 + 0.2 * k} for s, k in steps.items()}
    assert verdicts(about_scales(lines(best_differs, trials=25), "Trees")) == ["holds", "holds"]
    small_is_best = {scaled(s): float(s) for s in SCALES}
    assert verdicts(about_scales(lines(small_is_best), "Trees")) == ["does not hold", "does not hold"]


def test_equal_scales_have_no_best():
    """The scale that is best in one half of the trials by luck is not the best in the other half."""
    equal = {scaled(s): 1.0 for s in SCALES}
    assert verdicts(about_scales(lines(equal, trials=25), "Trees")) == ["undecided", "holds"]
    assert verdicts(about_scales(lines(equal, trials=3), "Trees")) == ["undecided", "undecided"]


def test_claims_about_candidates():
    assert (
        verdicts(
            about_candidates(lines({f"{c} candidates": e for c, e in [(5, 2.0), (10, 1.5), (25, 1.0), (50, 0.98)]}))
        )
        == ["holds"] * 3
    )
    falling = {f"{c} candidates": e for c, e in [(5, 1.0), (10, 1.0), (25, 2.0), (50, 1.0)]}
    assert verdicts(about_candidates(lines(falling))) == ["does not hold"] * 3
    much_better = {f"{c} candidates": e for c, e in [(5, 2.0), (10, 2.0), (25, 1.0), (50, 2.0)]}
    assert verdicts(about_candidates(lines(much_better)))[2] == "does not hold"


def test_claims_about_kernels():
    lags = {"": 1.0, "cal_housing": 2.0, "make_regression": 2.0}
    assert verdicts(about_kernels(lines({"mallows": 1.0, "kendall": lags, "spearman": 3.0}))) == ["holds"] * 6
    equal = verdicts(about_kernels(lines({"mallows": 1.0, "kendall": 1.0, "spearman": 1.0})))
    assert equal == ["holds", "holds", "does not hold", "holds", "does not hold", "does not hold"]


@pytest.fixture
def context(tmp_path, monkeypatch):
    """A context with one small data set and few trials."""
    monkeypatch.setattr(figures, "PLAYERS", {"make_regression": 10})
    return Context(replace(PRESETS["quick"], n_few_players=20), tmp_path)


@pytest.mark.parametrize("name", ["existing-gbdt", "lambda-gbdt"])
def test_figures_are_drawn_from_tables_alone(context, name, tmp_path):
    exhibit = CURVES[name]
    table = exhibit.compute(context)
    assert list(table) == ["dataset", "data_rows", "d", "series", "n", "marginal_evals", "trial", "reference", "mse"]
    stored = set(tmp_path.iterdir())
    pd.testing.assert_frame_equal(exhibit.compute(context), table)
    assert set(tmp_path.iterdir()) == stored  # nothing was measured twice
    table.to_csv(tmp_path / "table.csv", index=False)
    again = pd.read_csv(tmp_path / "table.csv")
    figure = exhibit.draw(again, "preset: quick")
    assert "preset: quick" in [text.get_text() for text in figure.texts]
    figure.savefig(tmp_path / "figure.png")
    assert len(exhibit.tabulate(again)) == 1


def test_a_method_with_two_names_is_measured_once(context, tmp_path):
    herding = CURVES["proposed-gbdt"].compute(context).query("series == 'herding'")
    before = len(list(tmp_path.iterdir()))
    mallows = CURVES["kernels"].compute(context).query("series == 'mallows'")
    np.testing.assert_array_equal(mallows["mse"], herding["mse"])
    assert len(list(tmp_path.iterdir())) == before + 2 * context.preset.n_trials  # Kendall's and Spearman's


@pytest.mark.parametrize("change", ["data", "library", "revision"])
def test_other_data_models_or_methods_are_measured_again(context, monkeypatch, change):
    first = figures._cells(context, "gbdt", "make_regression", "herding", 0)
    if change == "data":
        monkeypatch.setattr(figures, "number_of_rows", lambda name, data: 999)
    elif change == "library":
        monkeypatch.setattr(figures, "with_version", lambda library: f"{library} 0.0")
    else:
        monkeypatch.setitem(LATER_REVISIONS, "herding", 999)
    assert all(
        a != b for a, b in zip(first, figures._cells(context, "gbdt", "make_regression", "herding", 0), strict=True)
    )


def test_the_digest_depends_on_model_and_rows(tmp_path):
    dataset = load("make_regression", None)
    tasks = [make_task(dataset, train_xgboost(part)) for part in (dataset, dataset._replace(y=-dataset.y))]
    assert digest(tasks[0]) != digest(tasks[1])
    assert digest(tasks[0]) == digest(make_task(dataset, train_xgboost(dataset)))
    assert digest(tasks[0]) != digest(make_task(dataset, tasks[0].model, seed=1))


def test_networks_are_measured_against_exact_values_and_means(context):
    table = CURVES["proposed-mlp"].compute(context)
    assert set(table["reference"]) == {"exact", "mean of trials"}
    exact = table[table["reference"] == "exact"].groupby("series")["mse"].mean()
    assert exact["gp"] < exact["antithetic"]


def test_claims_that_the_trials_cannot_decide_are_undecided():
    counts = {(3, 0, 0): "holds", (1, 0, 2): "holds in part", (1, 1, 1): "holds in part", (1, 2, 0): "does not hold"}
    counts |= {(0, 1, 2): "does not hold", (0, 0, 3): "undecided", (0, 0, 0): "undecided"}
    assert {key: verdict(*key) for key in counts} == counts
    noisy = lines({"a": 1.0, "b": 1.0})
    noisy["mse"] *= np.random.default_rng(0).gamma(0.1, size=len(noisy))
    compared = [versus(noisy, "bank", "a", "b")]
    assert finding("", compared, below_one, hardly_below_one, "").verdict == "undecided"
