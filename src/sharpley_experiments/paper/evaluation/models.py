"""The models of the evaluation, each trained once and kept in a file.

An *experiment* is a model, the rows to explain and a background; trials repeat the sampling on it. The paper has one
experiment for each data set. Here there are several, so that intervals cover the choice of all three:

- trees: the first experiment trains on all rows, as in the paper. With its defaults XGBoost has no randomness, so the
  other experiments train on bootstrap samples of the rows;
- networks: every experiment trains on all rows, as in the paper, from its own random weights. The paper does not say
  whether inputs were standardised, so there are networks of both kinds.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from sharpley._support.atomic import replacing
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset
from sharpley_experiments.common.lookup import write_arrays
from sharpley_experiments.common.models import train_mlp, train_xgboost
from sharpley_experiments.common.versions import with_version
from sharpley_experiments.paper.evaluation.networks import HiddenLayer, hidden_layer

TREES, NETWORK, RAW_NETWORK = "gbdt", "mlp", "mlp-raw"
TRAINED_BY = {TREES: "xgboost", NETWORK: "scikit-learn", RAW_NETWORK: "scikit-learn"}
KINDS = {TREES: "trees", NETWORK: "networks", RAW_NETWORK: "networks, raw inputs"}
"""Kinds of models, as readers see them."""


def kept_model(kind: str, dataset: Dataset, experiment: int, folder: Path) -> Any:
    """Model of an experiment: a fitted ``XGBModel``, or a ``HiddenLayer``; read from a file, or trained and kept."""
    path = folder / "models" / f"{kind}-{dataset.name}-{experiment}-{_digest(kind, dataset)}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == TREES:
        return _kept_trees(dataset, experiment, path.with_suffix(".ubj"))
    return _kept_network(kind, dataset, experiment, path.with_suffix(".npz"))


def _digest(kind: str, dataset: Dataset) -> str:
    digest = hashlib.sha256(with_version(TRAINED_BY[kind]).encode())
    for array in (dataset.X, dataset.y):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _kept_trees(dataset: Dataset, experiment: int, path: Path) -> Any:
    import xgboost

    if not path.exists():
        model = train_xgboost(_resampled(dataset, experiment) if experiment else dataset)
        with replacing(path) as stream:
            stream.write(model.get_booster().save_raw("ubj"))
    model = xgboost.XGBClassifier() if dataset.is_classification else xgboost.XGBRegressor()
    model.load_model(bytearray(path.read_bytes()))
    return model


def _resampled(dataset: Dataset, experiment: int) -> Dataset:
    chosen = np.random.default_rng([SEED, experiment]).integers(len(dataset.X), size=len(dataset.X))
    return dataset._replace(X=dataset.X[chosen], y=dataset.y[chosen])


def _kept_network(kind: str, dataset: Dataset, experiment: int, path: Path) -> HiddenLayer:
    if not path.exists():
        network = hidden_layer(train_mlp(dataset, seed=experiment, standardised=kind == NETWORK))
        write_arrays(path, **network._asdict())
    with np.load(path) as arrays:
        return HiddenLayer(arrays["weights"], arrays["biases"], arrays["out_weights"], float(arrays["out_bias"]))
