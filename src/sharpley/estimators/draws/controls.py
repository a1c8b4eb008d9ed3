"""Controls: features of draws whose mean over all draws is known.

For every player there are the values v_b(∅) of the draw (their principal scores, if there are several outputs) and the
player's own column, in bins: values that many draws share are bins of their own, the others are divided at quantiles.
If the row has such a shared value, the player cannot matter in any draw of that bin.

Columns of numbers also count as they are (``Numbers``): a linear model is a linear function of the player's own column,
and one with products of columns a function of all columns and of their products with the player's own.

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
LEAST_SPREAD = 1e-9  # of a column of numbers, relative to its mean
TINY = np.finfo(np.float64).tiny
MAX_COLUMNS = 31  # of numbers, up to which products of columns are controls
DRAWS_AT_ONCE = 2**16  # whose products are summed together


class PlayerBins(NamedTuple):
    """The bins of one player."""

    codes: NDArray[np.uint8]
    """Bin of each draw, (n_draws,)."""
    shared: NDArray[np.generic]
    """Values of the columns of the player in its shared bins, (shared, columns); these bins come first."""
    sums: Floats
    """Weighted sums of 1 and the scores over each bin, (bins, 1 + scores)."""


class Numbers(NamedTuple):
    """Columns of numbers, standardised: with mean 0 and variance 1 over all draws."""

    columns: NDArray[np.int64]
    """The columns, (q,): those of numbers that are not the same in all draws."""
    players: NDArray[np.int64]
    """Their players, (q,)."""
    centres: Floats
    """Means over all draws, (q,)."""
    scales: Floats
    """Standard deviations, (q,)."""
    products: Floats | None
    """Means of the products of two of them, (q, q); None if there are too many."""

    def at(self, columns: NDArray[np.generic]) -> Floats:
        """Return the standardised numbers of draws or rows with the given columns, (n, q); 0 if they are missing."""
        numbers = np.asarray(columns[:, self.columns], dtype=np.float64)
        return np.nan_to_num((numbers - self.centres) / self.scales, posinf=0.0, neginf=0.0)


class Controls(NamedTuple):
    """Features of all draws."""

    scores: Floats
    """Standardised principal scores of v_b(∅), (n_draws, scores)."""
    players: list[PlayerBins | None]
    """The bins of each player; None if nothing is known of its columns."""
    columns: list[NDArray[np.int64]]
    """The columns of each player."""
    numbers: Numbers
    """Columns of numbers."""
    weights: Floats
    """Weights of all draws, (n_draws,)."""

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
    sources = (facts.empty, facts.columns, facts.is_category, facts.players, weights, np.array(d))
    return facts.kept.get("controls", sources, lambda: _controls(facts, weights, d))


def _controls(facts: DrawFacts, weights: Floats, d: int) -> Controls:
    scores = principal_scores(facts.empty / units_of(facts.empty), weights)
    columns = [np.flatnonzero(facts.players == player) for player in range(d)]
    players = [_bins(facts, mine, scores, weights) if len(mine) else None for mine in columns]
    return Controls(scores, players, columns, _numbers(facts, weights), weights)


def _numbers(facts: DrawFacts, weights: Floats) -> Numbers:
    """Return the columns of numbers; infinite and missing ones count as the mean of the others."""
    candidates = np.flatnonzero(~facts.is_category)
    centres, scales = np.zeros(len(candidates)), np.zeros(len(candidates))
    for i, column in enumerate(candidates):
        values = np.asarray(facts.columns[:, column], dtype=np.float64)
        known = np.isfinite(values)
        mine, share = values[known], weights[known]
        if share.sum() > 0:
            unit = max(float(np.abs(mine).max()), TINY)  # squares of large numbers would not be finite
            share = share / share.sum()
            centres[i] = unit * (share @ (mine / unit))
            centres[i] += unit * (share @ ((mine - centres[i]) / unit))  # what rounding left
            scales[i] = unit * np.sqrt(share @ ((mine - centres[i]) / unit) ** 2)
    useful = scales > LEAST_SPREAD * np.abs(centres)
    which = candidates[useful]
    found = Numbers(which, facts.players[which], centres[useful], scales[useful], None)
    if not 0 < len(which) <= MAX_COLUMNS:
        return found
    products = np.zeros((len(which), len(which)))
    for start in range(0, len(weights), DRAWS_AT_ONCE):
        part = slice(start, start + DRAWS_AT_ONCE)
        some = found.at(facts.columns[part])
        products += (some * weights[part, None]).T @ some
    return found._replace(products=products)


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
