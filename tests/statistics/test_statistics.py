"""What was not seen, and degrees of freedom."""

import numpy as np
import pytest

from sharpley.statistics.freedom import effective_freedom
from sharpley.statistics.unseen import typical_change, unseen_variance, unseen_variances

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
@pytest.mark.parametrize("informative", [0, 1, None])
@pytest.mark.parametrize("deviating", [0, 3])
def test_something_is_always_left_open(n, informative, deviating):
    assert unseen_variance(1.0, n, informative=informative, deviating=deviating) > 0


def test_what_is_left_open_is_the_variance_of_a_rare_event():
    """An event of the probability that the rule of succession gives has just this variance."""
    n, change = 20, 3.0
    means = (RNG.random((200_000, n)) < 1 / (n + 2)).mean(axis=1) * change
    assert unseen_variance(change**2, n) == pytest.approx((means**2).mean() - means.mean() ** 2, rel=0.08)


def test_more_samples_more_deviations_and_less_information_leave_less_open():
    assert unseen_variance(1.0, 20) < unseen_variance(1.0, 10)
    assert unseen_variance(1.0, 20, deviating=1) < unseen_variance(1.0, 20)
    assert unseen_variance(1.0, 20, informative=0) < unseen_variance(1.0, 20)


def test_a_typical_change_is_the_mean_over_all_players_that_deviate():
    squares = np.zeros((4, 1, 3, 1))
    squares[0, 0, 1], squares[1, 0, 2] = 4.0, 16.0
    found = typical_change(squares, squares > 0, np.full((1, 1, 1), 7.0))
    assert found.tolist() == [[[10.0]]]
    nothing = typical_change(0 * squares, squares < 0, np.full((1, 1, 1), 7.0))
    assert nothing.tolist() == [[[7.0]]]


def test_most_players_without_a_deviation_do_not_hide_the_others():
    contributions = np.zeros((10, 1, 9, 1))
    contributions[::2, 0, 0] = 5.0
    assert (unseen_variances(contributions) > 1e-2).sum() == 8


@pytest.mark.parametrize("n", [30, 300])
def test_normal_errors_have_about_as_many_degrees_of_freedom_as_there_are(n):
    found = effective_freedom(RNG.normal(size=(n, 400)) ** 2, axis=0)
    assert np.median(found) == pytest.approx(n, rel=0.25)


def test_few_large_parts_have_few_degrees_of_freedom():
    parts = np.full(1000, 1e-6)
    parts[:3] = 1.0
    assert effective_freedom(parts, axis=0) == pytest.approx(6.0, rel=0.1)
    assert effective_freedom(np.zeros(5), axis=0) == 4.0
    assert effective_freedom(np.ones(1), axis=0) == 1.0
