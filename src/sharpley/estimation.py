"""Estimation of an index of any games."""

from __future__ import annotations

from typing import Any

from sharpley._support.typing import RNG
from sharpley.engine.auto import Draws
from sharpley.engine.methods import Method
from sharpley.engine.run import estimate_rows
from sharpley.estimators.draws.surrogate import SurrogateChoice
from sharpley.indices import Index
from sharpley.result import ShapleyEstimate


def estimate(
    games: Any,
    *,
    index: str | Index = "shapley",
    method: Method = "auto",
    draws: Draws = "auto",
    max_evals: int | None = None,
    max_predictions: int | None = None,
    tol: float | None = None,
    rng: RNG = None,
    unbiased: bool = False,
    surrogate: SurrogateChoice = None,
    independent_rows: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> ShapleyEstimate:
    """Estimate Shapley values of one or more games.

    Parameters
    ----------
    games : Games, or callable with an attribute ``d``
        Games of the same players, such as ``MarginalGame``, ``TreeGame`` or a subclass of ``Games`` of your own, or a
        function of coalitions with its number of players as attribute ``d``.
    index : str or Index, default "shapley"
        What is estimated: an index, or its name in ``sharpley.indices.INDICES``.
    method : str or factory, default "auto"
        A name in ``sharpley.METHODS``, or a class of samplers or estimators, or a ``functools.partial`` of one. "auto"
        uses a closed form if the games have one (``Games.closed_form``). Else it enumerates all 2^d coalitions if the
        budget allows; otherwise it uses "gp", or "regression" where that would take long compared with the model
        (``sharpley.engine.auto`` has the rule).
    draws : {"auto", "shared", "own"}, default "auto"
        Whether every coalition is evaluated for all draws ("shared"), or each ordering has a draw of its own ("own");
        with "regression", the latter means that each draw has coalitions of its own.
    max_evals : int, optional
        Maximum number of distinct coalitions to evaluate for each game, v(∅) and v(N) included: 20 d + 2 by default,
        1000 d + 2 with ``tol``. Each of them pays for all draws with draws="shared", and otherwise for at most 100.
    max_predictions : int, optional
        Maximum number of single draws to evaluate for each game, those of v(∅) and v(N) included.
    tol : float, optional
        Stop evaluating a game once its largest standard error is at most ``tol`` times the range of its values.
    rng : int, Generator, SeedSequence or None
        Source of randomness. The same seed gives the same results.
    unbiased : bool, default False
        Whether to use only methods whose mean over all random choices is the Shapley value. "gp" then becomes a control
        variate of orderings, with a larger error. Stopping by ``tol`` depends on the values and causes a small bias.
    surrogate : "auto", tree regressor or None, default None
        A regressor that learns the games from what was evaluated anyway, so that orderings with their own draws only
        have to estimate what it misses; without effect on other methods. It costs some time of its own, which
        pays if evaluations take more than about 0.1 ms. "auto" fits scikit-learn's HistGradientBoostingRegressor, and
        uses it for a row if that lowers the variance; a regressor that you give is always used.
    independent_rows : bool, default False
        Whether the result of a row must not depend on which rows, and how many, are explained with it, to the last
        bit. Methods that learn from several rows, such as "gp", then learn from each by itself, which takes longer.
    n_jobs : int, optional
        Number of parallel workers of joblib's current backend; -1 for all cores. Results do not depend on it.
    progress : bool, optional
        Whether to show a progress bar: by default on a terminal.

    Returns
    -------
    ShapleyEstimate
        With arrays of shape (rows, d), or (rows, d, k) for games with k > 1 outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> background, rows = np.zeros((1, 3)), np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 0.0]])
    >>> games = sharpley.MarginalGame(lambda X: X[:, 0] * X[:, 1] + X[:, 2], background, rows)
    >>> sharpley.estimate(games).values
    array([[1., 1., 3.],
           [2., 2., 0.]])
    """
    return estimate_rows(
        games,
        method=method,
        max_evals=max_evals,
        tol=tol,
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
        unbiased=unbiased,
        surrogate=surrogate,
        index=index,
        draws=draws,
        max_predictions=max_predictions,
        independent_rows=independent_rows,
    )
