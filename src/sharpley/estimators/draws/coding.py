"""Columns of draws and rows as codes that every tree regressor accepts: small numbers without gaps or missing values.

A number is coded by its rank among the distinct values of its column in all draws, and a row's value between two of
them by the middle. A missing value is −1. Categories are ordered by the mean value v_b(∅) of their draws. Trees only
compare values, so that nothing is lost; and codes are exact in single precision, in which some libraries compare.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.base import DrawFacts

MISSING = -1.0
UNKNOWN = -0.5  # a category that no draw has
BETWEEN = 0.5


class Codes(NamedTuple):
    """Codes of the columns of all draws."""

    columns: NDArray[np.float32]
    """One line for each column, (q, n_draws)."""

    def of_row(self, facts: DrawFacts, row: int) -> NDArray[np.float32]:
        """Return the codes of a row, (q,)."""
        values = facts.row_columns[row]
        return np.array([self._of_value(facts, j, value) for j, value in enumerate(values)], dtype=np.float32)

    def _of_value(self, facts: DrawFacts, column: int, value: Any) -> float:
        if value != value:
            return MISSING
        draws, codes = facts.columns[:, column], self.columns[column]
        same = draws == value
        if same.any():
            return float(codes[np.argmax(same)])
        if facts.is_category[column]:
            return UNKNOWN
        return float(codes[draws < value].max(initial=-1.0)) + BETWEEN


def make_codes(facts: DrawFacts) -> Codes:
    """Return the codes of all draws; they are kept with the facts, since further rows have the same draws."""
    return facts.kept.get("codes", (facts.empty, facts.columns, facts.is_category), lambda: _codes(facts))


def _codes(facts: DrawFacts) -> Codes:
    columns = np.empty((facts.columns.shape[1], len(facts.columns)), dtype=np.float32)
    for column, is_category in enumerate(facts.is_category):
        columns[column] = _ranks(facts.columns[:, column], facts.empty[:, 0] if is_category else None)
    return Codes(columns)


def _ranks(values: NDArray[np.generic], scores: Floats | None) -> Floats:
    """Return the rank of each value among the distinct ones, or that of its mean score; MISSING for missing values."""
    present = values == values
    ranks = np.full(len(values), MISSING)
    distinct, which = np.unique(values[present], return_inverse=True)
    if scores is not None and len(distinct):
        means = np.bincount(which, weights=scores[present]) / np.bincount(which)
        which = np.argsort(np.argsort(means, kind="stable"))[which]
    ranks[present] = which
    return ranks
