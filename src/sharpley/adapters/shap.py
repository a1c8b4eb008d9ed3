"""Conversion of estimates to ``shap.Explanation``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.players import Players
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap


def to_explanation(
    estimate: ShapleyEstimate,
    rows: Any,
    players: Players,
    output_names: Sequence[str] | None,
) -> shap.Explanation:
    """Convert an estimate for rows to a shap Explanation.

    shap colours points by ``data`` and prints ``display_data``. So ``data`` contains only numbers: categories and
    strings become codes, and a group of one-hot columns becomes the index of the column that is 1. ``display_data``
    contains the original values.

    Parameters
    ----------
    estimate : ShapleyEstimate
        With values (rows, d), or (rows, d, outputs).
    rows : (rows, columns) array, DataFrame or sparse matrix
        The rows that were explained.
    players : Players
        The assignment of columns to players.
    output_names : list of str or None
        Names of the outputs.

    Returns
    -------
    shap.Explanation
    """
    import shap

    original = _player_values(_columns(rows), players)
    lower, upper = estimate.interval()
    return shap.Explanation(
        values=estimate.values,
        base_values=estimate.base_values,
        data=_numbers(original),
        display_data=original,
        feature_names=estimate.names,
        output_names=list(output_names) if output_names is not None and estimate.values.ndim == 3 else None,
        error_std=estimate.standard_errors,
        lower_bounds=lower,
        upper_bounds=upper,
    )


def _columns(rows: Any) -> NDArray[Any]:
    """Return the rows as an array (rows, columns), of numbers if all values are numbers, else of objects."""
    if hasattr(rows, "toarray"):
        return np.asarray(rows.toarray())
    array = np.asarray(rows)
    return array if array.dtype.kind in "biuf" else array.astype(object)


def _player_values(columns: NDArray[Any], players: Players) -> NDArray[Any]:
    """Return one value for each row and player, (rows, d): that of its column, or of its group of columns."""
    if players.is_plain:
        return columns
    values = np.empty((len(columns), players.d), dtype=object)
    for player in range(players.d):
        mine = columns[:, players.of_column == player]
        values[:, player] = mine[:, 0] if mine.shape[1] == 1 else [_group_value(row) for row in mine]
    return values


def _group_value(row: NDArray[Any]) -> Any:
    """Return the index of the column that is 1 in a one-hot group; NaN for other groups, which have no single value."""
    nonzero = np.flatnonzero(row != 0)
    one_hot = len(nonzero) == 1 and row[nonzero[0]] == 1
    return float(nonzero[0]) if one_hot else np.nan


def _numbers(values: NDArray[Any]) -> Floats:
    """Return numbers for colours, (rows, d); other values are replaced by codes, in the order of their strings."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.stack([_codes(values[:, j]) for j in range(values.shape[1])], axis=1)


def _codes(column: NDArray[Any]) -> Floats:
    """Return the column as numbers if it can be converted, else as codes of its distinct values; NaN if missing."""
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        missing = np.array([_is_missing(value) for value in column], dtype=bool)
        _, codes = np.unique(column.astype(str), return_inverse=True)
        return np.where(missing, np.nan, codes.reshape(-1).astype(np.float64))


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA, whose comparisons are neither true nor false."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True
