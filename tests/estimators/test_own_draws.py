"""Orderings with draws of their own: the parts, against slow and obvious versions, and the whole."""

from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import sharpley
from sharpley import Background, Explainer, MarginalGame, estimate
from sharpley.estimators.draws.controls import NO_BIN, make_controls
from sharpley.estimators.draws.population import by_draw
from sharpley.estimators.draws.survey import Fit, NestedRegression, RidgeRegression, own_features, sample_of
from sharpley.estimators.draws.visits import FoldedVisits, Visits, sizes_of_draws
from sharpley.estimators.draws.walks import Steps, Walks

RNG = np.random.default_rng(5)
DATA = RNG.normal(size=(600, 6))
DATA[:, 4] = RNG.integers(3, size=600)
ROWS = DATA[:4] + 0.25
ROWS[:, 4] = [0, 1, 2, 0]


def model(x):
    return x[:, 0] * x[:, 1] * x[:, 2] + np.sin(x[:, 3]) * (1 + x[:, 4]) + np.abs(x[:, 5])


def exact(background, rows, weights=None, function=model):
    games = MarginalGame(function, Background(background, weights), rows)
    return estimate(games, method="exact", draws="shared").values


def visits_of(n_draws, *, sizes=None, expected=None, seed=0):
    sizes = np.ones(n_draws) if sizes is None else sizes
    return Visits(np.arange(n_draws), sizes, np.random.default_rng(seed), expected)


def visit_counts(n_draws, *extensions, seed=0, **options):
    visits = visits_of(n_draws, seed=seed, **options)
    return np.bincount(np.concatenate([visits.extend(count) for count in extensions]), minlength=n_draws)


def test_few_of_many_draws_are_visited_once():
    for counts in (visit_counts(1000, 50, 40), visit_counts(1000, 90, expected=90)):
        assert counts.max() == 1
        assert counts.sum() == 90


def test_visited_draws_are_spread_over_the_list():
    counts = visit_counts(1000, 50, expected=50)
    assert counts.reshape(50, 20).sum(axis=1).tolist() == [1] * 50
    assert visit_counts(1000, 30, 20).reshape(10, 100).sum(axis=1).min() >= 4


SIZES = np.append(RNG.exponential(size=38) ** 2, [0.0, 20.0])


@pytest.mark.parametrize(("extensions", "expected"), [((15,), 15), ((70,), 70), ((5, 10), None), ((20, 13, 40), None)])
def test_draws_are_visited_with_the_probabilities_that_are_said(extensions, expected):
    runs, total = 3000, sum(extensions)
    hits = sum(visit_counts(40, *extensions, sizes=SIZES, expected=expected, seed=s) > 0 for s in range(runs))
    said = visits_of(40, sizes=SIZES, expected=expected).probabilities(total)
    assert said[38] == 0.0
    assert said[39] == 1.0
    assert len(set(said.round(3))) > 10 or total > 40
    assert (abs(hits / runs - said) <= 5 * np.sqrt(said * (1 - said) / runs)).all()


def test_folds_are_visited_with_the_probabilities_that_are_said():
    folds, runs = np.arange(40) % 2, 3000
    for expected in (15, None):
        hits = np.zeros(40)
        for seed in range(runs):
            visits = FoldedVisits(np.arange(40), SIZES, folds, np.random.default_rng(seed), expected)
            draws = visits.extend(15) if expected else np.concatenate([visits.extend(4), visits.extend(11)])
            hits[np.unique(draws)] += 1
        said = visits.probabilities(15)
        assert (abs(hits / runs - said) <= 5 * np.sqrt(said * (1 - said) / runs)).all()


def test_some_draws_are_visited_twice_if_many_of_all_draws_are_visited():
    counts = visit_counts(1000, 600, expected=600)
    assert (counts == 2).sum() == 18  # 3%
    assert counts.max() == 2
    assert 14 <= (visit_counts(1000, 300, 300) == 2).sum() <= 40


def test_all_draws_are_visited_before_most_are_visited_again():
    counts = visit_counts(100, 230, expected=230)
    assert counts.min() == 2
    assert counts.max() == 3


def test_sizes_are_equal_unless_tails_are_heavy():
    normal, weights = RNG.normal(size=(2000, 1)), np.full(2000, 1 / 2000)
    np.testing.assert_array_equal(sizes_of_draws(normal, weights), 1.0)
    np.testing.assert_array_equal(sizes_of_draws(np.full((5, 2), 3.0), np.full(5, 0.2)), 1.0)
    heavy = np.where(np.arange(2000) < 10, 1e4, normal[:, 0])[:, None]
    sizes = sizes_of_draws(heavy, weights)
    assert sizes[:10].min() > 50 * sizes[10:].max()
    assert sizes.min() > 0.3  # none is left out
    assert sizes.mean() == pytest.approx(1.0)
    both = sizes_of_draws(np.column_stack([normal, heavy]), weights)
    np.testing.assert_allclose(both, (1.0 + sizes) / 2)


def slow_contributions(value, orderings, d):
    """Mean contributions along orderings, one coalition after the other, without any shortcut."""
    total = np.zeros(d)
    for ordering in orderings:
        members = np.zeros(d, dtype=bool)
        for player in ordering:
            before = value(members)
            members[player] = True
            total[player] += (value(members) - before) / len(orderings)
    return total


@pytest.mark.parametrize("ends_known", [True, False])
def test_walks_have_the_contributions_of_slow_walks(ends_known):
    games = MarginalGame(model, DATA[50:90], ROWS)
    orderings = sharpley.Antithetic(6, rng=0).random(20).reshape(10, 2, 6)
    steps = Steps(orderings, RNG.integers(40, size=10))
    rows = np.array([2, 0])
    pairs = np.repeat(rows, 10), np.tile(steps.draws, 2)
    walks = Walks(steps, games.differing(*pairs).reshape(2, 10, 6), ends_known)
    which, coalitions, draws = walks.ask(np.arange(len(walks)))
    values = games.evaluator()(rows[which], coalitions, draws)
    known = (games.draw_facts().empty[steps.draws], games.endpoints()[rows, 1]) if ends_known else (None, None)
    found = walks.contributions(values, *known)
    for r, row in enumerate(rows):
        for step in range(10):
            at = np.array([row]), np.array([steps.draws[step]])
            slow = slow_contributions(
                lambda s, at=at: games.evaluator()(at[0], s[None], at[1])[0, 0], orderings[step], 6
            )
            np.testing.assert_allclose(found[r, step, :, 0], slow, atol=1e-12)


def test_walks_evaluate_only_players_that_differ():
    games = MarginalGame(model, DATA[50:90], ROWS)
    steps = Steps(sharpley.Antithetic(6, rng=0).random(4).reshape(2, 2, 6), np.array([3, 7]))
    differing = games.differing(np.zeros(2, int), steps.draws)
    differing[1] = [True, False, False, True, False, False]
    walks = Walks(steps, differing[None], ends_known=True)
    expected = 2 * (int(differing[0].sum()) - 1) + 2 * 1
    assert len(walks) == walks.evaluations_of_rows()[0] == expected


def leave_one_out(features, values, penalty):
    errors = np.empty(len(values))
    for i in range(len(values)):
        kept = np.arange(len(values)) != i
        a = features[kept].T @ features[kept] + penalty * np.eye(features.shape[1])
        errors[i] = values[i] - features[i] @ np.linalg.solve(a, features[kept].T @ values[kept])
    return errors


def unequal_sample(n):
    chances = np.linspace(0.05, 0.8, n)
    return sample_of(np.arange(n), np.full(n, 1.0 / 300), chances)


def test_nested_regression_is_the_regression_estimator_with_the_best_leave_one_out_error():
    features = np.column_stack([np.ones(60), RNG.normal(size=(60, 3))])
    values = features[:, :2] @ [1.0, 2.0] + 0.1 * RNG.normal(size=60)
    means, sample = np.array([1.0, 0.3, -0.2, 0.1]), unequal_sample(60)
    found = NestedRegression(features, means, sample, most=4).fit(values[None, :, None])
    by_count, scales = {}, sample.scales
    for count in (1, 2, 3, 4):
        scaled = features[:, :count] * scales[:, None]
        errors = leave_one_out(scaled, scales * values, 0.0)
        beta = np.linalg.lstsq(scaled, scales * values, rcond=None)[0]
        estimate_of_mean = means[:count] @ beta + sample.shares @ (values - features[:, :count] @ beta)
        # The part of each value in the estimate, relative to its share.
        gram = np.linalg.inv(scaled.T @ scaled)
        part = 1 + ((means[:count] - sample.shares @ features[:, :count]) @ gram @ scaled.T) * scales / sample.shares
        errors = errors * part
        by_count[float((errors**2).mean())] = estimate_of_mean, errors
    best = by_count[min(by_count)]
    assert found.means[0, 0] == pytest.approx(best[0], abs=1e-9)
    np.testing.assert_allclose(found.errors[0, :, 0], best[1], atol=1e-9)


def test_a_feature_that_others_explain_is_left_out():
    features = np.column_stack([np.ones(60), np.arange(60.0), 2 * np.arange(60.0) - 1, RNG.normal(size=60)])
    values, means = RNG.normal(size=(1, 60, 1)) + features[:, 1, None], np.array([1.0, 29.5, 1e6, 0.0])
    sample = unequal_sample(60)
    found = NestedRegression(features, means, sample, most=4, only_all=True).fit(values)
    without = NestedRegression(features[:, [0, 1, 3]], means[[0, 1, 3]], sample, most=3, only_all=True).fit(values)
    np.testing.assert_allclose(found.means, without.means)


def test_ridge_regression_has_the_best_leave_one_out_error_of_its_penalties():
    features = RNG.normal(size=(80, 10))
    values = features @ RNG.normal(size=10) + RNG.normal(size=80)
    sample = unequal_sample(80)
    scaled, errors = features * sample.scales[:, None], values * sample.scales
    found = RidgeRegression(features, sample).improve(Fit(np.zeros((1, 1)), errors[None, :, None]))
    slow = min((leave_one_out(scaled, errors, p) for p in (10.0, 100.0, 1000.0, 10_000.0)), key=lambda e: (e**2).mean())
    np.testing.assert_allclose(found.errors[0, :, 0], slow, atol=1e-8)


def test_features_of_all_draws_have_the_means_that_are_said():
    facts = MarginalGame(model, DATA, ROWS).draw_facts()
    weights = np.full(600, 1 / 600)
    controls = make_controls(facts, weights, 6)
    for player in range(6):
        for shared_bin in np.unique(controls.shared_bins(facts.row_columns, player)):
            numbers = controls.numbers.at(facts.columns)[:, controls.numbers.players == player]
            limits = np.array([[-0.5], [0.5]])
            within = np.clip(numbers, *limits)
            at = controls, np.arange(600), player, int(shared_bin)
            for options in ((numbers, np.zeros(1)), (within, within.mean(axis=0), limits)):
                features, means = own_features(*at, *options)
                np.testing.assert_allclose(features.mean(axis=0), means, atol=1e-12)
    assert (controls.shared_bins(facts.row_columns, 4) != NO_BIN).all()  # three values that many rows have
    assert (controls.shared_bins(facts.row_columns, 0) == NO_BIN).all()


def test_summary_by_draw():
    contributions = RNG.normal(size=(2, 5, 3, 1))
    differing = np.ones((2, 5, 3), dtype=bool)
    differing[0, [1, 4], 2] = False
    found = by_draw(contributions, np.array([7, 3, 7, 9, 3]), differing)
    assert found.draws.tolist() == [3, 7, 9]
    assert found.counts.tolist() == [2, 2, 1]
    np.testing.assert_allclose(found.means[:, 0], contributions[:, [1, 4]].mean(axis=1))
    assert found.repeated.tolist() == [0, 1]
    np.testing.assert_allclose(found.spreads[:, 0], contributions[:, [1, 4]].var(axis=1, ddof=1))
    np.testing.assert_allclose(found.spreads[:, 1], contributions[:, [0, 2]].var(axis=1, ddof=1))
    assert found.differing[0].sum(axis=0).tolist() == [3, 3, 2]


LINEAR = RNG.normal(size=6)


def test_linear_models_are_exact_from_the_least_budget_on():
    def linear(x):
        return x @ LINEAR

    data = RNG.normal(size=(600, 6))
    truth = LINEAR * (ROWS - data.mean(axis=0))
    for budget in (21, 60, 1000):
        found = Explainer(linear, data, rng=0).estimate(ROWS, max_predictions=budget)
        np.testing.assert_allclose(found.values, truth, atol=1e-12)
        assert (found.standard_errors > 0).all()  # other orderings might have shown something else


def test_a_column_with_heavy_tails_is_not_extrapolated_beyond_the_visited_rows():
    data = DATA.copy()
    data[7, 0] = 1000.0
    truth = exact(data, ROWS, function=lambda x: np.tanh(x[:, 0]) + model(DATA[:1])[0] + x[:, 1])
    found = [
        Explainer(lambda x: np.tanh(x[:, 0]) + model(DATA[:1])[0] + x[:, 1], data, draws="own", rng=s).estimate(
            ROWS, max_predictions=400
        )
        for s in range(20)
    ]
    errors = np.array([run.values[:, 0] - truth[:, 0] for run in found])
    assert np.sqrt((errors**2).mean()) < 0.1  # extrapolated, 0.4 and more


def test_products_of_two_columns_are_exact():
    def quadratic(x):
        return x @ LINEAR + x[:, 0] * x[:, 1] - 3 * x[:, 2] * x[:, 4]

    found = Explainer(quadratic, DATA, draws="own", rng=0).estimate(ROWS, max_predictions=1000)
    np.testing.assert_allclose(found.values, exact(DATA, ROWS, function=quadratic), atol=1e-12)


def test_few_rows_with_most_of_the_variance_are_all_visited():
    def rare(x):
        return 1e4 * (x[:, 0] > 2.3) * (1 + x[:, 1]) + x @ LINEAR

    truth = exact(DATA, ROWS, function=rare)
    found = [Explainer(rare, DATA, draws="own", rng=s).estimate(ROWS, max_predictions=600) for s in range(10)]
    errors = np.mean([((run.values - truth) ** 2).sum() for run in found]) / (truth**2).sum()
    assert errors < 0.01  # with equal probabilities, 0.1 and more
    covered = [(run.interval()[0] <= truth) & (truth <= run.interval()[1]) for run in found]
    assert np.mean(covered) > 0.85


@pytest.mark.parametrize("predictions", [50, 100, 200, 1000])
def test_no_error_is_0_where_a_value_is_wrong(predictions):
    rng = np.random.default_rng(0)
    background, rows = rng.normal(size=(500, 10)), rng.normal(size=(3, 10))

    def rules(x):
        return (x[:, :3].sum(axis=1) > 3) * 1.0 + (x[:, 3:6].sum(axis=1) > 3) * 1.0

    found = Explainer(rules, background, rng=0).estimate(rows, max_predictions=predictions)
    assert (found.standard_errors > 0).all()


@pytest.mark.parametrize("method", ["monte-carlo", "antithetic", "orthogonal", "sobol", "herding", "sbq", "design"])
def test_every_sampler_has_own_draws_and_adds_up(method):
    explainer = Explainer(model, DATA, method=method, draws="own", rng=1)
    found = explainer.estimate(ROWS, max_predictions=3000)
    truth = exact(DATA, ROWS)
    assert (abs(found.values - truth) < 6 * found.standard_errors + 1e-12).all()
    assert (found.n_predictions <= 3000).all()
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model(ROWS), atol=1e-12)
    np.testing.assert_allclose(found.base_values, model(DATA).mean())


@pytest.mark.slow
@pytest.mark.parametrize("unbiased", [False, True])
def test_own_draws_have_no_bias_and_intervals_that_hold(unbiased):
    truth = exact(DATA, ROWS)
    runs = [
        Explainer(model, DATA, draws="own", unbiased=unbiased, rng=seed).estimate(ROWS, max_predictions=800)
        for seed in range(300)
    ]
    values = np.stack([run.values for run in runs])
    bias = values.mean(axis=0) - truth
    error = values.std(axis=0, ddof=1) / np.sqrt(300)
    limit = 4.0 * error + (0.0 if unbiased else 0.1 * values.std(axis=0))  # the regression's bias is of lower order
    assert (abs(bias) < limit).all()
    lower, upper = map(np.stack, zip(*(run.interval() for run in runs), strict=True))
    assert 0.91 < ((lower <= truth) & (truth <= upper)).mean() < 0.99


def test_knowledge_of_all_rows_lowers_the_error():
    truth = exact(DATA, ROWS)

    def error(**options):
        found = [
            Explainer(model, DATA, draws="own", rng=s, **options).estimate(ROWS, max_predictions=1500)
            for s in range(20)
        ]
        return np.mean([((run.values - truth) ** 2).mean() for run in found])

    assert error() < 0.6 * error(unbiased=True)


def test_own_draws_beat_exact_values_of_a_sample_at_the_same_cost():
    truth = exact(DATA, ROWS)
    cost = 64 * 50
    samples = [exact(DATA[RNG.choice(600, 50, replace=False)], ROWS) for _ in range(20)]
    of_samples = np.mean([((values - truth) ** 2).mean() for values in samples])
    runs = [Explainer(model, DATA, draws="own", rng=s).estimate(ROWS, max_predictions=cost) for s in range(10)]
    assert np.mean([((run.values - truth) ** 2).mean() for run in runs]) < of_samples / 10


def test_weights_of_the_background_count():
    weights = RNG.exponential(size=600)
    background = Background(DATA, weights)
    found = Explainer(model, background, draws="own", rng=0).estimate(ROWS, max_predictions=20_000)
    assert (abs(found.values - exact(DATA, ROWS, weights)) < 6 * found.standard_errors).all()
    assert abs(exact(DATA, ROWS, weights) - exact(DATA, ROWS)).max() > 0.01  # they differ


def scenario_games():
    class Shared(sharpley.Games):
        def __init__(self):
            self.capacities, self.scenarios = np.array([3.0, 2.0, 2.0, 1.0, 1.0]), RNG.exponential(5.0, size=200)
            self.d, self.n_draws = 5, 200

        def _draws(self, rows, coalitions, draws):
            return np.minimum(coalitions @ self.capacities, self.scenarios[draws])

    return Shared()


def test_games_of_which_nothing_is_known_have_own_draws_too():
    games = scenario_games()
    truth = estimate(games, method="exact", draws="shared").values
    found = estimate(games, method="antithetic", draws="own", max_predictions=3000, rng=0)
    assert (abs(found.values - truth) < 6 * found.standard_errors).all()
    assert found.n_predictions[0] <= 3000
    assert found.values.sum() == pytest.approx(float(truth.sum()))


@pytest.mark.parametrize("wrap", [pd.DataFrame, lambda a: pl.DataFrame(a, schema=list("abcdef")), sparse.csr_matrix])
def test_every_container_has_own_draws(wrap):
    def of_any(x):
        return model(np.asarray(x.todense()) if sparse.issparse(x) else np.asarray(x))

    plain = Explainer(model, DATA, draws="own", rng=0).estimate(ROWS, max_predictions=2000)
    found = Explainer(of_any, wrap(DATA), draws="own", rng=0).estimate(wrap(ROWS), max_predictions=2000)
    if wrap is sparse.csr_matrix:  # nothing is known of columns
        assert (abs(found.values - exact(DATA, ROWS)) < 6 * found.standard_errors).all()
    else:
        np.testing.assert_allclose(found.values, plain.values, atol=1e-12)


def test_categories_strings_groups_and_missing_values():
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(RNG.choice(["red", "green", "blue"], size=300)),
            "name": RNG.choice(["a", "b", None], size=300),
            "x": np.where(RNG.random(300) < 0.2, np.nan, RNG.normal(size=300)),
            "y": RNG.normal(size=300),
            "z": RNG.integers(2, size=300).astype(bool),
        }
    )

    def messy(t):
        text = t["colour"].astype(str).str.len() * (1 + t["z"].astype(float))
        return (text + t["name"].isna() * t["x"].fillna(0.5) + t["y"] ** 2).to_numpy(dtype=float)

    explainer = Explainer(messy, frame, groups={"both": ["x", "y"]}, draws="own", rng=0)
    found = explainer.estimate(frame.iloc[:3], max_predictions=2000)
    games = MarginalGame(messy, frame, frame.iloc[:3], groups={"both": ["x", "y"]})
    truth = estimate(games, method="exact", draws="shared").values
    assert found.names == ["colour", "name", "both", "z"]
    assert (abs(found.values - truth) < 6 * found.standard_errors + 1e-12).all()


def test_several_outputs_have_own_draws():
    def two(x):
        return np.column_stack([model(x), -x[:, 0] * x[:, 5]])

    found = Explainer(two, DATA, draws="own", rng=0).estimate(ROWS, max_predictions=4000)
    assert found.values.shape == (4, 6, 2)
    assert (abs(found.values - exact(DATA, ROWS, function=two)) < 6 * found.standard_errors + 1e-12).all()


def test_a_tolerance_is_met_row_by_row():
    explainer = Explainer(model, DATA, draws="own", rng=0)
    found = explainer.estimate(ROWS, tol=0.02)
    assert found.converged.all()
    assert (found.standard_errors.max(axis=1) <= 0.02 * np.ptp(found.values, axis=1)).all()
    assert len(set(found.n_predictions.tolist())) > 1
    alone = explainer.estimate(ROWS[[2]], tol=0.02)
    np.testing.assert_array_equal(alone.values[0], found.values[2])


def test_the_least_budget_is_two_predictions_for_each_player():
    background, rows = RNG.normal(size=(300, 200)), RNG.normal(size=(2, 200))
    found = Explainer(lambda x: x.sum(axis=1), background, rng=0).estimate(rows, max_predictions=400)
    assert found.method == "monte-carlo"
    assert (found.n_predictions <= 400).all()
    assert (found.standard_errors > 0).all()


def test_features_that_are_equal_everywhere_cost_nothing():
    background = np.zeros((200, 40))
    background[:, :3] = RNG.normal(size=(200, 3))
    row = np.zeros((1, 40))
    row[0, 30] = 1.0
    found = Explainer(lambda x: x.sum(axis=1), background, draws="own", rng=0).estimate(row, max_predictions=100)
    np.testing.assert_array_equal(np.flatnonzero(found.values[0]), [0, 1, 2, 30])
    assert comb(4, 2) < found.n_predictions[0] <= 100
