"""Calling a model: which of its methods is used, and what it must return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from sharpley._support.typing import Floats
from sharpley.games.values import as_numbers

METHOD_ORDER = ("predict_proba", "decision_function", "predict")


def as_model_function(model: Any, n_outputs: int | None = None) -> ModelFunction:
    """Return ``model`` if it is a ``ModelFunction``, or make one of it."""
    return model if isinstance(model, ModelFunction) else ModelFunction(model, n_outputs)


@final
class ModelFunction:
    """A model as a function of tables to numbers, checked at every call.

    Parameters
    ----------
    model : callable, or object with one of the methods in ``METHOD_ORDER``
        Of an object the first of these methods that it has is called, else the object itself.
    n_outputs : int, optional
        Outputs that are expected; by default one for each class of a classifier, or what the first call returns.

    Attributes
    ----------
    name : str
        What is called.
    output_names : list of str or None
        The classes of a classifier.
    """

    def __init__(self, model: Any, n_outputs: int | None = None) -> None:
        self._call, self.name = _find(model)
        classes = getattr(model, "classes_", None) if self.name == "predict_proba" else None
        self.output_names = None if classes is None else [str(c) for c in classes]
        self._n_outputs = len(self.output_names) if n_outputs is None and self.output_names else n_outputs

    def __call__(self, table: Any, n: int, what: Callable[[], str]) -> Floats:
        """Call the model on n rows and return (n, k) float; errors say what the rows were."""
        try:
            raw = self._call(table)
        except Exception as error:
            error.add_note(f"sharpley: raised by {self.name} on {n} rows: {what()}")
            raise
        output = as_numbers(raw, n, self.name, "rows")
        if self._n_outputs is None:
            self._n_outputs = output.shape[1]
        if output.shape[1] != self._n_outputs:
            raise ValueError(f"{self.name} returned {output.shape[1]} outputs for {what()}, expected {self._n_outputs}")
        return output


def _find(model: Any) -> tuple[Callable[[Any], Any], str]:
    for name in METHOD_ORDER:
        method = getattr(model, name, None)
        if callable(method):
            return method, name
    if callable(model):
        return model, str(getattr(model, "__name__", type(model).__name__))
    raise TypeError(f"model must be callable or have one of the methods {', '.join(METHOD_ORDER)}; got {model!r}")


def wants_to_write(error: BaseException) -> bool:
    """Whether a model failed since it was given memory that it may not write to; pandas wraps numpy's error."""
    if isinstance(error, ValueError) and "read-only" in str(error):
        return True
    behind = error.__cause__ or error.__context__
    return behind is not None and wants_to_write(behind)
