"""Many games with "gp": the bank of hyperparameters, and that many games are estimated as accurately as few."""

from dataclasses import replace

import numpy as np
import pytest
from driving import drive
from oracles import dense_gram

from sharpley import shapley_values
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.gp import fitting
from sharpley.estimators.gp.bank import Suitability, make_bank, spread
from sharpley.estimators.gp.data import with_full_coalition
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.posterior import Conditioner
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import PairChooser, quotas
from sharpley.estimators.pairs.regression import PairRegression

D = 8
SCALES = Scales(np.linspace(0.1, 0.4, D), 0.8, 0.1, 0.3, 0.05)


def scales_of(number):
    """A set that can be recognised by its number."""
    return SCALES._replace(noise=float(number))


def judged_by(positions):
    """Games lie on a line, and a set suits those next to the game that it was learnt from."""

    def judge(scales):
        distance = np.abs(positions - positions[int(scales.noise)])
        return Suitability(-distance, distance)

    return judge


def test_games_that_are_unlike_the_others_are_refitted():
    """Two clusters, and three games far from both that are not among the first refits."""
    positions = np.concatenate([np.linspace(0.0, 0.1, 20), np.linspace(5.0, 5.1, 20)])
    positions[[3, 17, 33]] = [20.0, 40.0, 60.0]
    settings = GPSettings(refitted_games=7, first_refits=4, further_refits=1)
    bank = make_bank(40, scales_of, judged_by(positions), settings)
    refitted = [int(scales.noise) for scales in bank.sets]
    assert refitted[:4] == [0, 13, 26, 39]
    assert refitted[4:] == [33, 17, 3]  # the worst first
    taken = positions[np.array(refitted)[bank.best]]
    assert np.abs(taken - positions).max() < 0.11


@pytest.mark.parametrize(("first", "further"), [(25, 10), (3, 5), (200, 1)])
def test_as_many_different_games_are_refitted_as_the_settings_say(first, further):
    positions = np.random.default_rng(0).random(50)
    settings = GPSettings(refitted_games=20, first_refits=first, further_refits=further)
    bank = make_bank(50, scales_of, judged_by(positions), settings)
    refitted = [scales.noise for scales in bank.sets]
    assert len(refitted) == len(set(refitted)) == 20
    distances = np.abs(positions[:, None] - positions[np.array(refitted, dtype=int)])
    np.testing.assert_array_equal(bank.best, distances.argmin(axis=1))


def test_games_are_spread_evenly():
    np.testing.assert_array_equal(spread(101, 5), [0, 25, 50, 75, 100])
    np.testing.assert_array_equal(spread(3, 10), [0, 1, 2])


def random_data(n=40, games=3, seed=0):
    rng = np.random.default_rng(seed)
    signs = np.where(PairChooser(D, rng).extend(quotas(D, n)), 1.0, -1.0)
    return PairData(signs, rng.standard_normal((n, games)), np.zeros((n, games)), rng.standard_normal(games))


def test_the_evidence_agrees_with_dense_algebra():
    """It is the largest over the overall variance of the data, here found by trying many."""
    settings = GPSettings(free_variance=1e5)
    data = random_data()
    conditioner = Conditioner(data, PairRegression(data.signs).fit(data.odd, data.delta), settings)
    signs, values, noise = with_full_coalition(data)
    n, factors = len(signs), np.exp(np.linspace(-6.0, 6.0, 4001))

    def dense(scales):
        without = dense_gram(signs, signs, scales, 0.0) + np.diag(scales.noise * noise + JITTER)
        inverse = np.linalg.inv(without)
        information = signs.T @ inverse @ signs
        precision = inverse - inverse @ signs @ np.linalg.solve(information, signs.T @ inverse)
        squares = np.einsum("ng,nm,mg->g", values, precision, values)
        determinants = np.linalg.slogdet(without)[1] + np.linalg.slogdet(information)[1]
        every = -0.5 * ((n - D) * np.log(factors)[:, None] + squares / factors[:, None] + determinants)
        return every.max(axis=0)

    other = SCALES._replace(players=SCALES.players[::-1].copy(), noise=0.3)
    found = conditioner.suitability(SCALES).log_evidence - conditioner.suitability(other).log_evidence
    np.testing.assert_allclose(found, dense(SCALES) - dense(other), atol=1e-2)


def test_the_held_out_error_is_that_of_the_posterior():
    data = random_data()
    conditioner = Conditioner(data, PairRegression(data.signs).fit(data.odd, data.delta))
    found = conditioner.suitability(SCALES).held_out_error
    np.testing.assert_allclose(found, conditioner.posterior(np.arange(3), SCALES).held_out_error)


def smooth_games(count):
    """Linear games with an interaction of five players, who are others in each of four kinds of games."""
    rng = np.random.default_rng(0)
    slopes, bends = rng.standard_normal((count, 12)), np.zeros((count, 12))
    for game in range(count):
        first = game % 4 * 7 // 3
        bends[game, first : first + 5] = rng.uniform(0.5, 1.5, 5)

    def values(coalitions):
        z = np.where(coalitions, 1.0, -1.0)
        bent = z @ bends.T
        return (z @ slopes.T + 3.0 * np.tanh(bent) + 0.3 * np.sin(2.0 * bent)).T

    return values


def games_with_triples(count):
    """Smooth games, each with three interactions of three players of its own."""
    rng = np.random.default_rng(1)
    smooth = smooth_games(count)
    members = np.array([[rng.choice(12, 3, replace=False) for _ in range(3)] for _ in range(count)])
    coefficients = rng.standard_normal((count, 3))

    def values(coalitions):
        z = np.where(coalitions, 1.0, -1.0)
        return smooth(coalitions) + (z[:, members].prod(axis=3) * coefficients).sum(axis=2).T

    return values


def errors_of(values, budget, settings, d=12, judged=12):
    """Errors of the first games, and whether their 95% intervals cover."""
    estimator = GaussianProcessEstimator(d, settings=settings, rng=0)
    found = drive(estimator, lambda coalitions: values(coalitions)[:, :, None], budget)
    exact = shapley_values(lambda coalitions: values(coalitions)[:judged].T, d, method="exact", max_evals=2**d).values
    off = found.values[:judged, :, 0] - exact.T
    return off, np.abs(off) <= 1.96 * np.sqrt(found.variances[:judged, :, 0]) + 1e-9


SMALL_BANK = GPSettings(refitted_games=12, first_refits=6, further_refits=3, held_out_pairs=60, own_set_error=0.0)


@pytest.fixture(scope="module", params=[(smooth_games, 160), (games_with_triples, 250)], ids=["smooth", "triples"])
def few_and_many(request):
    """Errors and coverage of the same twelve games, estimated by themselves and among 60 with a bank of twelve sets."""
    make, budget = request.param
    many = make(60)
    few = errors_of(lambda coalitions: many(coalitions)[:12], budget, SMALL_BANK)
    return few, errors_of(many, budget, SMALL_BANK)


def test_many_games_are_estimated_as_accurately_as_few(few_and_many):
    """One set for all would raise the error to 1.6 times that of smooth games, no triples to 6 times the other."""
    (few, _), (many, _) = few_and_many
    assert (many**2).mean() < 1.2 * (few**2).mean()


def test_intervals_of_many_games_cover_as_those_of_few(few_and_many):
    (_, few), (_, many) = few_and_many
    assert many.mean() > 0.88
    assert many.mean() > few.mean() - 0.05


def test_games_are_refitted_one_by_one_up_to_a_number(monkeypatch):
    """Every game has hyperparameters of its own, and none is assigned to a bank."""
    monkeypatch.setattr(fitting, "make_bank", None)
    errors_of(smooth_games(12), 160, GPSettings(refitted_games=12))
    with pytest.raises(TypeError):
        errors_of(smooth_games(13), 160, GPSettings(refitted_games=12))


def different_games(count):
    """Games whose interactions, of four players each, have nothing in common."""
    rng = np.random.default_rng(2)
    members = np.array([rng.choice(12, 4, replace=False) for _ in range(count)])
    slopes = rng.standard_normal((count, 12))

    def values(coalitions):
        z = np.where(coalitions, 1.0, -1.0)
        return (z @ slopes.T + np.exp(z[:, members].sum(axis=2) / 2.0)).T

    return values


def test_games_that_differ_are_refitted_from_the_best_set():
    """With sets of other games, errors are more than twice as large; with sets of their own, those of few games."""
    many = different_games(60)
    few, _ = errors_of(lambda coalitions: many(coalitions)[:12], 160, SMALL_BANK)
    taken, _ = errors_of(many, 160, SMALL_BANK)
    own, _ = errors_of(many, 160, replace(SMALL_BANK, own_set_error=GPSettings().own_set_error))
    assert (own**2).mean() < 1.25 * (few**2).mean() < 0.6 * (taken**2).mean()


@pytest.mark.parametrize(("spread_of", "is_start"), [(0.0, False), (1.0, True)])
def test_games_that_differ_only_start_from_the_bank(spread_of, is_start):
    """Errors are 1 and the distance to the game that a set was learnt from; 0.9 of the others' is too little a gain."""
    positions = spread_of * np.arange(40.0)

    def judge(scales):
        distance = np.abs(positions - positions[int(scales.noise)])
        return Suitability(-distance, 1.0 + distance)

    settings = GPSettings(refitted_games=7, first_refits=4, further_refits=1)
    bank = make_bank(40, scales_of, judge, settings, own_set_error=0.9)
    assert bank.is_start == is_start
    assert len(bank.sets) == (4 if is_start else 7)
