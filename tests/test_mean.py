from functools import partial

import numpy as np
import pytest

from sharpley import SAMPLERS, MonteCarlo, all_orderings, compare, permutation_mean, plotting
from sharpley.coalitions.moments import group_totals, group_weights, grouped_moments
from sharpley.samplers.replicates import draw_sample

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
    # Groups are unbiased; kernel models may be cautious, where a sample has far less error than independent orderings.
    highest = 1.15 if method in ("monte-carlo", "antithetic") else 4.0
    assert (0.8 * spread < reported).all()
    assert (reported < highest * spread).all()


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
    for method, n in (("monte-carlo", 1), ("antithetic", 2), ("sobol", 1), ("auto", 1)):
        mean, error = permutation_mean(features, D, n=n, method=method, rng=0)
        assert np.isfinite(mean).all()
        assert np.isnan(error).all()


def test_equal_seeds_yield_equal_results():
    for method in SAMPLERS:
        first, second = (permutation_mean(features, D, n=33, method=method, rng=1) for _ in range(2))
        np.testing.assert_array_equal(tuple(first), tuple(second))


@pytest.mark.parametrize("replicates", [None, 2, 5])
@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize("n", [1, 2, 3, 9, 40, 81])
def test_samples_hold_n_orderings_with_weights_that_sum_to_one(method, n, replicates):
    drawn = draw_sample(SAMPLERS[method](D, replicates=replicates, rng=0), n)
    assert drawn.orderings.shape == (n, D)
    assert drawn.weights.sum() == pytest.approx(1.0)
    assert drawn.groups is None or drawn.groups.max() + 1 == len(np.unique(drawn.groups))


@pytest.mark.parametrize("method", SAMPLERS)
def test_an_estimate_uses_one_sample(method):
    """The mean is that of the sampler used directly."""
    sampler = SAMPLERS[method](9, rng=3)
    orderings = sampler.random(37)
    expected = sampler.weights(orderings) @ features(orderings)
    np.testing.assert_allclose(permutation_mean(features, 9, n=37, method=method, rng=3).mean, expected)


@pytest.mark.parametrize("method", ["sobol", "herding", "sbq"])
def test_replicates_are_independent_samplers_in_turn(method):
    drawn = draw_sample(SAMPLERS[method](6, replicates=5, rng=0), 23)
    assert np.bincount(drawn.groups).tolist() == [5, 5, 5, 4, 4]
    alone = SAMPLERS[method](6, rng=0).spawn(5)[0]
    np.testing.assert_array_equal(drawn.orderings[drawn.groups == 0], alone.random(5))


def test_pairs_stay_together_in_replicates():
    drawn = draw_sample(SAMPLERS["orthogonal"](30, replicates=5, rng=0), 22)
    assert np.bincount(drawn.groups).tolist() == [6, 4, 4, 4, 4]
    np.testing.assert_array_equal(drawn.orderings[1::2], drawn.orderings[::2, ::-1])
    np.testing.assert_array_equal(drawn.groups[1::2], drawn.groups[::2])


def test_ten_blocks_are_groups_and_nine_are_one_sample():
    """At d = 4 a block holds 6 orderings."""
    assert draw_sample(SAMPLERS["orthogonal"](4, rng=0), 54).groups is None
    assert np.bincount(draw_sample(SAMPLERS["orthogonal"](4, rng=0), 60).groups).tolist() == [6] * 10


def tour(orderings):
    """Length of a path through points on a circle, which reversal does not change."""
    points = np.exp(2j * np.pi * np.arange(8) / 8)
    return np.abs(np.diff(points[orderings], axis=1)).sum(axis=1)


def test_auto_uses_reverses_only_where_they_help():
    assert permutation_mean(tour, 8, n=200, rng=0).method == "monte-carlo"
    assert permutation_mean(lambda x: np.argsort(x, axis=1) ** 2, 8, n=200, rng=0).method == "orthogonal"
    assert permutation_mean(tour, 8, n=31, rng=0).method == "orthogonal"  # too few for a pilot


@pytest.mark.parametrize("f", [tour, features])
def test_auto_is_unbiased_and_its_intervals_cover(f):
    truth = f(all_orderings(8)).mean(axis=0)
    runs = [permutation_mean(f, 8, n=60, rng=seed) for seed in range(150)]
    means = np.array([run.mean for run in runs])
    assert (np.abs(means.mean(axis=0) - truth) < 4 * means.std(axis=0) / np.sqrt(150)).all()
    covered = [(low <= truth) & (truth <= high) for low, high in (run.interval() for run in runs)]
    assert 0.88 < np.mean(covered) <= 1.0


@pytest.mark.parametrize("method", ["antithetic", "orthogonal", "sobol", "herding", "sbq", "design"])
def test_intervals_of_one_sample_cover_where_reversal_changes_nothing(method):
    """Half of the values repeat the other half, which must not look like certainty."""
    truth = tour(all_orderings(8)).mean()
    runs = [permutation_mean(tour, 8, n=40, method=method, rng=seed) for seed in range(100)]
    covered = [low <= truth <= high for low, high in (run.interval() for run in runs)]
    assert np.mean(covered) > 0.88


@pytest.mark.parametrize("method", ["auto", *SAMPLERS])
def test_a_tolerance_is_met_by_all_components(method):
    if method == "sbq":
        pytest.skip("weights of thousands of orderings take seconds")
    found = permutation_mean(features, D, n=20_000, method=method, tol=0.2, rng=0)
    low, high = found.interval(0.95)
    assert found.converged
    assert found.n < 20_000
    assert (high - low <= 0.4 + 1e-12).all()
    assert (np.abs(found.mean - TRUTH) < 0.4).all()


def test_a_tolerance_out_of_reach_warns_and_uses_all_orderings():
    with pytest.warns(RuntimeWarning, match=r"did not reach tol=1e-06 with 300 orderings"):
        found = permutation_mean(features, D, n=300, method="monte-carlo", tol=1e-6, rng=0)
    assert not found.converged
    assert found.n == 300


def test_streaming_calls_the_function_once_with_each_ordering():
    seen = []

    def f(orderings):
        seen.append(orderings)
        return orderings[:, 0].astype(float)

    found = permutation_mean(f, D, n=5000, method="sobol", tol=0.1, rng=0)
    assert len(seen) > 1
    np.testing.assert_array_equal(np.concatenate(seen), SAMPLERS["sobol"](D, rng=0).random(found.n))


def test_values_may_be_arrays_of_any_shape():
    found = permutation_mean(lambda x: x[:, :, None] == np.arange(4), 4, n=64, method="design", rng=0)
    assert found.mean.shape == found.standard_error.shape == found.degrees_of_freedom.shape == (4, 4)
    assert (np.abs(found.mean - 0.25) <= 4 * found.standard_error + 1e-9).all()


def test_one_player():
    found = permutation_mean(lambda x: x[:, 0] + 1.0, 1, n=50, rng=0)
    assert found.mean == pytest.approx(1.0)
    assert found.standard_error < 1e-12


def test_compare_finds_that_reverses_do_not_help_on_tours():
    table = compare(["monte-carlo", "antithetic", partial(MonteCarlo)], tour, 8, 60, repeats=80, rng=0).to_frame()
    assert table.loc["antithetic", "ratio_low"] > 1.1
    assert table.loc["MonteCarlo", "ratio_low"] < 1.0 < table.loc["MonteCarlo", "ratio_high"]
    assert table.loc["monte-carlo", "ratio"] == 1.0


def test_errors_about_the_truth_and_about_the_mean_agree():
    truth = tour(all_orderings(8)).mean()
    both = [compare(["antithetic"], tour, 8, 60, repeats=100, truth=t, rng=0).to_frame() for t in (None, truth)]
    assert both[0].loc["antithetic", "error"] == pytest.approx(both[1].loc["antithetic", "error"], rel=0.05)


def test_comparisons_are_drawn():
    found = compare(["monte-carlo", "antithetic"], tour, 8, 20, repeats=10, rng=0)
    ax = plotting.comparison(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["antithetic", "monte-carlo"]


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
        (lambda x: x[:-1, 0], r"shape \(10,\) or \(10, ...\) for 10 orderings, got \(9,\)"),
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
