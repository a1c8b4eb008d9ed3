"""Exact values of sums of trees against their definition: all coalitions, all background rows, one tree at a time."""

from math import comb

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sharpley.games.trees import closed_form
from sharpley.games.trees.closed_form import Coded, coded, tree_values
from sharpley.games.trees.forest import Forest, Tree
from sharpley.indices import Index, Measure

N_FEATURES = 5
GRID = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])  # few values, so that rows tie with thresholds
KINDS = np.arange(4)


def random_tree(rng, depth, k, output):
    """A random tree: features repeat on paths, splits of feature 4 are by categories."""
    left, right, feature, threshold, missing, categories = [], [], [], [], [], {}

    def grow(level):
        node = len(left)
        for column, value in ((left, -1), (right, -1), (feature, int(rng.integers(N_FEATURES)))):
            column.append(value)
        threshold.append(float(rng.choice(GRID)))
        missing.append(bool(rng.random() < 0.5))
        if level < depth and rng.random() < 0.85:
            if feature[node] == 4:
                categories[node] = rng.permutation(KINDS)[: rng.integers(1, 4)]
            left[node] = grow(level + 1)
            right[node] = grow(level + 1)
        return node

    grow(0)
    value = rng.normal(size=(len(left), k)) if output < 0 else rng.normal(size=len(left))
    arrays = (np.array(each, dtype=np.int32) for each in (left, right, feature))
    return Tree(*arrays, np.array(threshold), np.array(missing), value, categories, output)


def random_table(rng, n):
    table = rng.choice(GRID, size=(n, N_FEATURES))
    table[:, 4] = rng.choice(KINDS, size=n)
    table[rng.random(table.shape) < 0.15] = np.nan
    return table


def problem(seed, *, depth, n_trees, k=1):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, depth, k, int(rng.integers(-1, k))) for _ in range(n_trees)]
    weights = rng.exponential(size=7)
    return Forest(trees, N_FEATURES, np.zeros(k)), random_table(rng, 7), weights / weights.sum(), random_table(rng, 3)


def by_definition(forest, background, weights, rows, players, d):
    of_sizes = [1.0 / (d * comb(d - 1, size)) for size in range(d)]
    return oracles.forest_index(forest.trees, background, weights, rows, players, d, forest.n_outputs, of_sizes)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    depth=st.integers(0, 6),
    n_trees=st.integers(0, 3),
    k=st.integers(1, 3),
    grouped=st.booleans(),
    by_walks=st.booleans(),
)
def test_values_are_those_of_the_definition(seed, depth, n_trees, k, grouped, by_walks):
    forest, background, weights, rows = problem(seed, depth=depth, n_trees=n_trees, k=k)
    players, d = (np.array([0, 1, 0, 2, 1]), 3) if grouped else (np.arange(5), 5)
    with pytest.MonkeyPatch.context() as patch:
        if by_walks:
            patch.setattr(closed_form, "TABLE_PLAYERS", -1)
        found, base = tree_values(forest, coded(forest, background), weights, coded(forest, rows), players, d)
    assert_allclose(found, by_definition(forest, background, weights, rows, players, d), atol=1e-12)
    outputs = np.array([oracles.forest_output(forest.trees, row, k) for row in background])
    assert_allclose(base, weights @ outputs.reshape(-1, k), atol=1e-12)


class PointMass(Measure):
    def __init__(self, at):
        self.at = at

    def nodes(self, degree):
        return np.array([self.at]), np.array([1.0])


@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("table_players", [-1, 12])
def test_every_measure_gives_its_index(monkeypatch, at, table_players):
    """A point mass at q: each of the other players is present with probability q."""
    monkeypatch.setattr(closed_form, "TABLE_PLAYERS", table_players)
    forest, background, weights, rows = problem(3, depth=5, n_trees=4)
    given_rows = coded(forest, background), weights, coded(forest, rows)
    found, _ = tree_values(forest, *given_rows, np.arange(5), 5, index=Index("point", (PointMass(at),)))
    of_sizes = [at**size * (1.0 - at) ** (4 - size) for size in range(5)]
    expected = oracles.forest_index(forest.trees, background, weights, rows, np.arange(5), 5, 1, of_sizes)
    assert_allclose(found, expected, atol=1e-12)


def larger_problem():
    rng = np.random.default_rng(1)
    trees = [random_tree(rng, 7, 2, int(rng.integers(-1, 2))) for _ in range(12)]
    forest = Forest(trees, N_FEATURES, np.zeros(2))
    return forest, random_table(rng, 1000), np.full(1000, 1e-3), random_table(rng, 700)


@pytest.mark.parametrize("table_players", [-1, 12])
def test_threads_and_blocks_do_not_change_a_bit(monkeypatch, table_players):
    monkeypatch.setattr(closed_form, "TABLE_PLAYERS", table_players)
    forest, background, weights, rows = larger_problem()
    rows = rows[:40] if table_players < 0 else rows

    def solve(some=slice(None), **options):
        return tree_values(
            forest, coded(forest, background), weights, coded(forest, rows[some]), np.arange(5), 5, **options
        )

    values, base = solve()
    in_threads = solve(n_threads=3)
    assert_array_equal(in_threads[0], values)
    assert_array_equal(in_threads[1], base)
    assert_array_equal(solve(slice(7, 11))[0], values[7:11])
    if table_players > 0:
        monkeypatch.setattr(closed_form, "MOST_CODES", 4 * 300 * len(forest.features))
        monkeypatch.setattr(closed_form, "ROWS_AT_ONCE", 64)
        assert_array_equal(solve()[0], values)


def test_tables_in_many_chunks_give_the_same_values(monkeypatch):
    """A chunk that ends within a tree begins again on the path to its next leaf."""
    forest, background, weights, rows = larger_problem()

    def solve():
        return tree_values(forest, coded(forest, background), weights, coded(forest, rows), np.arange(5), 5)

    whole = solve()
    for most in (40, 1000):
        monkeypatch.setattr(closed_form, "MOST_ENTRIES", most)
        for found, expected in zip(solve(), whole, strict=True):
            assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("growth", [0.0, 1.0, 8.0])
def test_leaves_that_share_a_table_give_the_same_values(monkeypatch, growth):
    forest, background, weights, rows = problem(9, depth=6, n_trees=3)
    monkeypatch.setattr(closed_form, "GROWTH", growth)
    found, _ = tree_values(forest, coded(forest, background), weights, coded(forest, rows), np.arange(5), 5)
    assert_allclose(found, by_definition(forest, background, weights, rows, np.arange(5), 5), atol=1e-12)


def test_kept_tables_are_used_again():
    forest, background, weights, rows = larger_problem()
    kept = {}
    first = tree_values(forest, coded(forest, background), weights, coded(forest, rows), np.arange(5), 5, kept=kept)

    def nothing(start, stop):
        raise AssertionError("the background was read again")

    unread = Coded(forest, nothing, len(background))
    again = tree_values(forest, unread, weights, coded(forest, rows[:9]), np.arange(5), 5, kept=kept)
    assert_array_equal(again[0], first[0][:9])
    assert_array_equal(again[1], first[1])


def test_many_thresholds_need_longer_codes():
    """More than 2^16 thresholds on a feature: two of them, far apart, still differ."""
    n = 70_000
    thresholds = np.arange(n, dtype=np.float64)
    stumps = Tree(
        left=np.concatenate([np.arange(1, 2 * n, 2), np.full(n + 1, -1)])[: 2 * n + 1].astype(np.int32),
        right=np.zeros(2 * n + 1, np.int32),
        feature=np.zeros(2 * n + 1, np.int32),
        threshold=np.concatenate([thresholds, np.zeros(n + 1)]),
        missing_left=np.zeros(2 * n + 1, bool),
        value=np.zeros(2 * n + 1),
    )
    forest = Forest([stumps], 1)
    assert forest.codes(np.array([[-5.0], [3.5], [1e9], [np.nan]])).tolist() == [[1, 5, n + 1, 0]]
