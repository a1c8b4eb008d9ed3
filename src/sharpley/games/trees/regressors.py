"""Fitted tree regressors of several libraries as plain arrays of trees, for exact Shapley values in closed form.

What is read is compared with the model's own predictions, up to a constant, which Shapley values do not depend on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.trees.forest import LEAF, Forest, Tree, depth_of, read_forest

CHECKED_ROWS = 64  # whose predictions are compared with the sums of their leaves
TOLERANCE = 1e-4  # times the largest prediction: some libraries sum leaves in single precision


class _Reader(NamedTuple):
    """How the trees of a class of regressors are read."""

    library: str
    class_name: str
    trees: Callable[[Any], list[Tree]]


def reader_of(model: Any) -> Callable[[Any], list[Tree]]:
    """Return the function that reads the trees of a regressor; raise an error if there is none for its class."""
    names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(model).__mro__}
    for reader in READERS:
        if (reader.library, reader.class_name) in names:
            return reader.trees
    raise TypeError(
        "a surrogate must be a tree regressor: DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor, "
        "GradientBoostingRegressor or HistGradientBoostingRegressor of scikit-learn, XGBRegressor, or LGBMRegressor; "
        f"got {model!r}"
    )


def read_regressor(model: Any, table: NDArray[np.float32]) -> Forest:
    """Return the trees of a fitted regressor, if they sum to its predictions for a table (m, q), up to a constant."""
    forest = Forest(reader_of(model)(model), table.shape[1])
    some = table[:CHECKED_ROWS]
    predictions = np.asarray(model.predict(some), dtype=np.float64).reshape(len(some))
    differences = predictions - sum_of_leaves(forest, some)
    if np.ptp(differences) > TOLERANCE * max(float(np.abs(predictions).max()), float(np.ptp(predictions))):
        raise ValueError(
            f"the predictions of {model!r} are not a sum of its trees plus a constant: the difference varies by "
            f"{np.ptp(differences):.3g} between rows, so that its Shapley values have no closed form"
        )
    return forest


def sum_of_leaves(forest: Forest, table: NDArray[np.float32]) -> Floats:
    """Return the sum of the values of the leaves that each row of a table (m, q) reaches, (m,)."""
    from sharpley.games.trees._leaves import add_leaves

    totals = np.zeros(len(table))
    for tree in forest.trees:
        add_leaves(tuple(tree), table, totals)
    return totals


def forest_shapley_values(
    forest: Forest,
    row: NDArray[np.float32],
    background: NDArray[np.float32],
    weights: Floats,
    players: NDArray[np.int64],
    d: int,
) -> Floats:
    """Return the exact Shapley values of a sum of trees for a row against all background rows, (d,).

    Parameters
    ----------
    forest : Forest
    row : (q,) float
        The row to explain.
    background : (q, n) float
        Columns of the background.
    weights : (n,) float
        Weights of the background rows, which sum to 1.
    players : (q,) int
        The player of each column.
    d : int
        Number of players.
    """
    from sharpley.games.trees._leaves import MAX_PATH_PLAYERS, ROWS_AT_ONCE, SHARES, add_shapley_values

    depths = [depth_of(tree) for tree in forest.trees]
    if min(max(depths), d) > MAX_PATH_PLAYERS:
        raise ValueError(
            f"a tree of depth {max(depths)} is too deep for Shapley values in closed form; limit max_depth to "
            f"{MAX_PATH_PLAYERS}"
        )
    values = np.zeros(d)
    for start in range(0, len(weights), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        columns = np.ascontiguousarray(background[:, part])
        for tree, depth in zip(forest.trees, depths, strict=True):
            add_shapley_values(tuple(tree), depth, row, columns, weights[part], players, SHARES, values)
    return values


def _tree(left: Any, right: Any, feature: Any, at_most: Any, value: Any) -> Tree:
    """Return a tree whose rows go to the left if their value is at most ``at_most``; no values are missing."""
    above = np.nextafter(np.array(at_most, dtype=np.float64), np.inf)  # v ≤ t is v < the next number after t
    return Tree(
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        feature=np.array(feature, dtype=np.int32),
        threshold=above,
        missing_left=np.zeros(len(above), dtype=bool),
        value=np.array(value, dtype=np.float64),
    )


def _single(model: Any, scale: float = 1.0) -> Tree:
    """Return the tree of a decision tree of scikit-learn, with its values multiplied by ``scale``."""
    tree = model.tree_
    return _tree(tree.children_left, tree.children_right, tree.feature, tree.threshold, scale * tree.value[:, 0, 0])


def _averaged(model: Any) -> list[Tree]:
    return [_single(tree, 1.0 / len(model.estimators_)) for tree in model.estimators_]


def _boosted(model: Any) -> list[Tree]:
    return [_single(tree, model.learning_rate) for tree in model.estimators_[:, 0]]


def _histogram_boosted(model: Any) -> list[Tree]:
    trees = []
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        if nodes["is_categorical"].any():
            raise ValueError("trees with categorical splits cannot be read; omit categorical_features")
        is_leaf = nodes["is_leaf"].astype(bool)
        left, right = (np.where(is_leaf, LEAF, nodes[side].astype(np.int64)) for side in ("left", "right"))
        trees.append(_tree(left, right, nodes["feature_idx"], nodes["num_threshold"], nodes["value"]))
    return trees


def _light(model: Any) -> list[Tree]:
    return [_of_structure(info["tree_structure"]) for info in model.booster_.dump_model()["tree_info"]]


def _of_structure(root: dict[str, Any]) -> Tree:
    """Return a tree of LightGBM, whose nodes are nested dicts."""
    nodes: list[dict[str, Any]] = []
    children: tuple[list[int], list[int]] = ([], [])
    waiting = [(root, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        if node.get("decision_type", "<=") != "<=":
            raise ValueError("trees with categorical splits cannot be read; encode the categories as numbers")
        if parent >= 0:
            children[side][parent] = len(nodes)
        for child in children:
            child.append(LEAF)
        if "split_feature" in node:
            waiting += [(node["right_child"], len(nodes), 1), (node["left_child"], len(nodes), 0)]
        nodes.append(node)
    columns = [[node.get(name, 0) for node in nodes] for name in ("split_feature", "threshold", "leaf_value")]
    return _tree(children[0], children[1], *columns)


READERS = (
    _Reader("sklearn", "DecisionTreeRegressor", lambda model: [_single(model)]),
    _Reader("sklearn", "ForestRegressor", _averaged),
    _Reader("sklearn", "GradientBoostingRegressor", _boosted),
    _Reader("sklearn", "HistGradientBoostingRegressor", _histogram_boosted),
    _Reader("xgboost", "XGBRegressor", lambda model: read_forest(model).trees),
    _Reader("lightgbm", "LGBMRegressor", _light),
)
