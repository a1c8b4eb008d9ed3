"""The value of data: refits as games, their cache, and nearest neighbours in closed form."""

from itertools import combinations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import sharpley
from sharpley import plotting
from sharpley.games import CallableGame
from sharpley.valuation import DataValuation, knn_values

RNG = np.random.default_rng(0)
X, X_TEST = RNG.normal(size=(6, 2)), RNG.normal(size=(40, 2))
Y, Y_TEST = (X[:, 0] > 0).astype(int), (X_TEST[:, 0] > 0).astype(int)
Y[3] = 1 - Y[3]  # a wrong label


def score_of(members):
    """The score of a refit, by the plainest code; single classes have the score of the most frequent class."""
    rows = sorted(members)
    if len(set(Y[rows])) < 2:
        return np.mean(np.bincount(Y).argmax() == Y_TEST)
    return LogisticRegression().fit(X[rows], Y[rows]).score(X_TEST, Y_TEST)


def test_values_are_those_of_the_game_of_refits():
    valuation = DataValuation(LogisticRegression(), X, Y, X_TEST, Y_TEST, rng=0)
    found = valuation.estimate(method="exact", max_evals=64)
    plain = sharpley.shapley_values(score_of, players=range(6), method="exact", max_evals=64)
    np.testing.assert_allclose(found.values, plain.values, atol=1e-12)
    assert found.values.argmin() == 3
    before = valuation.n_refits
    banzhaf = valuation.estimate(index="banzhaf", method="exact", max_evals=64)
    assert valuation.n_refits == before < 64  # nothing was refitted
    assert banzhaf.index == "banzhaf"
    assert valuation.estimate(index="beta(16, 1)").values.shape == (6,)


def test_groups_are_players():
    of_row = ["north", "south", "north", "west", "south", "west"]
    found = DataValuation(LogisticRegression(), X, Y, X_TEST, Y_TEST, groups=of_row).estimate()
    rows = {name: [row for row in range(6) if of_row[row] == name] for name in ("north", "south", "west")}
    plain = sharpley.shapley_values(lambda s: score_of([row for name in s for row in rows[name]]), players=list(rows))
    np.testing.assert_allclose(found.values, plain.values)
    assert found.names == ["north", "south", "west"]
    mapped = DataValuation(LogisticRegression(), X, Y, X_TEST, Y_TEST, groups=rows).estimate()
    np.testing.assert_array_equal(mapped.values, found.values)


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that counts its fits, and stops the run after some."""

    fits = 0
    most = 10**9

    def fit(self, rows, labels):
        type(self).fits += 1
        if type(self).fits > type(self).most:
            raise KeyboardInterrupt
        self.classes_, self.mean_ = np.unique(labels), rows[labels == 1].mean(axis=0) - rows[labels == 0].mean(axis=0)
        return self

    def predict(self, rows):
        return (rows @ self.mean_ > 0).astype(int)


def test_an_interrupted_run_resumes_from_its_file(tmp_path, monkeypatch):
    def value():
        return DataValuation(Counting(), X, Y, X_TEST, Y_TEST, cache=tmp_path / "scores.db", rng=0)

    monkeypatch.setattr(Counting, "fits", 0)
    monkeypatch.setattr(Counting, "most", 15)
    with pytest.raises(KeyboardInterrupt):
        value().estimate(method="exact", max_evals=64)
    monkeypatch.setattr(Counting, "most", 10**9)
    resumed = value()
    found = resumed.estimate(method="exact", max_evals=64)
    whole = DataValuation(Counting(), X, Y, X_TEST, Y_TEST, rng=0)
    np.testing.assert_array_equal(found.values, whole.estimate(method="exact", max_evals=64).values)
    assert resumed.n_refits == whole.n_refits - 15
    again = value()
    again.estimate(method="exact", max_evals=64)
    assert again.n_refits == 0
    with pytest.raises(ValueError, match=r"scores.db has the scores of another model, other data or other settings"):
        DataValuation(Counting(), X, 1 - Y, X_TEST, Y_TEST, cache=tmp_path / "scores.db")


def test_random_refits_are_draws():
    tree = DecisionTreeClassifier(splitter="random", max_depth=2)
    found = DataValuation(tree, X, Y, X_TEST, Y_TEST, seeds=4, rng=0).estimate(method="exact", max_evals=64)
    scores = []
    for seed in range(4):
        one = DataValuation(clone(tree).set_params(random_state=seed), X, Y, X_TEST, Y_TEST, rng=0)
        scores.append(one.estimate(method="exact", max_evals=64).values)
    np.testing.assert_allclose(found.values, np.mean(scores, axis=0), atol=1e-12)
    unseeded = [DataValuation(tree, X, Y, X_TEST, Y_TEST, rng=0).estimate().values for _ in range(2)]
    np.testing.assert_array_equal(*unseeded)
    with pytest.raises(ValueError, match="seeds are for models with a random_state, which LinearRegression has not"):
        DataValuation(LinearRegression(), X, Y, X_TEST, Y_TEST, seeds=3)


def test_results_do_not_depend_on_the_number_of_workers():
    def found(n_jobs):
        return DataValuation(Counting(), X, Y, X_TEST, Y_TEST, rng=0, n_jobs=n_jobs).estimate(max_evals=30)

    with joblib.parallel_config("threading"):  # processes would take longer to start than the whole test
        both = found(2)
    np.testing.assert_array_equal(found(1).values, both.values)


def test_coalitions_that_cannot_be_fitted_have_the_stated_value():
    valuation = DataValuation(KNeighborsClassifier(3), X, Y, X_TEST, Y_TEST, least_rows=3, default=0.25)
    assert valuation.estimate(method="exact", max_evals=64).base_values == 0.25
    one_class = np.flatnonzero(Y == 1)[:3]
    assert valuation.game(np.isin(np.arange(6), one_class)[None])[0] == 0.25
    regression = DataValuation(LinearRegression(), X, X[:, 0], X_TEST, X_TEST[:, 0])
    assert regression.game.default == pytest.approx(
        1 - np.mean((X_TEST[:, 0] - X[:, 0].mean()) ** 2) / X_TEST[:, 0].var()
    )


def test_mistakes_have_clear_errors():
    with pytest.raises(
        RuntimeError, match=r"refit on the coalition of players \[.*\], 2 rows, raised ValueError: .*least"
    ):
        DataValuation(KNeighborsClassifier(3), X, Y, X_TEST, Y_TEST).estimate(method="exact", max_evals=64)
    nan = DataValuation(LogisticRegression(), X, Y, X_TEST, Y_TEST, scorer=lambda *_: np.nan, default=0.0)
    with pytest.raises(ValueError, match=r"the scorer returned nan for the refit on the coalition of players \["):
        nan.estimate()
    with pytest.raises(ValueError, match="X has 6 rows, but y has shape"):
        DataValuation(LogisticRegression(), X, Y[:5], X_TEST, Y_TEST)
    with pytest.raises(TypeError, match="the model must have a method fit, got 3"):
        DataValuation(3, X, Y, X_TEST, Y_TEST)
    with pytest.raises(ValueError, match="every one of 6 rows must belong to one group; groups have 2 entries"):
        DataValuation(LogisticRegression(), X, Y, X_TEST, Y_TEST, groups={"a": [0, 1]})


def test_a_refit_that_raises_is_kept_out_of_the_cache(tmp_path):
    broken = DataValuation(KNeighborsClassifier(3), X, Y, X_TEST, Y_TEST, cache=tmp_path / "scores.db")
    with pytest.raises(RuntimeError):
        broken.estimate(method="exact", max_evals=64)
    again = DataValuation(KNeighborsClassifier(3), X, Y, X_TEST, Y_TEST, cache=tmp_path / "scores.db")
    with pytest.raises(RuntimeError):
        again.estimate(method="exact", max_evals=64)


def test_frames_and_scorers_by_name():
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"row {number}" for number in range(6)])
    found = DataValuation(LogisticRegression(), frame, Y, pd.DataFrame(X_TEST, columns=["a", "b"]), Y_TEST,
                          scorer="neg_log_loss").estimate()  # fmt: skip
    assert found.names[0] == "row 0"
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_nearest_neighbours_agree_with_enumeration(k):
    rng = np.random.default_rng(k)
    rows, labels = rng.normal(size=(9, 2)), rng.integers(3, size=9)
    tests, truth = rng.normal(size=(4, 2)), rng.integers(3, size=4)

    def score(members):
        total = 0.0
        for test, label in zip(tests, truth, strict=True):
            nearest = sorted(members, key=lambda row: float(((rows[row] - test) ** 2).sum()))[:k]
            total += sum(labels[row] == label for row in nearest) / k
        return total / len(tests)

    exact = sharpley.shapley_values(score, players=range(9), method="exact", max_evals=512)
    np.testing.assert_allclose(knn_values(rows, labels, tests, truth, k=k), exact.values, atol=1e-12)


def test_nearest_neighbours_of_many_rows_add_up():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(500, 3)), rng.integers(2, size=500)
    values = knn_values(rows, labels, rows[:50], labels[:50], k=3)
    fitted = KNeighborsClassifier(3).fit(rows, labels)
    right = fitted.predict_proba(rows[:50])[np.arange(50), labels[:50]].mean()
    assert values.sum() == pytest.approx(right)
    with pytest.raises(ValueError, match="must have shapes"):
        knn_values(rows, labels[:3], rows, labels)


def test_the_detection_curve_finds_bad_rows():
    ax = plotting.detection({"found": [-1.0, 0.5, -0.5, 2.0]}, [True, False, False, True])
    assert ax.get_lines()[0].get_ydata().tolist() == [0.0, 0.5, 0.5, 0.5, 1.0]
    with pytest.raises(ValueError, match="at least one bad row, got 0"):
        plotting.detection({"found": [1.0, 2.0]}, [False, False])
    with pytest.raises(ValueError, match=r"values of 'found' must have shape \(2,\)"):
        plotting.detection({"found": [1.0]}, [False, True])


def test_a_game_of_refits_serves_every_method():
    game = DataValuation(LogisticRegression(), X, Y, X_TEST, Y_TEST).game
    pairs = sharpley.estimate(game, index="SII", method="exact", max_evals=64)
    assert len(list(combinations(range(6), 2))) + 6 == pairs.values.shape[1]
    assert isinstance(sharpley.games.as_games(game), type(game))
    assert not isinstance(game, CallableGame)
