"""The seam that all games share: shapes, names, single draws, calls of bounded size, and mistakes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import sharpley
from sharpley import Explainer, MarginalGame, estimate, from_orderings, shapley_values
from sharpley.games import Airport, CallableGame, Games, as_games

RNG = np.random.default_rng(0)
BACKGROUND, ROWS = RNG.normal(size=(7, 4)), RNG.normal(size=(3, 4))
COSTS = np.array([1.0, 2.0, 4.0])


def model(data):
    data = np.asarray(data.toarray() if sparse.issparse(data) else data, dtype=float)
    return data[:, 0] * data[:, 1] + np.abs(data[:, 2]) - data[:, 3]


def airport(coalitions):
    return np.where(coalitions, COSTS, 0.0).max(axis=1)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_one_output_has_no_axis_of_its_own(shape):
    """A game that returns (m, 1) and a model that returns (n, 1) are treated alike."""
    found = shapley_values(lambda coalitions: airport(coalitions).reshape(shape), 3)
    assert found.values.shape == found.standard_errors.shape == (3,)
    assert found.base_values.shape == ()
    assert from_orderings(lambda c: airport(c).reshape(shape), sharpley.all_orderings(3)).values.shape == (3,)
    explained = Explainer(lambda data: model(data).reshape(shape), BACKGROUND).estimate(ROWS)
    assert explained.values.shape == (3, 4)
    games = MarginalGame(lambda data: model(data).reshape(shape), BACKGROUND, ROWS)
    assert games(np.zeros((5, 4), bool)).shape == (3, 5)
    assert estimate(games).base_values.shape == (3,)


def test_the_game_knows_its_players():
    game = Airport(tuple(COSTS))
    np.testing.assert_array_equal(shapley_values(game).values, shapley_values(game, 3).values)
    of_shapiq = SimpleNamespace(n_players=3, __call__=airport)
    with pytest.raises(TypeError, match="must be callable"):
        shapley_values(of_shapiq)

    class OfShapiq:
        n_players = 3

        def __call__(self, coalitions):
            return airport(coalitions)

    np.testing.assert_array_equal(shapley_values(OfShapiq()).values, shapley_values(game).values)
    with pytest.raises(ValueError, match="the game has 3 players, but d=4 was given; omit d"):
        shapley_values(game, 4)
    with pytest.raises(TypeError, match=r"number of players is unknown; pass d, as in shapley_values\(game, d=10\)"):
        shapley_values(airport)


def test_names_are_carried_to_the_result():
    assert shapley_values(airport, 3, names=["a", "b", "c"]).names == ["a", "b", "c"]
    assert shapley_values(airport, 3).names is None
    frame = pd.DataFrame(ROWS, columns=list("wxyz"))
    explainer = Explainer(model, pd.DataFrame(BACKGROUND, columns=list("wxyz")), groups={"first": ["w", "x"]})
    assert explainer.estimate(frame).names == ["first", "y", "z"]
    assert explainer.estimate(frame).row(0).names == ["first", "y", "z"]
    named = Explainer(model, BACKGROUND, feature_names=["one", "two", "three", "four"])
    assert named.estimate(ROWS).names == ["one", "two", "three", "four"]
    with pytest.raises(ValueError, match=r"one name for each of 3 players, got \['a', 'b'\]"):
        shapley_values(airport, 3, names=["a", "b"])


def containers():
    """Rows and background in every kind of container, and of mixed dtypes."""
    frames = [pd.DataFrame(table, columns=list("wxyz")) for table in (ROWS, BACKGROUND)]
    mixed = [frame.assign(z=frame["z"].round().astype("Int64")) for frame in frames]
    return {
        "arrays": (ROWS, BACKGROUND),
        "pandas": tuple(frames),
        "pandas, mixed": tuple(mixed),
        "polars": tuple(pl.DataFrame(table, schema=list("wxyz")) for table in (ROWS, BACKGROUND)),
        "sparse": tuple(sparse.csr_matrix(table) for table in (ROWS, BACKGROUND)),
    }


@pytest.mark.parametrize("kind", containers())
@pytest.mark.parametrize("groups", [None, {"both": [0, 2]}])
def test_single_draws_are_predictions_at_single_background_rows(kind, groups):
    rows, background = containers()[kind]
    games = MarginalGame(model, background, rows, groups=groups)
    coalitions = np.random.default_rng(1).random((20, games.d)) < 0.5
    which, draws = np.arange(20) % 3, np.arange(20) % 7
    evaluate = games.evaluator()
    found = evaluate(which, coalitions, draws)[:, 0]
    columns = coalitions[:, games.players.of_column]
    dense = [np.asarray(t.toarray() if sparse.issparse(t) else t, dtype=float) for t in (rows, background)]
    np.testing.assert_allclose(found, model(np.where(columns, dense[0][which], dense[1][draws])))
    over_draws = [evaluate(which, coalitions, np.full(20, draw)) for draw in range(7)]
    np.testing.assert_allclose(np.mean(over_draws, axis=0), evaluate(which, coalitions, None))


def test_draws_that_are_not_finite_are_named():
    def fails(data):
        return np.where(data[:, 0] > BACKGROUND[:, 0].max(), np.nan, data[:, 0])

    games = MarginalGame(fails, BACKGROUND, 10 + ROWS)
    coalitions = np.array([[False, True, True, True], [True, False, False, False]])
    with pytest.raises(ValueError, match=r"NaN or infinity for row 2 of X with the coalition of players \[0\]"):
        games.evaluator()(np.array([1, 2]), coalitions, np.array([3, 4]))


class Recorder:
    """A game that records how many coalitions each call has."""

    def __init__(self):
        self.calls = []

    def __call__(self, coalitions):
        self.calls.append(len(coalitions))
        return np.tanh(coalitions @ np.linspace(-1, 2, 12))


def test_batch_size_bounds_calls_and_changes_nothing():
    whole, batched = Recorder(), Recorder()
    first = shapley_values(whole, 12, method="antithetic", max_evals=200, rng=0)
    second = shapley_values(batched, 12, method="antithetic", max_evals=200, rng=0, batch_size=7)
    assert max(whole.calls) > 100
    assert max(batched.calls) == 7
    np.testing.assert_array_equal(first.values, second.values)
    orderings = sharpley.Antithetic(12, rng=0).random(8)
    few = Recorder()
    a, b = from_orderings(whole, orderings), from_orderings(few, orderings, batch_size=5)
    assert max(few.calls) == 5
    np.testing.assert_array_equal(a.values, b.values)


def test_workers_change_nothing():
    first = shapley_values(Recorder(), 12, method="gp", max_evals=200, rng=0)
    second = shapley_values(Recorder(), 12, method="gp", max_evals=200, rng=0, n_jobs=2, batch_size=20)
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.standard_errors, second.standard_errors)


def test_games_are_estimated_as_they_are():
    games = CallableGame(airport, 3, names=["a", "b", "c"])
    assert as_games(games) is games
    np.testing.assert_allclose(estimate(games).values, [Airport(tuple(COSTS)).shapley_values()])
    with pytest.raises(TypeError, match="names and batch_size apply only to functions; CallableGame has its own"):
        shapley_values(games, names=["x", "y", "z"])
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        shapley_values(airport, 3, batch_size=0)


def test_a_class_without_draws_cannot_be_made():
    class Nothing(Games):
        d = 3

    with pytest.raises(TypeError, match="_draws"):
        Nothing()


def test_games_with_wrong_values_are_named():
    class Wrong(Games):
        d, n_draws = 3, 2

        def _draws(self, rows, coalitions, draws):
            return np.zeros(len(rows) + 1)

    with pytest.raises(ValueError, match=r"the game must return shape \(4,\) or \(4, k\) for 4 coalitions, got \(5,\)"):
        estimate(Wrong())
