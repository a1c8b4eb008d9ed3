"""Active selection of the pairs that lower the summed variance of the Shapley values most."""

import numpy as np
import pytest
from driving import one_game, spend, start

from sharpley import shapley_values
from sharpley.coalitions.budget import Budget
from sharpley.estimators.gp import of_pairs as gp
from sharpley.estimators.gp.active import _Uncertainty, candidates, most_informative
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.posterior import Conditioner
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import pairs_per_class
from sharpley.estimators.pairs.regression import LeastSquares
from sharpley.games import UnanimitySum

D = 7
SCALES = Scales(np.linspace(0.1, 0.5, D), 1.0, 0.1, 0.2, 0.0)  # without noise, which would change with every pair
GAME = UnanimitySum.random(12, n_terms=40, max_order=5, rng=0)


def summed_variance(members):
    """Summed variance of all Shapley values, by conditioning from scratch and without the factor for misfit."""
    signs = np.where(members, 1.0, -1.0)
    n = len(signs)
    no_regression = LeastSquares(np.zeros((D, 1)), np.zeros((D, 1)), 1.0, np.zeros((n, 1)), np.zeros((D, n)))
    odd = np.random.default_rng(0).standard_normal((n, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sharpley.estimators.gp.posterior._misfit", lambda squares, degrees_of_freedom: np.ones(1))
        data = PairData(signs, odd, odd, np.zeros(1))
        return Conditioner(data, no_regression).posterior(np.zeros(1, int), SCALES).variances.sum()


def test_gains_are_differences_of_summed_variances():
    rng = np.random.default_rng(0)
    seen = candidates(D, np.empty((0, D), bool), rng)[:20]
    pool = candidates(D, seen, rng)
    uncertainty = _Uncertainty(np.where(seen, 1.0, -1.0), np.where(pool, 1.0, -1.0), SCALES, 5)
    for _ in range(5):
        gains = uncertainty.gains()
        before = summed_variance(seen)
        some = rng.choice(np.flatnonzero(gains >= 0), 4, replace=False)
        after = [summed_variance(np.concatenate([seen, pool[i : i + 1]])) for i in some]
        np.testing.assert_allclose(gains[some], before - after, rtol=1e-4, atol=1e-9)
        best = uncertainty.take()
        assert gains[best] == gains.max()
        seen = np.concatenate([seen, pool[best : best + 1]])


def test_candidates_are_new_and_distinct():
    rng = np.random.default_rng(0)
    known = candidates(9, np.empty((0, 9), bool), rng)[:100]
    pool = candidates(9, known, rng)
    both = np.concatenate([known, pool])
    assert len(np.unique(both, axis=0)) == len(both) == pairs_per_class(9).sum()  # all pairs, each once
    sizes = both.sum(axis=1)
    assert sizes.min() == 1
    assert sizes.max() == 4


def test_candidates_of_the_middle_class_are_represented_as_in_the_mixture():
    """A pair of the middle class has one representation, so that it is never evaluated twice."""
    pool = candidates(6, np.empty((0, 6), bool), np.random.default_rng(0))
    assert pool[pool.sum(axis=1) == 3][:, 0].all()
    assert len(pool) == pairs_per_class(6).sum()


def test_half_of_the_further_pairs_are_chosen_actively(monkeypatch):
    counts = []
    real = gp.most_informative
    monkeypatch.setattr(gp, "most_informative", lambda *arguments: counts.append(arguments[3]) or real(*arguments))
    estimator, game = gp.ProcessOnPairs(12, rng=0), one_game(GAME)
    start(estimator, game)
    for budget in (62, 122, 242):
        spend(estimator, game, Budget(budget, 242, may_stop=True))
        assert len(estimator.store) == budget  # the whole budget is spent, and no coalition repeats
    assert counts == [15, 30]


def test_runs_without_a_tolerance_use_only_the_mixture(monkeypatch):
    monkeypatch.setattr(gp, "most_informative", None)
    shapley_values(GAME, method="gp", max_evals=242, rng=0)


def test_all_pairs_can_be_chosen():
    table = np.random.default_rng(0).standard_normal(2**8)
    estimator, game = gp.ProcessOnPairs(8, rng=0), one_game(lambda some: table[some @ (1 << np.arange(8))])
    start(estimator, game)
    for budget in (60, 120, 250, 256):
        spend(estimator, game, Budget(budget, 256, may_stop=True))
    assert estimator.is_complete


def test_actively_chosen_pairs_are_better_than_random_ones():
    rng = np.random.default_rng(3)
    seen = candidates(D, np.empty((0, D), bool), rng)[:12]
    pool = candidates(D, seen, rng)
    chosen = pool[most_informative(seen, pool, SCALES, 8)]
    random = [pool[rng.choice(len(pool), 8, replace=False)] for _ in range(20)]
    best_random = min(summed_variance(np.concatenate([seen, more])) for more in random)
    assert summed_variance(np.concatenate([seen, chosen])) < 0.7 * best_random
