"""Results do not depend on the unit of the values, from 1e-300 to 1e300, nor on rounding errors."""

import numpy as np
import pytest

import sharpley
from sharpley.games import UnanimitySum
from sharpley_experiments.battery.games import odd

GAME = UnanimitySum.random(10, n_terms=40, max_order=6, rng=1)


@pytest.mark.parametrize("method", ["antithetic", "owen", "stratified", "regression", "gp", "gp-unbiased", "exact"])
@pytest.mark.parametrize("exponent", [-996, -700, 700, 990])
@pytest.mark.filterwarnings("error")
def test_results_are_the_same_in_any_unit(method, exponent):
    budget = 1024 if method == "exact" else 450
    expected, found = (
        sharpley.shapley_values(
            lambda coalitions, unit=unit: unit * GAME(coalitions), 10, method=method, max_evals=budget, rng=0
        )
        for unit in (1.0, 2.0**exponent)
    )
    np.testing.assert_array_equal(found.values, 2.0**exponent * expected.values)
    np.testing.assert_array_equal(found.standard_errors, 2.0**exponent * expected.standard_errors)


def product_and_sum(x):
    return x[:, 0] * x[:, 1] + np.tanh(x).sum(axis=1)


@pytest.mark.parametrize(("method", "n_rows"), [("antithetic", 2000), ("sobol", 2000), ("regression", 150)])
@pytest.mark.parametrize("exponent", [-990, -520, 520, 990])
@pytest.mark.filterwarnings("error")
def test_results_of_own_draws_are_the_same_in_any_unit(method, n_rows, exponent):
    rng = np.random.default_rng(0)
    background, rows = rng.normal(size=(n_rows, 6)), rng.normal(size=(2, 6))
    expected, found = (
        sharpley.Explainer(
            lambda x, unit=unit: unit * product_and_sum(x), background, method=method, draws="own", rng=0
        ).estimate(rows, max_predictions=8000)
        for unit in (1.0, 2.0**exponent)
    )
    np.testing.assert_allclose(found.values, 2.0**exponent * expected.values, rtol=1e-12)
    np.testing.assert_allclose(found.standard_errors, 2.0**exponent * expected.standard_errors, rtol=1e-12)


def test_outputs_have_units_of_their_own():
    both = sharpley.shapley_values(
        lambda some: np.stack([GAME(some), 1e200 * GAME(some)], axis=1), 10, max_evals=300, rng=0
    )
    np.testing.assert_allclose(both.values[:, 1], 1e200 * both.values[:, 0], rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gp_does_not_learn_from_rounding(seed):
    """The even part of the game is 0 but for rounding, and has nothing to tell of which players interact."""
    game = odd(12, np.random.default_rng(0)).games

    def disturbed(coalitions):
        return game(coalitions) * (1 + 1e-15 * np.sin(1e3 * (coalitions @ np.arange(12.0))))

    plain, noisy = (
        sharpley.shapley_values(each, 12, method="gp", max_evals=122, rng=seed).values for each in (game, disturbed)
    )
    np.testing.assert_allclose(noisy, plain, atol=1e-4 * np.abs(plain).max())
