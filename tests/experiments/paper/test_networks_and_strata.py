"""Networks with one hidden layer along walks, Castro's strata, kept models, and correlations within blocks."""

import numpy as np
import pytest

from sharpley import MarginalGame, Orthogonal
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.engine.evaluation import walk_contributions
from sharpley.games import UnanimitySum
from sharpley.samplers import MonteCarlo
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.lookup import TableGames, all_values
from sharpley_experiments.common.models import margin, train_mlp
from sharpley_experiments.paper.data import load_for_paper
from sharpley_experiments.paper.evaluation.blocks import correlations
from sharpley_experiments.paper.evaluation.blocks import findings as about_blocks
from sharpley_experiments.paper.evaluation.castro import _allocated, castro
from sharpley_experiments.paper.evaluation.models import NETWORK, RAW_NETWORK, TREES, kept_model
from sharpley_experiments.paper.evaluation.networks import (
    all_network_values,
    hidden_layer,
    network_contributions,
)


@pytest.fixture(scope="module", params=["regression", "classification"])
def data(request):
    rng = np.random.default_rng(0)
    x = 5.0 + 3.0 * rng.standard_normal((120, 5))
    y = x[:, 0] * x[:, 1] - x[:, 2]
    if request.param == "classification":
        y = (y > np.median(y)).astype(float)
    return Dataset("made", x, y, tuple("abcde"), request.param == "classification")


@pytest.mark.parametrize("standardised", [True, False])
def test_a_network_reduced_to_its_weights_predicts_the_same(data, standardised):
    model = train_mlp(data, seed=1, standardised=standardised)
    network = hidden_layer(model)
    if standardised:
        expected = margin(model)(data.X)
    elif data.is_classification:
        odds = model.predict_proba(data.X)
        expected = np.log(odds[:, 1] / odds[:, 0])
    else:
        expected = model.predict(data.X)
    np.testing.assert_allclose(network(data.X), expected, rtol=1e-6, atol=1e-8)


def test_walks_of_a_network_are_those_of_its_game(data, tmp_path):
    """The compiled loop that changes one column at a time, and predictions for whole composites."""
    network = hidden_layer(train_mlp(data))
    rows, background = data.X[:3].copy(), data.X[10:25].copy()
    rows[0, 2] = background[4, 2]  # a column that does not change
    game = MarginalGame(network, background, rows)
    orderings = MonteCarlo(5, rng=0).random(7)
    found = network_contributions(network, rows, background, orderings)
    np.testing.assert_allclose(found, walk_contributions(game, orderings)[:, 0], atol=1e-10)
    table = all_network_values(network, rows, background)
    np.testing.assert_allclose(table, all_values(game, tmp_path / "table.npz"), atol=1e-10)


def test_models_are_trained_once_for_each_experiment(tmp_path, monkeypatch):
    dataset = load("breast_cancer")._replace(X=load("breast_cancer").X[:100], y=load("breast_cancer").y[:100])
    outputs = {}
    for kind in (TREES, NETWORK, RAW_NETWORK):
        for experiment in range(2):
            model = kept_model(kind, dataset, experiment, tmp_path)
            outputs[kind, experiment] = (margin(model) if kind == TREES else model)(dataset.X)
    assert len({output.tobytes() for output in outputs.values()}) == 6
    for name in ("train_xgboost", "train_mlp"):
        monkeypatch.setattr(
            f"sharpley_experiments.paper.evaluation.models.{name}", lambda *_, **__: pytest.fail("trained again")
        )
    again = kept_model(RAW_NETWORK, dataset, 1, tmp_path)(dataset.X)
    np.testing.assert_array_equal(again, outputs[RAW_NETWORK, 1])
    np.testing.assert_array_equal(margin(kept_model(TREES, dataset, 1, tmp_path))(dataset.X), outputs[TREES, 1])


def test_make_regression_has_the_authors_seed_and_noise():
    from sklearn.datasets import make_regression

    x, y = make_regression(n_samples=1000, n_features=10, noise=0.1, random_state=47)
    found = load_for_paper("make_regression", None)
    np.testing.assert_array_equal(found.X, x)
    np.testing.assert_array_equal(found.y, y)
    assert "47" in found.note


# Castro's strata


@pytest.fixture(scope="module")
def strata():
    game = UnanimitySum.random(5, n_terms=12, max_order=4, rng=3)
    coalitions = all_coalitions(5)
    order = np.argsort(coalitions @ (2 ** np.arange(5)[::-1]))
    return TableGames(np.stack([game(coalitions[order]), -3.0 * game(coalitions[order])])), game.shapley_values()


def test_castro_estimates_shapley_values_and_spends_what_it_may(strata):
    games, exact = strata
    counted = _Counted(games)
    found = np.array([castro(counted, 200, np.random.default_rng(seed)) for seed in range(200)])
    assert counted.count == 200 * 2 * 2 * 200  # runs, rows, evaluations for each marginal one
    error = found.std(axis=0, ddof=1) / 200**0.5
    gap = np.abs(found.mean(axis=0) - np.stack([exact, -3.0 * exact]))
    # The second stage depends on the first, so there is a small bias.
    assert (gap < 5 * error + 0.02 * np.abs(exact).max()).all()


class _Counted:
    """Games whose evaluations are counted."""

    def __init__(self, games):
        self._games, self.count = games, 0

    def __getattr__(self, name):
        return getattr(self._games, name)

    def evaluator(self):
        inner = self._games.evaluator()

        def evaluate(rows, coalitions, draws):
            self.count += len(rows)
            return inner(rows, coalitions, draws)

        return evaluate


def test_castro_allocates_in_proportion_to_variances():
    np.testing.assert_array_equal(_allocated(np.array([1.0, 3.0, 0.0, 4.0]), 80), [10, 30, 0, 40])
    assert _allocated(np.random.default_rng(0).random(30), 101).sum() == 101
    assert _allocated(np.zeros(3), 10).sum() == _allocated(np.ones(3), 0).sum() == 0


# Blocks


def test_correlations_are_those_of_a_known_distribution():
    """Four values with variance 2, covariance −1 with the reverse, and −0.25 with the other two."""
    cov = np.full((4, 4), -0.25)
    cov[[0, 1, 2, 3], [1, 0, 3, 2]] = -1.0
    np.fill_diagonal(cov, 2.0)
    values = np.random.default_rng(0).multivariate_normal(np.full(4, 9.0), cov, size=(400, 6))  # 400 rows of 6 blocks
    found = correlations(values[..., None])
    assert found["antithetic"] == pytest.approx(-0.5, abs=0.03)
    assert found["others"] == pytest.approx(-0.125, abs=0.03)
    assert found["factor"] == pytest.approx(1 - 0.5 - 2 * 0.125, abs=0.03)


def test_blocks_of_independent_orderings_have_no_correlation():
    game = UnanimitySum.random(4, n_terms=8, max_order=4, rng=0)
    coalitions = all_coalitions(4)
    table = TableGames(game(coalitions[np.argsort(coalitions @ (2 ** np.arange(4)[::-1]))])[None])
    factors = {}
    for sampler in (MonteCarlo(4, rng=0), Orthogonal(4, rng=0)):
        contributions = table.contributions(sampler.random(6 * 3000)).reshape(1, 3000, 6, 4)
        factors[type(sampler).__name__] = correlations(contributions)["factor"]
    assert factors["MonteCarlo"] == pytest.approx(1.0, abs=0.08)
    assert factors["Orthogonal"] < 0.5


@pytest.mark.parametrize(("factor", "others", "expected"), [(0.3, -0.01, "holds"), (1.4, 0.01, "does not hold")])
def test_claims_about_blocks(factor, others, expected):
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        [
            {"kind": "gbdt", "dataset": name, "data_rows": 10**6, "d": 8, "k": 14, "experiment": k, "blocks": 4,
             "factor": factor * rng.uniform(0.9, 1.1), "antithetic": -0.4, "others": others * rng.uniform(0.9, 1.1)}
            for name in ("bank", "adult")
            for k in range(6)
        ]
    )  # fmt: skip
    # Correlations with the reverse are strong, those at right angles are not.
    assert [found.verdict for found in about_blocks(table)] == [expected, "holds in part"]
    few = table[table["experiment"] < 3]
    assert {found.verdict for found in about_blocks(few)} == {"not judged"}
