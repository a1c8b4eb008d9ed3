"""The control variate: a fitted game with known Shapley values is subtracted, and what is left is sampled."""

from functools import partial

import numpy as np
import pytest
from oracles import shapley_functional

from sharpley import shapley_values
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.estimators import GPSettings, RegressionEstimator
from sharpley.estimators.control import CrossFittedEstimator, Fitted, without_fit
from sharpley.estimators.gp.estimator import process_fit
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley.samplers import Antithetic
from sharpley.samplers.replicates import GroupedSource

VOTES = WeightedVoting((4, 3, 2, 2, 1, 1), quota=7)


def estimate(game, max_evals, seed):
    return shapley_values(game, game.d, method="gp", unbiased=True, max_evals=max_evals, rng=seed)


def cross_fitted(fit):
    """The estimator with antithetic orderings and any fit."""
    return lambda d, rng=None: CrossFittedEstimator(d, partial(GroupedSource, Antithetic(d, rng=rng)), fit)


def test_the_index_of_the_fit_is_that_of_its_predictions():
    """Otherwise the estimate would be biased by the difference."""
    game, everywhere = UnanimitySum.random(6, n_terms=12, max_order=4, rng=0), all_coalitions(6)
    some = np.random.default_rng(0).permutation(np.arange(1, 32))[:12]
    seen = np.stack([np.append([0], some), np.append([63], 63 - some)], axis=1).ravel()
    values = np.stack([game(everywhere), np.random.default_rng(1).normal(size=64)], axis=1)
    fitted = process_fit(everywhere[seen], values[seen], everywhere, GPSettings())
    np.testing.assert_allclose(shapley_functional(everywhere) @ fitted.values, fitted.shapley, atol=1e-9)
    left = without_fit(values, everywhere, fitted)
    exact = shapley_functional(everywhere) @ values
    np.testing.assert_allclose(shapley_functional(everywhere) @ left, exact, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_fits_see_the_other_fold_alone_as_pairs(seed):
    """Each fit has coalitions with their complements, after ∅ and N, and the two fits have different ones."""
    asked = []

    def fit(coalitions, values, everywhere):
        np.testing.assert_array_equal(coalitions[::2], ~coalitions[1::2])
        assert coalitions[0].sum() == 0
        assert len(np.unique(coalitions, axis=0)) == len(coalitions)
        np.testing.assert_allclose(values[:, 0], game(coalitions))
        asked.append({row.tobytes() for row in coalitions})
        return Fitted(np.zeros((len(everywhere), 1)), np.zeros((8, 1)))

    game = UnanimitySum.random(8, n_terms=20, max_order=4, rng=0)
    found = shapley_values(game, 8, method=cross_fitted(fit), max_evals=120, rng=seed)
    plain = shapley_values(game, 8, method="antithetic", max_evals=120, rng=seed)
    assert len(asked) == 2
    assert len(asked[0] & asked[1]) < 0.5 * len(asked[0])
    assert len(asked[0] | asked[1]) == found.n_evals
    assert ((found.values - plain.values) ** 2).mean() < 1.0  # a control of 0 leaves plain antithetic orderings


def test_walks_use_only_the_fit_to_the_other_fold():
    """A fit that is NaN where it was fitted and nowhere else needed does not affect the estimate."""
    calls = []

    def poisoned(coalitions, values, everywhere):
        calls.append({row.tobytes() for row in coalitions})
        predicted = np.zeros((len(everywhere), 1))
        return Fitted(predicted, np.zeros((8, 1)))

    game = UnanimitySum.random(8, n_terms=20, max_order=4, rng=0)
    shapley_values(game, 8, method=cross_fitted(poisoned), max_evals=120, rng=0)
    of_first, of_second = calls
    calls.clear()

    def poisoned_where_seen(coalitions, values, everywhere):
        mine = {row.tobytes() for row in coalitions}
        only = mine - (of_second if mine == of_first else of_first)
        predicted = np.array([[np.nan if row.tobytes() in only else 0.0] for row in everywhere])
        assert np.isnan(predicted).any()
        return Fitted(predicted, np.zeros((8, 1)))

    found = shapley_values(game, 8, method=cross_fitted(poisoned_where_seen), max_evals=120, rng=0)
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("max_evals", [42, 64])  # four antithetic pairs, and all coalitions
def test_additive_games_are_exact(max_evals):
    weights = np.array([3.0, -1.0, 0.5, 2.0, 0.0, 7.0])
    found = shapley_values(lambda s: s @ weights, 6, method="gp", unbiased=True, max_evals=max_evals, rng=0)
    np.testing.assert_allclose(found.values, weights, atol=1e-3)  # with so few pairs, the control is not exact


def test_values_add_up():
    game = Airport(tuple(np.arange(1.0, 11.0)))
    found = estimate(game, 150, 0)
    assert found.method == "gp-unbiased"
    assert found.values.sum() == pytest.approx(10.0, abs=1e-9)
    assert found.n_evals <= 150


@pytest.mark.slow
def test_mean_is_the_shapley_value():
    truth = VOTES.shapley_values()
    values = np.array([estimate(VOTES, 42, seed).values for seed in range(300)])
    error = np.abs(values.mean(axis=0) - truth) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
    assert error.max() < 4.0


def test_the_control_reduces_the_error():
    game = UnanimitySum.random(12, n_terms=60, max_order=6, rng=1)
    truth = game.shapley_values()
    ours, plain = (
        np.mean([((run(seed).values - truth) ** 2).mean() for seed in range(6)])
        for run in (
            lambda seed: estimate(game, 482, seed),
            lambda seed: shapley_values(game, 12, method="orthogonal", max_evals=482, rng=seed),
        )
    )
    assert ours < 0.6 * plain


def test_methods_that_unbiased_selects_or_rejects():
    assert shapley_values(VOTES, 6, unbiased=True, max_evals=64).method == "exact"
    assert shapley_values(VOTES, 6, unbiased=True, max_evals=50, rng=0).method == "gp-unbiased"
    assert shapley_values(VOTES, 6, method="sobol", unbiased=True, max_evals=50, rng=0).method == "sobol"
    with pytest.raises(ValueError, match="'regression' has no unbiased form; use 'gp'"):
        shapley_values(VOTES, 6, method="regression", unbiased=True)
    with pytest.raises(ValueError, match="'RegressionEstimator' has no unbiased form"):
        shapley_values(VOTES, 6, method=RegressionEstimator, unbiased=True)
    assert shapley_values(VOTES, 6, method=Antithetic, unbiased=True, rng=0).method == "Antithetic"
    assert shapley_values(VOTES, 6, unbiased=True, max_evals=30, rng=0).method == "antithetic"
    with pytest.raises(ValueError, match="needs at least 42"):
        shapley_values(VOTES, 6, method="gp", unbiased=True, max_evals=41)
