"""How the models of various libraries are called, and what their outputs are called.

Most models are functions of rows, or objects with one of the methods in ``METHOD_ORDER``. The models of some libraries
want their input in a type of their own; these are recognised here, without importing their libraries.

Labels of classes and clusters are not explained unless they are asked for: their mean over background rows says
nothing. A model predicts labels if it is a classifier or finds clusters, which scikit-learn's tags or the attributes
``classes_`` and ``labels_`` tell, and has neither probabilities nor scores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sharpley.games.marginal.mixing import is_from

METHOD_ORDER = ("predict_proba", "decision_function", "predict")
MARGIN = "margin"  # what ``output=`` calls the sum before a link, such as log-odds
OF_CLASSES = ("predict_proba", "predict_log_proba", "decision_function")  # with an output for each class
LABEL = "label"  # what ``output=`` is if labels are to be explained, as numbers
LABEL_KINDS = ("classifier", "clusterer", "outlier_detector")  # kinds of scikit-learn's estimators that predict labels
LABEL_OBJECTIVES = ("multi:softmax", "binary:hinge")  # of XGBoost
KERAS_BATCH = 4096  # Keras itself would take 32 rows at a time, which is slow for so many rows
ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


class Call(NamedTuple):
    """The function that is called on rows, and what is known of its outputs."""

    function: Callable[[Any], Any]
    """Maps rows to the model's raw output."""
    name: str
    """Name of the function or method, for messages."""
    output_names: list[str] | None = None
    """Names of the outputs, if there are as many; None if they are not known before the first call."""
    positive: int | None = None
    """Position of the positive class of a binary classifier that has an output for each class."""
    instead_of_labels: str | None = None
    """What to explain instead, if the output is the label of a class or cluster."""


def find_call(model: Any, *, labels: bool = False) -> Call:
    """Return the function to call for a model: that of its library, its first method in ``METHOD_ORDER``, or itself.

    A model that only predicts labels is an error that says what to explain instead, unless ``labels`` are asked for.
    """
    found = _find_call(model, labels)
    if found.instead_of_labels is not None and not labels:
        raise TypeError(
            f"{found.name} of {type(model).__name__} returns labels, whose mean says nothing. Explain "
            f"{found.instead_of_labels}; output='label' explains the labels themselves, if they are numbers"
        )
    return found


def _find_call(model: Any, labels: bool) -> Call:
    if isinstance(model, type) and hasattr(model, "predict"):
        raise TypeError(
            f"model is the class {model.__name__}; pass a fitted object, as in {model.__name__}().fit(X, y)"
        )
    for module, kind, make in LIBRARIES:
        if is_from(module, model, kind):
            return make(model)
    predicts_labels = _predicts_labels(model)
    labels = labels and LABEL not in [str(each) for each in _labels_of(model)]  # which may be a class
    for name in ("predict",) if labels and predicts_labels else METHOD_ORDER:
        method = getattr(model, name, None)
        if callable(method):
            if name == "predict" and predicts_labels:
                return _label_call(model, labels)
            names = _class_names(model, name)
            binary = name == "predict_proba" and names is not None and len(names) == 2
            return Call(method, name, names, positive=1 if binary else None)
    if callable(model):
        name = str(getattr(model, "__name__", type(model).__name__))
        return Call(model, name, _class_names(getattr(model, "__self__", None), name))
    got = f"a {type(model).__name__} of data; the model comes first" if hasattr(model, "shape") else repr(model)
    other = "; pass one of its methods, as in model.transform" if hasattr(model, "transform") else ""
    raise TypeError(f"model must be callable or have one of the methods {', '.join(METHOD_ORDER)}; got {got}{other}")


def _predicts_labels(model: Any) -> bool:
    """Return whether ``predict`` of a model returns labels of classes or clusters."""
    if is_from("catboost", model, "CatBoost"):  # its scores have classes_, too
        return False
    kind = getattr(model, "_estimator_type", None)
    if hasattr(model, "__sklearn_tags__"):
        with suppress(AttributeError):  # of classes that do not inherit as scikit-learn asks for
            kind = model.__sklearn_tags__().estimator_type
    return kind in LABEL_KINDS or (kind is None and len(_labels_of(model)) > 0)


def _labels_of(model: Any) -> Any:
    """Return the labels that a model can predict, as far as it tells; several classifiers in one have lists of them."""
    for name in ("classes_", "labels_"):
        labels = getattr(model, name, None)
        if isinstance(labels, np.ndarray | list) and len(labels):
            return labels if isinstance(labels, list) or name == "classes_" else np.unique(labels)
    return []


def _label_call(model: Any, labels: bool) -> Call:
    """Call ``predict`` of a model that returns labels; say what to explain instead."""
    known = list(_labels_of(model))
    several = bool(known) and isinstance(known[-1], np.ndarray)  # classifiers in one
    example = np.asarray(known[-1]).reshape(-1)[-1].item() if known else 1
    chosen = f"one of its labels, as in Explainer(lambda X: model.predict(X){'[:, 0]' * several} == {example!r}, ...)"
    instead = [chosen]
    if hasattr(model, "labels_") and hasattr(model, "transform"):
        instead.append("distances, as in Explainer(model.transform, ...)")
    if getattr(model, "voting", None) == "hard":
        instead.append("probabilities, which it has if it is fitted with voting='soft'")
    elif hasattr(model, "classes_"):
        instead.append("a classifier with predict_proba or decision_function")
    if labels and isinstance(example, str | bytes):
        raise TypeError(
            f"output='label' needs labels that are numbers, got {example!r}. Explain {', or '.join(instead)}"
        )
    return Call(model.predict, "predict", [LABEL], instead_of_labels=", or ".join(instead))


def margin_call(model: Any) -> Call:
    """Return the function that has a model's margin: log-odds of classifiers, the sum before a link of others."""
    options = margin_options(model)
    if options is None:
        raise ValueError(
            f"output='margin' is for classifiers with a decision_function and for models of XGBoost, LightGBM and "
            f"CatBoost, got {model!r}; omit output"
        )
    name, keywords = options
    if keywords is None:
        classes = _class_names(model, "decision_function")
        return Call(getattr(model, name), name, classes)
    if is_from("xgboost", model, "Booster"):
        return _xgboost_call(model, output_margin=True)
    names = [str(label) for label in getattr(model, "classes_", ())]

    def predict(rows: Any) -> Any:
        return model.predict(rows, **keywords)

    return Call(predict, f"{name} with {next(iter(keywords))}", names[1:] if len(names) == 2 else names or None)


def margin_options(model: Any) -> tuple[str, dict[str, Any] | None] | None:
    """Return the method that has a model's margin, and what is passed to it; None if there is none."""
    steps = getattr(model, "steps", None)  # a pipeline passes arguments of predict on to its last step
    last = steps[-1][1] if isinstance(steps, list) and steps else model
    for library, keywords in MARGINS.items():
        if any(cls.__module__.partition(".")[0] == library for cls in type(last).__mro__):
            return "predict", keywords
    return ("decision_function", None) if callable(getattr(model, "decision_function", None)) else None


def _class_names(model: Any, method: str) -> list[str] | None:
    """Return the names of a classifier's outputs, from its ``classes_``; several classifiers in one are numbered."""
    classes = getattr(model, "classes_", None)
    if method not in OF_CLASSES or classes is None or len(classes) == 0:
        return None
    if isinstance(classes, list) and all(isinstance(each, np.ndarray) for each in classes):
        return [f"{number}: {label}" for number, each in enumerate(classes) for label in each]
    names = [str(label) for label in classes]
    if method == "decision_function" and len(names) == 2:
        return names[1:]  # a single score, which is large for the second class
    return names


def _torch_call(module: Any) -> Call:
    """Call a torch module on a tensor of the type and on the device of its weights, without gradients or dropout."""
    import torch

    def predict(rows: Any) -> Any:
        weights = next(module.parameters(), torch.empty(0))
        tensor = torch.tensor(_dense(rows), dtype=weights.dtype, device=weights.device)
        was_training = module.training
        module.eval()
        try:
            with torch.no_grad():
                return module(tensor)
        finally:
            module.train(was_training)

    return Call(predict, type(module).__name__)


def _keras_call(model: Any) -> Call:
    """Call ``predict`` of a Keras model, without its progress bar."""

    def predict(rows: Any) -> Any:
        return model.predict(_dense(rows), batch_size=KERAS_BATCH, verbose=0)

    return Call(predict, "predict")


def _xgboost_call(booster: Any, *, output_margin: bool = False) -> Call:
    """Call ``predict`` of an XGBoost Booster on a DMatrix."""
    import xgboost

    def predict(rows: Any) -> Any:
        names = None if hasattr(rows, "columns") else booster.feature_names
        matrix = xgboost.DMatrix(rows, feature_names=names, enable_categorical=True)
        return booster.predict(matrix, output_margin=output_margin)

    objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    if objective not in LABEL_OBJECTIVES:
        return Call(predict, "predict")
    return Call(
        predict,
        "predict",
        [LABEL],
        instead_of_labels="probabilities, with objective 'multi:softprob' or 'binary:logistic'",
    )


def _onnx_call(session: Any) -> Call:
    """Call ``run`` of an ONNX session, whose inputs are one table or single columns."""
    inputs, outputs = session.get_inputs(), [output.name for output in session.get_outputs()]
    # A classifier's outputs are labels and probabilities; a regressor has a single one.
    chosen = next((name for name in outputs if "prob" in name.lower()), outputs[-1])
    kind = session.get_outputs()[outputs.index(chosen)].type
    is_label = "label" in chosen.lower() and kind in ("tensor(int64)", "tensor(string)")

    def predict(rows: Any) -> Any:
        return session.run([chosen], _onnx_feeds(inputs, rows))[0]

    if not is_label:
        return Call(predict, "run")
    return Call(
        predict,
        "run",
        [LABEL],
        instead_of_labels="probabilities, which classifiers in ONNX files may have as second output",
    )


def _onnx_feeds(inputs: Sequence[Any], rows: Any) -> dict[str, Any]:
    """Return the inputs of an ONNX session by name: the whole table, or (n, 1) for each column."""
    kinds = {each.name: ONNX_TYPES.get(each.type, np.float32) for each in inputs}
    if len(kinds) == 1:
        return {name: _dense(rows).astype(kind) for name, kind in kinds.items()}
    if hasattr(rows, "columns"):
        return {name: np.asarray(rows[name]).astype(kind)[:, None] for name, kind in kinds.items()}
    return {name: rows[:, [j]].astype(kind) for j, (name, kind) in enumerate(kinds.items())}


def _dense(rows: Any) -> Any:
    """Return rows as an array."""
    if hasattr(rows, "to_numpy"):
        return rows.to_numpy()
    return rows.toarray() if hasattr(rows, "toarray") else rows


LIBRARIES: tuple[tuple[str, str, Callable[[Any], Call]], ...] = (
    ("torch.nn", "Module", _torch_call),
    ("keras", "Model", _keras_call),
    ("xgboost", "Booster", _xgboost_call),
    ("onnxruntime", "InferenceSession", _onnx_call),
)
"""Module, class and call of the models that are not called like scikit-learn's."""

MARGINS: dict[str, dict[str, Any]] = {
    "xgboost": {"output_margin": True},
    "lightgbm": {"raw_score": True},
    "catboost": {"prediction_type": "RawFormulaVal"},
}
"""What ``predict`` of the models of a library is passed for their margins."""
