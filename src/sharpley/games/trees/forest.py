"""Trees as plain arrays, and those of an XGBoost model."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

LEAF = -1
MAX_FEATURES = 2**15 - 1  # exclusive: terms store features as 16-bit integers, of which the largest marks no feature


class Tree(NamedTuple):
    """One tree. All arrays have one entry for each node, (n_nodes,); node 0 is the root."""

    left: NDArray[np.int32]
    """Left child, for rows whose value is below the threshold; ``LEAF`` in leaves."""
    right: NDArray[np.int32]
    """Right child, for the other rows; ``LEAF`` in leaves."""
    feature: NDArray[np.int32]
    """Feature on which the node splits."""
    threshold: NDArray[np.floating[Any]]
    """Threshold of the split."""
    missing_left: NDArray[np.bool_]
    """Whether rows whose value is missing go to the left child."""
    value: Floats
    """Value that a leaf adds to the prediction; meaningless in other nodes."""


class Forest(NamedTuple):
    """An ensemble of trees whose leaf values are summed."""

    trees: list[Tree]
    n_features: int
    """Number of features of the model."""


def depth_of(tree: Tree) -> int:
    """Return the number of splits on the longest path from the root; children have larger numbers than parents."""
    depth = np.zeros(len(tree.left), dtype=np.int64)
    for node in np.flatnonzero(tree.left >= 0):
        depth[tree.left[node]] = depth[tree.right[node]] = depth[node] + 1
    return int(depth.max())


def read_forest(model: Any) -> Forest:
    """Return the trees of an XGBoost Booster, or of a fitted XGBRegressor or XGBClassifier."""
    booster = as_booster(model)
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    parameters, gradient_booster = learner["learner_model_param"], learner["gradient_booster"]
    if gradient_booster["name"] != "gbtree":
        raise ValueError(
            f"only boosted trees can be read, got an XGBoost model with booster {gradient_booster['name']!r}; "
            "train it with booster 'gbtree', or use Explainer instead"
        )
    n_outputs = max(int(parameters["num_class"]), int(parameters["num_target"]))
    if n_outputs > 1:
        raise ValueError(f"only models with one output can be read, got {n_outputs} outputs; use Explainer instead")
    if int(parameters["num_feature"]) >= MAX_FEATURES:
        raise ValueError(
            f"at most {MAX_FEATURES - 1:,} features can be read, got {parameters['num_feature']}; use Explainer instead"
        )
    trees = [_read_tree(tree) for tree in gradient_booster["model"]["trees"]]
    return Forest(trees, int(parameters["num_feature"]))


def as_booster(model: Any) -> Any:
    """Return the Booster of a model, truncated at the best iteration of early stopping as in its ``predict``."""
    if not hasattr(model, "get_booster"):
        if not hasattr(model, "save_raw"):
            raise TypeError(f"model must be an XGBoost Booster, XGBRegressor or XGBClassifier, got {model!r}")
        return model
    booster = model.get_booster()
    best = booster.attr("best_iteration")
    return booster if best is None else booster[: int(best) + 1]


def _read_tree(tree: dict[str, Any]) -> Tree:
    if any(tree["split_type"]):
        raise ValueError("trees with categorical splits cannot be read; encode the categories as numbers")
    conditions = np.asarray(tree["split_conditions"])
    return Tree(
        left=np.asarray(tree["left_children"], dtype=np.int32),
        right=np.asarray(tree["right_children"], dtype=np.int32),
        feature=np.asarray(tree["split_indices"], dtype=np.int32),
        threshold=conditions.astype(np.float32),
        missing_left=np.asarray(tree["default_left"], dtype=bool),
        value=conditions.astype(np.float64),
    )
