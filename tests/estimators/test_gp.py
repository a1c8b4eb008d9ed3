"""The Gaussian process over games: closed forms against enumeration, choices against their definition, invariances."""

from functools import partial

import numpy as np
import pytest
from driving import drive, one_game
from oracles import game_gram, index_functional, shapley_functional

import sharpley
from sharpley import shapley_values
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.engine.blind import blind_errors
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.gp import learning, posterior
from sharpley.estimators.gp.designs import Pairs, Uncertainty, candidates, completed, first_coalitions
from sharpley.estimators.gp.estimator import blocks_of, stage_size
from sharpley.estimators.gp.kernel import (
    JITTER,
    Parity,
    Scales,
    index_of_kernel,
    is_inner,
    kernel,
    own_kernel,
    prior_variances,
)
from sharpley.estimators.gp.learning import Values, _Problem
from sharpley.estimators.gp.posterior import Stage, condition, foreseen_errors
from sharpley.estimators.gp.work import work
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley.indices import UNIFORM

D = 5
SCALES = Scales(np.linspace(0.1, 0.6, D), 1.3, 0.9, 0.7, 0.2, 0.4, 0.01)
EVERY = all_coalitions(D)
SIGNS = np.where(EVERY, 1.0, -1.0)
ORDER = np.concatenate([[0, 2**D - 1], np.random.default_rng(0).permutation(np.arange(1, 2**D - 1))])
SEEN = SIGNS[ORDER[:14]]  # ∅, N and others
GAME = UnanimitySum.random(10, n_terms=30, max_order=4, rng=0)
PAIRS = partial(GaussianProcessEstimator, settings=GPSettings(most_single=0, paired_evals_per_player=0.0))
SINGLE = partial(GaussianProcessEstimator, settings=GPSettings(few_values=0))


class Skewed:
    """A measure that is not symmetric about ½: most of the weight is at small coalitions."""

    def nodes(self, degree):
        return np.array([0.1, 0.3, 0.8]), np.array([0.5, 0.3, 0.2])


def values_at(signs, seed=1, games=3):
    return Values(signs, np.random.default_rng(seed).normal(size=(len(signs), games)), is_inner(signs), Parity.WHOLE)


def noisy(z):
    return game_gram(z, z, SCALES) + np.diag(SCALES.noise * is_inner(z) + JITTER)


@pytest.mark.parametrize("parity", list(Parity))
def test_the_kernel_is_its_formula(parity):
    np.testing.assert_allclose(
        kernel(SIGNS, SIGNS, SCALES, parity), game_gram(SIGNS, SIGNS, SCALES, parity.name.lower()), rtol=1e-12
    )
    if parity is Parity.WHOLE:
        np.testing.assert_allclose(own_kernel(SIGNS, SCALES), np.diagonal(game_gram(SIGNS, SIGNS, SCALES)), rtol=1e-12)


@pytest.mark.parametrize("measure", [UNIFORM, Skewed()])
def test_the_index_of_the_kernel_is_that_of_enumeration(measure):
    """For Shapley values and for a measure that is not symmetric, whose even part matters too."""
    functional = index_functional(EVERY, *measure.nodes(D - 1))
    for parity in Parity:
        columns = functional @ game_gram(SIGNS, SIGNS, SCALES, parity.name.lower())
        np.testing.assert_allclose(index_of_kernel(SIGNS, SCALES, parity, measure), columns, atol=1e-11)
    covariance = functional @ game_gram(SIGNS, SIGNS, SCALES) @ functional.T
    np.testing.assert_allclose(prior_variances(SCALES, measure), np.diagonal(covariance), atol=1e-11)


def test_the_uniform_measure_is_that_of_shapley_values():
    np.testing.assert_allclose(index_functional(EVERY, *UNIFORM.nodes(D - 1)), shapley_functional(EVERY), atol=1e-15)


@pytest.mark.parametrize("measure", [UNIFORM, Skewed()])
def test_the_posterior_is_that_of_enumeration(measure):
    seen = values_at(SEEN)
    functional = index_functional(EVERY, *measure.nodes(D - 1))
    columns = functional @ game_gram(SIGNS, SEEN, SCALES)
    inverse = np.linalg.inv(noisy(SEEN))
    found = condition([seen], SCALES, measure)
    np.testing.assert_allclose(found.values, columns @ inverse @ seen.values, atol=1e-6)
    covariance = functional @ game_gram(SIGNS, SIGNS, SCALES) @ functional.T - columns @ inverse @ columns.T
    np.testing.assert_allclose(found.variances, np.diagonal(covariance), atol=1e-6)
    predicted = game_gram(SIGNS, SEEN, SCALES) @ inverse @ seen.values
    np.testing.assert_allclose(found.predict(SIGNS), predicted, atol=1e-6)


@pytest.mark.parametrize("measure", [UNIFORM, Skewed()])
def test_pairs_fall_into_two_blocks_with_the_same_posterior(measure):
    """The odd and even values of pairs, half as many each, say all that the values of their coalitions say."""
    coalitions = completed(SEEN > 0)
    values = np.random.default_rng(2).normal(size=(len(coalitions), 2))
    (whole,), magnitudes = blocks_of(coalitions, values, are_pairs=False)
    blocks, same = blocks_of(coalitions, values, are_pairs=True)
    assert [len(block.signs) for block in blocks] == [len(coalitions) // 2] * 2
    np.testing.assert_array_equal(same, magnitudes)
    # The noise of a value is halved in a pair; here, it does not depend on size.
    blocks = [block._replace(noise=is_inner(block.signs) / 2.0) for block in blocks]
    quiet = SCALES._replace(noise=0.5)
    together, apart = condition([whole], quiet, measure), condition(blocks, quiet, measure)
    np.testing.assert_allclose(apart.values, together.values, atol=1e-4)
    np.testing.assert_allclose(apart.variances, together.variances, atol=1e-5)
    np.testing.assert_allclose(apart.predict(SIGNS), together.predict(SIGNS), atol=1e-4)


@pytest.mark.parametrize("others", [None, SCALES])
@pytest.mark.parametrize("parity", list(Parity))
def test_gradients_are_those_of_differences(parity, others):
    rng = np.random.default_rng(2)
    one_of_each = np.where(completed(SEEN > 0)[1::2], 1.0, -1.0)
    block = values_at(SEEN if parity is Parity.WHOLE else one_of_each)._replace(parity=parity)
    problem = _Problem([block, block], GPSettings(), others)
    theta = problem.centre + rng.normal(size=D + 6) / 2.0
    _, gradient = problem.value_and_gradient(theta)
    values = [[problem.value_and_gradient(theta + sign * step)[0] for sign in (1, -1)] for step in 1e-4 * np.eye(D + 6)]
    np.testing.assert_allclose(gradient, np.diff(values)[:, 0] / -2e-4, rtol=1e-4, atol=1e-5)


def test_gains_are_differences_of_summed_variances():
    """Conditioning on a candidate, by a matrix of rank one, does what conditioning from scratch does."""
    pool, seen = SIGNS[ORDER[14:]], SEEN
    uncertainty = Uncertainty(values_at(SEEN), pool, SCALES, 4, UNIFORM)

    def summed_variance(signs):
        return condition([values_at(signs)], SCALES, UNIFORM).variances.sum()

    for _ in range(4):
        gains = uncertainty.gains()
        left = np.flatnonzero(gains >= 0)
        after = [summed_variance(np.concatenate([seen, pool[i : i + 1]])) for i in left]
        np.testing.assert_allclose(gains[left], summed_variance(seen) - after, rtol=1e-5, atol=1e-8)
        best = uncertainty.take()
        assert gains[best] == gains.max()
        seen = np.concatenate([seen, pool[best : best + 1]])


def test_foreseen_errors_are_those_of_predictions_one_by_one():
    block = values_at(SEEN, games=2)
    other = SCALES._replace(players=SCALES.players / 2)
    errors = foreseen_errors(block, [Stage(4, 6, other), Stage(6, 11, other), Stage(11, 14, SCALES)])
    expected = []
    for j in (11, 12, 13):  # the last stage
        weights = game_gram(SEEN[j : j + 1], SEEN[:j], SCALES) @ np.linalg.inv(noisy(SEEN[:j]))
        expected.append((block.values[j] - (weights @ block.values[:j])[0]) ** 2)
    np.testing.assert_allclose(errors[-3:], expected, rtol=1e-5)
    assert len(errors) == 10


@pytest.mark.parametrize("d", [2, 3, 7, 12, 40])
def test_first_coalitions_have_one_for_each_player(d):
    first = first_coalitions(d, np.random.default_rng(0))
    assert len(first) == len(np.unique(first, axis=0)) == d
    special = np.where(first.sum(axis=1, keepdims=True) == 1, first, ~first)
    if d > 2:
        assert (special.sum(axis=0) == 1).all()


@pytest.mark.parametrize("d", [4, 11, 13, 30])
def test_candidates_are_new_and_distinct_and_come_with_complements(d):
    known = np.concatenate([np.array([[False] * d, [True] * d]), np.eye(d, dtype=bool)])
    pool = candidates(d, known, np.random.default_rng(0), 1024)
    both = np.concatenate([known, pool])
    assert len(np.unique(both, axis=0)) == len(both)
    assert len(pool) == 2**d - len(known) if d <= 11 else len(pool) > 500
    keys = {row.tobytes() for row in both}
    assert all((~row).tobytes() in keys for row in both)


def test_pairs_are_new_until_all_are_known():
    known = completed(np.concatenate([[[False] * 6], np.eye(6, dtype=bool)[:3]]))
    pairs = Pairs(6, np.random.default_rng(0))
    parts = [pairs.more(known, 10)]
    assert len(parts[0]) >= 10
    parts.append(pairs.more(np.concatenate([known, parts[0], ~parts[0]]), 100))
    every = np.concatenate([known, *parts, *(~part for part in parts)])
    assert len(np.unique(every, axis=0)) == len(every) == 64


@pytest.mark.parametrize("d", [2, 3, 5, 10, 17])
@pytest.mark.parametrize("times", [0, 1, 2, 3, 5, 20])
@pytest.mark.parametrize("method", [SINGLE, PAIRS])
def test_the_whole_budget_is_spent_and_values_add_up(d, times, method):
    budget = min(max(d + 2, times * d), 2**d)
    game = UnanimitySum.random(d, n_terms=20, max_order=min(d, 4), rng=1)
    found = shapley_values(game, method=method, max_evals=budget, rng=0)
    assert budget - 1 <= found.n_evals <= budget  # pairs may leave one
    ends = game(np.array([[False] * d, [True] * d]))
    np.testing.assert_allclose(found.values.sum(), ends[1] - ends[0], rtol=1e-12, atol=1e-12)
    assert np.isfinite(found.standard_errors).all()
    assert (found.standard_errors > 0).all() or found.n_evals == 2**d


def chosen_by(estimator, game, budget):
    """Run an estimator by itself, and return its coalitions."""
    drive(estimator, one_game(game), budget)
    return estimator.store.since(0)


def is_paired(coalitions):
    keys = {row.tobytes() for row in coalitions}
    return all((~row).tobytes() in keys for row in coalitions)


def test_the_first_stage_chooses_the_design():
    """Pairs for games with few distinct values, from a budget on, and for budgets that make choosing slow."""
    votes = WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30)

    def are_pairs(game, d, budget, **settings):
        return is_paired(chosen_by(GaussianProcessEstimator(d, settings=GPSettings(**settings), rng=0), game, budget))

    assert are_pairs(votes, 12, 242)
    assert not are_pairs(votes, 12, 110)
    assert not are_pairs(GAME, 10, 242)
    assert not are_pairs(votes, 12, 242, few_values=0.0)
    assert not are_pairs(votes, 12, 242, judged_evals_per_player=11.0)  # too late for complements of all
    assert not are_pairs(votes, 12, 242, paired_evals_per_player=25.0)
    assert are_pairs(GAME, 10, 242, most_single=200)


def test_pairs_follow_also_if_the_first_coalitions_are_pairs_already():
    """The complements of the first coalitions may be the most informative ones; then nothing is missing from pairs."""
    rng = np.random.default_rng(0)
    hidden, out = rng.normal(size=(10, 20)), rng.normal(size=20)
    found = shapley_values(lambda some: np.tanh((some - 0.5) @ hidden) @ out, 10, method=PAIRS, max_evals=202, rng=0)
    assert found.n_evals == 202


def test_stages_grow_with_what_is_known():
    assert stage_size(100, 10) == 25
    assert stage_size(100, 10, GPSettings(growth=0.5)) == 50
    assert stage_size(3, 100) == 25


@pytest.mark.parametrize("power", [-600, -3, 40, 600])
def test_results_are_free_of_scale(power):
    first = shapley_values(GAME, method="gp", max_evals=40, rng=0)
    scaled = shapley_values(lambda coalitions: GAME(coalitions) * 2.0**power, 10, method="gp", max_evals=40, rng=0)
    np.testing.assert_array_equal(scaled.values, first.values * 2.0**power)
    np.testing.assert_array_equal(scaled.standard_errors, first.standard_errors * 2.0**power)


@pytest.mark.parametrize("constant", [1.0, -17.3, 1e4])
@pytest.mark.parametrize("times", [2, 3, 5])
def test_a_constant_that_is_added_changes_nothing(constant, times):
    """Adding it rounds the values; the search for hyperparameters must not amplify that to other coalitions."""
    first = shapley_values(GAME, method="gp", max_evals=10 * times, rng=0)
    moved = shapley_values(lambda some: GAME(some) + constant, 10, method="gp", max_evals=10 * times, rng=0)
    np.testing.assert_allclose(moved.values, first.values, atol=1e-8 * abs(constant) + 1e-9)


def test_players_may_be_relabelled():
    """The errors of a game with its players in another order are, on average over seeds, the same."""
    order = np.random.default_rng(0).permutation(10)
    exact = GAME.shapley_values()
    errors, relabelled = [], []
    for seed in range(8):
        errors.append(((shapley_values(GAME, method="gp", max_evals=60, rng=seed).values - exact) ** 2).mean())
        other = shapley_values(lambda some: GAME(some[:, order]), 10, method="gp", max_evals=60, rng=seed).values
        relabelled.append(((other[order] - exact) ** 2).mean())
    assert 0.3 < np.mean(errors) / np.mean(relabelled) < 3.0


def test_constant_games_have_values_0_also_with_rounding():
    for game in (lambda some: np.full(len(some), 3.0), lambda some: 3.0 + 5e-16 * some[:, 0]):
        found = shapley_values(game, 6, method="gp", max_evals=20, rng=0)
        assert (found.values == 0).all()
        np.testing.assert_allclose(found.standard_errors, 3.0 * blind_errors(int(found.n_evals)))


@pytest.mark.parametrize("method", [SINGLE, PAIRS])
def test_linear_games_are_exact(method):
    slopes = np.arange(1.0, 13.0)
    found = shapley_values(lambda some: some @ slopes, 12, method=method, max_evals=60, rng=0)
    np.testing.assert_allclose(found.values, slopes, rtol=1e-9)
    assert (found.standard_errors > 0).all()


def test_a_row_with_others_is_about_as_accurate_as_by_itself():
    games = [UnanimitySum.random(10, n_terms=30, max_order=3, rng=seed) for seed in range(8)]
    exact = np.stack([game.shapley_values() for game in games])

    def together(coalitions):
        return np.stack([game(coalitions) for game in games], axis=1)

    found = shapley_values(together, 10, method="gp", max_evals=60, rng=0)
    alone = np.stack([shapley_values(game, method="gp", max_evals=60, rng=0).values for game in games])
    errors, errors_alone = ((found.values.T - exact) ** 2).mean(), ((alone - exact) ** 2).mean()
    assert errors < 3 * errors_alone
    low, high = found.interval(0.95)
    assert ((exact >= low.T) & (exact <= high.T)).mean() > 0.85


def test_many_games_take_over_the_hyperparameters_of_few():
    games = [UnanimitySum.random(8, n_terms=20, max_order=3, rng=seed) for seed in range(30)]
    exact = np.stack([game.shapley_values() for game in games])

    def error(**options):
        method = partial(GaussianProcessEstimator, settings=GPSettings(**options))
        found = shapley_values(
            lambda some: np.stack([game(some) for game in games], axis=1), 8, method=method, max_evals=60, rng=0
        )
        return ((found.values.T - exact) ** 2).mean()

    each, few, one = error(refitted_games=30), error(refitted_games=8), error(refitted_games=1, pilot_games=1)
    assert few < 0.1 * (exact**2).mean()
    assert max(each, few) < one


def test_a_set_is_judged_whatever_the_scale_of_a_game():
    """Evidence is that of the best overall variance: multiplying a game changes it by the same for all sets."""
    block = values_at(SEEN, games=2)
    other = SCALES._replace(players=SCALES.players / 3)
    scaled = block._replace(values=10.0 * block.values)
    one, two = (
        condition([each], SCALES, UNIFORM).log_evidence - condition([each], other, UNIFORM).log_evidence
        for each in (block, scaled)
    )
    np.testing.assert_allclose(one, two, rtol=1e-9)


@pytest.mark.parametrize("times", [2, 3, 5, 10, 20])
def test_single_coalitions_beat_pairs_on_smooth_games_and_errors_are_honest(times):
    errors, of_pairs, covered = [], [], []
    for seed in range(6):
        rng = np.random.default_rng([7, seed])
        slopes, bend = rng.normal(size=10), rng.normal(size=(10, 3)) / 2

        def game(some, slopes=slopes, bend=bend):
            return some @ slopes + np.tanh(some @ bend).sum(axis=1) * 2

        exact = shapley_values(game, 10, method="exact", max_evals=1024).values
        found = shapley_values(game, 10, method="gp", max_evals=10 * times, rng=seed)
        errors.append(((found.values - exact) ** 2).mean())
        low, high = found.interval(0.95)
        covered.append(((low <= exact) & (exact <= high)).mean())
        paired = shapley_values(game, 10, method=PAIRS, max_evals=10 * times, rng=seed).values
        of_pairs.append(((paired - exact) ** 2).mean())
    assert np.mean(covered) > 0.85
    assert times < 5 or np.mean(errors) < 0.7 * np.mean(of_pairs)


@pytest.mark.parametrize("seed", range(3))
def test_many_small_interactions_are_cancelled_by_complements(seed):
    """276 interactions of two cannot be learnt from 120 values, and need not be."""
    d, rng = 24, np.random.default_rng(seed)
    slopes, pairs = rng.normal(size=d), np.triu(rng.normal(size=(d, d)), 1) / 4

    def game(some):
        x = some.astype(float)
        return x @ slopes + np.einsum("ni,ij,nj->n", x, pairs, x)

    found = shapley_values(game, d, method="gp", max_evals=5 * d, rng=seed)
    np.testing.assert_allclose(found.values, slopes + (pairs.sum(axis=0) + pairs.sum(axis=1)) / 2, atol=1e-2)


def test_pairs_beyond_those_conditioned_on_correct_the_process():
    """The process is conditioned on 40 of 299 pairs, and the regression on the others removes its bias."""
    settings = GPSettings(most_single=0, paired_evals_per_player=0.0, most_pairs=40)
    method = partial(GaussianProcessEstimator, settings=settings)
    game = WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30)
    truth = game.shapley_values()
    runs = [shapley_values(game, 12, method=method, max_evals=600, rng=seed) for seed in range(12)]
    values = np.array([run.values for run in runs])
    lower, upper = np.moveaxis([run.interval(0.95) for run in runs], 1, 0)
    assert ((lower <= truth) & (truth <= upper)).mean() > 0.9
    few = [shapley_values(game, 12, method=method, max_evals=82, rng=seed).values for seed in range(12)]
    assert np.mean((values - truth) ** 2) < 0.3 * np.mean((np.array(few) - truth) ** 2)
    np.testing.assert_allclose(values.sum(axis=1), truth.sum(), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("growth", 0.6),
        ("pool", 12),
        ("learnt", 40),
        ("iterations", 2),
        ("typical_scale", 1.0),
        ("scale_spread", 0.3),
        ("parity_spread", 3.0),
        ("other_spread", 1.0),
        ("size_median", 1.0),
        ("least_median", 0.1),
    ],
)
def test_settings_of_the_search_and_of_the_choice_matter_but_not_much(name, value):
    game = UnanimitySum.random(12, n_terms=40, max_order=4, rng=3)
    method = partial(GaussianProcessEstimator, settings=GPSettings(**{name: value}))
    usual, other = (shapley_values(game, method=each, max_evals=90, rng=0) for each in ("gp", method))
    assert not np.array_equal(usual.values, other.values)
    assert ((other.values - game.shapley_values()) ** 2).mean() < 0.2 * (game.shapley_values() ** 2).mean()


def test_a_narrower_refit_stays_nearer_to_the_pilots():
    games = [UnanimitySum.random(8, n_terms=20, max_order=3, rng=seed) for seed in range(3)]

    def values(**options):
        method = partial(GaussianProcessEstimator, settings=GPSettings(**options))
        return shapley_values(
            lambda some: np.stack([game(some) for game in games], axis=1), 8, method=method, max_evals=40, rng=0
        ).values

    shared = values(refit_narrowing=1e-6)
    assert np.abs(values(refit_narrowing=0.1) - shared).max() < np.abs(values(refit_narrowing=1.0) - shared).max()


@pytest.mark.parametrize(("name", "game"), [("foreseen_share", GAME), ("foreseen_share_of_few", Airport((1.0,) * 10))])
def test_errors_are_wider_with_a_larger_share_of_what_was_foreseen(name, game):
    game = game if name == "foreseen_share" else WeightedVoting((5, 4, 4, 3, 3, 2, 2, 1, 1, 1), quota=14)
    method = partial(GaussianProcessEstimator, settings=GPSettings(**{name: 10.0}))
    usual, wide = (shapley_values(game, method=each, max_evals=60, rng=0) for each in ("gp", method))
    np.testing.assert_array_equal(wide.values, usual.values)
    assert (wide.standard_errors > 2 * usual.standard_errors).all()


@pytest.mark.parametrize(
    ("d", "budget", "rows", "most_single"),
    [(10, 60, 1, 1600), (20, 200, 1, 1600), (12, 100, 8, 1600), (10, 80, 130, 1600), (10, 400, 5, 200)],
)
def test_counted_work_is_what_is_done(monkeypatch, d, budget, rows, most_single):
    """The search for hyperparameters may stop early, or look twice in an iteration; the rest is as counted."""
    done = []

    def counting(where, name, cost):
        original = getattr(where, name)
        monkeypatch.setattr(
            where, name, lambda *given, **more: done.append(float(cost(*given))) or original(*given, **more)
        )

    counting(learning, "likelihood", lambda gram, noise, targets: 2.0 * len(gram) ** 3)
    counting(posterior, "prior_variances", lambda scales, measure: 10.0 * d**3)
    counting(posterior, "whiten", lambda factor, columns: float(len(columns) * columns.size))
    counting(posterior, "factorise", lambda block, scales: len(block.signs) ** 3 / 3.0)
    counting(Uncertainty, "take", lambda self, importance: 2.0 * self._known.size)
    games = [UnanimitySum.random(d, n_terms=40, max_order=4, rng=seed) for seed in range(rows)]
    settings = GPSettings(most_single=most_single)
    method = partial(GaussianProcessEstimator, settings=settings)
    shapley_values(lambda some: np.stack([game(some) for game in games], axis=1), d, method=method, max_evals=budget)
    assert 0.5 < sum(done) / work(d, budget, rows, settings) < 1.8


def test_work_is_counted_for_rows_times_outputs():
    """1,000 classes are 1,000 games: their work is out of proportion where a single output's is not."""
    assert work(10, 202, 1000) > 20 * work(10, 202, 1)
    assert sharpley.METHODS["gp"].least_budget(1000) == 1002


@pytest.mark.parametrize("index", ["banzhaf", "beta(4, 1)", "beta(1, 4)"])
def test_any_index_of_single_players_is_estimated_with_error_bars(index):
    errors, of_owen, covered = [], [], []
    for seed in range(4):
        game = UnanimitySum.random(11, n_terms=30, max_order=4, rng=seed)
        exact = sharpley.estimate(game, index=index, method="exact", max_evals=2**11).values
        found, owen = (
            sharpley.estimate(game, index=index, method=method, max_evals=132, rng=seed) for method in ("auto", "owen")
        )
        assert (found.method, found.index) == ("gp", index)
        errors.append(((found.values - exact) ** 2).sum())
        of_owen.append(((owen.values - exact) ** 2).sum())
        low, high = found.interval()
        covered.append((low <= exact) & (exact <= high))
    assert np.mean(errors) < 0.5 * np.mean(of_owen)
    assert np.mean(covered) > 0.85
