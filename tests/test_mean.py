import numpy as np
import pytest

from sharpley import SAMPLERS, all_orderings, permutation_mean
from sharpley.mean import grouped_mean
from sharpley.samplers import sampler_by_name
from sharpley.samplers.replicates import REPLICATES, draw_groups

D = 5


def features(orderings):
    """Whether 0 precedes 1 and 2 (a function no pair of orderings gets right), and the rank of 3 squared."""
    ranks = np.argsort(orderings, axis=1)
    return np.stack([ranks[:, 0] < ranks[:, 1:3].min(axis=1), ranks[:, 3] ** 2], axis=1).astype(float)


TRUTH = features(all_orderings(D)).mean(axis=0)


@pytest.mark.parametrize("method", SAMPLERS)
def test_means_are_unbiased_and_errors_are_their_standard_deviations(method):
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


def test_constants_have_no_error():
    for method in SAMPLERS:
        mean, error = permutation_mean(lambda x: np.full(len(x), 7.0), 6, n=23, method=method, rng=0)
        assert mean == pytest.approx(7.0)
        assert error == pytest.approx(0.0, abs=1e-12)


def test_one_group_has_no_standard_error():
    for method, n in (("monte-carlo", 1), ("antithetic", 2), ("sobol", 1)):
        mean, error = permutation_mean(features, D, n=n, method=method, rng=0)
        assert np.isfinite(mean).all()
        assert np.isnan(error).all()


def test_same_seed_same_result():
    for method in SAMPLERS:
        first, second = (permutation_mean(features, D, n=33, method=method, rng=1) for _ in range(2))
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize("n", [1, 2, 3, 9, 40, 81])
def test_groups_hold_n_orderings_with_weights_that_sum_to_one(method, n):
    drawn = draw_groups(sampler_by_name(method, D, rng=0), n)
    assert drawn.orderings.shape == (n, D)
    assert drawn.weights.sum() == pytest.approx(1.0)
    assert (np.diff(drawn.groups) >= 0).all()
    assert drawn.groups[-1] + 1 == len(np.unique(drawn.groups))


def test_pairs_stay_together_in_replicates():
    drawn = draw_groups(sampler_by_name("orthogonal", 30, rng=0), 22)
    sizes = np.bincount(drawn.groups)
    assert sizes.tolist() == [6, 4, 4, 4, 4]
    np.testing.assert_array_equal(drawn.orderings[1::2], drawn.orderings[::2, ::-1])


def test_blocks_are_the_groups_when_there_are_enough():
    drawn = draw_groups(sampler_by_name("orthogonal", 4, rng=0), 6 * REPLICATES)
    assert np.bincount(drawn.groups).tolist() == [6] * REPLICATES
    single = sampler_by_name("orthogonal", 4, rng=0).random(6 * REPLICATES)
    np.testing.assert_array_equal(drawn.orderings, single)


def test_grouped_mean_of_equal_groups_is_the_textbooks():
    values = np.random.default_rng(0).normal(size=(12, 2))
    mean, error = grouped_mean(values, np.full(12, 1 / 12), np.repeat(np.arange(4), 3))
    by_group = values.reshape(4, 3, 2).mean(axis=1)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(error, by_group.std(axis=0, ddof=1) / 2)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x[:-1, 0], r"shape \(10,\) or \(10, k\) for 10 orderings, got \(9,\)"),
        (lambda x: 1.0, r"got \(\)"),
        (lambda x: np.where(np.arange(10) == 3, np.nan, 1.0), "got nan for ordering 3"),
    ],
)
def test_bad_functions_are_named(f, message):
    with pytest.raises(ValueError, match=message):
        permutation_mean(f, D, n=10, rng=0)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        permutation_mean(features, D, n=0)
    with pytest.raises(ValueError, match="unknown method 'halton'"):
        permutation_mean(features, D, n=10, method="halton")
