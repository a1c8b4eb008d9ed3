"""Values of any kind as numbers, for statistics of the background; models never see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.marginal.mixing import Numbers
from sharpley.games.marginal.sameness import codes_of_objects


def numbered(background: Sequence[Any], rows: Sequence[Any]) -> Numbers:
    """Return the columns of background and rows as numbers: numbers as they are, the categories of others numbered.

    Categories are numbered in the order of their first appearance in the background, and then in the rows, so that the
    numbers of the background do not depend on the rows. Missing values are NaN.
    """
    pairs = [_column(np.asarray(b), np.asarray(r)) for b, r in zip(background, rows, strict=True)]
    columns = [np.concatenate(pair) for pair, _ in pairs]
    table = np.stack(columns, axis=1) if columns else np.empty((0, 0))
    n = len(background[0]) if background else 0
    return Numbers(table[n:], table[:n], np.array([is_category for _, is_category in pairs], dtype=bool))


def _column(background: NDArray[Any], rows: NDArray[Any]) -> tuple[tuple[NDArray[Any], NDArray[Any]], bool]:
    """Return one column of background and rows as numbers, and whether these are numbered categories."""
    import pandas as pd

    if background.dtype.kind in "biuf" and rows.dtype.kind in "biuf":
        return (background.astype(np.float64), rows.astype(np.float64)), False
    both = np.concatenate([background.astype(object), rows.astype(object)])
    numbers = np.full(len(both), np.nan)
    numbers[~pd.isna(both)] = codes_of_objects(both[~pd.isna(both)])
    return (numbers[: len(background)], numbers[len(background) :]), True
