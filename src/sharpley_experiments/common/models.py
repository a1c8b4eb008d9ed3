"""The models that the paper's experiments explain, and the outputs that are explained.

As in the paper, models are trained on all rows, and 10 random rows are explained with 100 others as the background.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Floats
from sharpley_experiments.common.constants import XGBOOST
from sharpley_experiments.common.datasets import Dataset


class Task(NamedTuple):
    """A fitted model, the rows to explain and the background rows."""

    name: str
    d: int
    background: Floats
    rows: Floats
    model: Any


def make_task(dataset: Dataset, model: Any, *, rows: int = 10, background: int = 100, seed: int = 0) -> Task:
    """Make the task of explaining a fitted model at the rows that ``choose_rows`` chooses."""
    explained, others = choose_rows(dataset, rows=rows, background=background, seed=seed)
    return Task(dataset.name, dataset.X.shape[1], others, explained, model)


def choose_rows(dataset: Dataset, *, rows: int = 10, background: int = 100, seed: int = 0) -> tuple[Floats, Floats]:
    """Choose rows to explain and background rows at random, without replacement."""
    rows, background = check_count("rows", rows, minimum=1), check_count("background", background, minimum=1)
    n = len(dataset.X)
    if rows + background > n:
        raise ValueError(
            f"{dataset.name} has {n} rows, fewer than {rows} to explain and {background} of background; choose fewer"
        )
    chosen = np.random.default_rng(seed).choice(n, size=rows + background, replace=False)
    return dataset.X[chosen[:rows]], dataset.X[chosen[rows:]]


def train_xgboost(dataset: Dataset) -> Any:
    """Train an ``XGBRegressor`` or ``XGBClassifier`` with the library's defaults.

    A single thread makes the sums of gradients, and thus the trees, independent of the number of cores.
    """
    try:
        import xgboost
    except ImportError:
        raise ImportError("this experiment needs XGBoost: pip install xgboost") from None
    kind = xgboost.XGBClassifier if dataset.is_classification else xgboost.XGBRegressor
    model = kind(**XGBOOST, n_jobs=1)
    return model.fit(dataset.X, dataset.y)


def train_mlp(dataset: Dataset, seed: int = 0, *, standardised: bool = True) -> Any:
    """Train a scikit-learn network with the library's defaults: 100 hidden units, at most 200 iterations of Adam.

    The paper does not mention scaling. By default the inputs are standardised here, and so are the targets of a
    regression, whose predictions are scaled back: fitted to raw numbers, the default network explains half of the
    variance of cal_housing instead of 80 %, and its predictions for the 7,000-row sample of year are off by a century.
    Like the paper's, the network is used as it is after 200 iterations, converged or not, so scikit-learn's warning
    about convergence is suppressed.
    """
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model: Any = (MLPClassifier if dataset.is_classification else MLPRegressor)(random_state=seed)
    if standardised:
        model = make_pipeline(StandardScaler(), model)
        if not dataset.is_classification:
            model = TransformedTargetRegressor(model, transformer=StandardScaler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(dataset.X, dataset.y)


def margin(model: Any) -> Callable[[ArrayLike], Floats]:
    """Return the function to explain: the prediction of a regression, or the log-odds of class 1.

    The paper explains log-odds for trees and images, and does not say what it explains for networks.
    """
    if hasattr(model, "get_booster"):
        return lambda rows: model.predict(rows, output_margin=True).astype(np.float64)
    if hasattr(model, "predict_proba"):
        return lambda rows: _log_odds(model, rows)
    return lambda rows: np.asarray(model.predict(rows), dtype=np.float64)


def _log_odds(model: Any, rows: ArrayLike) -> Floats:
    """Input of the network's sigmoid. Log-odds computed from probabilities are infinite where these round to 1."""
    network = model[-1]
    signal = model[:-1].transform(rows)
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        signal = np.maximum(signal @ weights + bias, 0.0)
    return (signal @ network.coefs_[-1] + network.intercepts_[-1])[:, 0]
