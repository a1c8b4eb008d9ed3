"""Hyperparameters of many games that share their coalitions.

Hyperparameters are learnt from a few pilot games together. Games of one model differ in which players interact, so up
to ``refitted_games`` of them are refitted from there, one by one, in a few iterations. If there are more, the others
take over the hyperparameters of the refitted game under which their evidence is largest: that takes one factorisation
for each set, and one product for each game. The games refitted first are spread evenly over all; the others are those
that the sets so far explain worst, compared with their own scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.learning import Values, learn_scales
from sharpley.estimators.gp.posterior import condition
from sharpley.estimators.gp.settings import GPSettings
from sharpley.indices import Measure

FIRST_ITERATIONS = 40  # of L-BFGS, in the first search
REFITTED_VALUES = 1600  # coalitions, or pairs, up to which games have hyperparameters of their own
FURTHER_REFITS = 10  # games that are refitted at a time, once a quarter of all refits is done


def learn_pilots(blocks: Sequence[Values], settings: GPSettings, start: Scales | None) -> Scales:
    """Learn hyperparameters from a few of the games together, starting from those found with fewer coalitions."""
    pilots = spread(blocks[0].values.shape[1], settings.pilot_games)
    iterations = FIRST_ITERATIONS if start is None else settings.iterations
    return learn_scales(_to_learn_from(blocks, pilots, settings), settings, iterations, start)


def sets_of_scales(
    blocks: Sequence[Values], pilot: Scales, settings: GPSettings, measure: Measure
) -> Iterator[tuple[NDArray[np.int64], Scales]]:
    """Yield games that share hyperparameters, and these.

    A single game is not refitted, since it is the only pilot. With very many values, refits cost more than they gain.
    """
    n_games = blocks[0].values.shape[1]
    everyone = np.arange(n_games)
    if n_games == 1 or len(blocks[0].signs) > REFITTED_VALUES:
        yield everyone, pilot
        return

    def refit(game: int) -> Scales:
        mine = _to_learn_from(blocks, everyone[game : game + 1], settings)
        return learn_scales(mine, settings, settings.iterations, pilot, narrow=True)

    if n_games <= settings.refitted_games:
        for game in range(n_games):
            yield everyone[game : game + 1], refit(game)
        return
    sets: list[Scales] = []
    best, evidence = np.zeros(n_games, dtype=np.int64), np.full(n_games, -np.inf)
    waiting = np.ones(n_games, dtype=bool)
    games = spread(n_games, max(1, settings.refitted_games // 4))
    while len(games) > 0:
        for game in games.tolist():
            sets.append(refit(game))
            found = condition(blocks, sets[-1], measure).log_evidence
            better = found > evidence
            best[better], evidence[better] = len(sets) - 1, found[better]
        waiting[games] = False
        more = min(FURTHER_REFITS, settings.refitted_games - len(sets))
        games = np.argsort(np.where(waiting, evidence, np.inf), kind="stable")[:more]
    for number in np.unique(best).tolist():
        yield everyone[best == number], sets[number]


def most_learnt(d: int, settings: GPSettings) -> int:
    """Return from how many values hyperparameters are learnt at most: two for each player, if there are very many."""
    return max(settings.learnt, 2 * d)


def _to_learn_from(blocks: Sequence[Values], games: NDArray[np.int64], settings: GPSettings) -> list[Values]:
    """Return some of the games at some of the coalitions, of which the first two are always among them."""
    found = []
    for block in blocks:
        n, d = block.signs.shape
        most = most_learnt(d, settings)
        rows = np.arange(n)
        if n > most:  # a fixed seed: the result must not depend on what was drawn before
            others = np.random.default_rng(0).choice(n - 2, most - 2, replace=False) + 2
            rows = np.sort(np.append(others, [0, 1]))
        found.append(block.at(rows).games(games))
    return found


def spread(n_games: int, count: int) -> NDArray[np.int64]:
    """Return the numbers of at most ``count`` games that are spread evenly over all."""
    return np.unique(np.linspace(0, n_games - 1, min(count, n_games)).round().astype(np.int64))
