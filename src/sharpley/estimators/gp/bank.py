"""Hyperparameters for many games: a bank of sets, each learnt from one game, of which every game takes the best.

Games of one model differ in which players interact, so that a set of hyperparameters for all of them is inaccurate; but
a search for each game costs far more than anything else. Many games resemble each other, and whether a set suits a game
is known for little once its Gram matrix K has been factorised for all games: with P = K⁻¹ − K⁻¹Z M⁻¹ Z'K⁻¹, which
leaves out the linear part, the log evidence of n values y of a game with d players is, up to a constant,

    −½ (n − d) ln y'Py − ½ ln |K| − ½ ln |M|

if the overall variance of the game is chosen to maximise it. The posterior mean does not depend on that variance, and
the error bars have an estimate of their own (see ``posterior``).

The first games to be refitted are spread evenly over all. The further ones are those that are predicted worst, at pairs
that are held out, with the best of the sets so far: games unlike the others get sets of their own.

What is lost by taking over the set of another game is known for the first games: each has a set of its own, which is
compared with the best of the others. If much is lost, the games are too different for a bank, and the best of its first
sets is where the search for a game's own begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.settings import GPSettings

AnyScales = TypeVar("AnyScales")
"""Hyperparameters of any process."""


class Suitability(NamedTuple):
    """How well a set of hyperparameters suits each game."""

    log_evidence: Floats
    """Log evidence, up to a constant that is the same for all sets, (g,)."""
    held_out_error: Floats
    """Weighted mean squared error on held-out pairs, (g,)."""


class Bank(NamedTuple, Generic[AnyScales]):
    """Sets of hyperparameters, and which of them each game takes."""

    sets: list[AnyScales]
    """The sets."""
    best: NDArray[np.int64]
    """Position of the set with the largest evidence for each game, (g,)."""
    is_start: bool
    """Whether games are too different for a bank, so that its sets are only where to start a search from."""


def make_bank(
    n_games: int,
    refit: Callable[[int], AnyScales],
    judge: Callable[[AnyScales], Suitability],
    settings: GPSettings,
    *,
    own_set_error: float = 0.0,
) -> Bank[AnyScales]:
    """Learn a set from each of some games, and assign all games to sets.

    Parameters
    ----------
    n_games : int
        Number of games, more than ``settings.refitted_games``.
    refit : callable
        Maps a game's number to hyperparameters learnt from that game.
    judge : callable
        Tells how well hyperparameters suit each of the games.
    settings : GPSettings
    own_set_error : float, default 0
        Squared error of the first games with their own sets, relative to that with the best of the others, below which
        no further sets are learnt.
    """
    sets: list[AnyScales] = []
    best = np.zeros(n_games, dtype=np.int64)
    evidence, errors = np.full(n_games, -np.inf), np.full(n_games, np.inf)
    waiting = np.ones(n_games, dtype=bool)
    games = first = spread(n_games, min(settings.first_refits, settings.refitted_games))
    of_first: list[Suitability] = []
    while len(games) > 0:
        for game in games.tolist():
            sets.append(refit(game))
            found = judge(sets[-1])
            of_first.append(Suitability(found.log_evidence[first], found.held_out_error[first]))
            better = found.log_evidence > evidence
            best[better] = len(sets) - 1
            evidence[better], errors[better] = found.log_evidence[better], found.held_out_error[better]
        if len(sets) == len(first) and _own_error(of_first) < own_set_error:
            return Bank(sets, best, is_start=True)
        waiting[games] = False
        more = min(settings.further_refits, settings.refitted_games - len(sets))
        games = np.argsort(np.where(waiting, -errors, np.inf), kind="stable")[:more]
    return Bank(sets, best, is_start=False)


def _own_error(of_first: Sequence[Suitability]) -> float:
    """Return the squared error of games with their own sets, relative to that with the best of the others' sets.

    ``of_first`` has how well the set of each game suits all of these games. The mean is a geometric one.
    """
    evidence, errors = (np.stack(part) for part in zip(*of_first, strict=True))
    games = np.arange(len(evidence))
    own = errors[games, games]
    evidence[games, games] = -np.inf
    others = errors[evidence.argmax(axis=0), games]
    compared = (own > 0) & (others > 0)
    return float(np.exp(np.log(own[compared] / others[compared]).mean())) if compared.any() else 1.0


def spread(n_games: int, count: int) -> NDArray[np.int64]:
    """Return the numbers of at most ``count`` games that are spread evenly over all."""
    return np.unique(np.linspace(0, n_games - 1, min(count, n_games)).round().astype(np.int64))
