"""The models of the experiments: training and explained output as in the paper."""

import subprocess
import sys

import numpy as np
import pytest

from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.models import choose_rows, make_task, margin, train_mlp, train_xgboost


def made(seed=0, n=400, d=5, *, classes=False):
    """A data set with columns of very different scales and targets far from zero, such as years."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = 1998 + 10 * np.tanh(x[:, 0]) + 5 * x[:, 1] * x[:, 2]
    scales = 10.0 ** np.arange(d)
    return Dataset("made", x * scales, (y > 1998).astype(float) if classes else y, tuple("abcde"[:d]), classes)


def test_rows_and_background_are_random_rows_that_do_not_overlap():
    data = made()._replace(X=np.arange(400.0)[:, None])
    rows, background = choose_rows(data)
    assert (rows.shape, background.shape) == ((10, 1), (100, 1))
    assert len(np.unique(np.concatenate([rows, background]))) == 110
    assert background.mean() == pytest.approx(200, abs=5 * 115 / 10)  # not the first rows
    np.testing.assert_array_equal(rows, choose_rows(data, seed=0)[0])
    assert not np.array_equal(rows, choose_rows(data, seed=1)[0])
    everything = np.concatenate(choose_rows(data, rows=1, background=399))
    np.testing.assert_array_equal(np.sort(everything, axis=0), data.X)


def test_choosing_more_rows_than_there_are_raises_an_error():
    with pytest.raises(ValueError, match="made has 400 rows, fewer than 10 to explain and 391 of background"):
        choose_rows(made(), background=391)
    with pytest.raises(ValueError, match="rows must be at least 1"):
        choose_rows(made(), rows=0)


@pytest.mark.parametrize("classes", [False, True])
def test_xgboost_is_trained_with_the_papers_settings(classes):
    data = made(classes=classes)
    model = train_xgboost(data)
    assert model.get_booster().num_boosted_rounds() == 100
    assert model.score(data.X, data.y) > 0.99
    objective = model.get_booster().save_config()
    assert ('"binary:logistic"' if classes else '"reg:squarederror"') in objective
    assert '"max_depth":"6"' in objective
    assert '"learning_rate":"0.3' in objective
    np.testing.assert_array_equal(margin(model)(data.X), margin(train_xgboost(data))(data.X))


def test_the_prediction_of_a_regression_is_explained():
    data = made()
    for model in (train_xgboost(data), train_mlp(data)):
        explained = margin(model)(data.X)
        assert explained.dtype == np.float64
        np.testing.assert_allclose(explained, model.predict(data.X), rtol=1e-6)


def test_a_task_holds_the_chosen_rows():
    data = made()
    task = make_task(data, "model", rows=3, background=20, seed=2)
    rows, background = choose_rows(data, rows=3, background=20, seed=2)
    assert (task.name, task.d, task.model) == ("made", 5, "model")
    np.testing.assert_array_equal(task.rows, rows)
    np.testing.assert_array_equal(task.background, background)


def test_the_log_odds_of_a_classification_are_explained():
    data = made(classes=True)
    for model in (train_xgboost(data), train_mlp(data)):
        probability = model.predict_proba(data.X)[:, 1].astype(np.float64)
        assert model.classes_.tolist() == [0, 1]
        np.testing.assert_allclose(1 / (1 + np.exp(-margin(model)(data.X))), probability, rtol=1e-5, atol=1e-9)


def test_log_odds_of_a_network_are_finite_where_probabilities_are_one():
    data = made(classes=True)
    model = train_mlp(data)
    extreme = 1000 * data.X
    assert (model.predict_proba(extreme)[:, 1] == 1).any()
    assert np.isfinite(margin(model)(extreme)).all()


def test_a_network_learns_whatever_the_scales_of_the_columns():
    """Without standardised inputs and targets, the default network does not."""
    data = made(n=2000)
    model = train_mlp(data)
    prediction = margin(model)(data.X)
    assert prediction.shape == (2000,)
    assert 1 - np.mean((prediction - data.y) ** 2) / data.y.var() > 0.9
    np.testing.assert_array_equal(prediction, margin(train_mlp(data))(data.X))
    assert not np.array_equal(prediction, margin(train_mlp(data, seed=1))(data.X))


def test_a_network_has_the_papers_settings_and_stops_without_a_warning():
    network = train_mlp(load("breast_cancer"))[-1]  # any warning would be an error here
    assert network.n_iter_ == network.max_iter == 200
    assert (network.hidden_layer_sizes, network.activation, network.solver) == ((100,), "relu", "adam")
    assert network.learning_rate_init == 0.001


def test_a_missing_xgboost_raises_an_error_with_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match="pip install xgboost"):
        train_xgboost(made())


def test_heavy_libraries_are_imported_when_needed():
    code = "import sys, sharpley_experiments.common.models; print({'sklearn', 'pandas', 'xgboost'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"
