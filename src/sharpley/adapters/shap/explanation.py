"""Conversion of estimates to ``shap.Explanation``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharpley.adapters.shap.display import numbers_for, one_hot_players, shown_values
from sharpley.games.marginal.players import Players
from sharpley.presentation.shown import columns_of, ordinals_of
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap


def to_explanation(estimate: ShapleyEstimate, rows: Any, players: Players, background: Any = None) -> shap.Explanation:
    """Convert an estimate for rows to a shap Explanation.

    shap colours points by ``data`` and prints ``display_data``. So ``data`` contains only numbers: categories, dates
    and strings become their positions in order, a group of one-hot columns the number of the column that is set, and
    other groups are numbered in the order of their values. ``display_data`` contains the original values, as text
    where they are not numbers, and labels for groups.

    Parameters
    ----------
    estimate : ShapleyEstimate
        With values (rows, d), or (rows, d, outputs).
    rows : (rows, columns) array, DataFrame or sparse matrix
        The rows that were explained.
    players : Players
        The assignment of columns to players.
    background : (rows, columns) array, DataFrame or sparse matrix, optional
        Further rows, which show whether the columns of a group are one-hot.

    Returns
    -------
    shap.Explanation
        Its ``instance_names`` are the index of a frame, its ``compute_time`` and ``n_predictions`` the estimate's.
    """
    from sharpley.presentation.explanation import as_explanation

    columns = columns_of(rows)
    one_hot = one_hot_players(columns, columns if background is None else background, players)
    numbers = numbers_for(columns, players, ordinals_of(rows), one_hot)
    return as_explanation(vars(estimate), estimate.interval(), numbers, shown_values(columns, players, one_hot))


def of_one_row(explanation: shap.Explanation) -> shap.Explanation:
    """Return the explanation of the only row, without an axis of rows."""
    only = explanation[0]
    if explanation.n_predictions is not None:
        only.n_predictions = explanation.n_predictions[0]
    return only
