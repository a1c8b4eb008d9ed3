"""The models of the study ``overhead``, on random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Subject(NamedTuple):
    """A fitted model and its data."""

    predict: Callable[[Any], Any]
    """Maps rows like those of the table to one number each."""
    table: Any
    """The training data: an array, or a pandas frame."""


def xgboost_model(d: int, n_rows: int = 5000) -> Subject:
    """Return a fast model: XGBoost with 100 trees and d features."""
    from xgboost import XGBRegressor

    table = np.random.default_rng(0).normal(size=(n_rows, d))
    target = table[:, 0] * table[:, 1] + np.abs(table[:, 2 : d // 2 + 2]).sum(axis=1)
    return Subject(XGBRegressor(n_estimators=100, max_depth=6).fit(table, target).predict, table)


def forest_model(d: int, n_rows: int = 5000) -> Subject:
    """Return a model whose calls are costly, since each starts threads: a random forest with d features."""
    from sklearn.ensemble import RandomForestRegressor

    table = np.random.default_rng(0).normal(size=(n_rows, d))
    model = RandomForestRegressor(100, n_jobs=-1, random_state=0).fit(table, table[:, 0] * table[:, 1])
    return Subject(model.predict, table)


def pipeline_model(d: int, n_rows: int = 3000) -> Subject:
    """Return a scikit-learn pipeline on a pandas frame: one-hot encoded categories, scaled numbers, a linear model."""
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(d)]
    frame = pd.DataFrame(rng.normal(size=(n_rows, d)), columns=names)
    categories = names[: d // 2]
    frame[categories] = rng.integers(0, 8, size=(n_rows, len(categories))).astype(float)
    encode = ColumnTransformer([("c", OneHotEncoder(), categories), ("n", StandardScaler(), names[d // 2 :])])
    model = make_pipeline(encode, LogisticRegression())
    model.fit(frame, frame["x0"] + frame[names[-1]] > 4)

    def predict(table: Any) -> Any:
        """Accept arrays too, which shap's KernelExplainer passes."""
        return model.decision_function(table if isinstance(table, pd.DataFrame) else pd.DataFrame(table, columns=names))

    return Subject(predict, frame)
