"""The data sets as the paper's experiments use them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load


def load_for_paper(name: str, data: Path | None) -> Dataset:
    """Load a data set; make_regression with the authors' seed and noise, which the benchmark's does not have."""
    if name != "make_regression":
        return load(name, data)
    from sklearn.datasets import make_regression

    x, y = make_regression(1000, 10, noise=0.1, random_state=47)
    return load(name, data)._replace(X=x, y=y, note="random_state 47 and noise 0.1, as in the authors' early code")


def rows_to_train_on(dataset: Dataset, n: int) -> Dataset:
    """A random part of the rows to train on; all, if there are no more."""
    if n >= len(dataset.X):
        return dataset
    chosen = np.random.default_rng(SEED).choice(len(dataset.X), size=n, replace=False)
    return dataset._replace(X=dataset.X[chosen], y=dataset.y[chosen])
