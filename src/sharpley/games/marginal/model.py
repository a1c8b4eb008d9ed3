"""Calls of a model: which of its methods is called, and what it must return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from sharpley._support.typing import Floats
from sharpley.games.values import as_numbers

METHOD_ORDER = ("predict_proba", "decision_function", "predict")


@final
class ModelFunction:
    """A model as a function from rows to numbers, whose output is checked at every call.

    Parameters
    ----------
    model : callable, or object with one of the methods in ``METHOD_ORDER``
        The first of these methods that the object has is called; if it has none, the object itself.
    n_outputs : int, optional
        Number of outputs that the model must return. By default, one for each class of a classifier, or that of the
        first call.

    Attributes
    ----------
    call : callable
        The function or method that is called.
    name : str
        Its name.
    output_names : list of str or None
        The classes of a classifier.
    """

    def __init__(self, model: Any, n_outputs: int | None = None) -> None:
        self.call, self.name = _find(model)
        classes = getattr(model, "classes_", None) if self.name == "predict_proba" else None
        self.output_names = None if classes is None else [str(c) for c in classes]
        self._n_outputs = len(self.output_names) if n_outputs is None and self.output_names else n_outputs

    def __call__(self, rows: Any, n: int, describe_rows: Callable[[], str]) -> Floats:
        """Call the model on n rows and return its predictions, (n, k) float.

        ``describe_rows`` returns a description of the rows for error messages.
        """
        try:
            raw = self.call(rows)
        except Exception as error:
            error.add_note(f"sharpley: raised by {self.name} on {n} rows: {describe_rows()}")
            raise
        output = as_numbers(raw, n, self.name, "rows")
        if self._n_outputs is None:
            self._n_outputs = output.shape[1]
        if output.shape[1] != self._n_outputs:
            raise ValueError(
                f"{self.name} returned {output.shape[1]} outputs for {describe_rows()}, expected {self._n_outputs}"
            )
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
    """Return whether a model failed because it tried to write to read-only memory; pandas wraps numpy's error."""
    if isinstance(error, ValueError) and "read-only" in str(error):
        return True
    cause = error.__cause__ or error.__context__
    return cause is not None and wants_to_write(cause)
