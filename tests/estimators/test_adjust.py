"""``adjust=True``: values of Owen and stratified sampling that add up, with errors that are no larger."""

from functools import partial

import numpy as np
import pytest

from sharpley import shapley_values
from sharpley.estimators import OwenEstimator, OwenHalvedEstimator, StratifiedEstimator
from sharpley.games import UnanimitySum, WeightedVoting

ESTIMATORS = [OwenEstimator, OwenHalvedEstimator, StratifiedEstimator]
GAMES = {
    "interactions": UnanimitySum.random(12, n_terms=60, max_order=6, rng=1),
    "voting": WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30),
}


def runs_of(estimator, game, *, adjust, seeds=30):
    method = partial(estimator, adjust=adjust)
    return [shapley_values(game, method=method, max_evals=800, rng=seed) for seed in range(seeds)]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_adjusted_values_add_up_and_are_more_accurate(estimator, name):
    game = GAMES[name]
    truth = game.shapley_values()
    plain, adjusted = (runs_of(estimator, game, adjust=adjust) for adjust in (False, True))
    sums = np.array([[run.values.sum() for run in runs] for runs in (plain, adjusted)])
    assert np.abs(sums[0] - truth.sum()).max() > 1e-3
    np.testing.assert_allclose(sums[1], truth.sum(), atol=1e-12)
    errors = [np.square([run.values - truth for run in runs]).mean() for runs in (plain, adjusted)]
    assert errors[1] < errors[0]
    variances = [np.mean([run.standard_errors**2 for run in runs]) for runs in (plain, adjusted)]
    assert variances[1] < variances[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_intervals_of_adjusted_values_have_nominal_coverage(estimator, name):
    game = GAMES[name]
    truth = game.shapley_values()
    runs = runs_of(estimator, game, adjust=True, seeds=200)
    limits = np.array([run.interval(0.95) for run in runs])
    assert 0.90 <= ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).mean() <= 0.99
    values = np.array([run.values for run in runs])
    if estimator is not StratifiedEstimator:  # unbiased only asymptotically
        error = np.abs(values.mean(axis=0) - truth) / (values.std(axis=0, ddof=1) / np.sqrt(len(runs)))
        assert error.max() < 4.5


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_adjust_is_true_or_false(estimator):
    with pytest.raises(TypeError, match="adjust must be True or False, got 'yes'"):
        estimator(5, adjust="yes")
