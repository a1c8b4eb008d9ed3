"""Herding and sequential Bayesian quadrature compared with naive implementations on the same candidates."""

import numpy as np
import oracles
import pytest

from sharpley import (
    Adjacency,
    Hamming,
    Kendall,
    KernelHerding,
    Mallows,
    SequentialBayesianQuadrature,
    Spearman,
    discrepancy,
)
from sharpley.samplers.base import random_orderings

KERNELS = {
    "mallows": Mallows(4.0),
    "kendall": Kendall(),
    "spearman": Spearman(),
    "hamming": Hamming(),
    "adjacency": Adjacency(),
}


def candidates(d, steps, n_candidates, seed):
    rng = np.random.default_rng(seed)
    return [random_orderings(rng, n_candidates, d) for _ in range(steps)]


@pytest.mark.parametrize("name", KERNELS)
def test_herding_chooses_the_candidate_least_similar_to_those_before(name):
    expected = oracles.herd(candidates(7, 40, 5, seed=3), name)
    actual = KernelHerding(7, kernel=KERNELS[name], n_candidates=5, fresh=True, rng=3).random(40)
    if name == "mallows":
        np.testing.assert_array_equal(actual, expected)
    else:  # these kernels have few distinct values: ties are frequent, and either choice is right
        ours, theirs = (discrepancy(x, kernel=KERNELS[name]) for x in (actual, expected))
        assert ours == pytest.approx(theirs, rel=0.35)


def test_herding_through_gram_equals_the_compiled_loop(monkeypatch):
    compiled = KernelHerding(7, n_candidates=6, fresh=True, rng=1).random(70)
    monkeypatch.setattr(Mallows, "discordance_table", lambda self, d: None)
    np.testing.assert_array_equal(KernelHerding(7, n_candidates=6, fresh=True, rng=1).random(70), compiled)


def test_sbq_chooses_the_candidate_that_lowers_the_variance_most():
    expected = oracles.sequential_bayesian_quadrature(candidates(6, 30, 4, seed=5), "mallows")
    actual = SequentialBayesianQuadrature(6, n_candidates=4, fresh=True, rng=5).random(30)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_sbq_handles_samples_larger_than_the_number_of_orderings(kernel, d):
    sampler = SequentialBayesianQuadrature(d, kernel=kernel, rng=0)
    orderings = sampler.random(60)
    weights = sampler.weights(orderings)
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1.0)
    assert discrepancy(orderings, weights, kernel=kernel) < 1e-4


def test_sbq_factor_is_the_cholesky_factor_of_the_gram_matrix():
    sampler = SequentialBayesianQuadrature(5, fresh=True, rng=0)
    sampler.random(150)  # there are 120 orderings: some repeat and are excluded from the factor
    chosen, factor = sampler._chosen, sampler._factor
    assert len(chosen) == len(np.unique(chosen, axis=0)) <= 120
    np.testing.assert_allclose(factor, np.linalg.cholesky(Mallows(4.0).gram(chosen)), atol=1e-8)


def test_sbq_weights_normalised_or_as_printed():
    """Erratum 10: at d = 10, n = 10 the printed weights sum to 0.73 and have discrepancy .204, not .240."""
    raw = SequentialBayesianQuadrature(10, normalize=False, fresh=True, rng=0)
    orderings = raw.random(10)
    assert raw.weights(orderings).sum() == pytest.approx(0.73, abs=0.01)
    assert discrepancy(orderings, raw.weights(orderings)) == pytest.approx(0.204, abs=0.004)
    normal = SequentialBayesianQuadrature(10, fresh=True, rng=0)
    np.testing.assert_array_equal(normal.random(10), orderings)
    assert discrepancy(orderings, normal.weights(orderings)) == pytest.approx(0.240, abs=0.004)


def test_more_candidates_lower_the_discrepancy():
    means = [
        np.mean([discrepancy(KernelHerding(8, n_candidates=k, fresh=True, rng=seed).random(60)) for seed in range(5)])
        for k in (1, 5, 50)
    ]
    assert means[0] > 1.1 * means[1] > 1.2 * means[2]


@pytest.mark.parametrize("make", [KernelHerding, SequentialBayesianQuadrature])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_by_default_one_sequence_is_relabelled(make, kernel):
    """Two samples are the same set up to the labels of the players, so they have the same discrepancy."""
    first, second = (make(7, kernel=kernel, rng=seed).random(40) for seed in (0, 1))
    assert (first != second).any()
    np.testing.assert_array_equal(oracles.relabelled_to_identity(first), oracles.relabelled_to_identity(second))
    assert discrepancy(first, kernel=kernel) == pytest.approx(discrepancy(second, kernel=kernel), abs=1e-7)
    fresh = [make(7, kernel=kernel, fresh=True, rng=seed).random(40) for seed in (0, 1)]
    assert (oracles.relabelled_to_identity(fresh[0]) != oracles.relabelled_to_identity(fresh[1])).any()


def test_custom_kernels_use_fresh_candidates():
    class Negated(Kendall):
        """A kernel that the cache does not know."""

    assert KernelHerding(5, kernel=Negated(), rng=0).fresh
    assert not KernelHerding(5, kernel=Kendall(), rng=0).fresh
