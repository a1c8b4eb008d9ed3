"""Controls: features of draws whose mean over all draws is known.

For every player there are the values v_b(∅) of the draw (their principal scores, if there are several outputs) and the
player's own column, in bins: values that many draws share are bins of their own, the others are divided at quantiles.
If the row has such a shared value, the player cannot matter in any draw of that bin.

Columns of categories are divided in the order of the categories' mean scores, and groups of several columns by their
first principal score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import units_of
from sharpley.games.base import DrawFacts

MAX_SCORES = 3  # principal scores of v_b(∅)
MAX_BINS = 8  # bins of values that few draws share
MAX_SHARED = 24  # shared values with a bin of their own
SHARED = 0.02  # values that more than this share of all draws have are shared
NO_BIN = -1


class PlayerBins(NamedTuple):
    """The bins of one player."""

    codes: NDArray[np.uint8]
    """Bin of each draw, (n_draws,)."""
    shared: NDArray[np.generic]
    """Values of the columns of the player in its shared bins, (shared, columns); these bins come first."""
    sums: Floats
    """Weighted sums of 1 and the scores over each bin, (bins, 1 + scores)."""


class Controls(NamedTuple):
    """Features of all draws."""

    scores: Floats
    """Standardised principal scores of v_b(∅), (n_draws, scores)."""
    players: list[PlayerBins | None]
    """The bins of each player; None if nothing is known of its columns."""
    columns: list[NDArray[np.int64]]
    """The columns of each player."""

    def shared_bins(self, row_columns: NDArray[np.generic], player: int) -> NDArray[np.int64]:
        """Return the bin of the draws that have the same values of a player as a row, for each row, or NO_BIN."""
        found = np.full(len(row_columns), NO_BIN)
        bins = self.players[player]
        if bins is not None:
            values = row_columns[:, self.columns[player]]
            for number, value in enumerate(bins.shared):
                found[_equal(values, value).all(axis=1)] = number
        return found


def make_controls(facts: DrawFacts, weights: Floats, d: int) -> Controls:
    """Return the controls of all draws; they are kept with the facts, since further rows have the same draws."""
    if "controls" not in facts.derived:
        scores = principal_scores(facts.empty / units_of(facts.empty), weights)
        columns = [np.flatnonzero(facts.players == player) for player in range(d)]
        players = [_bins(facts, mine, scores, weights) if len(mine) else None for mine in columns]
        facts.derived["controls"] = Controls(scores, players, columns)
    return facts.derived["controls"]


def principal_scores(values: Floats, weights: Floats) -> Floats:
    """Return standardised principal scores of values (n, k), for up to MAX_SCORES components with any variance."""
    centred = values - weights @ values
    spread = np.sqrt(weights @ centred**2)
    relevant = centred[:, spread > 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0))]
    if relevant.shape[1] == 0:
        return np.zeros((len(values), 0))
    relevant = relevant / np.sqrt(weights @ relevant**2)
    variances, directions = np.linalg.eigh((relevant * weights[:, None]).T @ relevant)
    leading = variances[::-1][:MAX_SCORES] > 1e-9
    scores = relevant @ directions[:, ::-1][:, :MAX_SCORES][:, leading]
    return np.asarray(scores / np.sqrt(variances[::-1][:MAX_SCORES][leading]))


def _equal(values: NDArray[np.generic], value: NDArray[np.generic]) -> NDArray[np.bool_]:
    return (values == value) | ((values != values) & (value != value))


def _bins(facts: DrawFacts, mine: NDArray[np.int64], scores: Floats, weights: Floats) -> PlayerBins:
    values = facts.columns[:, mine]
    is_category = bool(facts.is_category[mine].any())
    position, distinct = _sorted_values(values, is_category, scores)
    heavy = np.flatnonzero(np.bincount(position, weights=weights) > SHARED)[:MAX_SHARED]
    codes = np.full(len(values), NO_BIN)
    codes[np.isin(position, heavy)] = np.searchsorted(heavy, position[np.isin(position, heavy)])
    rest = codes == NO_BIN
    if rest.any():
        edges = np.unique(np.quantile(position[rest], np.linspace(0, 1, MAX_BINS + 1)[1:-1]))
        codes[rest] = len(heavy) + np.searchsorted(edges, position[rest], side="right")
    n_bins = int(codes.max()) + 1
    features = np.column_stack([np.ones(len(values)), scores])
    sums = [np.bincount(codes, weights=weights * column, minlength=n_bins) for column in features.T]
    return PlayerBins(codes.astype(np.uint8), distinct[heavy], np.stack(sums, axis=1).astype(np.float64))


def _sorted_values(
    values: NDArray[np.generic], is_category: bool, scores: Floats
) -> tuple[NDArray[np.int64], NDArray[np.generic]]:
    """Return the position of each draw in a sorted list of distinct values, and that list, (distinct, columns)."""
    if values.shape[1] == 1:
        distinct, which = np.unique(values[:, 0], return_inverse=True)
        distinct = distinct[:, None]
    else:
        distinct, which = np.unique(values, axis=0, return_inverse=True)
    which = which.reshape(-1)
    if values.shape[1] == 1 and not is_category:
        return which, distinct
    key = _category_scores(which, scores) if is_category else _first_score(distinct)
    order = np.argsort(key, kind="stable")
    return np.argsort(order)[which], distinct[order]


def _category_scores(which: NDArray[np.int64], scores: Floats) -> Floats:
    """Return the mean of the first score in each category."""
    if scores.shape[1] == 0:
        return np.arange(which.max() + 1, dtype=np.float64)
    return np.asarray(np.bincount(which, weights=scores[:, 0]) / np.bincount(which))


def _first_score(distinct: NDArray[np.generic]) -> Floats:
    """Return the first principal score of the ranks of distinct values (m, columns)."""
    ranks = np.argsort(np.argsort(distinct, axis=0), axis=0).astype(np.float64)
    scores = principal_scores(ranks, np.full(len(ranks), 1.0 / len(ranks)))
    return scores[:, 0] if scores.shape[1] else np.zeros(len(ranks))
