"""Choice of the mixer for a type of data, and checks that rows and background fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.marginal.array_mixer import ArrayMixer
from sharpley.games.marginal.frame_mixers import MIXERS
from sharpley.games.marginal.mixing import Mixer, is_from, is_sparse


def make_mixer(rows: Any, background: Any) -> Mixer:
    """Return the mixer for a type of container; both arguments must have the same type and the same columns."""
    for module in ("pandas", "polars"):
        frames = [is_from(module, data, "DataFrame") for data in (rows, background)]
        if all(frames):
            return _frame_mixer(module, rows, background)
        if any(frames):
            mine, theirs = type(rows).__name__, type(background).__name__
            raise TypeError(f"X and the background must be of the same type, got {mine} and {theirs}; convert one")
    named = (("X", rows), ("background", background))
    return ArrayMixer(*(data if is_sparse(data) else _as_matrix(name, data) for name, data in named))


def _frame_mixer(module: str, rows: Any, background: Any) -> Mixer:
    check_same_columns(list(rows.columns), list(background.columns))
    return MIXERS[module](rows, background)


def check_same_columns(names: list[Any], expected: list[Any]) -> None:
    """Raise an error unless the columns of X are those of the background, in the same order."""
    if names == expected:
        return
    missing = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if missing or extra:
        raise ValueError(f"the columns of X differ from those of the background: missing {missing}, unexpected {extra}")
    raise ValueError(f"the columns of X are in a different order from those of the background; use X[{expected}]")


def _as_matrix(name: str, data: Any) -> NDArray[Any]:
    array = np.asarray(data)
    if array.ndim != 2:
        raise ValueError(f"{name} must have shape (rows, columns), got shape {array.shape}; for one row, use X[[0]]")
    if array.dtype.kind == "U" and not isinstance(data, np.ndarray) and not _all_text(data):
        raise TypeError(f"{name} mixes text and numbers, which an array would convert to text; use a DataFrame")
    return array


def _all_text(data: Any) -> bool:
    return all(isinstance(value, str) for row in data for value in row)
