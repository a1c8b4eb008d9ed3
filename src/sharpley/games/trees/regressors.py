"""Tree regressors whose trees sum to their predictions, up to a constant: surrogates of other models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.trees.closed_form import sums_of_leaves
from sharpley.games.trees.forest import Forest
from sharpley.games.trees.readers import read_forest, reader_of

CHECKED_ROWS = 64  # whose predictions are compared with the sums of their leaves
TOLERANCE = 1e-4  # times the largest prediction: some libraries sum leaves in single precision


def check_regressor(model: Any) -> None:
    """Raise an error unless a model is a regressor of a class whose trees can be read."""
    if reader_of(model) is None or hasattr(model, "predict_proba"):
        raise TypeError(
            "a surrogate must be a tree regressor: DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor, "
            "GradientBoostingRegressor or HistGradientBoostingRegressor of scikit-learn, XGBRegressor, LGBMRegressor "
            f"or CatBoostRegressor; got {model!r}"
        )


def read_regressor(model: Any, table: NDArray[np.float32]) -> Forest:
    """Return the trees of a fitted regressor, if they sum to its predictions for a table (m, q), up to a constant."""
    check_regressor(model)
    forest = read_forest(model)
    some = table[:CHECKED_ROWS]
    predictions = np.asarray(model.predict(some), dtype=np.float64).reshape(len(some), -1)
    differences = predictions - sums_of_leaves(forest, some)
    if np.ptp(differences) > TOLERANCE * max(float(np.abs(predictions).max()), float(np.ptp(predictions))):
        raise ValueError(
            f"the predictions of {model!r} are not a sum of its trees plus a constant: the difference varies by "
            f"{np.ptp(differences):.3g} between rows, so that its Shapley values have no closed form"
        )
    return forest
