"""The games of the study ``active``, and the choices of pairs that it compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley_experiments.common.constants import MANY_PLAYERS
from sharpley_experiments.studies.common import tree_game
from sharpley_experiments.studies.gp_internals import (
    FixedMixture,
    Scales,
    candidate_pairs,
    evaluated_pairs,
    fixed_scales,
    learnt_scales,
    most_informative,
)

BATCHES = 4
"""Batches in which an active choice is made: noise depends on the number of pairs of each size, and is updated."""

SEEDS, SEEDS_FOR_MANY_PLAYERS, SEEDS_FOR_ONE_GAME = 16, 10, 40
UNLEARNT_TOTAL = 1.5
"""Sum of the players' scales, where hyperparameters are not learnt."""


class Problem(NamedTuple):
    """Games with their exact Shapley values."""

    name: str
    game: Callable[[Coalitions], Floats]
    """Maps coalitions (m, d) to values, (m,) or (r, m)."""
    exact: Floats
    """Exact Shapley values, (r, d)."""
    n_seeds: int
    """Number of seeds, each of which is one run."""

    @property
    def d(self) -> int:
        """Number of players."""
        return self.exact.shape[1]


def data_problem(name: str, folder: Path, n_seeds: int | None) -> Problem:
    """Return the games of an XGBoost model on a data set; without ``n_seeds`` it depends on the number of players."""
    game = tree_game(name, folder)
    default = SEEDS if game.d < MANY_PLAYERS else SEEDS_FOR_MANY_PLAYERS
    return Problem(name, game, game.shapley_values(), n_seeds or default)


def classic_problems(n_seeds: int | None) -> Iterator[Problem]:
    """Yield three games with closed forms, with 40 seeds each unless ``n_seeds`` is given."""
    votes = tuple(np.random.default_rng(0).integers(1, 20, 25).tolist())
    games: dict[str, Airport | WeightedVoting | UnanimitySum] = {
        "airport": Airport(tuple(np.arange(1.0, 31.0))),
        "voting": WeightedVoting(votes, quota=sum(votes) // 2 + 1),
        "unanimity": UnanimitySum.random(20, n_terms=100, max_order=6, rng=1),
    }
    for name, game in games.items():
        yield Problem(name, game, game.shapley_values()[None], n_seeds or SEEDS_FOR_ONE_GAME)


class Pairs:
    """Distinct pairs for one seed; the fixed mixture can be extended whatever else was chosen.

    Parameters
    ----------
    problem : Problem
    seed : int

    Attributes
    ----------
    masks : (n, d) bool
        One member of each pair chosen so far.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self._rng = problem, np.random.default_rng(seed)
        self._mixture = FixedMixture(problem.d, self._rng)
        self._requested = 0  # pairs of the mixture, chosen or skipped
        self._known: set[bytes] = set()
        self.masks: Coalitions = np.empty((0, problem.d), dtype=bool)

    def extend_fixed(self, total: int) -> None:
        """Extend to a total by the mixture, skipping pairs that were chosen actively."""
        self._requested = max(self._requested, len(self.masks))
        while (missing := total - len(self.masks)) > 0:
            self._requested += missing
            fresh = self._mixture.extend(self._requested)
            self._add(fresh[self._are_new(fresh)][:missing])

    def extend_actively(self, total: int, scales: Scales | None = None) -> None:
        """Extend to a total by active selection; if no hyperparameters are given, they are learnt from the values."""
        scales = scales or learnt_scales(evaluated_pairs(self.problem.game, self.masks))
        pool = candidate_pairs(self.problem.d, self.masks, self._rng)
        for goal in np.linspace(len(self.masks), total, BATCHES + 1).round().astype(int)[1:]:
            count = min(goal - len(self.masks), len(pool))
            chosen = most_informative(self.masks, pool, scales, count)
            self._add(pool[chosen])
            pool = np.delete(pool, chosen, axis=0)

    def _are_new(self, masks: Coalitions) -> NDArray[np.bool_]:
        return np.array([row.tobytes() not in self._known for row in np.packbits(masks, axis=1)], dtype=bool)

    def _add(self, masks: Coalitions) -> None:
        self._known.update(row.tobytes() for row in np.packbits(masks, axis=1))
        self.masks = np.concatenate([self.masks, masks])


def choose_fixed(pairs: Pairs, total: int) -> None:
    """Choose pairs by the fixed mixture."""
    pairs.extend_fixed(total)


def choose_actively(pairs: Pairs, total: int) -> None:
    """Choose pairs actively, with hyperparameters learnt from the values seen so far."""
    pairs.extend_actively(total)


def choose_half(pairs: Pairs, total: int) -> None:
    """Choose one half by the fixed mixture, and then the other actively."""
    pairs.extend_fixed((len(pairs.masks) + total) // 2)
    pairs.extend_actively(total)


def choose_unlearnt(pairs: Pairs, total: int) -> None:
    """Choose pairs actively, with the same hyperparameters for every game."""
    pairs.extend_actively(total, fixed_scales(pairs.problem.d, UNLEARNT_TOTAL))


CHOICES: dict[str, Callable[[Pairs, int], None]] = {
    "fixed": choose_fixed,
    "active": choose_actively,
    "half": choose_half,
    "unlearnt": choose_unlearnt,
}
"""How further pairs are chosen, by the names in the table."""
