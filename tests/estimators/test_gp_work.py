"""The operations of "gp" that are counted before it runs, against those of the functions that do the work."""

import numpy as np
import pytest
from driving import drive, many_games

from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.gp import cholesky, learning, posterior, triples
from sharpley.estimators.gp.work import work
from sharpley.games import UnanimitySum


@pytest.fixture
def operations(monkeypatch):
    """A list that the functions of cubic cost add their operations to."""
    done = []

    def counted(where, name, cost):
        original = getattr(where, name)

        def counting(*arguments, **options):
            done.append(float(cost(*arguments)))
            return original(*arguments, **options)

        monkeypatch.setattr(where, name, counting)

    # A factorisation takes n³/3 multiplications and additions each, its inverse twice that; a solution n² for a column.
    counted(learning, "likelihood", lambda gram, noise, targets: 2.0 * len(gram) ** 3)
    counted(learning, "sinh_and_cosh", lambda z, t, h: 2.0 * len(z) * len(t) * z.shape[1])
    counted(posterior, "kernel", lambda z, t, *rest: 2.0 * len(z) * len(t) * z.shape[1])
    counted(posterior, "prior_covariance", lambda scales, tau2: len(scales.players) ** 4 / 4.0)
    counted(
        cholesky.Factor,
        "_solve",
        lambda factor, columns: factor.lower.shape[0] ** 2 * np.atleast_2d(columns.T).shape[0],
    )
    counted(triples._Candidates, "_projections", lambda self, alpha: len(alpha) * len(self._players) ** 3 / 3.0)
    counted(triples.Evidence, "__init__", lambda self, features, *rest: len(features) * features.shape[1] ** 2)
    of = cholesky.Factor.of.__func__
    monkeypatch.setattr(
        cholesky.Factor,
        "of",
        classmethod(lambda cls, covariance: done.append(len(covariance) ** 3 / 3.0) or of(cls, covariance)),
    )
    return done


@pytest.mark.parametrize(
    ("d", "budget", "rows"),
    [(10, 202, 1), (10, 802, 6), (20, 402, 1), (20, 402, 12), (20, 1202, 3), (30, 602, 130), (12, 302, 300)],
)
def test_counted_work_is_what_is_done(operations, d, budget, rows):
    """The search for hyperparameters may stop early, or look twice in an iteration; the rest is as counted.

    Whether games beyond those of a bank are refitted depends on their values; here, they always are.
    """
    settings = GPSettings(own_set_error=np.inf)
    games = [UnanimitySum.random(d, n_terms=60, max_order=5, rng=seed) for seed in range(rows)]
    drive(GaussianProcessEstimator(d, settings=settings, rng=0), many_games(games), budget)
    assert 0.8 < sum(operations) / work(d, budget, rows) < 1.7


def test_work_follows_the_settings():
    assert work(20, 402, 1, GPSettings(pilot_iterations=40)) > 1.5 * work(20, 402, 1)
    with_bank, without = (GPSettings(own_set_error=0.0, refitted_games=count) for count in (5, 100))
    assert work(20, 1002, 12, with_bank) < 0.85 * work(20, 1002, 12, without)
    assert work(30, 602, 1000, with_bank) < 0.3 * work(30, 602, 1000)


@pytest.mark.parametrize(("own_set_error", "least"), [(0.0, 0.5), (0.85, 0.6)])
def test_the_work_for_a_game_falls_with_the_number_of_games(own_set_error, least):
    """By more than half with a bank, and somewhat if every game has hyperparameters of its own."""
    settings = GPSettings(own_set_error=own_set_error)
    of_each = [work(30, 602, n_games, settings) / n_games for n_games in (2, 10, 50, 200, 1000, 10_000)]
    assert (np.diff(of_each) < 0).all()
    assert of_each[4] < least * of_each[1]
