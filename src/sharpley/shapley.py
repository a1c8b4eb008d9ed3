"""Shapley values of one game, and from given orderings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Unpack

import numpy as np

from sharpley._support.checks import check_weights
from sharpley._support.typing import ArrayLike
from sharpley.engine.options import Options, check_options, documented
from sharpley.engine.run import estimate_along, run
from sharpley.engine.settings import make_settings
from sharpley.games.base import Games
from sharpley.games.callables import SetGame, as_games
from sharpley.permutations.orderings import as_orderings
from sharpley.result import ShapleyEstimate
from sharpley.samplers.replicates import GroupedOrderings


@documented(Options, without=("independent_rows",))
def shapley_values(
    game: Any,
    d: int | None = None,
    *,
    names: Sequence[str] | None = None,
    players: Sequence[Hashable] | None = None,
    batch_size: int | None = None,
    **options: Unpack[Options],
) -> ShapleyEstimate:
    """Estimate the Shapley values of one game.

    Parameters
    ----------
    game : callable or Games
        Maps bool coalitions (m, d) to values (m,), or (m, k) for k outputs; with ``players``, a frozenset of names to a
        number, or to k numbers.
    d : int, optional
        Number of players. By default, the game's attribute ``d`` or ``n_players``.
    names : sequence of d str, optional
        Names of the players, which the result keeps.
    players : sequence of hashable, optional
        Names of the players of a function of sets of names; see ``games.SetGame``, which has a cache.
    batch_size : int, optional
        Maximum number of coalitions in one call of the game; 4,096 by default.
    {options}

    Returns
    -------
    ShapleyEstimate
        With arrays of shape (d,), or (d, k) for k > 1 outputs.

    Examples
    --------
    >>> from sharpley.games import Airport
    >>> found = shapley_values(Airport((1.0, 2.0, 4.0)), rng=0)
    >>> found.values.round(3), found.method, found.n_evals
    (array([0.333, 0.833, 2.833]), 'exact', 8)

    A function of sets of names:

    >>> shapley_values(lambda S: 10.0 if {"a", "b"} <= S else 0.0, players=["a", "b", "c"]).values
    array([5., 5., 0.])
    """
    check_options(options, Options, "shapley_values")
    one = _one_game(game if players is None else SetGame(game, players), d, names=names, batch_size=batch_size)
    found: ShapleyEstimate = run(one, make_settings(options)).row(0)
    return found


def from_orderings(
    game: Any,
    orderings: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
) -> ShapleyEstimate:
    """Estimate Shapley values from given orderings: the weighted mean of contributions along their walks.

    Parameters
    ----------
    game : callable or Games
        Maps bool coalitions (m, d) to values (m,), or (m, k) for k outputs.
    orderings : (n, d) int
        Players 0 .. d−1 in the order in which they enter.
    weights : (n,) float, optional
        Weights of the orderings, equal by default. They are scaled to sum to 1.
    groups : (n,) int, optional
        The group of each ordering; groups are independent of each other. Without it, the standard errors are unknown
        (NaN).
    n_jobs, batch_size : int, optional
        As for ``shapley_values``.

    Returns
    -------
    ShapleyEstimate
        With arrays of shape (d,), or (d, k) for k > 1 outputs; games of several rows have an axis of rows in front.

    Examples
    --------
    >>> from sharpley import all_orderings
    >>> from sharpley.games import Glove
    >>> from_orderings(Glove(1, 2), all_orderings(3)).values.round(3)
    array([0.667, 0.167, 0.167])
    """
    sample = _grouped(orderings, weights, groups)
    d = sample.orderings.shape[1]
    found = estimate_along(as_games(game, d, batch_size=batch_size), sample, n_jobs=n_jobs)
    return found.row(0) if len(found.values) == 1 else found


def _one_game(game: Any, d: int | None, *, names: Sequence[str] | None = None, batch_size: int | None = None) -> Games:
    """Return the game as ``Games`` with a single row."""
    games = as_games(game, d, names=names, batch_size=batch_size)
    if games.n_rows != 1:
        raise ValueError(f"expected one game, got {games.n_rows}, one for each row; use sharpley.estimate for all rows")
    return games


def _grouped(orderings: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None) -> GroupedOrderings:
    """Check orderings (n, d) with their weights and groups, and number the groups from 0."""
    checked = as_orderings(orderings)
    n = len(checked)
    if n == 0:
        raise ValueError("orderings must have at least one row, got none")
    w = np.ones(n) if weights is None else check_weights(weights, n)
    if w.sum() <= 0:
        raise ValueError(f"weights must have a positive sum, got {w.sum()}")
    labels = np.zeros(n, np.int64) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), one group for each ordering, got {labels.shape}")
    return GroupedOrderings(checked, w / w.sum(), labels)
