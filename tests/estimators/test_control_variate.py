"""The unbiased form of "gp": a control variate that is fitted to the other fold."""

from functools import partial

import numpy as np
import pytest
from driving import drive, one_game
from oracles import shapley_functional

from sharpley import shapley_values
from sharpley.estimators import GPSettings, RegressionEstimator
from sharpley.estimators.gp import control_variate as crossfit
from sharpley.estimators.gp.control_variate import CrossFittedEstimator, walked_pairs
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley.samplers import Antithetic
from sharpley.samplers.replicates import GroupedSource

VOTES = WeightedVoting((4, 3, 2, 2, 1, 1), quota=7)
VOTES_OF_5 = WeightedVoting((4, 3, 2, 2, 1), quota=7)


def estimate(game, max_evals, seed, **arguments):
    return shapley_values(game, game.d, method="gp", unbiased=True, max_evals=max_evals, rng=seed, **arguments)


def test_pairs_along_walks_are_complements():
    estimator = CrossFittedEstimator(5, partial(GroupedSource, Antithetic(5, rng=0)))
    drive(estimator, one_game(VOTES_OF_5), 40)
    pairs = walked_pairs(np.concatenate(estimator._orderings), np.concatenate(estimator._walks))
    everything = estimator.store.since(0)
    np.testing.assert_array_equal(everything[pairs.positions[:, 0]], pairs.signs > 0)
    np.testing.assert_array_equal(everything[pairs.positions[:, 1]], pairs.signs < 0)


def test_control_has_shapley_values_of_zero(monkeypatch):
    """Otherwise the estimate would be biased by those of the fit."""
    seen = []
    real = crossfit._control
    monkeypatch.setattr(crossfit, "_control", lambda *arguments: seen.append(real(*arguments)) or seen[-1])
    game = UnanimitySum.random(5, n_terms=12, max_order=4, rng=0)
    estimator = CrossFittedEstimator(5, partial(GroupedSource, Antithetic(5, rng=0)))
    drive(estimator, one_game(game), 200)
    assert estimator.is_complete
    everything = estimator.store.since(0)
    assert len(seen) == 2
    for control in seen:
        assert np.abs(control).max() > 0.01
        np.testing.assert_allclose(shapley_functional(everything) @ control[0, :, 0], 0.0, atol=1e-9)


def test_fits_do_not_depend_on_the_walks_that_they_are_used_on():
    """If the values on one fold change, the control that is used on it does not."""
    game = UnanimitySum.random(8, n_terms=20, max_order=4, rng=0)
    estimator = CrossFittedEstimator(8, partial(GroupedSource, Antithetic(8, rng=0)))
    drive(estimator, one_game(game), 120)
    values = estimator.values
    orderings, walks = np.concatenate(estimator._orderings), np.concatenate(estimator._walks)
    pairs = walked_pairs(orderings, walks)
    folds = estimator._source.label(orderings, np.concatenate(estimator._streams)).groups % 2
    mine, theirs = (set(walks[folds == f].reshape(-1)) for f in (0, 1))
    changed = values.copy()
    changed[:, sorted(theirs - mine)] += 1.0
    of_mine = np.isin(pairs.walk, np.flatnonzero(folds == 0))
    before, after = (crossfit._control(v, pairs, of_mine, GPSettings()) for v in (values, changed))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("max_evals", [42, 64])  # four antithetic pairs, and all coalitions
def test_additive_games_are_exact(max_evals):
    weights = np.array([3.0, -1.0, 0.5, 2.0, 0.0, 7.0])
    found = shapley_values(lambda s: s @ weights, 6, method="gp", unbiased=True, max_evals=max_evals, rng=0)
    np.testing.assert_allclose(found.values, weights, atol=1e-6)  # with so few pairs, the control is not exact


def test_values_add_up():
    game = Airport(tuple(np.arange(1.0, 11.0)))
    found = estimate(game, 150, 0)
    assert found.method == "gp-unbiased"
    assert found.values.sum() == pytest.approx(10.0, abs=1e-9)
    assert found.n_evals <= 150


def test_walks_use_only_the_fit_to_the_other_fold(monkeypatch):
    """A control that is NaN on the coalitions of the walks that it was fitted to does not affect the estimate."""

    def poisoned(values, pairs, seen, settings):
        control = np.zeros_like(values)
        only_seen = set(pairs.positions[seen].reshape(-1)) - set(pairs.positions[~seen].reshape(-1))
        control[:, sorted(only_seen)] = np.nan
        assert np.isnan(control).any()
        return control

    monkeypatch.setattr(crossfit, "_control", poisoned)
    game = UnanimitySum.random(8, n_terms=20, max_order=4, rng=0)
    assert np.isfinite(estimate(game, 120, 0).values).all()


def test_mean_is_the_shapley_value():
    truth = VOTES.shapley_values()
    values = np.array([estimate(VOTES, 42, seed).values for seed in range(600)])
    error = np.abs(values.mean(axis=0) - truth) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
    assert error.max() < 4.0


def test_the_control_reduces_the_error():
    game = UnanimitySum.random(12, n_terms=60, max_order=6, rng=1)
    truth = game.shapley_values()
    ours, plain = (
        np.mean([((run(seed).values - truth) ** 2).mean() for seed in range(15)])
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
