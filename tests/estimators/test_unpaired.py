""" "gp" for tiny budgets: closed forms against enumeration, choices against their definition, and honest errors."""

from functools import partial

import numpy as np
import oracles
import pytest
from driving import drive, many_games

import sharpley
from sharpley import shapley_values
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.engine.blind import blind_errors
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.gp import cholesky
from sharpley.estimators.gp.estimator import is_unpaired
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.of_pairs import ProcessOnPairs
from sharpley.estimators.gp.unpaired import UnpairedProcess, learning, posterior
from sharpley.estimators.gp.unpaired.choosing import Uncertainty, candidates, first_coalitions
from sharpley.estimators.gp.unpaired.errors import Stage, foreseen_errors
from sharpley.estimators.gp.unpaired.kernel import WholeScales, is_inner, own_kernel, prior_covariance, whole_kernel
from sharpley.estimators.gp.unpaired.kernel import shapley_of_whole_kernel as shapley_of_kernel
from sharpley.estimators.gp.unpaired.learning import _Problem
from sharpley.estimators.gp.unpaired.posterior import condition
from sharpley.estimators.gp.work import work
from sharpley.games import UnanimitySum

D = 5
CONSTANT = 100.0
SCALES = WholeScales(np.linspace(0.1, 0.6, D), 1.3, 0.7, 0.2, 0.01)
EVERY = all_coalitions(D)
SIGNS = np.where(EVERY, 1.0, -1.0)
ORDER = np.concatenate([[0, 2**D - 1], np.random.default_rng(0).permutation(np.arange(1, 2**D - 1))])
SEEN = SIGNS[ORDER[:14]]  # ∅, N and others
GAME = UnanimitySum.random(10, n_terms=30, max_order=4, rng=0)


def value(z, t):
    """The kernel of two coalitions, written out."""
    total = CONSTANT + SCALES.linear * sum(z * t) / D
    total += SCALES.interactions * np.exp(sum(SCALES.players * z * t) - sum(SCALES.players))
    same_size = (z > 0).sum() == (t > 0).sum() and 0 < (z > 0).sum() < D
    return total + SCALES.sizes * same_size


def gram(z, t):
    return np.array([[value(a, b) for b in t] for a in z])


def noisy(z):
    return gram(z, z) + np.diag(SCALES.noise * is_inner(z) + JITTER)


def test_kernel_is_its_formula():
    np.testing.assert_allclose(whole_kernel(SIGNS, SIGNS, SCALES, CONSTANT), gram(SIGNS, SIGNS), rtol=1e-12)
    np.testing.assert_allclose(own_kernel(SIGNS, SCALES, CONSTANT), np.diagonal(gram(SIGNS, SIGNS)), rtol=1e-12)


def test_shapley_values_of_the_kernel_are_those_of_enumeration():
    functional = oracles.shapley_functional(EVERY)
    full = gram(SIGNS, SIGNS)
    np.testing.assert_allclose(shapley_of_kernel(SIGNS, SCALES), functional @ full, atol=1e-12)
    np.testing.assert_allclose(prior_covariance(SCALES), functional @ full @ functional.T, atol=1e-12)


def test_posterior_is_that_of_enumeration():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(len(SEEN), 3))
    functional = oracles.shapley_functional(EVERY)
    columns = functional @ gram(SIGNS, SEEN)
    inverse = np.linalg.inv(noisy(SEEN))
    phi = columns @ inverse @ values
    found = condition(SEEN, values, SCALES, CONSTANT)
    np.testing.assert_allclose(found.values.sum(axis=0), values[1] - values[0], rtol=1e-12)
    np.testing.assert_allclose(found.values, phi, atol=1e-4)  # but for the jitter at ∅ and N
    covariance = functional @ gram(SIGNS, SIGNS) @ functional.T - columns @ inverse @ columns.T
    np.testing.assert_allclose(found.variances, np.diagonal(covariance), atol=1e-9)
    evidence = -0.5 * (values * (inverse @ values)).sum(axis=0) - 0.5 * np.linalg.slogdet(noisy(SEEN))[1]
    np.testing.assert_allclose(found.log_evidence, evidence, rtol=1e-7)


@pytest.mark.parametrize("others", [None, SCALES])
def test_gradient_is_that_of_differences(others):
    rng = np.random.default_rng(2)
    problem = _Problem(SEEN, rng.normal(size=(len(SEEN), 2)), GPSettings(), others)
    theta = problem.centre + rng.normal(size=D + 4) / 2.0
    _, gradient = problem.value_and_gradient(theta)
    steps = 1e-4 * np.eye(D + 4)
    values = [[problem.value_and_gradient(theta + sign * step)[0] for sign in (1, -1)] for step in steps]
    np.testing.assert_allclose(gradient, np.diff(values)[:, 0] / -2e-4, rtol=1e-4, atol=1e-6)


def test_gains_are_differences_of_summed_variances():
    """Conditioning on a candidate, by a matrix of rank one, does what conditioning from scratch does."""
    pool = SIGNS[ORDER[14:]]
    uncertainty, seen = Uncertainty(SEEN, pool, SCALES, 4, CONSTANT), SEEN

    def summed_variance(signs):
        return condition(signs, np.zeros((len(signs), 1)), SCALES, CONSTANT).variances.sum()

    for _ in range(4):
        gains = uncertainty.gains()
        left = np.flatnonzero(gains >= 0)
        after = [summed_variance(np.concatenate([seen, pool[i : i + 1]])) for i in left]
        np.testing.assert_allclose(gains[left], summed_variance(seen) - after, rtol=1e-6, atol=1e-9)
        best = uncertainty.take()
        assert gains[best] == gains.max()
        seen = np.concatenate([seen, pool[best : best + 1]])


def test_foreseen_errors_are_those_of_predictions_one_by_one():
    values = np.random.default_rng(3).normal(size=(len(SEEN), 2))
    other = SCALES._replace(players=SCALES.players / 2)
    errors = foreseen_errors(SEEN, values, [Stage(4, 6, other), Stage(6, 11, other), Stage(11, 14, SCALES)], CONSTANT)
    expected = []
    for j in (11, 12, 13):  # the last stage, then the one before: half of ten coalitions, or a few more
        weights = gram(SEEN[j : j + 1], SEEN[:j]) @ np.linalg.inv(noisy(SEEN[:j]))
        expected.append((values[j] - (weights @ values[:j])[0]) ** 2)
    np.testing.assert_allclose(errors[:3], expected, rtol=1e-6)
    assert len(errors) == 8


@pytest.mark.parametrize("d", [2, 3, 7, 12, 40])
def test_first_coalitions_have_one_for_each_player(d):
    first = first_coalitions(d, np.random.default_rng(0))
    assert len(first) == len(np.unique(first, axis=0)) == d
    special = np.where(first.sum(axis=1, keepdims=True) == 1, first, ~first)
    if d > 2:
        assert (special.sum(axis=0) == 1).all()


@pytest.mark.parametrize("d", [4, 11, 13, 30])
def test_candidates_are_new_and_distinct(d):
    known = np.concatenate([np.array([[False] * d, [True] * d]), np.eye(d, dtype=bool)])
    pool = candidates(d, known, np.random.default_rng(0), 1024)
    both = np.concatenate([known, pool])
    assert len(np.unique(both, axis=0)) == len(both)
    assert len(pool) == 2**d - len(known) if d <= 11 else len(pool) > 500
    assert pool.sum(axis=1).min() >= 1


@pytest.mark.parametrize("d", [2, 3, 5, 10, 17])
@pytest.mark.parametrize("times", [0, 1, 2, 3, 5, 10])
def test_the_whole_budget_is_spent_and_values_add_up(d, times):
    budget = min(max(d + 2, times * d), 2**d)
    game = UnanimitySum.random(d, n_terms=20, max_order=min(d, 4), rng=1)
    found = shapley_values(game, method="gp", max_evals=budget, rng=0)
    assert found.n_evals == budget
    ends = game(np.array([[False] * d, [True] * d]))
    np.testing.assert_allclose(found.values.sum(), ends[1] - ends[0], rtol=1e-12, atol=1e-12)
    assert np.isfinite(found.standard_errors).all()
    assert (found.standard_errors > 0).all() or budget == 2**d


def test_the_form_depends_on_players_and_budget():
    assert [is_unpaired(10, budget) for budget in (12, 100, 101)] == [True, True, False]
    assert [is_unpaired(100, budget) for budget in (102, 400, 401)] == [True, True, False]
    assert [is_unpaired(300, budget) for budget in (302, 605, 606)] == [True, True, False]  # too few for pairs
    assert not is_unpaired(1000, 1002)
    assert sharpley.METHODS["gp"].least_budget(1000) == 2006
    assert sharpley.METHODS["gp"].least_budget(10) == 12
    never = partial(GaussianProcessEstimator, settings=GPSettings(unpaired_evals_per_player=0))
    with pytest.raises(ValueError, match="at least 26"):
        shapley_values(GAME, method=never, max_evals=25)


@pytest.mark.parametrize("budget", [101, 202])
def test_above_the_limit_the_process_on_pairs_decides_to_the_last_bit(budget):
    found = shapley_values(GAME, method="gp", max_evals=budget, rng=5)
    of_pairs = shapley_values(GAME, method=ProcessOnPairs, max_evals=budget, rng=5)
    np.testing.assert_array_equal(found.values, of_pairs.values)
    np.testing.assert_array_equal(found.standard_errors, of_pairs.standard_errors)


@pytest.mark.parametrize("power", [-600, -3, 40, 600])
def test_results_are_free_of_scale(power):
    first = shapley_values(GAME, method="gp", max_evals=40, rng=0)
    scaled = shapley_values(lambda coalitions: GAME(coalitions) * 2.0**power, 10, method="gp", max_evals=40, rng=0)
    np.testing.assert_array_equal(scaled.values, first.values * 2.0**power)
    np.testing.assert_array_equal(scaled.standard_errors, first.standard_errors * 2.0**power)


def test_constant_games_have_values_0_also_with_rounding():
    for game in (lambda some: np.full(len(some), 3.0), lambda some: 3.0 + 5e-16 * some[:, 0]):
        found = shapley_values(game, 6, method="gp", max_evals=20, rng=0)
        assert (found.values == 0).all()
        np.testing.assert_allclose(found.standard_errors, 3.0 * blind_errors(int(found.n_evals)))


def test_linear_games_are_found_from_the_least_budget():
    slopes = np.arange(1.0, 13.0)
    found = shapley_values(lambda some: some @ slopes, 12, method="gp", max_evals=20, rng=0)
    np.testing.assert_allclose(found.values, slopes, atol=0.2)
    assert (np.abs(found.values - slopes) <= 4 * found.standard_errors).all()


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
    settings = GPSettings(refitted_games=4, first_refits=2, further_refits=2)
    games = [UnanimitySum.random(8, n_terms=20, max_order=3, rng=seed) for seed in range(30)]
    found = drive(UnpairedProcess(8, settings=settings, rng=0), many_games(games), 40)
    exact = np.stack([game.shapley_values() for game in games])
    assert ((found.values[:, :, 0] - exact) ** 2).mean() < 0.1 * (exact**2).mean()


@pytest.mark.parametrize("times", [2, 3, 5, 10])
def test_chosen_coalitions_beat_pairs_and_errors_are_honest(times):
    """On smooth games, which nothing was tuned on, against the process on pairs and against truth."""
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
        if times > 2:
            paired = shapley_values(game, 10, method=ProcessOnPairs, max_evals=10 * times, rng=seed).values
            of_pairs.append(((paired - exact) ** 2).mean())
    assert np.mean(covered) > 0.85
    assert times == 2 or np.mean(errors) < np.mean(of_pairs)


@pytest.mark.parametrize(("d", "budget", "rows"), [(10, 60, 1), (20, 200, 1), (12, 100, 8)])
def test_counted_work_is_what_is_done(monkeypatch, d, budget, rows):
    """The search for hyperparameters may stop early, or look twice in an iteration; the rest is as counted."""
    done = []

    def counting(where, name, cost):
        original = getattr(where, name)
        monkeypatch.setattr(
            where, name, lambda *arguments: done.append(float(cost(*arguments))) or original(*arguments)
        )

    of = cholesky.Factor.of.__func__
    counting(learning, "likelihood", lambda gram, noise, targets: 2.0 * len(gram) ** 3)
    counting(posterior, "prior_covariance", lambda scales: d**4 / 4.0)
    counting(Uncertainty, "take", lambda self: 2.0 * self._known.size)
    monkeypatch.setattr(
        cholesky.Factor, "of", classmethod(lambda cls, gram: done.append(len(gram) ** 3 / 3.0) or of(cls, gram))
    )
    whiten = cholesky.Factor.whiten
    monkeypatch.setattr(
        cholesky.Factor, "whiten", lambda self, some: done.append(float(len(some) * some.size)) or whiten(self, some)
    )
    games = [UnanimitySum.random(d, n_terms=40, max_order=4, rng=seed) for seed in range(rows)]
    shapley_values(lambda some: np.stack([game(some) for game in games], axis=1), d, method="gp", max_evals=budget)
    assert 0.6 < sum(done) / work(d, budget, rows) < 1.7


def test_candidates_include_complements():
    known = first_coalitions(30, np.random.default_rng(0))
    pool = candidates(30, known, np.random.default_rng(1), 100)
    keys = {row.tobytes() for row in pool}
    assert all((~row).tobytes() in keys for row in known)
    assert not any(row.tobytes() in keys for row in known)
    known_keys = {row.tobytes() for row in known}
    assert all((~row).tobytes() in keys | known_keys for row in pool)


@pytest.mark.parametrize("seed", range(3))
def test_many_small_interactions_are_cancelled_by_complements(seed):
    """276 interactions of two cannot be learnt from 120 values, and need not be."""
    d, rng = 24, np.random.default_rng(seed)
    slopes, pairs = rng.normal(size=d), np.triu(rng.normal(size=(d, d)), 1) / 4

    def game(some):
        x = some.astype(float)
        return x @ slopes + np.einsum("ni,ij,nj->n", x, pairs, x)

    found = shapley_values(game, d, method="gp", max_evals=5 * d, rng=seed)
    np.testing.assert_allclose(found.values, slopes + (pairs.sum(axis=0) + pairs.sum(axis=1)) / 2, atol=1e-3)
