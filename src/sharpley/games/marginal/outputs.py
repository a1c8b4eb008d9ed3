"""What models return: arrays, frames, tensors, or a list of arrays; as numbers with names, of which some are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.mixing import is_from
from sharpley.games.values import as_numbers

Output: TypeAlias = str | int | Sequence[str | int]
"""What ``output=`` accepts: a name, a position, several of these, or "all"."""

ALL = "all"


def as_outputs(raw: Any, n: int, function: str) -> tuple[Floats, list[str] | None]:
    """Return what a model returned for n rows as numbers, (n, k), and the names of the k outputs if it has any."""
    if is_from("torch", raw, "Tensor"):
        raw = raw.detach().cpu().numpy()
    if isinstance(raw, list) and raw and isinstance(raw[0], np.ndarray) and raw[0].ndim == 2:
        raw = np.concatenate(raw, axis=1)  # several classifiers in one
    if isinstance(raw, list) and raw and isinstance(raw[0], dict):
        names: list[Any] | None = list(raw[0])  # ONNX classifiers: a dict for each row
        raw = np.array([[row[name] for name in raw[0]] for row in raw])
    else:
        names = list(raw.columns) if hasattr(raw, "columns") and hasattr(raw, "to_numpy") else None
    array = np.asanyarray(raw)  # with its mask, if it has one
    _check_no_labels(array, function)
    return as_numbers(array, n, function, "rows"), None if names is None else _strings(names)


def _strings(names: list[Any]) -> list[str] | None:
    """Return names as strings, or None if they are just positions."""
    return None if names == list(range(len(names))) else [str(name) for name in names]


def _check_no_labels(output: NDArray[Any], function: str) -> None:
    """Raise an error that says what to pass instead if a model returns labels of classes."""
    first = output.reshape(-1)[0] if output.size and output.dtype.kind == "O" else None
    if output.dtype.kind in "US" or isinstance(first, str | bytes):
        label = output.reshape(-1)[0] if output.size else ""
        raise TypeError(
            f"{function} must return numbers, but returned labels such as {str(label)!r}; "
            "pass the classifier itself, if it has predict_proba or decision_function, or explain one class, as in "
            f"Explainer(lambda X: model.predict(X) == {str(label)!r}, ...)"
        )


def positions_of(output: Output, names: list[str] | None, k: int) -> NDArray[np.int64]:
    """Return the positions of the chosen outputs among k; an unknown one is an error that lists those that exist."""
    if isinstance(output, str) and output == ALL and ALL not in (names or ()):
        return np.arange(k)
    several = [output] if isinstance(output, str) or not isinstance(output, Iterable) else list(output)
    return np.array([_position(each, names, k) for each in several], dtype=np.int64)


def _position(output: Any, names: list[str] | None, k: int) -> int:
    if isinstance(output, str) and names is not None and output in names:
        return names.index(output)
    if isinstance(output, int | np.integer | np.bool_) and -k <= int(output) < k:
        position, name = int(output) % k, str(output)
        if names is not None and name in names and names[position] != name:  # classes 1, 2, 3, for instance
            raise ValueError(
                f"output={output} may be the class {name!r} or position {position}, the class {names[position]!r}; "
                f"give the name, output={name!r} or output={names[position]!r}"
            )
        return position
    known = "" if names is None else f", or one of the names {names}"
    raise ValueError(f"unknown output {output!r}; give a position from 0 to {k - 1}{known}, or 'all'")
