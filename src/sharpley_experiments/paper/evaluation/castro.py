"""Stratified sampling as Castro, Gómez, Molina and Tejada (2017) and the paper's authors allocate it.

The first stage spends half of the marginal evaluations evenly on the strata (player, position), at least two on each.
The second stage spends the rest in proportion to the *variance* that each stratum showed in the first. The library's
"stratified" has the same strata and stages, but another allocation: in proportion to standard deviations, predicted
from other strata.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley import Games
from sharpley._support.typing import Floats


def castro(games: Games, marginals: int, rng: np.random.Generator) -> Floats:
    """Shapley values (rows, d) from so many marginal evaluations for each row; there must be at least 2 d²."""
    d = games.d
    each = max(2, marginals // (2 * d * d))
    strata = np.tile(np.arange(d * d), each)
    first = _contributions(games, np.arange(games.n_rows), strata, rng).reshape(games.n_rows, each, d * d)
    variances = first.var(axis=1, ddof=1)
    values = np.empty((games.n_rows, d))
    for row, variance in enumerate(variances):
        counts = _allocated(variance, marginals - each * d * d)
        sums = first[row].sum(axis=0)
        drawn = np.repeat(np.arange(d * d), counts)
        sums += np.bincount(drawn, _contributions(games, np.array([row]), drawn, rng)[0], minlength=d * d)
        values[row] = (sums / (each + counts)).reshape(d, d).mean(axis=1)
    return values


def _allocated(variance: Floats, count: int) -> NDArray[np.int64]:
    """Numbers of draws in proportion to variances, ``count`` in all; none if all variances are 0."""
    total = variance.sum()
    if not total or count <= 0:
        return np.zeros(len(variance), dtype=np.int64)
    ends = np.round(np.cumsum(variance) / total * count).astype(np.int64)
    return np.diff(ends, prepend=0)


def _contributions(
    games: Games, rows: NDArray[np.int64], strata: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Contributions of players to random coalitions, (rows, draws); strata are player · d + position."""
    d, evaluate = games.d, games.evaluator()
    parts = [np.empty((len(rows), 0))]
    size = max(1, games.values_per_call // (2 * len(rows)))
    for start in range(0, len(strata), size):
        players, positions = np.divmod(strata[start : start + size], d)
        keys = rng.random((len(players), d))
        keys[np.arange(len(players)), players] = 2.0  # sorted last, so not among those before the player
        before = np.argsort(np.argsort(keys, axis=1), axis=1) < positions[:, None]
        after = before.copy()
        after[np.arange(len(players)), players] = True
        both = np.concatenate([before, after])
        asked = np.repeat(rows, len(both)), np.tile(both, (len(rows), 1))
        values = evaluate(*asked, None).reshape(len(rows), 2, len(players))
        parts.append(values[:, 1] - values[:, 0])
    return np.concatenate(parts, axis=1)
