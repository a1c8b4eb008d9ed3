"""A new sampler, estimator, game or index is one class and one line in one table: plug-ins that do exactly that."""

import numpy as np
import pytest
from command_line import call

import sharpley
from sharpley import METHODS, Games, MethodRecord, Sampler
from sharpley.coalitions.moments import exact_moments
from sharpley.estimators import CoalitionEstimator
from sharpley.games import UnanimitySum
from sharpley.indices import INDICES, Index, Measure

GAME = UnanimitySum.random(5, n_terms=9, max_order=3, rng=0)


class Shuffled(Sampler):
    """Independent orderings, by sorting random keys."""

    unit = 1

    def _random(self, n):
        return np.argsort(self._rng.random((n, self.d)), axis=1)


class FirstAndLast(CoalitionEstimator):
    """The mean of a player's contributions as the first and as the last to enter: exact for pairwise interactions."""

    @property
    def least_budget(self):
        return 2 + 2 * self.d

    def _choose(self, budget):
        before, alone = len(self.store), np.eye(self.d, dtype=bool)
        self._alone, self._others = self.store.add(alone), self.store.add(~alone)
        return len(self.store) > before

    def estimate(self):
        values = self.values
        first, last = values[:, self._alone] - values[:, :1], values[:, 1:2] - values[:, self._others]
        return exact_moments((first + last) / 2)


class SharedCapacity(Games):
    """Plants that serve an uncertain demand together, in several markets: a draw is a scenario."""

    def __init__(self, capacities, scenarios, names=None):
        self.capacities, self.scenarios = np.asarray(capacities), np.asarray(scenarios)
        self.n_rows, self.n_draws = self.scenarios.shape
        self.d, self.player_names = len(self.capacities), names

    def _draws(self, rows, coalitions, draws):
        return np.minimum(coalitions @ self.capacities, self.scenarios[rows, draws])


class Ends(Measure):
    """Half of the weight on the contribution of the first player to enter, half on that of the last."""

    def nodes(self, degree):
        return np.array([0.0, 1.0]), np.array([0.5, 0.5])


@pytest.fixture
def shuffled(monkeypatch):
    """One line in the table of methods."""
    record = MethodRecord(
        name="shuffled",
        factory=Shuffled,
        summary="independent orderings",
        origin="ours",
        is_unbiased=True,
        colour="black",
    )
    monkeypatch.setitem(METHODS, "shuffled", record)


def test_a_new_sampler_works_everywhere(shuffled):
    found = sharpley.shapley_values(GAME, method="shuffled", max_evals=30, rng=0, unbiased=True)
    assert found.method == "shuffled"
    np.testing.assert_allclose(found.values, GAME.shapley_values(), atol=5 * found.standard_errors.max())
    explained = sharpley.Explainer(lambda x: x.sum(axis=1), np.zeros((2, 6)), method="shuffled", rng=0)(np.ones((1, 6)))
    np.testing.assert_allclose(explained.values, 1.0)
    mean = sharpley.permutation_mean(lambda orderings: orderings[:, 0], 5, n=100, method="shuffled", rng=0)
    assert abs(mean.mean - 2.0) < 5 * mean.standard_error
    printed = call("sample", "--method", "shuffled", "-d", 4, "-n", 3, "--seed", 0).stdout
    assert printed == "\n".join(",".join(map(str, row)) for row in Shuffled(4, rng=0).random(3)) + "\n"
    with pytest.raises(ValueError, match="max_evals=5 is too small for method 'shuffled' with 5 players"):
        sharpley.shapley_values(GAME, method="shuffled", max_evals=5)
    with pytest.raises(ValueError, match=r"unknown method 'shuffle'; choose one of .*'shuffled'"):
        sharpley.shapley_values(GAME, method="shuffle")


def test_a_new_estimator_works_everywhere(monkeypatch):
    record = MethodRecord(
        name="first-and-last",
        factory=FirstAndLast,
        summary="contributions of the first and of the last player",
        origin="ours",
        is_unbiased=False,
        faster="antithetic",
        colour="black",
    )
    monkeypatch.setitem(METHODS, "first-and-last", record)
    pairwise = UnanimitySum.random(7, n_terms=12, max_order=2, rng=0)
    found = sharpley.shapley_values(pairwise, method="first-and-last", max_evals=16)
    assert (found.method, found.n_evals) == ("first-and-last", 16)
    np.testing.assert_allclose(found.values, pairwise.shapley_values())
    with pytest.raises(ValueError, match="'first-and-last' has no unbiased form"):
        sharpley.shapley_values(pairwise, method="first-and-last", unbiased=True)
    by_class = sharpley.shapley_values(pairwise, method=FirstAndLast, max_evals=16)
    np.testing.assert_array_equal(by_class.values, found.values)


def test_a_new_game_works_with_every_method():
    """Two markets with three scenarios each, against the mean over scenarios as a plain function."""
    scenarios = np.array([[1.0, 5.0, 9.0], [4.0, 4.5, 11.0]])
    games = SharedCapacity([3.0, 2.0, 2.0, 1.0], scenarios, names=["north", "south", "east", "west"])
    exact = sharpley.estimate(games)
    assert exact.method == "exact"
    assert exact.names == ["north", "south", "east", "west"]
    for row, demand in enumerate(scenarios):
        plain = sharpley.shapley_values(
            lambda c, demand=demand: np.minimum((c @ games.capacities)[:, None], demand).mean(axis=1), 4
        )
        np.testing.assert_allclose(exact.values[row], plain.values)
    wider = SharedCapacity(np.arange(1.0, 9.0), scenarios)
    truth = sharpley.estimate(wider, method="exact", max_evals=256).values
    for method in (name for name, record in METHODS.items() if not record.is_closed_form):
        found = sharpley.estimate(wider, method=method, max_evals=256 if method == "exact" else 220, rng=0)
        np.testing.assert_allclose(found.values, truth, atol=6 * found.standard_errors.max() + 1e-9)
        assert found.standard_errors.max() < 0.3


def test_single_draws_average_to_the_games():
    games = SharedCapacity([3.0, 2.0, 2.0, 1.0], np.array([[1.0, 5.0, 9.0], [4.0, 4.5, 11.0]]))
    coalitions = np.array([[True, True, False, False], [True, False, True, True]])
    evaluate = games.evaluator()
    single = [evaluate(np.array([0, 1]), coalitions, np.full(2, draw)) for draw in range(3)]
    np.testing.assert_allclose(np.mean(single, axis=0), evaluate(np.array([0, 1]), coalitions, None))
    games.draws_per_call = 2  # fewer than the draws of one game
    np.testing.assert_allclose(np.mean(single, axis=0), evaluate(np.array([0, 1]), coalitions, None))
    assert games.values_per_call == 1
    games.draw_weights = np.array([0.5, 0.5, 0.0])
    np.testing.assert_allclose(np.mean(single[:2], axis=0), evaluate(np.array([0, 1]), coalitions, None))


def test_a_new_index_is_one_line_in_the_table(monkeypatch):
    monkeypatch.setitem(INDICES, "ends", Index("ends", (Ends(),)))
    votes = sharpley.games.WeightedVoting((3, 2, 2), quota=4)
    assert sharpley.estimate(votes, index="ends").values.tolist() == [[0.0, 0.0, 0.0]]
    background, rows = np.zeros((1, 4)), np.array([[1.0, 0.0, 2.0, 3.0], [0.0, 0.0, 0.0, 1.0]])
    games = sharpley.MarginalGame(lambda x: x[:, 0] * x[:, 2] * x[:, 3], background, rows)
    assert sharpley.estimate(games, index="ends").values.tolist() == [[3.0, 0.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0]]
    larger = UnanimitySum.random(12, n_terms=9, max_order=3, rng=0)
    found = sharpley.estimate(larger, index="ends", rng=0)
    assert found.method == "gp"
    truth = sharpley.estimate(larger, index="ends", method="exact", max_evals=2**12).values
    np.testing.assert_allclose(found.values, truth, atol=5 * found.standard_errors.max())
    with pytest.raises(ValueError, match=r"method 'regression' does not estimate 'ends'; methods that do: .*'exact'"):
        sharpley.estimate(larger, index="ends", method="regression")
    with pytest.raises(ValueError, match="unknown index 'core'; choose one of 'shapley', 'banzhaf'"):
        sharpley.estimate(votes, index="core")
