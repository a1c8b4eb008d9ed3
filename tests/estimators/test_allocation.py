"""Where the second half of the pairs of "gp" comes from."""

from functools import partial

import numpy as np
import pytest
from driving import one_game, spend, start

import sharpley
from sharpley.coalitions.budget import Budget, whole_budget
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.gp.allocation import neyman_shares
from sharpley.estimators.gp.of_pairs import ProcessOnPairs, mixture_quotas
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import PairChooser, pairs_per_class, quotas, quotas_towards

VOTES = sharpley.games.WeightedVoting(tuple(range(3, 28)), quota=int(0.7 * sum(range(3, 28))))
SMOOTH = sharpley.games.Airport(tuple(np.linspace(1.0, 2.0, 25)))


def counts_of(game, budget, d=25):
    """Numbers of pairs of each class that "gp" evaluates, and how many coalitions are known after each stage."""
    estimator = ProcessOnPairs(d, rng=0)
    start(estimator, one_game(game))
    at = spend(estimator, one_game(game), whole_budget(budget))
    sizes = estimator.store.since(2).sum(axis=1)
    return np.bincount(np.minimum(sizes, d - sizes), minlength=d // 2 + 1)[1:] // 2, at


def test_half_of_the_pairs_are_learnt_from_first():
    counts, at = counts_of(SMOOTH, 502)
    assert at == [252, 502]
    assert counts.sum() == 250


def test_few_pairs_are_chosen_at_once():
    assert counts_of(SMOOTH, 152)[1] == [152]


def test_smooth_games_are_evaluated_at_the_mixture():
    counts, _ = counts_of(SMOOTH, 502)
    np.testing.assert_array_equal(counts, mixture_quotas(25, 250))


def test_votes_are_evaluated_around_their_quota():
    """Seven in ten votes decide: classes 6 to 9 have the sizes 6 to 9 and 16 to 19."""
    counts, _ = counts_of(VOTES, 1002)
    mixed, even = mixture_quotas(25, 500), quotas(25, 500)
    assert counts[-1] < 0.6 * mixed[-1]
    assert counts[5:9].sum() > 1.3 * even[5:9].sum()


def test_shares_are_in_proportion_to_errors():
    signs = np.where(PairChooser(12, np.random.default_rng(0)).extend(quotas(12, 600)), 1.0, -1.0)
    unit = PairData(signs, np.zeros((len(signs), 1)), np.zeros((len(signs), 1)), np.zeros(1))
    shares = neyman_shares(unit, np.where(unit.sizes == 5, 4.0, 1.0), GPSettings(error_smoothing=1e-3))
    k = np.arange(1, 7)
    expected = np.where(k == 6, 1.0, 2.0) * np.where(k == 5, 2.0, 1.0) / np.sqrt(k * (12 - k))
    np.testing.assert_allclose(shares, expected, rtol=0.03)  # as a prior, two further errors have the mean of all


@pytest.mark.parametrize("n_pairs", [60, 200, 1500, 5000])
def test_quotas_towards_shares(n_pairs):
    """The limits of the classes are kept, nothing is given back, and the rest is divided in proportion."""
    shares, already = np.array([1.0, 1.0, 2.0, 4.0, 8.0, 8.0]), np.array([12, 40, 0, 0, 0, 0])
    counts, limits = quotas_towards(12, n_pairs, shares, already), pairs_per_class(12)
    assert counts.sum() == min(n_pairs, limits.sum())
    assert ((counts >= already) & (counts <= limits)).all()
    in_units = (counts / shares)[(counts < limits) & (already == 0)]
    assert len(in_units) == 0 or np.ptp(in_units) <= 1.0  # rounding, and at most one more for the last classes


def test_a_tolerance_spends_everything_on_games_that_are_hard_to_predict():
    """No pair is chosen actively, since the process does not know what would be informative."""
    estimator = ProcessOnPairs(25, rng=0)
    start(estimator, one_game(VOTES))
    for budget in (202, 402, 802):
        spend(estimator, one_game(VOTES), Budget(budget, 802, may_stop=True))
        assert len(estimator.store) == budget


@pytest.mark.slow
def test_votes_are_estimated_at_least_as_well_as_by_the_regression():
    rng = np.random.default_rng(0)
    logs = []
    at_once = partial(GaussianProcessEstimator, settings=GPSettings(staged_pairs_per_player=np.inf))
    for d, quota in ((25, 0.67), (31, 0.5), (40, 0.8)):
        votes = rng.integers(1, 30, size=d)
        game = sharpley.games.WeightedVoting(tuple(votes.tolist()), quota=int(quota * votes.sum()) + 1)
        for seed in range(6):
            errors = [
                (
                    (
                        sharpley.shapley_values(game, method=method, max_evals=20 * d + 2, rng=seed).values
                        - game.shapley_values()
                    )
                    ** 2
                ).sum()
                for method in ("gp", "regression", at_once)
            ]
            logs.append(np.log(errors))
    of_gp, of_regression, of_one_stage = np.mean(logs, axis=0)
    assert of_gp < of_regression + np.log(0.85)
    assert of_gp < of_one_stage + np.log(0.85)
