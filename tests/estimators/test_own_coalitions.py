"""Coalitions of their own for every draw."""

import numpy as np
import pandas as pd
import pytest

import sharpley
from sharpley import Background, Explainer, MarginalGame, estimate
from sharpley.engine.auto import Problem, resolve
from sharpley.engine.methods import as_method
from sharpley.estimators.draws.pairings import NOT_PLAYING, AskedCoalitions, Pairings, places_of

RNG = np.random.default_rng(11)
DATA = RNG.normal(size=(60, 9))
DATA[:, 7:] = RNG.integers(2, size=(60, 2))
ROWS = RNG.normal(size=(3, 9))
ROWS[:, 7:] = [[0, 1], [1, 1], [0, 0]]


def model(x):
    return x[:, 0] * x[:, 1] * x[:, 2] + np.sin(x[:, 3]) * (1 + x[:, 7]) + np.abs(x[:, 4] - x[:, 5]) * x[:, 8] + x[:, 6]


def exact(background, rows, weights=None, function=model):
    games = MarginalGame(function, Background(background, weights), rows)
    return estimate(games, method="exact", draws="shared", max_evals=2**9).values


def explained(rows=ROWS, *, seed=0, evals=60, background=DATA, function=model, outputs=None, **options):
    explainer = Explainer(function, background, method="regression", draws="own", rng=seed, **options)
    n = len(background.rows) if isinstance(background, Background) else len(background)
    return explainer.estimate(rows, max_predictions=1 + n * (evals - 2))


def test_players_take_their_places_in_the_order_of_the_draw():
    orders = np.array([[2, 0, 3, 1], [0, 1, 2, 3]])
    differing = np.array([[True, True, False, True], [False, True, True, False]])
    places = places_of(differing, np.array([0, 1]), orders)
    assert places.tolist() == [[0, 2, NOT_PLAYING, 1], [NOT_PLAYING, 0, 1, NOT_PLAYING]]


def test_coalitions_are_asked_for_in_terms_of_all_players():
    places = np.array([[0, 1, NOT_PLAYING], [NOT_PLAYING, 1, 0]])
    pairings = Pairings(np.array([5, 6]), np.array([8, 9]), places)
    asked = AskedCoalitions(pairings, np.array([[True, False], [False, True]]))
    rows, coalitions, draws = asked.ask(np.arange(len(asked)))
    assert rows.tolist() == [5, 5, 6, 6]
    assert draws.tolist() == [8, 8, 9, 9]
    assert coalitions.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(asked.ask(np.arange(1, 3))[1], coalitions[1:3])


def test_all_coalitions_of_every_draw_give_exact_values():
    weights = RNG.exponential(size=60)
    found = explained(background=Background(DATA, weights), evals=2**9)
    np.testing.assert_allclose(found.values, exact(DATA, ROWS, weights), atol=1e-12)
    assert (found.standard_errors == 0).all()


@pytest.mark.parametrize("evals", [45, 60, 120])
def test_values_add_up_and_are_within_their_errors(evals):
    counted = []

    def counting(x):
        counted.append(len(x))
        return model(x)

    found = explained(evals=evals, function=counting)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model(ROWS), atol=1e-12)
    assert (abs(found.values - exact(DATA, ROWS)) < 6 * found.standard_errors).all()
    assert (found.n_predictions <= 1 + 60 * (evals - 2)).all()
    assert sum(counted) == found.n_predictions.sum() + 60 + 4  # once for the background, and four of its rows again
    assert found.method == "regression"


def test_a_row_has_the_same_values_in_every_call():
    found = explained()
    for options in ({"n_jobs": 2}, {"batch_size": 37}):
        np.testing.assert_array_equal(explained(**options).values, found.values)
    np.testing.assert_array_equal(explained(ROWS[[1]]).values[0], found.values[1])
    assert (explained(seed=1).values != found.values).all()


def test_blocks_of_rows_do_not_matter(monkeypatch):
    found = explained()
    monkeypatch.setattr("sharpley.estimators.draws.coalitions.MAX_EVALUATIONS_AT_ONCE", 1)
    np.testing.assert_array_equal(explained().values, found.values)


@pytest.mark.slow
def test_intervals_hold():
    truth = exact(DATA, ROWS)
    runs = [explained(seed=seed) for seed in range(300)]
    values = np.stack([run.values for run in runs])
    bias, spread = values.mean(axis=0) - truth, values.std(axis=0, ddof=1)
    assert np.sqrt((bias**2).mean() / (spread**2).mean()) < 0.09  # 0.06 if there is no bias, 0.32 with other weights
    lower, upper = map(np.stack, zip(*(run.interval() for run in runs), strict=True))
    assert 0.90 < ((lower <= truth) & (truth <= upper)).mean() < 0.99


def test_own_coalitions_are_better_than_shared_ones_and_than_own_orderings():
    truth, budget = exact(DATA, ROWS), 1 + 60 * 88

    def error(**options):
        found = [
            Explainer(model, DATA, rng=seed, **options).estimate(ROWS, max_predictions=budget) for seed in range(8)
        ]
        return np.mean([((run.values - truth) ** 2).mean() for run in found])

    own = error(method="regression", draws="own")
    assert own < 0.5 * error(method="regression", draws="shared")
    assert own < 0.5 * error(method="antithetic", draws="own")


def test_groups_words_and_several_outputs():
    frame = pd.DataFrame({f"x{i}": RNG.normal(size=40) for i in range(7)}).assign(
        colour=RNG.choice(["red", "green"], size=40), size=RNG.choice(["s", "m", "l"], size=40)
    )

    def messy(t):
        first = t["x0"] * t["x1"] * (t["colour"] == "red") + t[[f"x{i}" for i in range(2, 7)]].prod(axis=1)
        return np.column_stack([first, t["x2"] * t["x3"] + (t["size"] == "m")])

    groups = {"pair": ["x0", "colour"]}
    explainer = Explainer(messy, frame, method="regression", draws="own", groups=groups, rng=0)
    found = explainer.estimate(frame.iloc[:3], max_predictions=40 * 60)
    truth = estimate(MarginalGame(messy, frame, frame.iloc[:3], groups=groups), method="exact", draws="shared").values
    assert (abs(found.values - truth) < 6 * found.standard_errors + 1e-9).all()
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, messy(frame.iloc[:3]), atol=1e-12)


def test_games_of_which_nothing_is_known_have_own_coalitions_too():
    class Shared(sharpley.Games):
        def __init__(self):
            self.capacities, self.scenarios = np.arange(1.0, 9.0), RNG.exponential(15.0, size=50)
            self.d, self.n_draws = 8, 50

        def _draws(self, rows, coalitions, draws):
            return np.minimum(coalitions @ self.capacities, self.scenarios[draws])

    games = Shared()
    truth = estimate(games, method="exact", draws="shared").values
    found = estimate(games, method="regression", draws="own", max_predictions=50 * 60, rng=0)
    assert (abs(found.values - truth) < 6 * found.standard_errors).all()
    assert found.n_predictions[0] <= 50 * 60
    assert found.values.sum() == pytest.approx(float(truth.sum()))


def test_auto_gives_few_draws_coalitions_of_their_own():
    def method(n, **options):
        return Explainer(model, np.repeat(DATA, n // 60 + 1, axis=0)[:n] + RNG.normal(size=(n, 9)), rng=0).estimate(
            ROWS[:1], **options
        )

    assert method(60, max_predictions=60 * 50).method == "regression"
    assert method(200).method == "regression"  # the default budget pays for 9 d coalitions in each
    assert method(900).method == "antithetic"
    problem = Problem(16, 100, draws=200, may_stop=True)
    assert resolve(as_method("auto"), problem, unbiased=False).method.name == "antithetic"
    assert Explainer(model, DATA, rng=0, unbiased=True).estimate(ROWS, max_predictions=3000).method == "regression"
    assert Explainer(model, DATA, rng=0, unbiased=True).estimate(ROWS, max_predictions=2000).method == "antithetic"


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="cannot stop at a tolerance"):
        Explainer(model, DATA, method="regression", draws="own").estimate(ROWS, tol=0.1)
    with pytest.raises(ValueError, match=r"max_predictions=500 is too small .* it needs at least"):
        Explainer(model, DATA, method="regression", draws="own").estimate(ROWS, max_predictions=500)
    explainer = Explainer(model, DATA, method="regression", draws="own", unbiased=True)
    with pytest.raises(ValueError, match=r"max_predictions=2000 is too small .* at least 2581"):  # 1 + 60 · (5 d − 2)
        explainer.estimate(ROWS, max_predictions=2000)
    least = sharpley.METHODS["regression"].least_budget(9)
    assert np.isfinite(explained(evals=least).standard_errors).all()


def test_rows_of_the_background_differ_in_few_players():
    background = np.tile(DATA[:1], (20, 1))
    background[np.arange(20), np.arange(20) % 9] += 1.0  # every draw differs from the row in one player
    background[0] = DATA[0]  # and one in none
    found = Explainer(model, background, method="regression", draws="own", rng=0).estimate(
        DATA[:1], max_predictions=2000
    )
    np.testing.assert_allclose(found.values, exact(background, DATA[:1]), atol=1e-12)
