"""What the engine enforces: budgets, declared dependence, what games and indices say of themselves."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley import METHODS, Explainer, Games, MarginalGame, Sampler, estimate, from_orderings, shapley_values
from sharpley.coalitions.moments import exact_moments
from sharpley.estimators import CoalitionEstimator, ExactEstimator, GaussianProcessEstimator, GPSettings, OwenEstimator
from sharpley.games import Airport, TreeGame, UnanimitySum, WeightedVoting
from sharpley.indices import Index, Measure

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(60, 10))


def model(x):
    return x[:, 0] * x[:, 1] * x[:, 2] + np.tanh(x).sum(axis=1)


def easy_or_hard(x):
    """A linear game for rows of 1, a rough one for rows with a 2."""
    present = np.abs(x) > 0.5
    mixed = (2.0 * present - 1.0) @ np.random.default_rng(0).normal(size=(10, 10))
    rough = 10 * np.sin(mixed).prod(axis=1) + np.sin(5 * mixed).sum(axis=1)
    return np.where((x > 1.5).any(axis=1), rough, present @ np.arange(1.0, 11.0))


def test_rows_that_converge_before_the_last_budget():
    """The estimate of the row that remains is the last one, not one of all rows."""
    rows = np.ones((3, 10))
    rows[1] = 2.0
    in_pairs = partial(GaussianProcessEstimator, settings=GPSettings(most_single=0, paired_evals_per_player=0.0))
    with pytest.warns(RuntimeWarning, match="1 of 3 rows did not reach"):
        found = Explainer(easy_or_hard, np.zeros((1, 10)), method=in_pairs, rng=0).estimate(
            rows, tol=0.05, max_evals=39
        )
    assert found.n_evals.tolist() == [34, 38, 34]  # pairs are never split
    assert found.converged.tolist() == [True, False, True]
    np.testing.assert_allclose(found.values[0], np.arange(1.0, 11.0), atol=1e-6)
    np.testing.assert_allclose(found.values[1].sum(), easy_or_hard(rows)[1] - easy_or_hard(0 * rows)[1], atol=1e-9)


class Spendthrift(CoalitionEstimator):
    """Chooses more than it may."""

    least_budget = 10

    def _choose(self, budget):
        before = len(self.store)
        self.store.add(np.random.default_rng(0).random((200, self.d)) < 0.5)
        return len(self.store) > before

    def estimate(self):
        return exact_moments(np.zeros((len(self.values), self.d, self.values.shape[2])))


class Peeking(Spendthrift):
    """Would choose by values, and does not say so."""

    n_told = 0

    def _choose(self, budget):
        before = len(self.store)
        self.store.add(np.eye(self.d, dtype=bool))
        return len(self.store) > before

    def _learn(self):
        self.n_told += 1


def test_budgets_are_enforced():
    with pytest.raises(RuntimeError, match=r"Spendthrift chose \d+ coalitions, more than its budget of 50"):
        shapley_values(Airport(tuple(np.arange(1.0, 13.0))), method=Spendthrift, max_evals=50)


@pytest.mark.parametrize("declared", [None, "rows"])
def test_only_declared_choices_know_values(declared):
    made = []

    def factory(d, rng):
        made.append(Peeking(d, rng=rng))
        made[-1].choices_depend_on = declared
        return made[-1]

    shapley_values(Airport(tuple(np.arange(1.0, 13.0))), method=factory, max_evals=50)
    assert made[-1].n_told == (0 if declared is None else 1)


def test_an_explainer_follows_its_model():
    explainer = Explainer(lambda x: x[:, 0], np.zeros((1, 3)))
    assert explainer.estimate(np.ones((1, 3))).values.tolist() == [[1.0, 0.0, 0.0]]
    explainer.model = lambda x: np.stack([5 * x[:, 0], x[:, 1], x[:, 2]], axis=1)
    assert explainer.estimate(np.ones((1, 3))).values.shape == (1, 3, 3)


class Scenarios(Games):
    """A correct class of games, to be spoilt."""

    d, n_rows, n_draws = 4, 2, 3

    def _draws(self, rows, coalitions, draws):
        return coalitions.sum(axis=1) * (1.0 + draws)


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"draw_weights": np.ones(3)}, r"draw_weights must be 3 numbers of at least 0 that sum to 1"),
        ({"draw_weights": np.array([0.5, 0.5])}, "draw_weights must be 3 numbers"),
        ({"draw_weights": np.array([1.5, -0.5, 0.0])}, "draw_weights must be 3 numbers"),
        ({"draw_weights": np.array([np.nan, 0.5, 0.5])}, "draw_weights must be 3 numbers"),
        ({"player_names": ["a"]}, r"one name for each of 4 players, got \['a'\]"),
        ({"player_names": "abcd"}, "one name for each of 4 players, got 'abcd'"),
        ({"n_rows": 0}, r"Scenarios\.n_rows must be at least 1, got 0"),
        ({"n_draws": 0}, r"Scenarios\.n_draws must be at least 1, got 0"),
        ({"d": 0}, r"Scenarios\.d must be at least 1, got 0"),
        ({"draws_per_call": 0}, r"Scenarios\.draws_per_call must be at least 1, got 0"),
        (
            {"varying": lambda: np.ones(4, bool)},
            r"bool of shape \(2, 4\), got bool of shape \(4,\)",
        ),
        ({"endpoints": lambda: np.full((2, 2, 1), np.nan)}, "endpoints must return finite values"),
        ({"endpoints": lambda: np.zeros((2, 2))}, r"endpoints must return shape \(2, 2, k\), got \(2, 2\)"),
        ({"evaluator": lambda: lambda r, c, b: np.full((len(r), 1), np.nan)}, "the game must return finite values"),
        ({"evaluator": lambda: lambda r, c, b: np.zeros(len(r) + 1)}, "the game must return shape"),
    ],
)
def test_what_games_say_of_themselves_is_checked(spoilt, message):
    games = Scenarios()
    for name, value in spoilt.items():
        setattr(games, name, value)
    with pytest.raises(ValueError, match=message):
        estimate(games, method="antithetic", max_evals=14, rng=0)


def test_weights_of_draws_may_be_a_list():
    games = Scenarios()
    games.draw_weights = [1.0, 0.0, 0.0]
    np.testing.assert_allclose(estimate(games).values, 1.0)


def test_coalitions_are_not_numbers_of_players():
    games = Scenarios()
    np.testing.assert_array_equal(games([[1, 0, 0, 1]]), games([[True, False, False, True]]))
    with pytest.raises(ValueError, match="not numbers of players"):
        games([[0, 1, 2, 3]])


class Ends(Measure):
    """Half of the weight on the first player to enter, half on the last one."""

    def nodes(self, degree):
        return np.array([0.0, 1.0]), np.array([0.5, 0.5])


ENDS = Index("ends", (Ends(),))


def test_auto_enumerates_where_only_that_estimates_the_index():
    votes = WeightedVoting((3, 2, 2, 1, 1), quota=5)
    assert estimate(votes, index="SII", order=3, tol=0.1).method == "exact"
    assert estimate(votes, index=ENDS, method=ExactEstimator, max_evals=32).values.shape == (1, 5)


def test_classes_are_known_as_their_names_are():
    game = UnanimitySum.random(6, n_terms=9, max_order=3, rng=0)
    by_class = shapley_values(game, method=OwenEstimator, unbiased=True, max_evals=60, rng=0)
    by_name = shapley_values(game, method="owen", unbiased=True, max_evals=60, rng=0)
    np.testing.assert_array_equal(by_class.values, by_name.values)
    assert shapley_values(game, method=GaussianProcessEstimator, unbiased=True, rng=0).method == "gp-unbiased"
    configured = partial(GaussianProcessEstimator, settings=GPSettings(most_pairs=50))
    with pytest.raises(ValueError, match="'GaussianProcessEstimator' has no unbiased form"):
        shapley_values(game, method=configured, unbiased=True, rng=0)


@pytest.mark.parametrize(
    ("d", "arguments", "message"),
    [
        (30, {"max_evals": 31}, "method 'auto' with 30 players: the least budget is max_evals=32$"),
        (30, {"max_evals": 59, "unbiased": True}, "method 'auto' with 30 players: the least budget is max_evals=60$"),
        (30, {"max_predictions": 31}, "method 'auto' with 30 players: the least budget is max_predictions=32$"),
        (30, {"max_evals": 31, "method": "gp"}, "'gp' with 30 players: it needs at least 32$"),
        (500, {"max_evals": 501, "method": "gp"}, "it needs at least 502; groups="),
        (200, {"max_evals": 50}, "the least budget is max_evals=202; groups= lets several columns play as one$"),
        (10, {"max_evals": 5, "method": "monte-carlo"}, "it needs at least 20; the least of all is 12, of method 'gp'"),
    ],
)
def test_the_least_budget_is_that_of_what_was_asked_for(d, arguments, message):
    with pytest.raises(ValueError, match=message):
        shapley_values(lambda c: c[:, 0], d, **arguments)


@pytest.mark.parametrize("d", [2, 3, 5, 9, 30, 200])
@pytest.mark.parametrize("unbiased", [False, True])
def test_the_least_budget_of_auto_suffices(d, unbiased):
    least = METHODS["monte-carlo" if unbiased else "auto"].least_budget(d)
    assert shapley_values(lambda c: c[:, 0] * 1.0, d, max_evals=least, unbiased=unbiased, rng=0).n_evals <= least


def test_orderings_serve_several_rows():
    xgboost = pytest.importorskip("xgboost")
    trees = TreeGame(xgboost.XGBRegressor(n_estimators=5).fit(DATA, model(DATA)), DATA[:20], DATA[30:33])
    orderings = sharpley.Antithetic(10, rng=0).random(12)
    found = from_orderings(trees, orderings, groups=np.arange(12) // 2)
    assert found.values.shape == found.standard_errors.shape == (3, 10)
    np.testing.assert_allclose(found.values, trees.contributions(orderings).mean(axis=1), atol=1e-9)


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame])
def test_games_can_be_pickled(wrap):
    games = MarginalGame(np.sum if wrap is None else _total, wrap(DATA[:5]), wrap(DATA[5:8]))
    again = pickle.loads(pickle.dumps(games))
    coalitions = RNG.random((6, 10)) < 0.5
    np.testing.assert_array_equal(again(coalitions), games(coalitions))


def _total(data):
    return np.asarray(data).sum(axis=1)


class WrongShape(Sampler):
    """Returns one ordering too many."""

    def _random(self, n):
        return np.zeros((n + 1, self.d), dtype=int)


class WrongType(Sampler):
    """Returns floats."""

    def _random(self, n):
        return np.zeros((n, self.d))


@pytest.mark.parametrize("sampler", [WrongShape, WrongType])
def test_what_samplers_return_is_checked(sampler):
    with pytest.raises(ValueError, match=r"_random must return integers of shape \(3, 4\), got"):
        sampler(4).random(3)
