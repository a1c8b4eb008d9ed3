"""Error bars where no player was seen to change anything: never 0, unless everything was evaluated."""

import itertools

import numpy as np
import pytest

from sharpley import METHODS, Explainer, MarginalGame, estimate, shapley_values
from sharpley.coalitions.moments import Moments, exact_moments
from sharpley.engine.blind import blind_errors, with_blind_errors

D = 12
SAMPLED = [name for name, record in METHODS.items() if record.factory is not None and name != "exact"]


def nothing(shape=(1, 3, 1)):
    return Moments(np.zeros(shape), np.zeros(shape), np.full(shape, 5.0))


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.parametrize(("constant", "change"), [(0.0, 1.0), (1.0, 1.0), (-250.0, 250.0), (1e-200, 1e-200)])
def test_no_error_bar_is_0_for_any_method(method, constant, change):
    found = shapley_values(lambda some: np.full(len(some), constant), D, method=method, max_evals=600, rng=0)
    np.testing.assert_array_equal(found.values, 0.0)
    np.testing.assert_allclose(found.standard_errors, change * blind_errors(int(found.n_evals)))


@pytest.mark.parametrize("method", ["antithetic", "regression"])
def test_own_draws_have_error_bars_as_well(method):
    background = np.random.default_rng(0).normal(size=(150, D))
    explainer = Explainer(lambda x: np.zeros(len(x)), background, method=method, draws="own", rng=0)
    found = explainer.estimate(np.ones((2, D)), max_predictions=20_000)
    assert (found.standard_errors > 0).all()
    assert (found.standard_errors < 0.05).all()


def test_values_of_all_coalitions_are_exact():
    found = shapley_values(lambda some: np.zeros(len(some)), 8, max_evals=256)
    np.testing.assert_array_equal(found.standard_errors, 0.0)


def test_players_that_cannot_matter_are_exact():
    rows = np.ones((1, D))
    rows[0, 3] = 0.0  # as in the background
    found = estimate(MarginalGame(lambda x: np.zeros(len(x)), np.zeros((1, D)), rows), max_evals=200, rng=0)
    np.testing.assert_array_equal(found.standard_errors[0] == 0, np.arange(D) == 3)


def test_an_error_bar_shows_that_votes_were_seen():
    """Pairs of a game that is the same for complements show no effect, but how large one might be."""
    found = shapley_values(lambda some: 1e-6 * (some.sum(axis=1) % 2), D, method="regression", max_evals=200, rng=0)
    np.testing.assert_allclose(found.standard_errors, 1e-6 * blind_errors(int(found.n_evals)))


def test_outputs_and_rows_are_judged_one_by_one():
    two = nothing((2, 3, 2))
    two.variances[0, 1, 0] = 4.0
    found = with_blind_errors(two, np.zeros((2, 5, 2)), np.array([10, 100]))
    np.testing.assert_array_equal(found.variances[0, :, 0], [0.0, 4.0, 0.0])
    np.testing.assert_allclose(found.variances[0, :, 1], blind_errors(10) ** 2)
    np.testing.assert_allclose(found.variances[1], blind_errors(100) ** 2)


def test_exact_moments_remain_exact():
    exact = exact_moments(np.zeros((1, 3, 1)))
    assert with_blind_errors(exact, np.zeros((1, 5, 1)), 10) is exact


def test_intervals_of_runs_that_saw_nothing_contain_the_values():
    """A step that fewer than one in a hundred coalitions take: most runs of 120 evaluations see none of them."""
    rng = np.random.default_rng(1)
    everything = np.array(list(itertools.product([False, True], repeat=D)))
    covered = []
    for seed in range(25):
        weights = rng.normal(size=D)
        limit = np.quantile(everything @ weights, 0.995)

        def step(some, weights=weights, limit=limit):
            return (some @ weights > limit) * 1.0

        found = shapley_values(step, D, max_evals=10 * D + 2, rng=seed)
        if not found.values.any():
            low, high = found.interval()
            exact = shapley_values(step, D, method="exact").values
            covered.append(((low <= exact) & (exact <= high)).mean())
    assert len(covered) >= 10
    assert np.mean(covered) >= 0.95


def test_a_tolerance_is_met_without_a_change_only_after_enough_evaluations():
    found = shapley_values(lambda some: np.zeros(len(some)), D, tol=0.01, rng=0, max_evals=3000)
    assert found.converged
    assert 200 <= found.n_evals < 1000  # 2 / n <= 0.01
    with pytest.warns(RuntimeWarning, match="did not reach"):
        few = shapley_values(lambda some: np.zeros(len(some)), D, tol=0.01, rng=0, max_evals=150)
    assert not few.converged


@pytest.mark.parametrize("method", SAMPLED)
def test_players_who_were_never_seen_to_matter_have_error_bars(method):
    """The twelve small voters are pivotal in so few orderings that a sample may miss all of these."""
    votes = np.array([30, 20] + [1] * 12)
    found = shapley_values(lambda some: (some @ votes >= 51) * 1.0, 14, method=method, max_evals=1000, rng=3)
    exact = shapley_values(lambda some: (some @ votes >= 51) * 1.0, 14, method="exact").values
    low, high = found.interval()
    assert (found.standard_errors > 0).all()
    assert ((low <= exact) & (exact <= high)).mean() >= 0.8
