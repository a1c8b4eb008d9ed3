"""Choosing the mixer for a type of data, and checking that rows and background go together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.marginal.array_mixer import ArrayMixer
from sharpley.games.marginal.frame_mixers import MIXERS
from sharpley.games.marginal.mixing import Mixer, is_from, is_sparse


def make_mixer(rows: Any, background: Any) -> Mixer:
    """Choose the mixer for a type of table; both tables must be of one type and have the same columns."""
    for module in ("pandas", "polars"):
        frames = [is_from(module, table, "DataFrame") for table in (rows, background)]
        if all(frames):
            return _frame_mixer(module, rows, background)
        if any(frames):
            mine, theirs = type(rows).__name__, type(background).__name__
            raise TypeError(f"X and background must be tables of one type, got {mine} and {theirs}")
    tables = [t if is_sparse(t) else _as_matrix(w, t) for w, t in (("X", rows), ("background", background))]
    return ArrayMixer(*tables)


def _frame_mixer(module: str, rows: Any, background: Any) -> Mixer:
    check_same_columns(list(rows.columns), list(background.columns))
    return MIXERS[module](rows, background)


def check_same_columns(names: list[Any], expected: list[Any]) -> None:
    """Compare the columns of X with those of the background."""
    if names == expected:
        return
    missing = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if missing or extra:
        raise ValueError(f"the columns of X are not the background's: missing {missing}, unexpected {extra}")
    raise ValueError(f"the columns of X are in another order than the background's; use X[{expected}]")


def _as_matrix(what: str, table: Any) -> NDArray[Any]:
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"{what} must be a table of shape (rows, columns), got shape {array.shape}; one row is X[[0]]")
    if array.dtype.kind == "U" and not isinstance(table, np.ndarray) and not _all_text(table):
        raise TypeError(f"{what} mixes text and numbers, which an array would turn into text; use a DataFrame")
    return array


def _all_text(table: Any) -> bool:
    return all(isinstance(value, str) for row in table for value in row)
