"""Weights with which the regression is unbiased: exactly so, over all relabellings of the players."""

from itertools import permutations

import numpy as np
import pytest

from sharpley import shapley_values
from sharpley.estimators.pairs.choosing import PairChooser, quotas
from sharpley.estimators.pairs.regression import PairRegression

BITS = {d: 2 ** np.arange(d) for d in range(2, 8)}


def mean_over_relabellings(table, d, n_pairs, *, is_balanced, seed=0):
    """The mean estimate of a game, given as a table of 2^d values, over all assignments of players to chosen pairs."""
    pairs = PairChooser(d, np.random.default_rng(seed)).extend(quotas(d, n_pairs))
    fit = PairRegression(np.where(pairs, 1.0, -1.0), is_balanced=is_balanced)
    odd, orders = [], np.array(list(permutations(range(d))))
    for order in orders:
        relabelled = np.empty_like(pairs)
        relabelled[:, order] = pairs
        odd.append((table[relabelled @ BITS[d]] - table[~relabelled @ BITS[d]]) / 2.0)
    delta = np.full(len(orders), (table[-1] - table[0]) / 2.0)
    found = fit.fit(np.array(odd).T, delta).values.T
    values = np.empty_like(found)
    np.put_along_axis(values, orders, found, axis=1)
    return values.mean(axis=0)


@pytest.mark.parametrize(("d", "n_pairs"), [(4, 6), (5, 9), (5, 12), (6, 15), (6, 24)])
def test_balanced_weights_have_no_bias(d, n_pairs):
    table = np.random.default_rng(d).normal(size=2**d)
    exact = shapley_values(lambda members: table[members @ BITS[d]], d, method="exact").values
    np.testing.assert_allclose(mean_over_relabellings(table, d, n_pairs, is_balanced=True), exact, atol=1e-9)


def test_other_weights_have_a_bias():
    table = np.random.default_rng(6).normal(size=64)
    exact = shapley_values(lambda members: table[members @ BITS[6]], 6, method="exact").values
    assert abs(mean_over_relabellings(table, 6, 12, is_balanced=False) - exact).max() > 1e-3


def test_too_few_pairs_leave_the_weights_as_they_are():
    pairs = PairChooser(10, np.random.default_rng(0)).extend(quotas(10, 14))
    signs, odd = np.where(pairs, 1.0, -1.0), np.random.default_rng(1).normal(size=(14, 1))
    plain, balanced = (PairRegression(signs, is_balanced=flag).fit(odd, np.ones(1)) for flag in (False, True))
    np.testing.assert_array_equal(plain.values, balanced.values)
