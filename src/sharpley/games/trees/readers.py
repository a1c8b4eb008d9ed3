"""The trees of fitted models, library by library, as plain arrays.

A reader returns the forest whose sums of leaves are the model's raw output: the prediction of a regressor, the
probabilities of a forest of classifiers, the margin of a boosted classifier. Readers do not decide whether that is what
is explained: whoever uses a forest compares it with the model's own predictions first.

Libraries are recognised by the names of classes, without importing them.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.trees.forest import LEAF, Forest, Tree


class UnreadableTreesError(ValueError):
    """Raised for a tree model that has no plain trees, such as one with linear leaves."""


class _Reader(NamedTuple):
    """How the trees of a class of models are read."""

    library: str
    class_name: str
    forest: Callable[[Any], Forest]


def reader_of(model: Any) -> Callable[[Any], Forest] | None:
    """Return the function that reads the trees of a model; None if the model is of no known class of trees."""
    names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(model).__mro__}
    for reader in READERS:
        if (reader.library, reader.class_name) in names:
            return reader.forest
    return None


def read_forest(model: Any) -> Forest:
    """Return the trees of a fitted model of a known library."""
    reader = reader_of(model)
    if reader is None:
        raise TypeError(
            "model must be a tree ensemble of XGBoost, LightGBM, CatBoost or scikit-learn (decision trees, forests, "
            f"gradient boosting), got {model!r}"
        )
    return reader(model)


# XGBoost


def as_booster(model: Any) -> Any:
    """Return the Booster of a model, truncated at the best iteration of early stopping as in its ``predict``."""
    if not hasattr(model, "get_booster"):
        return model
    booster = model.get_booster()
    best = booster.attr("best_iteration")
    return booster if best is None else booster[: int(best) + 1]


# Statistics of the training, which make up half of a model's text.
_UNUSED = re.compile(rb'"(?:base_weights|loss_changes|parents|sum_hessian)":\[[^\]]*\],')


def _of_xgboost(model: Any) -> Forest:
    learner = json.loads(_UNUSED.sub(b"", bytes(as_booster(model).save_raw("json"))))["learner"]
    parameters, boosted = learner["learner_model_param"], learner["gradient_booster"]
    if boosted["name"] not in ("gbtree", "dart"):
        raise UnreadableTreesError(
            f"only boosted trees can be read, got an XGBoost model with booster {boosted['name']!r}; "
            "train it with booster 'gbtree' or 'dart', or sample its values with Explainer"
        )
    factors = boosted.get("weight_drop")
    content = boosted["gbtree"]["model"] if boosted["name"] == "dart" else boosted["model"]
    k = max(1, int(parameters["num_class"]), int(parameters["num_target"]))
    trees = [
        _xgboost_tree(tree, output if k > 1 else 0, 1.0 if factors is None else factors[number])
        for number, (tree, output) in enumerate(zip(content["trees"], content["tree_info"], strict=True))
    ]
    return Forest(trees, int(parameters["num_feature"]), np.zeros(k), is_single=True)


def _xgboost_tree(tree: dict[str, Any], output: int, factor: float) -> Tree:
    conditions = np.asarray(tree["split_conditions"], dtype=np.float32).astype(np.float64)
    left, right = (np.array(tree[side], dtype=np.int32) for side in ("left_children", "right_children"))
    values: Floats = np.asarray(tree["split_conditions"], dtype=np.float64)
    size = int(tree["tree_param"]["size_leaf_vector"])
    if size > 1:  # in leaves, the right child is the position of the vector
        output, vectors = -1, np.reshape(tree["leaf_weights"], (-1, size))
        values = np.where((left < 0)[:, None], vectors[np.where(left < 0, right, 0)], 0.0)
        right = np.where(left < 0, LEAF, right)
    categories = {}
    starts, sizes = tree["categories_segments"], tree["categories_sizes"]
    for node, start, count in zip(tree["categories_nodes"], starts, sizes, strict=True):
        categories[int(node)] = np.asarray(tree["categories"][start : start + count], dtype=np.int64)
    # XGBoost's sets have the categories that go to the right.
    swapped = np.zeros(len(left), dtype=bool)
    swapped[list(categories)] = True
    missing_left = np.asarray(tree["default_left"], dtype=bool)
    return Tree(
        left=np.where(swapped, right, left),
        right=np.where(swapped, left, right),
        feature=np.asarray(tree["split_indices"], dtype=np.int32),
        threshold=conditions,
        missing_left=missing_left ^ swapped,
        value=factor * values,
        categories=categories,
        output=output,
    )


# LightGBM


def _of_lightgbm(model: Any) -> Forest:
    booster = model.booster_ if hasattr(model, "booster_") else model
    best = booster.best_iteration
    content = booster.dump_model(num_iteration=best if best > 0 else -1)
    k = int(content["num_tree_per_iteration"])
    infos = content["tree_info"]
    if "leaf_coeff" in json.dumps(infos[:1]):
        raise UnreadableTreesError("LightGBM trees with linear leaves are not sums of constants; train without them")
    factor = k / len(infos) if content["average_output"] else 1.0
    trees = [_lightgbm_tree(info["tree_structure"], number % k, factor) for number, info in enumerate(infos)]
    return Forest(trees, int(content["max_feature_idx"]) + 1, np.zeros(k))


def _lightgbm_tree(root: dict[str, Any], output: int, factor: float) -> Tree:
    nodes, left, right = _flat(root, "left_child", "right_child")
    thresholds, missing_left, categories = np.zeros(len(nodes)), np.zeros(len(nodes), dtype=bool), {}
    for number, node in enumerate(nodes):
        if "split_feature" not in node:
            continue
        if node["missing_type"] == "Zero":
            raise UnreadableTreesError("LightGBM trees that treat zeros as missing cannot be read")
        if node["decision_type"] == "==":
            categories[number] = np.array([int(kind) for kind in str(node["threshold"]).split("||")])
        else:
            thresholds[number] = np.nextafter(float(node["threshold"]), np.inf)  # v ≤ t is v < the next number
            # Without missing values in training, NaN counts as 0.
            is_nan = node["missing_type"] == "NaN"
            missing_left[number] = node["default_left"] if is_nan else float(node["threshold"]) >= 0.0
    return _tree(
        nodes, left, right, "split_feature", thresholds, missing_left, "leaf_value", factor, categories, output
    )


# CatBoost


def _of_catboost(model: Any) -> Forest:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = json.loads(path.read_text())
    features = content["features_info"]
    floats = {each["feature_index"]: each for each in features.get("float_features", [])}
    every = [*floats.values(), *features.get("categorical_features", [])]
    scale, bias = content["scale_and_bias"]
    bias = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    if "oblivious_trees" in content:
        roots = [_of_oblivious(tree, len(bias)) for tree in content["oblivious_trees"]]
    else:
        roots = content["trees"]
    trees = [_catboost_tree(root, floats, scale) for root in roots]
    n_features = 1 + max(each["flat_feature_index"] for each in every)
    return Forest(trees, n_features, bias, is_single=True)


def _of_oblivious(tree: dict[str, Any], k: int) -> dict[str, Any]:
    """Return an oblivious tree, with the same split in all nodes of a level, as nested nodes."""
    values, splits = np.reshape(tree["leaf_values"], (-1, k)), tree["splits"] or []
    level: list[dict[str, Any]] = [{"value": value} for value in values]
    for split in splits:  # the first one is the lowest bit of the number of a leaf
        level = [
            {"split": split, "left": low, "right": high} for low, high in zip(level[::2], level[1::2], strict=True)
        ]
    return level[0]


def _catboost_tree(root: dict[str, Any], floats: dict[int, dict[str, Any]], scale: float) -> Tree:
    nodes, left, right = _flat(root, "left", "right")
    thresholds, missing_left = np.zeros(len(nodes)), np.zeros(len(nodes), dtype=bool)
    for number, node in enumerate(nodes):
        split = node.get("split")
        if split is None:
            continue
        if split["split_type"] != "FloatFeature":
            raise UnreadableTreesError(
                "CatBoost trees that split categories cannot be read, since they use statistics of the training data"
            )
        feature = floats[split["float_feature_index"]]
        node["feature"] = feature["flat_feature_index"]
        thresholds[number] = np.nextafter(np.float32(split["border"]), np.float32(np.inf))  # right if above the border
        missing_left[number] = feature["nan_value_treatment"] != "AsTrue"
    return _tree(nodes, left, right, "feature", thresholds, missing_left, "value", scale, {}, -1)


def _flat(root: dict[str, Any], left: str, right: str) -> tuple[list[dict[str, Any]], list[int], list[int]]:
    """Return nested nodes as a list, parents first, and the positions of their children."""
    nodes: list[dict[str, Any]] = []
    children: tuple[list[int], list[int]] = ([], [])
    waiting = [(root, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        if parent >= 0:
            children[side][parent] = len(nodes)
        for child in children:
            child.append(LEAF)
        if left in node:
            waiting += [(node[right], len(nodes), 1), (node[left], len(nodes), 0)]
        nodes.append(node)
    return nodes, *children


def _tree(
    nodes: list[dict[str, Any]],
    left: list[int],
    right: list[int],
    feature: str,
    thresholds: Floats,
    missing_left: NDArray[np.bool_],
    value: str,
    factor: float,
    categories: dict[int, NDArray[np.int64]],
    output: int,
) -> Tree:
    """Return a tree whose nodes are a list of dicts."""
    size = max(np.size(node.get(value, 0.0)) for node in nodes)
    values = np.array([np.resize(node[value], size) if value in node else np.zeros(size) for node in nodes])
    return Tree(
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        feature=np.array([node.get(feature, 0) for node in nodes], dtype=np.int32),
        threshold=thresholds,
        missing_left=missing_left,
        value=factor * values,
        categories=categories,
        output=output,
    )


# scikit-learn


def _scikit_tree(model: Any, values: Floats, output: int = -1) -> Tree:
    """Return the tree of a decision tree of scikit-learn, with given values of its nodes."""
    tree = model.tree_
    missing = getattr(tree, "missing_go_to_left", None)
    return Tree(
        left=np.array(tree.children_left, dtype=np.int32),
        right=np.array(tree.children_right, dtype=np.int32),
        feature=np.maximum(tree.feature, 0).astype(np.int32),
        threshold=np.nextafter(np.array(tree.threshold, dtype=np.float64), np.inf),  # v ≤ t is v < the next number
        missing_left=np.zeros(tree.node_count, bool) if missing is None else np.asarray(missing, dtype=bool),
        value=values,
        output=output,
    )


def _node_values(model: Any) -> Floats:
    """Return the values of all nodes, (nodes, k): means, or the probabilities of all classes of all outputs."""
    values = model.tree_.value  # (nodes, outputs, most classes)
    if not hasattr(model, "classes_"):
        return np.asarray(values[:, :, 0])
    counts = np.atleast_1d(model.n_classes_)
    shares = values / np.maximum(values.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    return np.concatenate([shares[:, output, :count] for output, count in enumerate(counts)], axis=1)


def _of_decision_tree(model: Any) -> Forest:
    values = _node_values(model)
    return Forest([_scikit_tree(model, values)], model.n_features_in_, np.zeros(values.shape[1]), is_single=True)


def _of_averaged(model: Any) -> Forest:
    every = [_node_values(tree) / len(model.estimators_) for tree in model.estimators_]
    trees = [_scikit_tree(tree, values) for tree, values in zip(model.estimators_, every, strict=True)]
    return Forest(trees, model.n_features_in_, np.zeros(every[0].shape[1]), is_single=True)


def _of_boosted(model: Any) -> Forest:
    trees = [
        _scikit_tree(tree, model.learning_rate * tree.tree_.value[:, 0, 0], output)
        for step in model.estimators_
        for output, tree in enumerate(step)
    ]
    return Forest(trees, model.n_features_in_, np.zeros(model.estimators_.shape[1]), is_single=True)


def _of_histograms(model: Any) -> Forest:
    trees = [_histogram_tree(predictor, output) for step in model._predictors for output, predictor in enumerate(step)]
    # A preprocessor puts the columns of categories first; ``tables`` passes its output on.
    return Forest(trees, model._n_features, np.ravel(model._baseline_prediction).astype(np.float64))


def _histogram_tree(predictor: Any, output: int) -> Tree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    categories = {}
    for number in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~is_leaf):
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][number]]
        categories[int(number)] = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
    return Tree(
        left=np.where(is_leaf, LEAF, nodes["left"].astype(np.int64)).astype(np.int32),
        right=np.where(is_leaf, LEAF, nodes["right"].astype(np.int64)).astype(np.int32),
        feature=np.maximum(nodes["feature_idx"].astype(np.int64), 0).astype(np.int32),
        threshold=np.nextafter(nodes["num_threshold"].astype(np.float64), np.inf),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        value=nodes["value"].astype(np.float64),
        categories=categories,
        output=output,
    )


READERS = (
    _Reader("xgboost", "Booster", _of_xgboost),
    _Reader("xgboost", "XGBModel", _of_xgboost),
    _Reader("lightgbm", "Booster", _of_lightgbm),
    _Reader("lightgbm", "LGBMModel", _of_lightgbm),
    _Reader("catboost", "CatBoost", _of_catboost),
    _Reader("sklearn", "BaseDecisionTree", _of_decision_tree),
    _Reader("sklearn", "ForestRegressor", _of_averaged),
    _Reader("sklearn", "ForestClassifier", _of_averaged),
    _Reader("sklearn", "BaseGradientBoosting", _of_boosted),
    _Reader("sklearn", "BaseHistGradientBoosting", _of_histograms),
)
