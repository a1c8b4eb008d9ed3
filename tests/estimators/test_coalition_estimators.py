"""Regression and Bayesian quadrature on pairs, compared with enumeration and dense linear algebra."""

from functools import partial

import numpy as np
import pytest
from driving import drive, one_game
from hypothesis import given
from hypothesis import strategies as st

import sharpley
from sharpley import shapley_values
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.coalitions.moments import Moments
from sharpley.engine.methods import as_method
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import PairChooser, pairs_per_class, quotas
from sharpley.estimators.pairs.regression import PairRegression, class_weights
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley.permutations.sphere import hyperplane_basis

METHODS = ["regression", "gp"]


@given(
    d=st.integers(2, 24),
    share=st.floats(0.0, 1.2),
    singletons=st.booleans(),
    middle=st.sampled_from([0.0, 0.3, 0.5]),
    seed=st.integers(0, 5),
)
def test_pairs_are_distinct_and_of_the_requested_number(d, share, singletons, middle, seed):
    n = int(min(share * 2 ** (d - 1), 300))
    counts = quotas(d, n, singletons=singletons, middle=middle)
    assert (counts <= pairs_per_class(d)).all()
    assert counts.sum() == min(n, 2 ** (d - 1) - 1)
    members = PairChooser(d, np.random.default_rng(seed)).extend(counts)
    both = np.concatenate([members, ~members])
    assert len(np.unique(both, axis=0)) == 2 * counts.sum()
    np.testing.assert_array_equal(np.bincount(members.sum(axis=1), minlength=d // 2 + 1)[1:], counts)


def test_further_pairs_differ_from_the_first():
    chooser = PairChooser(9, np.random.default_rng(0))
    first = chooser.extend(quotas(9, 40))
    more = chooser.extend(quotas(9, 100, already=quotas(9, 40)))
    both = np.concatenate([first, more])
    assert len(np.unique(both, axis=0)) == len(both) == 100


def test_players_are_balanced():
    members = PairChooser(40, np.random.default_rng(0)).extend(quotas(40, 400))
    small = members[members.sum(axis=1) < 20]
    random = np.random.default_rng(0).permuted(small, axis=1).sum(axis=0)
    assert small.sum(axis=0).std() < 0.5 * random.std()


def all_pairs(d, games, seed=0):
    """Data of random games at all pairs, and their exact Shapley values."""
    coalitions = all_coalitions(d)
    values = np.random.default_rng(seed).standard_normal((2**d, games))
    index = {row.tobytes(): i for i, row in enumerate(coalitions)}
    exact = np.stack(
        [
            shapley_values(
                lambda c, g=g: values[[index[row.tobytes()] for row in c], g], d, method="exact", max_evals=2**d
            ).values
            for g in range(games)
        ],
        axis=1,
    )
    sizes = coalitions.sum(axis=1)
    chosen = np.flatnonzero((sizes > 0) & ((2 * sizes < d) | ((2 * sizes == d) & coalitions[:, 0])))
    opposite = [index[(~coalitions[i]).tobytes()] for i in chosen]
    ends = index[np.ones(d, bool).tobytes()], index[np.zeros(d, bool).tobytes()]
    member, complement = values[chosen], values[opposite]
    data = PairData(
        np.where(coalitions[chosen], 1.0, -1.0),
        (member - complement) / 2,
        (member + complement) / 2,
        (values[ends[0]] - values[ends[1]]) / 2,
    )
    return data, exact


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6, 7])
def test_regression_on_all_pairs_is_exact(d):
    data, exact = all_pairs(d, games=3)
    found = PairRegression(data.signs).fit(data.odd, data.delta)
    np.testing.assert_allclose(found.values, exact, atol=1e-10)
    np.testing.assert_allclose(found.variances, 0.0, atol=1e-20)


def test_regression_is_the_constrained_weighted_least_squares_solution():
    data, _ = all_pairs(6, games=2)
    data = data.pairs(slice(0, 25))
    d, sizes = data.d, data.sizes
    present = np.bincount(sizes)
    weights = np.array([(1 if 2 * k == d else 2) / (k * (d - k) * present[k]) for k in sizes])
    np.testing.assert_allclose(class_weights(sizes, d) / weights, (class_weights(sizes, d) / weights)[0])
    effects = (sizes[:, None] == np.unique(sizes[2 * sizes != d])).astype(float)
    design = np.concatenate([data.signs, effects], axis=1)
    p = design.shape[1]
    system = np.zeros((p + 1, p + 1))
    system[:p, :p] = design.T @ (weights[:, None] * design)
    system[p, :d] = system[:d, p] = 1.0
    right = np.concatenate([design.T @ (weights[:, None] * data.odd), data.delta[None]])
    found = PairRegression(data.signs).fit(data.odd, data.delta)
    np.testing.assert_allclose(found.values, 2 * np.linalg.solve(system, right)[:d], atol=1e-9)


def test_basis_is_orthonormal_and_sums_to_zero():
    basis = hyperplane_basis(7).T
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-12)


def test_the_sensitivity_of_the_regression_is_that_of_its_values():
    """An error at one pair moves the values; its square counts as far as pairs of the same class were not drawn."""
    data, _ = all_pairs(6, games=1)
    data = data.pairs(slice(0, 24))
    regression = PairRegression(data.signs)
    fit = regression.fit(data.odd, data.delta)
    drawn = np.bincount(data.sizes, minlength=4)[1:] / pairs_per_class(6)
    for i in (0, 9, 23):
        moved = data.odd.copy()
        moved[i] += 1.0
        change = regression.fit(moved, data.delta).values - fit.values
        expected = change[:, 0] ** 2 * (1.0 - drawn[data.sizes[i] - 1])
        np.testing.assert_allclose(fit.squared_sensitivity[:, i], expected, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("magnitude", [1e-12, 1.0, 1e12])
def test_additive_games_are_exact(method, magnitude):
    worth = magnitude * np.arange(1.0, 21.0)
    estimate = shapley_values(lambda coalitions: coalitions @ worth, 20, method=method, max_evals=200, rng=0)
    np.testing.assert_allclose(estimate.values, worth, rtol=1e-9)
    # Not 0, since only a part of the coalitions is known to be additive.
    assert (estimate.standard_errors > 0).all()
    assert (estimate.standard_errors <= 0.1 * magnitude).all()  # half a percent of the range


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [2, 3, 4, 5, 8, 20])
@pytest.mark.parametrize(
    "game",
    [
        lambda c: np.full(len(c), 3.0),
        lambda c: np.stack([c.sum(axis=1) ** 2.0, -1.0 * c[:, 0] * c[:, 1]], axis=1),
        lambda c: 1e12 * (2 * c.sum(axis=1) > c.shape[1]),
        lambda c: 1e-12 * c.max(axis=1),
    ],
    ids=["constant", "two outputs", "huge votes", "tiny maximum"],
)
def test_estimates_of_hard_games_are_finite_and_efficient(method, d, game):
    total = np.atleast_1d(game(np.ones((1, d), bool))[0] - game(np.zeros((1, d), bool))[0])
    smallest = as_method(method).start(d, 0).least_budget
    for budget in (smallest, 2**d if d < 12 else 120):
        moments = estimated(method, game, d, budget)
        assert np.isfinite(moments.values).all()
        assert np.isfinite(moments.variances).all()
        np.testing.assert_allclose(moments.values.sum(axis=0), total, rtol=1e-9, atol=1e-20)


def estimated(method, game, d, budget):
    """The estimator's own estimate; the engine would enumerate once all coalitions have been evaluated."""
    moments = drive(as_method(method).start(d, 0), one_game(game), budget)
    return Moments(*(part[0] for part in moments))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", [32, 40, 10_000])
def test_all_pairs_give_exact_values(method, budget):
    """Both from the estimator itself and from a run, also with a budget for more pairs than there are."""
    game = WeightedVoting((5, 4, 3, 2, 1), quota=8)
    on_pairs = partial(GaussianProcessEstimator, settings=GPSettings(most_single=0, paired_evals_per_player=0.0))
    moments = estimated(on_pairs if method == "gp" else method, game, 5, budget)
    np.testing.assert_allclose(moments.values[:, 0], game.shapley_values(), atol=1e-6 if method == "gp" else 1e-12)
    run = shapley_values(game, 5, method=method, max_evals=budget, rng=0)
    np.testing.assert_allclose(run.values, game.shapley_values(), atol=1e-12)
    assert (run.standard_errors == 0).all()
    assert run.n_evals == 32


GAMES = {
    "airport": Airport(tuple(np.arange(1.0, 13.0))),
    "interactions": UnanimitySum.random(12, n_terms=60, max_order=6, rng=1),
}


@pytest.mark.parametrize("name", GAMES)
def test_errors_are_far_below_those_of_orderings(name):
    game = GAMES[name]
    truth = game.shapley_values()
    errors = {
        method: np.mean(
            [
                (shapley_values(game, 12, method=method, max_evals=242, rng=seed).values - truth) ** 2
                for seed in range(6)
            ]
        )
        for method in ("antithetic", *METHODS)
    }
    assert errors["gp"] < 0.7 * errors["regression"] < 0.2 * errors["antithetic"]


@pytest.mark.parametrize("method", METHODS)
def test_tolerance_stops_early(method):
    estimate = shapley_values(GAMES["airport"], 12, method=method, tol=0.02, rng=0)
    assert estimate.converged
    assert estimate.n_evals < 1500
    assert abs(estimate.values - GAMES["airport"].shapley_values()).max() < 0.2  # the range is 3


@pytest.mark.parametrize("method", METHODS)
def test_too_small_a_budget_raises_an_error(method):
    least = sharpley.METHODS[method].least_budget(12)
    with pytest.raises(ValueError, match=f"too small for method '{method}' with 12 players: it needs at least {least}"):
        shapley_values(GAMES["airport"], 12, method=method, max_evals=least - 1)
