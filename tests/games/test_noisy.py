"""Games with random values: standard errors that include the noise, and functions that are noticed to be noisy."""

import warnings

import numpy as np
import pytest

import sharpley
from sharpley.games import ENDLESS, NoisyGame, NoisyGameWarning, UnanimitySum
from sharpley.games.base import END_REPETITIONS, Games

D = 6
PLAIN = UnanimitySum.random(D, n_terms=12, max_order=3, rng=1)


def seeded(coalitions, seed):
    return PLAIN(coalitions) + 0.5 * np.random.default_rng(seed).normal(size=len(coalitions))


def unseeded(rng, scale):
    return lambda coalitions: PLAIN(coalitions) + scale * rng.normal(size=len(coalitions))


def coverage(scale, runs, **arguments):
    """Share of 95% intervals that contain the value, and the mean of squared errors divided by their variances."""
    truth, covered, ratios = PLAIN.shapley_values(), [], []
    for seed in range(runs):
        game = NoisyGame(unseeded(np.random.default_rng([7, seed]), scale), D)
        found = sharpley.estimate(game, rng=seed, progress=False, **arguments)
        lower, upper = found.interval(0.95)
        covered.append((lower <= truth) & (truth <= upper))
        ratios.append((found.values - truth) ** 2 / found.standard_errors**2)
    return np.mean(covered), np.mean(ratios)


@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0])
def test_intervals_include_the_noise(scale):
    share, ratio = coverage(scale, runs=60, max_evals=600)
    assert 0.91 <= share <= 0.99
    assert 0.6 <= ratio <= 1.5  # a standard error without the noise of 3.0 would be many times too small


def test_values_are_not_made_to_add_up_to_noisy_ends():
    """With many evaluations, the ten repetitions of v(∅) and v(N) are the noisiest numbers of all."""
    _, ratio = coverage(3.0, runs=40, max_evals=8000)
    assert ratio <= 1.5


@pytest.mark.slow
@pytest.mark.parametrize("budget", [20 * D + 2, 1000])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("method", ["auto", "monte-carlo", "orthogonal"])
def test_intervals_hold_for_all_levels_of_noise(method, scale, budget):
    share, _ = coverage(scale, runs=150, max_evals=budget, method=method)
    assert 0.92 <= share <= 0.985


def test_the_budget_is_kept_and_every_repetition_is_new():
    seen = []

    def function(coalitions, seed):
        seen.extend([seed] * len(coalitions))
        return seeded(coalitions, seed)

    found = sharpley.estimate(NoisyGame(function, D, seeded=True), max_evals=300, rng=0)
    assert len(seen) == found.n_evals[0] == found.n_predictions[0] <= 300
    pairs = [seed for seed in set(seen) if seed >= END_REPETITIONS]
    assert len(pairs) == (300 - 2 * END_REPETITIONS) // (2 * (D + 1))  # each antithetic pair has its own
    assert all(seen.count(seed) == 2 * (D + 1) for seed in pairs)


def test_other_estimates_see_other_repetitions():
    seen = []
    for rng in (0, 1):
        of_this = set()
        game = NoisyGame(lambda some, seed: of_this.add(seed) or seeded(some, seed), D, seeded=True)  # noqa: B023
        sharpley.estimate(game, max_evals=300, rng=rng)
        seen.append({seed for seed in of_this if seed >= END_REPETITIONS})
    assert seen[0].isdisjoint(seen[1])


def test_the_same_seed_gives_the_same_numbers():
    once = sharpley.estimate(NoisyGame(seeded, D, seeded=True), max_evals=300, rng=3)
    again = sharpley.estimate(NoisyGame(seeded, D, seeded=True), max_evals=300, rng=3)
    other = sharpley.estimate(NoisyGame(seeded, D, seeded=True), max_evals=300, rng=4)
    np.testing.assert_array_equal(once.values, again.values)
    assert (once.values != other.values).all()


def test_what_a_repetition_has_in_common_does_not_disturb():
    """Common noise of a whole repetition cancels in differences: a linear game is then exact.

    What was not seen keeps its error bar above 0, far below the noise.
    """

    def function(coalitions, seed):
        return coalitions @ np.arange(1.0, D + 1) + 100.0 * np.random.default_rng(seed).normal()

    found = sharpley.estimate(NoisyGame(function, D, seeded=True), rng=0)
    np.testing.assert_allclose(found.values[0], np.arange(1.0, D + 1), rtol=1e-9)
    assert (found.standard_errors < 0.5).all()


def test_several_outputs_and_names():
    game = NoisyGame(lambda some: np.stack([PLAIN(some), 2 * PLAIN(some)], axis=1), D, names=list("abcdef"))
    found = sharpley.estimate(game, max_evals=500, rng=0)
    np.testing.assert_allclose(found.values[0, :, 1], 2 * found.values[0, :, 0], rtol=1e-12)
    assert list(found.names) == list("abcdef")


def test_a_tolerance_stops():
    found = sharpley.estimate(NoisyGame(unseeded(np.random.default_rng(0), 0.2), D), tol=0.05, rng=0)
    assert found.converged.all()
    assert found.standard_errors.max() <= 0.05 * np.ptp(found.values)


def test_own_classes_may_have_endless_draws():
    class Repeated(Games):
        d, n_draws = D, ENDLESS

        def _draws(self, rows, coalitions, draws):
            return PLAIN(coalitions) + 0.1 * np.sin(draws % 1000 + coalitions.sum(axis=1))

    found = sharpley.estimate(Repeated(), max_evals=2000, rng=0)
    assert (np.abs(found.values[0] - PLAIN.shapley_values()) < 5 * found.standard_errors[0] + 1e-12).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "gp"}, "cannot be shared"),
        ({"method": "exact"}, "cannot be shared"),
        ({"draws": "shared"}, "every ordering has one of its own"),
        ({"max_evals": 5}, "max_evals=5 is too small"),
    ],
)
def test_what_is_impossible_is_said(arguments, message):
    with pytest.raises(ValueError, match=message):
        sharpley.estimate(NoisyGame(seeded, D, seeded=True), **arguments)


def test_there_is_no_mean_over_all_repetitions():
    with pytest.raises(ValueError, match="estimate it instead"):
        NoisyGame(seeded, D, seeded=True)(np.ones((1, D), dtype=bool))
    with pytest.raises(ValueError, match="at least 2"):
        NoisyGame(seeded, 1)
    with pytest.raises(ValueError, match="one value for each of"):
        sharpley.estimate(NoisyGame(lambda coalitions, seed: 1.0, D, seeded=True))


@pytest.mark.parametrize("arguments", [{}, {"tol": 0.5}, {"method": "regression"}, {"method": "antithetic"}])
def test_noise_of_a_function_is_noticed(arguments):
    noisy = unseeded(np.random.default_rng(0), 0.1)
    with pytest.warns(NoisyGameWarning, match=r"the game is noisy: .* of [1-5] of 6 players, it returned .*NoisyGame"):
        sharpley.shapley_values(noisy, D, rng=0, **arguments)


def test_noise_between_the_ends_only_is_noticed():
    rng = np.random.default_rng(0)

    def imputed(coalitions):
        inner = ~coalitions.all(axis=1) & coalitions.any(axis=1)
        return PLAIN(coalitions) + np.where(inner, rng.normal(size=len(coalitions)), 0.0)

    with pytest.warns(NoisyGameWarning):
        sharpley.shapley_values(imputed, D, rng=0)


@pytest.mark.parametrize(
    "arguments", [{}, {"max_evals": 61}, {"max_evals": 64}, {"method": "antithetic"}, {"tol": 0.1}]
)
def test_functions_without_noise_are_not_accused(arguments):
    def rounded(coalitions):  # sums in another order differ in the last digits
        return PLAIN(coalitions) * (1.0 + 1e-9 * len(coalitions))

    with warnings.catch_warnings():
        warnings.simplefilter("error", NoisyGameWarning)
        sharpley.shapley_values(rounded, D, rng=0, **arguments)
        sharpley.shapley_values(lambda coalitions: np.full(len(coalitions), 2.0), D, rng=0, **arguments)


@pytest.mark.parametrize("method", ["gp", "regression", "antithetic", "auto"])
def test_looking_for_noise_costs_one_evaluation_if_no_budget_was_given(method):
    """``test_every_coalition_is_evaluated_once_and_counted`` is about budgets that were given."""
    seen = []
    found = sharpley.shapley_values(lambda some: seen.extend(some) or PLAIN(some), D, method=method, rng=0)
    assert len(seen) == found.n_evals + 1
