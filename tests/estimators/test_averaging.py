"""Rough games in "gp": how they are recognised, averaged over hyperparameters, and combined with the regression."""

import numpy as np
import pytest

import sharpley
from sharpley.estimators.gp.averaging import (
    Conditional,
    are_rough,
    average,
    degrees_of_freedom,
    halves_of,
    least_share,
    with_regression,
)
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.triples import NO_TRIPLES
from sharpley.estimators.pairs.regression import LeastSquares
from sharpley_experiments.battery.games import battery

D, N = 4, 12


def conditional(values, squared_errors):
    """A posterior of two games with values (d, 2) and squared errors (n, 2)."""
    scales = Scales(np.ones(D), 1.0, 1.0, 1.0, 1.0)
    empty = np.zeros((D, 2))
    return Conditional(values, np.ones((D, 2)), squared_errors, empty, empty, NO_TRIPLES, empty, scales)


def from_errors(squared_errors):
    return np.full((D, 1), 0.1) * squared_errors.sum(axis=0)


def test_few_values_or_concentrated_errors_are_rough():
    rng = np.random.default_rng(0)
    errors = np.abs(rng.standard_normal((60, 3)))
    odd = rng.standard_normal((60, 3))
    odd[:, 1] = rng.integers(3, size=60) / 2
    errors[0, 2] = 1e3
    np.testing.assert_array_equal(are_rough(odd, errors**2), [False, True, True])
    np.testing.assert_array_equal(are_rough(1e-200 * odd, 0 * errors), [False, True, False])


def test_pairs_are_halved():
    halves = halves_of(101)
    assert sorted(np.bincount(halves)) == [50, 51]
    np.testing.assert_array_equal(halves, halves_of(101))


def test_the_average_is_of_all_sets_and_errors_are_without_the_half():
    rng = np.random.default_rng(1)
    halves = halves_of(N)
    first, *others = (conditional(rng.standard_normal((D, 2)), rng.uniform(1.0, 2.0, (N, 2))) for _ in range(3))
    found = average([first, *others], halves, from_errors)
    ratios = [
        other.squared_errors[halves == half].sum(axis=0) / first.squared_errors[halves == half].sum(axis=0)
        for half, other in enumerate(others)
    ]
    trust = 1 / (1 + (np.array(ratios) / 20) ** 2)
    values = np.stack([first.values, *(other.values for other in others)])
    differences = ((values[1:] - values[0]) ** 2).sum(axis=1)
    agree = 1 / (1 + (differences / (3 * from_errors(found.squared_errors).sum(axis=0))) ** 2)
    weights = np.concatenate([np.ones((1, 2)), trust * agree])
    weights = weights / weights.sum(axis=0)
    mean = (weights[:, None] * values).sum(axis=0)
    np.testing.assert_allclose(found.values, mean)
    np.testing.assert_allclose(found.variances, 1.0 + (weights[:, None] * (values - mean) ** 2).sum(axis=0))
    for pair, half in enumerate(halves):
        expected = trust[half] * others[half].squared_errors[pair] + (1 - trust[half]) * first.squared_errors[pair]
        np.testing.assert_allclose(found.squared_errors[pair], expected)


def test_a_half_that_missed_something_is_ignored():
    """Its errors are larger by a factor that fitting too well cannot explain."""
    halves, errors = halves_of(N), np.ones((N, 2))
    first, half = conditional(np.ones((D, 2)), errors), conditional(np.full((D, 2), 9.0), 1e6 * errors)
    found = average([first, half, half], halves, from_errors)
    np.testing.assert_allclose(found.values, 1.0, atol=1e-6)
    np.testing.assert_allclose(found.squared_errors, 1.0, atol=1e-3)


def test_values_that_errors_cannot_explain_are_ignored():
    halves, errors = halves_of(N), np.ones((N, 2))
    first, half = conditional(np.ones((D, 2)), errors), conditional(np.full((D, 2), 1e4), errors)
    found = average([first, half, half], halves, from_errors)
    np.testing.assert_allclose(found.values, 1.0, atol=1e-2)
    np.testing.assert_allclose(found.squared_errors, 1.0)


def test_degrees_of_freedom_are_those_of_the_errors_that_share_the_sum():
    normal = np.random.default_rng(0).standard_normal((100_000, 1)) ** 2
    assert degrees_of_freedom(normal, 100, 90)[0] == pytest.approx(90, rel=0.05)
    some, few = np.zeros((60, 1)), np.zeros((60, 1))
    some[:15] = few[:4] = 1.0
    assert degrees_of_freedom(some, 60, 50)[0] == pytest.approx(50 * (3 * 15 / 60) ** 2)
    assert degrees_of_freedom(few, 60, 50)[0] == pytest.approx(2)
    assert degrees_of_freedom(few, 240, 150)[0] == pytest.approx(8)  # a quarter of the pairs was held out
    few[1:] = 0.0
    assert degrees_of_freedom(few, 60, 50)[0] == 1.0
    assert degrees_of_freedom(0 * few, 60, 50)[0] == 50.0


def test_what_few_pairs_show_is_not_explained_away():
    errors = np.zeros((50, 2))
    errors[:3, 0] = errors[:, 1] = 2.0
    np.testing.assert_allclose(least_share(errors), [np.exp(-1.5), np.exp(-25)])


def test_the_better_of_process_and_regression_has_the_larger_weight():
    values, of_regression = np.arange(4.0)[:, None], np.array([[3.0], [1.0], [2.0], [0.0]])
    linear = LeastSquares(of_regression, np.full((4, 1), 0.2), 3.0, np.zeros((1, 1)), np.zeros((4, 1)))
    mean, variances = with_regression(values, np.full((4, 1), 0.4), linear)
    np.testing.assert_allclose(mean, 0.2 * values + 0.8 * of_regression)
    np.testing.assert_allclose(variances, 0.2 * 0.4 + 0.8 * 0.2)
    exact, none = with_regression(values, np.zeros((4, 1)), linear._replace(variances=np.zeros((4, 1))))
    np.testing.assert_array_equal(exact, values)
    np.testing.assert_array_equal(none, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("multiple", [10, 20])
def test_intervals_cover_on_rough_games(multiple):
    """On every game but one: ten evaluations a player may show nothing of a step that 1% of the coalitions exceed."""
    shares = {}
    for game in battery(7):
        budget = multiple * game.d + 2
        if budget < 0.9 * 2**game.d and game.d <= 30:
            covered = []
            for seed in range(8):
                found = sharpley.shapley_values(game.games, method="gp", max_evals=budget, rng=seed, progress=False)
                lower, upper = found.interval(0.95)
                covered.append((lower - 1e-9 <= game.exact) & (game.exact <= upper + 1e-9))
            shares[game.name] = np.mean(covered)
    if multiple == 10:
        shares.pop("step of 12, 1%")
    assert min(shares.values()) > 0.8, shares
    assert 0.92 < np.mean(list(shares.values())) < 0.995


def test_a_game_that_looks_linear_has_an_error_bar_of_what_was_not_seen():
    """One coalition in 8,192 differs: nobody sees it, and the error it causes is within the intervals."""
    weights, odd_one = np.random.default_rng(0).normal(size=13), np.arange(13) % 2 == 0

    def needle(coalitions):
        return coalitions @ weights + 5.0 * (coalitions == odd_one).all(axis=1)

    exact = sharpley.shapley_values(needle, 13, method="exact", max_evals=2**13).values
    found = sharpley.shapley_values(needle, 13, method="gp", max_evals=262, rng=0)
    lower, upper = found.interval(0.95)
    assert ((lower <= exact) & (exact <= upper)).all()
    assert found.standard_errors.max() < 0.01 * np.ptp(exact)
