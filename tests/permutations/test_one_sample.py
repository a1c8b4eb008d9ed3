"""The error of one dependent sample: kernel means by enumeration, posteriors by dense conditioning, and coverage."""

from functools import partial

import numpy as np
import pytest

from sharpley import SAMPLERS, all_orderings, ranks_of, shapley_values
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley.permutations.one_sample import judge, one_sample_errors, ordering_candidates, predecessor_candidates

EVERYTHING = all_orderings(5)
MAKERS = {
    "orderings": partial(ordering_candidates, EVERYTHING),
    "sets": partial(predecessor_candidates, ranks_of(EVERYTHING), 2),
}


@pytest.mark.parametrize("name", MAKERS)
def test_means_of_candidates_are_averages_over_all_orderings(name):
    found = MAKERS[name](120)
    for gram, to_all, of_all in list(zip(*found, strict=True))[:-1]:
        np.testing.assert_allclose(gram.mean(axis=1), to_all, atol=1e-12)
        assert gram.mean() == pytest.approx(of_all)
        assert np.linalg.eigvalsh(gram).min() > -1e-10
        np.testing.assert_allclose(np.diagonal(gram), 1.0, atol=0.02)
    np.testing.assert_array_equal(found.grams[-1], np.eye(120))  # noise, whose mean is 0


@pytest.mark.parametrize("candidate", [0, 3, 5, 8])
def test_expected_errors_are_those_of_the_posterior(candidate):
    """The mean over all orderings, conditional on a few of them, by the formula for Gaussian vectors."""
    rng = np.random.default_rng(0)
    chosen = rng.permutation(120)[:12]
    found = ordering_candidates(EVERYTHING, 120)
    gram = found.grams[candidate]
    few = type(found)(
        gram[None, chosen[:, None], chosen], found.to_all[[candidate]][:, chosen], found.of_all[[candidate]]
    )
    values, weights = rng.normal(size=(12, 3)), np.full(12, 1 / 12)
    actual = judge(values, weights, few)
    vague = gram + 1e7  # a constant of unknown size
    known = vague[np.ix_(chosen, chosen)] + 1e-9 * np.eye(12)
    to_mean = np.linalg.solve(known, vague[chosen].mean(axis=1))
    contrasts = np.linalg.qr(np.column_stack([np.ones(12), np.eye(12)[:, 1:]]))[0][:, 1:]
    within = contrasts.T @ gram[np.ix_(chosen, chosen)] @ contrasts
    scales = np.einsum("ig,ij,jg->g", contrasts.T @ values, np.linalg.inv(within), contrasts.T @ values) / 11
    error = vague.mean() - vague[chosen].mean(axis=1) @ to_mean
    expected = (to_mean @ values - values.mean(axis=0)) ** 2 + scales * error
    np.testing.assert_allclose(actual.squared_errors[0], expected, rtol=1e-3)
    np.testing.assert_array_equal(actual.degrees_of_freedom, 11)


def test_repeated_points_are_no_further_evidence():
    """All candidates but noise expect the same errors, with the same degrees of freedom, if every value comes twice."""
    orderings, values = EVERYTHING[:8], np.random.default_rng(0).normal(size=(8, 2))
    once = judge(values, np.full(8, 1 / 8), ordering_candidates(orderings, 8))
    copies = ordering_candidates(np.repeat(orderings, 2, axis=0), 16)
    twice = judge(np.repeat(values, 2, axis=0), np.full(16, 1 / 16), copies)
    np.testing.assert_array_equal(twice.degrees_of_freedom[:-1], once.degrees_of_freedom[:-1])
    np.testing.assert_allclose(twice.squared_errors[:-1], once.squared_errors[:-1], rtol=1e-4)


def test_a_single_point_tells_nothing_and_a_constant_everything():
    errors, _ = one_sample_errors(np.ones((1, 2, 3)), np.ones(1), [partial(ordering_candidates, EVERYTHING[:1])])
    assert errors.shape == (2, 3)
    assert np.isnan(errors).all()
    errors, _ = one_sample_errors(np.ones((9, 2, 3)), np.full(9, 1 / 9), [partial(ordering_candidates, EVERYTHING[:9])])
    np.testing.assert_array_equal(errors, 0.0)


def test_many_points_have_the_gain_of_the_first():
    """Independent values: the expected squared error is that of independent points, also beyond 256 of them."""
    rng = np.random.default_rng(1)
    orderings = SAMPLERS["monte-carlo"](12, rng=rng).random(1000)
    errors, _ = one_sample_errors(
        rng.normal(size=(1000, 1, 4)), np.full(1000, 1e-3), [partial(ordering_candidates, orderings)]
    )
    np.testing.assert_allclose(errors, 1e-3, rtol=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["orthogonal", "sobol", "herding", "sbq", "design"])
@pytest.mark.parametrize(
    "game",
    [
        Airport(tuple(np.arange(1.0, 11.0))),
        UnanimitySum.random(10, n_terms=40, max_order=4, rng=1),
        WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2), quota=26),
    ],
    ids=["airport", "interactions", "voting"],
)
def test_intervals_of_one_sample_have_nominal_coverage(method, game):
    runs = [shapley_values(game, method=method, max_evals=202, rng=seed) for seed in range(40)]
    truth = game.shapley_values()
    covered = [(low - 1e-9 <= truth) & (truth <= high + 1e-9) for low, high in (run.interval(0.95) for run in runs)]
    assert 0.9 <= np.mean(covered) <= 0.999
