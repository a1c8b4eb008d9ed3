"""Calling a model: which of its methods is used, and what it must return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sharpley._typing import Floats

METHOD_ORDER = ("predict_proba", "decision_function", "predict")


class ModelFunction(NamedTuple):
    """A model as a function of tables, and the name of what is called."""

    call: Callable[[Any], Any]
    name: str
    output_names: list[str] | None


def model_function(model: Any) -> ModelFunction:
    """Take ``predict_proba``, ``decision_function`` or ``predict``, the first there is, or else the model itself."""
    for name in METHOD_ORDER:
        method = getattr(model, name, None)
        if callable(method):
            classes = getattr(model, "classes_", None) if name == "predict_proba" else None
            return ModelFunction(method, name, None if classes is None else [str(c) for c in classes])
    if callable(model):
        return ModelFunction(model, str(getattr(model, "__name__", type(model).__name__)), None)
    raise TypeError(f"model must be callable or have one of the methods {', '.join(METHOD_ORDER)}; got {model!r}")


def call_model(function: ModelFunction, table: Any, n: int, what: Callable[[], str]) -> Floats:
    """Call a model on n rows and return (n, k) float; errors say what the rows were."""
    try:
        raw = function.call(table)
    except Exception as error:
        error.add_note(f"sharpley: raised by {function.name} on {n} rows: {what()}")
        raise
    return check_output(raw, n, function.name)


def check_output(raw: Any, n: int, name: str) -> Floats:
    """Check the shape and type of a model's output; a copy, since models may return views of their input."""
    output = np.asarray(raw)
    if output.ndim not in (1, 2) or len(output) != n:
        raise ValueError(f"{name} must return shape ({n},) or ({n}, outputs) for {n} rows, got {output.shape}")
    try:
        return np.array(output, dtype=np.float64).reshape(n, -1)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must return numbers, got dtype {output.dtype}; for labels pass a function of probabilities"
        ) from None
