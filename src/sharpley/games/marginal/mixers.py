"""Choice of the mixer for a type of data, and checks that rows and background fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.marginal.array_mixer import ArrayMixer
from sharpley.games.marginal.frame_mixers import MIXERS
from sharpley.games.marginal.mixing import Mixer, is_from, is_sparse


def make_mixer(rows: Any, background: Any) -> Mixer:
    """Return the mixer for a type of container; ``containers.as_table`` gives both arguments the same type."""
    for module in ("pandas", "polars"):
        if is_from(module, background, "DataFrame"):
            return _frame_mixer(module, rows, background)
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
        raise ValueError(f"{name} must have shape (rows, columns), got shape {array.shape}")
    if array.dtype.kind == "U" and not isinstance(data, np.ndarray) and not _all_text(data):
        raise TypeError(f"{name} mixes text and numbers, which an array would convert to text; use a DataFrame")
    return array


def _all_text(data: Any) -> bool:
    return all(isinstance(value, str) for row in data for value in row)
