"""Shapley values of games given as callables."""

from __future__ import annotations

import numpy as np

from sharpley._support.checks import check_count, check_weights
from sharpley._support.typing import RNG, ArrayLike
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import evaluate
from sharpley.engine.methods import Method
from sharpley.engine.progress import progress_bar
from sharpley.engine.rows import estimate_rows
from sharpley.engine.settings import make_settings
from sharpley.estimators.walks import add_walks, walk_moments
from sharpley.games.base import Game
from sharpley.games.callables import PlainGame
from sharpley.permutations.orderings import as_orderings
from sharpley.result import ShapleyEstimate
from sharpley.samplers.replicates import GroupedOrderings


def shapley_values(
    game: Game,
    d: int,
    *,
    method: Method = "auto",
    max_evals: int | None = None,
    tol: float | None = None,
    rng: RNG = None,
    unbiased: bool = False,
    progress: bool | None = None,
) -> ShapleyEstimate:
    """Estimate the Shapley values of a game.

    Parameters
    ----------
    game : callable
        Bool coalitions (m, d) -> values (m,) or (m, k).
    d : int
        Number of players.
    method : str, default "auto"
        A name in ``sharpley.METHODS``, or a sampler class or ``functools.partial`` of one. "auto" enumerates
        all 2^d coalitions if the budget allows; otherwise it takes "gp", or "regression" where that would be
        much work for a large game (``sharpley.engine.auto`` has the rule).
    max_evals : int, optional
        Distinct coalitions to evaluate at most, v(∅) and v(N) included. 20 d + 2 by default, 1000 d + 2 with ``tol``.
    tol : float, optional
        Stop when the largest standard error is at most ``tol`` times the range (largest minus smallest) of the values.
    rng : int, Generator, SeedSequence or None
    unbiased : bool, default False
        Only methods whose mean over all random choices is the Shapley value: "gp" then serves as a control variate
        of orderings, at a larger error. Stopping by ``tol`` depends on values and spoils it a little.
    progress : bool, optional
        Show a progress bar: by default on a terminal.

    Returns
    -------
    ShapleyEstimate

    Examples
    --------
    >>> from sharpley.games import Airport
    >>> estimate = shapley_values(Airport((1.0, 2.0, 4.0)), d=3, rng=0)
    >>> estimate.values.round(3), estimate.method, estimate.n_evals
    (array([0.333, 0.833, 2.833]), 'exact', 8)
    """
    d = check_count("d", d, minimum=1)
    settings = make_settings(method, max_evals, tol, rng, progress=progress, unbiased=unbiased)
    plain = PlainGame(game, d)
    estimate = estimate_rows(plain, settings).row(0)
    return estimate.without_output_axis() if plain.is_scalar else estimate


def from_orderings(
    game: Game, orderings: ArrayLike, weights: ArrayLike | None = None, *, groups: ArrayLike | None = None
) -> ShapleyEstimate:
    """Shapley values from given orderings: the weighted mean of contributions along their walks.

    Parameters
    ----------
    game : callable
        Bool coalitions (m, d) -> values (m,) or (m, k).
    orderings : (n, d) orderings
    weights : (n,) float, optional
        Equal by default; they are scaled to sum to 1.
    groups : (n,) int, optional
        Which independent group each ordering belongs to. Without it the standard errors are unknown: NaN.

    Examples
    --------
    >>> from sharpley import all_orderings
    >>> from sharpley.games import Glove
    >>> from_orderings(Glove(1, 2), all_orderings(3)).values.round(3)
    array([0.667, 0.167, 0.167])
    """
    orderings = as_orderings(orderings)
    n, d = orderings.shape
    if n == 0:
        raise ValueError("orderings must have at least one row, got none")
    w = np.ones(n) if weights is None else check_weights(weights, n)
    if w.sum() <= 0:
        raise ValueError(f"weights must have a positive sum, got {w.sum()}")
    labels = np.zeros(n, np.int64) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), one for each ordering, got {labels.shape}")
    plain, store = PlainGame(game, d), CoalitionStore(d)
    walks = add_walks(store, orderings)
    ends = plain.endpoints()
    values = ends
    if len(store) > 2:
        with progress_bar(False, 0) as bar:
            rest = evaluate(plain, np.zeros(1, np.int64), store.since(2), n_jobs=None, progress=bar)
        values = np.concatenate([ends, rest], axis=1)
    moments = walk_moments(values, walks, GroupedOrderings(orderings, w / w.sum(), labels))
    estimate = ShapleyEstimate(
        moments.values[0],
        np.sqrt(moments.variances[0]),
        ends[0, 0],
        len(store),
        "orderings",
        True,
        moments.degrees_of_freedom[0],
    )
    return estimate.without_output_axis() if plain.is_scalar else estimate
