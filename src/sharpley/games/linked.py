"""Games whose values pass through a link, such as the logit of a mean probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice
from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import Evaluate, Games
from sharpley.games.values import describe

LinkFunction: TypeAlias = Callable[[Floats], ArrayLike]
Link: TypeAlias = str | LinkFunction

MAX_LINKED_ROWS = 1000  # of the background, all of which a link requires for every coalition
SMALLEST_PROBABILITY = 1e-15  # the logit of 0 is taken at this probability, as shap does: −34.5


def identity(values: Floats) -> Floats:
    """Return values as they are."""
    return values


def logit(probabilities: Floats) -> Floats:
    """Return the log-odds of probabilities; those of 0 and 1 are −34.5 and 34.5."""
    outside = (probabilities < -1e-9) | (probabilities > 1 + 1e-9)
    if outside.any():
        raise ValueError(
            f"link='logit' needs predictions between 0 and 1, got {probabilities[outside][0]:.4g}; "
            "explain predict_proba, or omit the link"
        )
    inside = np.clip(probabilities, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
    return np.asarray(np.log(inside) - np.log1p(-inside))


LINKS: dict[str, LinkFunction] = {"identity": identity, "logit": logit}
"""Links by name."""


def as_link(link: Any) -> LinkFunction | None:
    """Return a link as a function: one of ``LINKS`` by name, or any function of arrays; None for no link."""
    if link is None or isinstance(link, str):
        return None if link in (None, "identity") else LINKS[check_choice("link", link, LINKS)]
    if not callable(link):
        raise TypeError(f"link must be one of {list(LINKS)} or a function of arrays, got {link!r}")
    if getattr(link, "__module__", None) == "shap.links":  # shap's functions, of which the logit of 0 is infinite
        return as_link(getattr(link, "__name__", None))
    function: LinkFunction = link
    return function


@final
class LinkedGames(Games):
    """Games whose values are those of other games, each passed through a link: link(v(S)).

    The link is applied to means over draws, so that these games have no draws of their own.

    Parameters
    ----------
    games : Games
        The games whose values are passed on.
    link : str or callable
        A name in ``LINKS``, or a function of an array of values that returns an array of the same shape.

    Examples
    --------
    >>> from sharpley.games import MarginalGame
    >>> squared = LinkedGames(MarginalGame(lambda X: X.sum(axis=1), [[0.0, 0.0]], [[1.0, 2.0]]), np.square)
    >>> squared([[False, False], [False, True], [True, True]])
    array([0., 4., 9.])
    """

    def __init__(self, games: Games, link: Link) -> None:
        self._games, self._link = games, as_link(link) or identity
        self.d, self.n_rows, self.player_names = games.d, games.n_rows, games.player_names
        self.draws_per_call = games.values_per_call

    @property
    def draws_per_value(self) -> int:
        """Number of single draws of the other games that a value costs."""
        return self._games.draws_per_value

    @property
    def endpoint_draws(self) -> int:
        """Number of single draws of the other games that the values of ∅ and N of one game cost."""
        return self._games.endpoint_draws

    def varying(self) -> Coalitions:
        """Return which players can matter: those that can matter in the other games."""
        return self._games.varying()

    def endpoints(self) -> Floats:
        """Return the values of ∅ and N for every game, (n_rows, 2, k)."""
        return self._linked(np.asarray(self._games.endpoints()), None)

    def evaluator(self) -> Evaluate:
        """Return a function that evaluates the games."""
        evaluate = self._games.evaluator()

        def values(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None = None) -> Floats:
            return self._linked(evaluate(rows, coalitions, None), coalitions)

        return values

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        return self.evaluator()(rows, coalitions, None)

    def _linked(self, values: Floats, coalitions: Coalitions | None) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            linked = np.asarray(self._link(values), dtype=np.float64)
        if linked.shape != values.shape:
            raise ValueError(f"link must return the shape of its input, {values.shape}, got {linked.shape}")
        bad = np.argwhere(~np.isfinite(linked))
        if len(bad):
            where = "" if coalitions is None else f" of {describe(coalitions[bad[0][0]])}"
            raise ValueError(f"link returned {linked[tuple(bad[0])]} for the value {values[tuple(bad[0])]:.6g}{where}")
        return linked


def check_link(link: Link | None, n_background: int) -> None:
    """Raise an error if a link is unknown, or if there are too many background rows to use all for every coalition."""
    if as_link(link) is not None and n_background > MAX_LINKED_ROWS:
        raise ValueError(
            f"with a link, every coalition is evaluated for all background rows, but there are {n_background}; use "
            "fewer, as in Explainer(model, Background.sample(X_train, 100), link=...), or explain a model that returns "
            "log-odds"
        )
