"""Estimation of an index of any games."""

from __future__ import annotations

from typing import Any, Unpack

from sharpley.engine.options import Options, check_options, documented
from sharpley.engine.run import run
from sharpley.engine.settings import make_settings
from sharpley.indices import Index


@documented(Options)
def estimate(
    games: Any, *, index: str | Index = "shapley", order: int | None = None, **options: Unpack[Options]
) -> Any:
    """Estimate Shapley values, or another index, of one or more games.

    Parameters
    ----------
    games : Games, or callable with an attribute ``d``
        Games of the same players, such as ``MarginalGame``, ``TreeGame`` or a subclass of ``Games`` of your own, or a
        function of coalitions with its number of players as attribute ``d``.
    index : str or Index, default "shapley"
        What is estimated: an index, or its name in ``sharpley.indices.INDICES``, such as "banzhaf", "beta(4, 1)" or
        "SII".
    order : int, optional
        Number of players in the largest sets that have a component: 2 (the default) or 3 for interactions, such as
        "SII"; values, such as "shapley", have order 1.
    {options}

    Returns
    -------
    ShapleyEstimate
        With arrays of shape (rows, d), or (rows, d, k) for games with k > 1 outputs. For interactions of pairs or
        triples, an ``InteractionEstimate``.

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
    check_options(options, Options, "estimate")
    return run(games, make_settings(options, index, order))
