import numpy as np
import pytest

from sharpley import SAMPLERS, all_orderings, permutation_mean
from sharpley.coalitions.moments import group_totals, group_weights, grouped_moments
from sharpley.engine.methods import as_sampler
from sharpley.samplers.replicates import REPLICATES, draw_groups

D = 5


def features(orderings):
    """Whether 0 precedes 1 and 2 (which no antithetic pair estimates exactly), and the squared rank of 3."""
    ranks = np.argsort(orderings, axis=1)
    return np.stack([ranks[:, 0] < ranks[:, 1:3].min(axis=1), ranks[:, 3] ** 2], axis=1).astype(float)


TRUTH = features(all_orderings(D)).mean(axis=0)


@pytest.mark.parametrize("method", SAMPLERS)
def test_means_are_unbiased_and_standard_errors_match_their_standard_deviations(method):
    runs = [permutation_mean(features, D, n=40, method=method, rng=seed) for seed in range(400)]
    means = np.array([run.mean for run in runs])
    spread = means.std(axis=0)
    assert (np.abs(means.mean(axis=0) - TRUTH) < 4 * spread / np.sqrt(400)).all()
    reported = np.sqrt(np.mean([run.standard_error**2 for run in runs], axis=0))
    np.testing.assert_allclose(reported, spread, rtol=0.15)


@pytest.mark.parametrize("method", SAMPLERS)
def test_scalar_functions_give_scalars(method):
    result = permutation_mean(lambda x: x[:, 0] == 0, D, n=50, method=method, rng=0)
    assert result.mean.shape == result.standard_error.shape == ()
    assert result.mean == pytest.approx(1 / D, abs=5 * result.standard_error)


def test_constant_functions_have_no_error():
    for method in SAMPLERS:
        mean, error = permutation_mean(lambda x: np.full(len(x), 7.0), 6, n=23, method=method, rng=0)
        assert mean == pytest.approx(7.0)
        assert error == pytest.approx(0.0, abs=1e-12)


def test_one_group_has_no_standard_error():
    for method, n in (("monte-carlo", 1), ("antithetic", 2), ("sobol", 1)):
        mean, error = permutation_mean(features, D, n=n, method=method, rng=0)
        assert np.isfinite(mean).all()
        assert np.isnan(error).all()


def test_equal_seeds_yield_equal_results():
    for method in SAMPLERS:
        first, second = (permutation_mean(features, D, n=33, method=method, rng=1) for _ in range(2))
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize("n", [1, 2, 3, 9, 40, 81])
def test_groups_hold_n_orderings_with_weights_that_sum_to_one(method, n):
    drawn = draw_groups(as_sampler(method).start_sampler(D, 0), n)
    assert drawn.orderings.shape == (n, D)
    assert drawn.weights.sum() == pytest.approx(1.0)
    assert drawn.groups.max() + 1 == len(np.unique(drawn.groups))


@pytest.mark.parametrize("method", ["sobol", "herding", "sbq"])
def test_dependent_sequences_are_replicated(method):
    drawn = draw_groups(as_sampler(method).start_sampler(6, 0), 23)
    assert np.bincount(drawn.groups).tolist() == [5, 5, 5, 4, 4]
    alone = as_sampler(method).start_sampler(6, 0).spawn(REPLICATES)[0]
    np.testing.assert_array_equal(drawn.orderings[drawn.groups == 0], alone.random(5))


def test_pairs_stay_together_in_replicates():
    drawn = draw_groups(as_sampler("orthogonal").start_sampler(30, 0), 22)
    assert np.bincount(drawn.groups).tolist() == [6, 4, 4, 4, 4]
    np.testing.assert_array_equal(drawn.orderings[1::2], drawn.orderings[::2, ::-1])
    np.testing.assert_array_equal(drawn.groups[1::2], drawn.groups[::2])


def test_blocks_are_groups_of_their_own():
    """At d = 4 a block holds 6 orderings: five replicates of 12 are ten groups."""
    drawn = draw_groups(as_sampler("orthogonal").start_sampler(4, 0), 12 * REPLICATES)
    assert np.bincount(drawn.groups).tolist() == [6] * 2 * REPLICATES


def test_moments_of_equal_groups_match_the_textbook_formula():
    values = np.random.default_rng(0).normal(size=(12, 2))
    weights, groups = np.full(12, 1 / 12), np.tile(np.arange(4), 3)
    mean, variance, freedom = grouped_moments(
        group_totals(weights[:, None] * values, groups), group_weights(weights, groups)
    )
    by_group = values.reshape(3, 4, 2).mean(axis=0)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(np.sqrt(variance), by_group.std(axis=0, ddof=1) / 2)
    np.testing.assert_allclose(freedom, 3)


def test_variance_of_unequal_groups_is_unbiased():
    """Groups of 1, 2, 5 and 8 independent numbers of variance 1: the mean of all 16 has variance 1/16."""
    counts = np.array([1, 2, 5, 8])
    groups, weights = np.repeat(np.arange(4), counts), np.full(16, 1 / 16)
    values = np.random.default_rng(1).normal(size=(16, 20_000))
    _, variance, freedom = grouped_moments(
        group_totals(weights[:, None] * values, groups), group_weights(weights, groups)
    )
    assert variance.mean() == pytest.approx(1 / 16, rel=0.02)
    assert freedom[0] == pytest.approx(16**2 / (counts**2).sum() - 1)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x[:-1, 0], r"shape \(10,\) or \(10, k\) for 10 orderings, got \(9,\)"),
        (lambda x: 1.0, r"got \(\)"),
        (lambda x: np.where(np.arange(10) == 3, np.nan, 1.0), "got nan for ordering 3"),
    ],
)
def test_invalid_functions_raise_an_error(f, message):
    with pytest.raises(ValueError, match=message):
        permutation_mean(f, D, n=10, rng=0)


def test_invalid_arguments_raise_an_error():
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        permutation_mean(features, D, n=0)
    with pytest.raises(ValueError, match="unknown method 'halton'"):
        permutation_mean(features, D, n=10, method="halton")
