"""Games as functions of sets of names."""

from math import sqrt

import numpy as np
import pytest

import sharpley
from sharpley.games import SetGame

NAMES = ["ann", "bob", "cy", 4]


def test_a_function_of_names_has_the_values_of_the_same_function_of_coalitions():
    weights = {"ann": 1.0, "bob": 2.0, "cy": 4.0, 4: 8.0}
    found = sharpley.shapley_values(lambda members: sqrt(sum(weights[name] for name in members)), players=NAMES)
    same = sharpley.shapley_values(lambda c: np.sqrt(c @ [1.0, 2.0, 4.0, 8.0]), 4)
    np.testing.assert_allclose(found.values, same.values)
    assert found.names == ["ann", "bob", "cy", "4"]
    assert found["bob"].values == pytest.approx(same.values[1])


def test_no_set_is_evaluated_twice():
    calls = []

    def size(members):
        assert isinstance(members, frozenset)
        calls.append(members)
        return len(members) ** 2

    game = SetGame(size, NAMES)
    first = sharpley.shapley_values(game)
    second = sharpley.estimate(game, index="banzhaf")
    assert len(calls) == len(set(calls)) == 2**4 == len(game.evaluated)
    np.testing.assert_allclose(first.values, 4.0)
    np.testing.assert_allclose(second.values, 4.0)


def test_an_error_leaves_nothing_in_the_cache():
    game = SetGame(lambda members: 1 / (len(members) - 1), NAMES)
    with pytest.raises(ZeroDivisionError):
        sharpley.shapley_values(game)
    assert all(len(members) != 1 for members in game.evaluated)


def test_several_outputs_and_many_players():
    game = SetGame(lambda members: (len(members), len(members) ** 2), [f"p{number}" for number in range(15)])
    found = sharpley.shapley_values(game, rng=0, max_evals=200, method="antithetic")
    assert found.values.shape == (15, 2)
    np.testing.assert_allclose(found.values.sum(axis=0), [15.0, 225.0])


@pytest.mark.parametrize(
    ("players", "function", "error", "message"),
    [
        ("abc", len, ValueError, r"players must be a sequence of at least one name, such as \['a', 'b'\], got 'abc'"),
        ([], len, ValueError, "at least one name"),
        (["a", "b", "a"], len, ValueError, "different names, but 'a' is there twice"),
        (["a", "b"], {frozenset(): 0.0}.get, ValueError, r"finite numbers, got None for the set of \['a', 'b'\]"),
        (["a", "b"], lambda s: float("nan"), ValueError, r"finite numbers, got nan for the set of \[\]"),
        (["a", "b"], 3, TypeError, "callable with a frozenset of names, got 3"),
    ],
)
def test_mistakes_have_clear_errors(players, function, error, message):
    with pytest.raises(error, match=message):
        sharpley.shapley_values(function, players=players)


def test_players_and_d_must_agree():
    with pytest.raises(ValueError, match="the game has 2 players, but d=3 was given"):
        sharpley.shapley_values(len, 3, players=["a", "b"])
