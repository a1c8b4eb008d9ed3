"""An index is a measure over q and an order: exact values, axioms, and names."""

from math import comb

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpley
from sharpley.games import UnanimitySum
from sharpley.indices import (
    INDICES,
    Beta,
    Index,
    Point,
    PolynomialDensity,
    SizeWeights,
    index_by_name,
    probabilistic_values,
)

INTERACTIONS = ("SII", "k-SII", "STII", "FSII", "BII", "FBII")
MEASURES = [
    Beta(1.0, 1.0),
    Beta(1.0, 4.0),
    Beta(2.5, 0.5),
    Point(0.5),
    Point(0.0),
    PolynomialDensity((4.0, -6.0)),
    SizeWeights(np.arange(1.0, 9.0) / 36.0),
]


def random_values(d, k=1, rows=1, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, 2**d, k))


def as_function(values):
    """The game with the given values (2^d,), as a function of frozensets."""
    return lambda members: values[sum(1 << player for player in members)]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_nodes_integrate_polynomials(measure):
    """Sums over nodes for one degree agree with those for a higher one, and with the closed forms of sizes."""
    for n in (0, 1, 4, 7):
        q, w = measure.nodes(n)
        finer_q, finer_w = measure.nodes(7)
        for power in range(n + 1):
            assert w @ q**power == pytest.approx(finer_w @ finer_q**power, abs=1e-10)
        binomial = np.array([comb(n, s) * w @ (q**s * (1 - q) ** (n - s)) for s in range(n + 1)])
        np.testing.assert_allclose(measure.sizes(n), binomial, atol=1e-10)
        assert measure.sizes(n).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_sampled_points_have_the_moments_of_the_measure(measure):
    u = (np.arange(200_000) + 0.5) / 200_000
    q, factors = measure.sample(u, 7)
    for power in range(8):
        nodes, w = measure.nodes(7)
        assert np.mean(factors * q**power) == pytest.approx(w @ nodes**power, abs=1e-4 * np.abs(w).sum())


def test_sizes_of_many_players_neither_overflow_nor_vanish():
    for measure in (Beta(1.0, 1.0), Beta(1.0, 16.0), Point(0.5)):
        assert measure.sizes(5000).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", INTERACTIONS)
def test_enumeration_agrees_with_the_definition_of_every_interaction(name, order):
    for d in (1, 2, 3, 4, 6):
        values = random_values(d, seed=d)
        truth = oracles.interactions(as_function(values[0, :, 0]), d, name, min(order, d))
        index = index_by_name(name, order)
        if order > d and name in ("STII", "FSII", "k-SII", "FBII"):
            continue  # the definition for an order above the number of players is the game itself
        found = index.of_all_values(values, d)[0, :, 0]
        np.testing.assert_allclose(found, [truth[label] for label in index.labels(d)], atol=1e-9)


def test_values_of_order_1_agree_with_their_definitions():
    d = 6
    values = random_values(d)
    game = as_function(values[0, :, 0])

    def found(index):
        return index_by_name(index).of_all_values(values, d)[0, :, 0]

    def by_weights(weight):
        return [oracles.cardinal_index(game, d, (player,), weight) for player in range(d)]

    np.testing.assert_allclose(found("shapley"), oracles.shapley_functional(sharpley_coalitions(d)) @ values[0, :, 0])
    np.testing.assert_allclose(found("banzhaf"), by_weights(lambda t: 0.5 ** (d - 1)))
    # Kwon and Zou: the weight of small coalitions is large if the first parameter is
    q = (np.arange(10_000) + 0.5) / 10_000
    steep = by_weights(lambda t: np.mean(4 * (1 - q) ** 3 * q**t * (1 - q) ** (d - 1 - t)))
    np.testing.assert_allclose(found("beta(4, 1)"), steep, atol=1e-6)
    weights = np.array([0.3, 0.1, 0.0, 0.2, 0.0, 0.4])
    given_weights = by_weights(lambda t: weights[t] / comb(d - 1, t))
    np.testing.assert_allclose(found(probabilistic_values(weights)), given_weights)
    np.testing.assert_allclose(found(probabilistic_values([1 / d] * d)), found("shapley"))


def sharpley_coalitions(d):
    return (np.arange(2**d)[:, None] >> np.arange(d)) & 1 == 1


def test_a_null_player_changes_nothing_for_the_others():
    """Also for weights that are given for a number of players, of which fewer matter."""
    d = 5
    smaller = random_values(d - 1)
    numbers = np.arange(2**d)
    without = (numbers & 0b11) | ((numbers >> 3) << 2)  # player 2 is left out
    everything = smaller[:, without]
    kept = np.array([0, 1, 3, 4])
    indices = [index_by_name(name) for name in (*INTERACTIONS, "shapley", "banzhaf", "beta(2, 3)")]
    for index in [*indices, probabilistic_values([0.5, 0.1, 0.1, 0.2, 0.1])]:
        whole, part = index.of_all_values(everything, d), index.of_all_values(smaller, d - 1)
        np.testing.assert_allclose(whole[:, index.positions(kept, d)], part, atol=1e-12)
        others = [position for position, label in enumerate(index.labels(d)) if 2 in label]
        assert (whole[:, others] == 0.0).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_an_additive_game_has_no_interactions(seed, d):
    rng = np.random.default_rng(seed)
    contributions = rng.normal(size=d) * 10.0 ** rng.integers(-3, 4)
    values = (sharpley_coalitions(d) @ contributions + rng.normal())[None, :, None]
    for name in INTERACTIONS:
        found = index_by_name(name).of_all_values(values, d)[0, :, 0]
        np.testing.assert_allclose(found[:d], contributions, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found[d:], 0.0, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 3))
def test_interactions_that_explain_the_whole_add_up(seed, d, order):
    values = random_values(d, seed=seed)
    for name in ("k-SII", "STII", "FSII"):
        found = index_by_name(name, min(order, d)).of_all_values(values, d)
        assert found.sum() == pytest.approx(values[0, -1, 0] - values[0, 0, 0], abs=1e-9)


def test_results_do_not_depend_on_the_rows_computed_together():
    values = random_values(7, k=2, rows=5)
    for name in ("shapley", "k-SII", "FSII"):
        index = index_by_name(name)
        together = index.of_all_values(values, 7)
        apart = np.concatenate([index.of_all_values(values[row : row + 1], 7) for row in range(5)])
        assert together.tobytes() == apart.tobytes()


def test_estimate_takes_an_index_by_name_and_order():
    game = UnanimitySum.random(5, n_terms=9, max_order=3, rng=0)
    assert sharpley.estimate(game, index="beta(4, 1)").values.shape == (1, 5)
    assert sharpley.estimate(game, index="SII", order=3).values.shape == (1, 5 + 10 + 10)


@pytest.mark.parametrize(
    ("index", "order", "message"),
    [
        ("shapley", 2, "index 'shapley' has order 1, got order=2; interactions have order 2 or 3: .*'SII'"),
        ("SII", 4, "order must be at most 3, got 4"),
        ("SII", 0, "order must be at least 1, got 0"),
        ("beta(4)", None, r"unknown index 'beta\(4\)'; choose one of .*'beta\(a, b\)'"),
        ("beta(4, x)", None, "needs two positive numbers, as in 'beta"),
        ("beta(4, -1)", None, "needs two positive numbers, got a=-1.0 and b=4.0"),
        (3, None, "unknown index 3"),
    ],
)
def test_unknown_indices_and_orders_are_errors(index, order, message):
    with pytest.raises(ValueError, match=message):
        index_by_name(index, order)


def test_weights_that_cannot_be_meant_are_errors():
    with pytest.raises(ValueError, match="sum to 1"):
        SizeWeights([0.5, 0.2])
    with pytest.raises(ValueError, match="3 weights over sizes are for games of 3 players, got 4 players"):
        sharpley.estimate(
            UnanimitySum.random(4, n_terms=5, max_order=3, rng=0), index=probabilistic_values([1 / 3] * 3)
        )
    with pytest.raises(ValueError, match="no measure over q that can be summed accurately"):
        SizeWeights(np.eye(60)[30]).nodes(59)


def test_every_name_in_the_table_gives_an_index_with_that_name():
    for name in INDICES:
        assert index_by_name(name).name == name
    mine = Index("mine", (Point(0.3),))
    assert index_by_name(mine) is mine


def test_weights_over_sizes_are_enumerated_for_models_with_closed_forms():
    """The closed form of trees needs nodes for any number of players, which such weights do not have."""
    from sklearn.ensemble import RandomForestRegressor

    x = np.random.default_rng(0).normal(size=(60, 4))
    forest = RandomForestRegressor(3, max_depth=3, random_state=0).fit(x, x[:, 0] * x[:, 1])
    games = sharpley.MarginalGame(forest, x[:10], x[:1])
    found = sharpley.estimate(games, index=probabilistic_values([0.25] * 4))
    assert found.method == "exact"
    np.testing.assert_allclose(found.values, sharpley.estimate(games).values, atol=1e-12)
