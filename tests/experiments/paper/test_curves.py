"""The paper's evaluation: games, methods, errors, figures and claims."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sharpley import from_orderings
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import UnanimitySum
from sharpley_experiments.common.constants import LATER_REVISIONS, SEED
from sharpley_experiments.common.intervals import (
    geometric_mean_interval,
    geometric_mean_of_means,
    mean_interval,
    ratio_interval,
)
from sharpley_experiments.common.lookup import TableGames
from sharpley_experiments.common.models import choose_rows
from sharpley_experiments.paper.constants import CURVE_SIZES, PRESETS
from sharpley_experiments.paper.data import load_for_paper, rows_to_train_on
from sharpley_experiments.paper.evaluation import CURVES, errors
from sharpley_experiments.paper.evaluation.counting import EveryTime, estimate_every_time
from sharpley_experiments.paper.evaluation.games import CurveGames, curve_games
from sharpley_experiments.paper.evaluation.measure import _estimates, measure
from sharpley_experiments.paper.evaluation.models import TREES, kept_model
from sharpley_experiments.paper.evaluation.series import (
    EARLIER_ESTIMATORS,
    OUR_ALLOCATION,
    SAMPLERS_OF_SEQUENCES,
    SAMPLERS_OF_SETS,
    WITHOUT_ORDERINGS,
    by_code,
    evaluations,
    marginals,
    most_orderings,
)
from sharpley_experiments.paper.exhibits import Context

GAME = UnanimitySum.random(6, n_terms=15, max_order=4, rng=0)


@pytest.fixture(scope="module")
def games():
    coalitions = all_coalitions(6)
    order = np.argsort(coalitions @ (2 ** np.arange(6)[::-1]))
    table = np.stack([GAME(coalitions[order]), -2.0 * GAME(coalitions[order])])
    found = TableGames(table)
    return CurveGames(found, found.contributions, np.stack([GAME.shapley_values(), -2.0 * GAME.shapley_values()]))


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    return curve_games("gbdt", "make_regression", 1, 3, 20, 200, None, str(tmp_path_factory.mktemp("cells")))


def seeded(*numbers):
    return np.random.SeedSequence(list(numbers))


@pytest.mark.parametrize("series", ["monte-carlo", "orthogonal", "herding", "sbq"])
def test_the_first_orderings_of_a_sequence_are_a_smaller_sample(games, series):
    """The estimate at n, from an evaluation of the longest sequence, is the weighted mean over its first n."""
    found = dict(_estimates(games, series, seeded(3), [10, 20, 50]))
    sampler = SAMPLERS_OF_SEQUENCES[series](6, rng=seeded(3))
    orderings = sampler.random(50)
    for n in (10, 20, 50):
        expected = from_orderings(GAME, orderings[:n], sampler.weights(orderings[:n])).values
        np.testing.assert_allclose(found[n][0], expected, atol=1e-12)
        np.testing.assert_allclose(found[n][1], -2.0 * expected, atol=1e-12)


def test_trees_tables_and_walks_give_the_same_contributions(trees, tmp_path):
    """Trees are looked up with few players and have a closed form with many; a walk is always possible."""
    from sharpley.engine.evaluation import walk_contributions
    from sharpley.games import TreeGame
    from sharpley.samplers import MonteCarlo

    assert isinstance(trees.games, TableGames)
    orderings = MonteCarlo(10, rng=0).random(5)
    walked = walk_contributions(trees.games, orderings)[:, 0]
    np.testing.assert_allclose(walked, trees.contributions(orderings), atol=1e-12)
    dataset = rows_to_train_on(load_for_paper("make_regression", None), 200)
    rows, background = choose_rows(dataset, rows=3, background=20, seed=SEED + 1)
    model = kept_model(TREES, dataset, 1, tmp_path)
    closed_form = TreeGame(model, background, rows).contributions(orderings)
    np.testing.assert_allclose(walked, closed_form, atol=1e-6)


@pytest.mark.parametrize("series", [*WITHOUT_ORDERINGS, *SAMPLERS_OF_SETS, "regression", "gp", "antithetic"])
def test_every_line_estimates_shapley_values(trees, series):
    n = {"gp": 20, "regression": 20}.get(series, 100)
    (_, estimate), *_ = _estimates(trees, series, seeded(0), [n])
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


@pytest.mark.parametrize("series", WITHOUT_ORDERINGS)
def test_methods_start_at_their_minimum_budget(games, series):
    assert dict(_estimates(games, series, seeded(0), [1])) == {}


@pytest.mark.parametrize("series", WITHOUT_ORDERINGS)
def test_the_authors_count_pays_for_half_as_much(series):
    """With d players, n orderings are n·d marginal evaluations by the text and n(d + 1)/2 by the early code."""
    assert marginals(series, 100, 9) == 900
    assert marginals(by_code(series), 100, 9) == 500
    assert evaluations(by_code(series), 100, 9) == pytest.approx(500 / 900 * evaluations(series, 100, 9), rel=0.02)
    assert by_code("antithetic") == "antithetic"


def test_trials_are_independent_and_repeatable(tmp_path):
    settings = {
        "kind": "gbdt",
        "dataset": "make_regression",
        "experiment": 0,
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
    assert measure(trial=0, **{**settings, "experiment": 1}) != first
    assert [row["n"] for row in first] == [10, 20, 30, 40, 50]
    assert [row["n"] for row in first] == [10, 20, 30, 40, 50]


def test_lines_end_where_they_would_take_too_long():
    assert most_orderings("sbq", 10) == 500
    assert most_orderings(OUR_ALLOCATION, 107) == 0
    assert most_orderings("antithetic", 107) > max(CURVE_SIZES)


def test_errors_against_the_mean_of_trials_are_unbiased():
    """For estimates that are the truth plus noise of variance 4, T/(T−1) corrects for the common mean."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "kind": "mlp",
            "dataset": "bank",
            "experiment": 0,
            "series": "a",
            "n": 10,
            "trial": t,
            "estimate": (7 + 2 * rng.standard_normal(20_000)).tolist(),
        }
        for t in range(4)
    ]
    table = pd.DataFrame(errors._with_errors(rows))
    assert set(table["reference"]) == {"mean of trials"}
    assert table["mse"].mean() == pytest.approx(4.0, rel=0.02)
    sure_but_wrong = [{**row, "series": "gp", "estimate": [9.0] * 20_000} for row in rows]
    both = pd.DataFrame(errors._with_errors([*rows, *sure_but_wrong]))
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


@pytest.fixture
def context(tmp_path, monkeypatch):
    """A context with one small data set and few trials."""
    monkeypatch.setattr(errors, "PLAYERS", {"make_regression": 10})
    return Context(replace(PRESETS["quick"], n_few_players=20), tmp_path)


@pytest.mark.parametrize(("name", "trials"), [("existing-gbdt", "1 or 2"), ("lambda-gbdt", "2")])
def test_figures_are_drawn_from_tables_alone(context, name, trials, tmp_path):
    exhibit = CURVES[name]
    table = exhibit.compute(context)
    assert list(table) == errors.COLUMNS
    stored = set(tmp_path.rglob("*"))
    pd.testing.assert_frame_equal(exhibit.compute(context), table)
    assert set(tmp_path.rglob("*")) == stored  # nothing was measured twice
    table.to_csv(tmp_path / "table.csv", index=False)
    again = pd.read_csv(tmp_path / "table.csv")
    figure = exhibit.draw(again, "preset: quick")
    note = f"preset: quick: 2 experiments with trees, {trials} trials in each"
    assert note in [text.get_text() for text in figure.texts]
    figure.savefig(tmp_path / "figure.png")
    assert len(exhibit.tabulate(again)) == 1


def test_a_method_with_two_names_is_measured_once(context, tmp_path):
    herding = CURVES["proposed-gbdt"].compute(context).query("series == 'herding'")
    before = len(list(tmp_path.iterdir()))
    mallows = CURVES["kernels"].compute(context).query("series == 'mallows'")
    np.testing.assert_array_equal(mallows["mse"], herding["mse"])
    new = len(list(tmp_path.iterdir())) - before
    kernels = 3  # Kendall's, and Spearman's in both forms; Monte Carlo is shared, too
    assert new == kernels * context.preset.n_experiments * context.preset.n_trials


@pytest.mark.parametrize("change", ["data", "library", "revision"])
def test_other_data_models_or_methods_are_measured_again(context, monkeypatch, change):
    def cells():
        return errors._cells(context, "gbdt", "make_regression", ["herding"], 0)

    first = cells()
    if change == "data":
        monkeypatch.setattr(errors, "number_of_rows", lambda name, data: 999)
    elif change == "library":
        monkeypatch.setattr(errors, "with_version", lambda library: f"{library} 0.0")
    else:
        monkeypatch.setitem(LATER_REVISIONS, "herding", 999)
    assert len(first) == 4
    assert all(a != b for a, b in zip(first, cells(), strict=True))


def test_networks_are_measured_with_both_kinds_of_inputs(context):
    table = CURVES["proposed-mlp"].compute(context)
    assert list(dict.fromkeys(table["kind"])) == ["mlp", "mlp-raw"]
    assert set(table["reference"]) == {"exact"}
    means = table.groupby(["kind", "series"])["mse"].mean()
    assert (means.xs("orthogonal", level="series") < means.xs("monte-carlo", level="series")).all()


def test_the_papers_figures_show_its_methods_and_ours_stand_beside_them(context):
    shown = {}
    for name in ("proposed-gbdt", "ours-gbdt"):
        table = CURVES[name].compute(context)
        shown[name] = set(CURVES[name].draw(table, "").axes[0].get_legend_handles_labels()[1])
    assert shown["proposed-gbdt"] == {"antithetic", "orthogonal", "sobol", "herding", "sbq"}
    assert shown["ours-gbdt"] == {"antithetic", "orthogonal", "design", "regression", "gp"}


def test_intervals_over_experiments_cover_experiments_and_bands_cover_trials():
    rng = np.random.default_rng(0)
    truth, covered = 0.7, 0
    for _ in range(400):
        covered += (i := geometric_mean_interval(np.log(truth) + rng.normal(0, 0.5, 5))).low < truth < i.high
    assert 0.92 * 400 < covered < 0.98 * 400
    groups = [np.full(5, 2.0), np.full(5, 8.0)]
    assert geometric_mean_of_means(groups) == pytest.approx((4.0, 4.0, 4.0))
    noisy = geometric_mean_of_means([group * rng.gamma(5.0, 0.2, 5) for group in groups])
    assert noisy.low < noisy.value < noisy.high
