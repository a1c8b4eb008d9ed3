"""The models that are explained, each with ten rows and a population of background rows.

The population has 2,000 rows, drawn at random from those that are not explained, or all of them if there are fewer.

- ``xgboost-…`` and ``mlp-…``: the boosted trees and the networks of the paper's experiments.
- ``forest-cal_housing``: a random forest of scikit-learn.
- ``pipeline-bank``: a pipeline that encodes words and boosts trees, on a pandas frame of bank's 16 columns as they are.
  Libraries that accept numbers only explain the same pipeline behind a function that turns codes into words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.bench.games import NETWORKS, TREES
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.models import choose_rows, margin, train_mlp, train_xgboost

if TYPE_CHECKING:
    from pandas import DataFrame

GAMES: tuple[str, ...] = (
    *(f"xgboost-{name}" for name in TREES),
    *(f"mlp-{name}" for name in NETWORKS),
    "forest-cal_housing",
    "pipeline-bank",
)
POPULATION = 2000  # background rows
ROWS = 10  # explained
FOREST = {"n_estimators": 50, "max_depth": 8}

LEVELS = {
    "job": (
        *("admin.", "blue-collar", "entrepreneur", "housemaid", "management", "retired", "self-employed"),
        *("services", "student", "technician", "unemployed", "unknown"),
    ),
    "marital": ("divorced", "married", "single"),
    "education": ("primary", "secondary", "tertiary", "unknown"),
    "default": ("no", "yes"),
    "housing": ("no", "yes"),
    "loan": ("no", "yes"),
    "contact": ("cellular", "telephone", "unknown"),
    "month": ("apr", "aug", "dec", "feb", "jan", "jul", "jun", "mar", "may", "nov", "oct", "sep"),
    "poutcome": ("failure", "other", "success", "unknown"),
}
"""The words in bank's columns, in the order of the codes that ``readers.bank`` gives them."""


class Table(NamedTuple):
    """A function of rows of data, the population of background rows, and the rows to explain."""

    predict: Callable[[Any], Floats]
    population: Any
    """(N, d) array or frame."""
    rows: Any
    """(rows, d) array or frame."""


class Problem(NamedTuple):
    """A model to explain."""

    name: str
    table: Table
    """As users have it."""
    numbers: Table
    """The same for libraries that accept numbers only."""
    fast: Callable[[Floats], Floats]
    """The same function of numbers, as fast as possible, for reference values."""
    trees: Any = None
    """The XGBoost model, if it is one."""

    @property
    def d(self) -> int:
        """Number of players."""
        return int(self.numbers.rows.shape[1])

    @property
    def varying(self) -> Any:
        """Players that may matter in each row, (rows, d) bool: those that differ from any background row."""
        return (self.numbers.rows[:, None] != self.numbers.population).any(axis=1)


@cache  # small: models and 2,000 rows
def problem(name: str, data: str | None) -> Problem:
    """Train a model, and choose its rows and its population."""
    kind, _, dataset_name = name.partition("-")
    dataset = load(dataset_name, None if data is None else Path(data))
    background = min(POPULATION, len(dataset.X) - ROWS)
    rows, population = choose_rows(dataset, rows=ROWS, background=background, seed=SEED)
    if kind == "pipeline":
        return _pipeline(name, dataset, population, rows)
    model = {"xgboost": train_xgboost, "mlp": train_mlp, "forest": train_forest}[kind](dataset)
    table = Table(margin(model), population, rows)
    return Problem(name, table, table, table.predict, model if kind == "xgboost" else None)


def train_forest(dataset: Dataset) -> Any:
    """Train a random forest, small enough to be fast."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(**FOREST, random_state=SEED).fit(dataset.X, dataset.y)


def _pipeline(name: str, dataset: Dataset, population: Floats, rows: Floats) -> Problem:
    names = dataset.feature_names
    model = train_pipeline(in_words(dataset.X, names), dataset.y)
    trees = model[-1]
    order = [names.index(column) for column in (*LEVELS, *(c for c in names if c not in LEVELS))]
    return Problem(
        name,
        Table(model.decision_function, in_words(population, names), in_words(rows, names)),
        Table(lambda codes: model.decision_function(in_words(codes, names)), population, rows),
        lambda codes: np.asarray(trees.decision_function(codes[:, order])),
    )


def train_pipeline(frame: DataFrame, y: Floats) -> Any:
    """Train a pipeline that encodes words by their places in the alphabet and boosts trees."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    encode = make_column_transformer((OrdinalEncoder(), list(LEVELS)), remainder="passthrough")
    return make_pipeline(encode, HistGradientBoostingClassifier(random_state=SEED)).fit(frame, y)


def in_words(codes: Floats, names: tuple[str, ...]) -> DataFrame:
    """Turn rows of codes into a frame of words and whole numbers, as in bank's file."""
    import pandas as pd

    whole = np.asarray(codes).astype(np.int64)
    return pd.DataFrame(
        {
            name: np.array(LEVELS[name], dtype=object)[column] if name in LEVELS else column
            for name, column in zip(names, whole.T, strict=True)
        }
    )
