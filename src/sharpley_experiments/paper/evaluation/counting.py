"""Estimators as the paper counts them: every evaluation is paid for, whether or not its value is known already.

The library evaluates a coalition once and counts distinct ones. With few players that would be another
experiment: after 2^d evaluations all is known, and every method exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley import Games
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.budget import whole_budget
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import evaluate
from sharpley.engine.methods import AnyMethod, as_method
from sharpley.estimators.base import Block


class EveryTime(CoalitionStore):
    """A store in which every coalition is new."""

    def __init__(self, d: int) -> None:
        self._parts: list[Coalitions] = []
        self._count = 0
        super().__init__(d)
        self.add(np.array([[False] * d, [True] * d]))

    def __len__(self) -> int:
        return self._count

    @property
    def is_complete(self) -> bool:
        """Never: coalitions may be evaluated again."""
        return False

    def add(self, coalitions: Coalitions) -> NDArray[np.int64]:
        """Register coalitions, and return their positions."""
        self._parts.append(coalitions)
        self._count += len(coalitions)
        return np.arange(self._count - len(coalitions), self._count)

    def add_within(self, coalitions: Coalitions, limit: int) -> NDArray[np.int64] | None:
        """Do as ``add``, or nothing if there would then be more than ``limit``."""
        return self.add(coalitions) if self._count + len(coalitions) <= limit else None

    def since(self, start: int) -> Coalitions:
        """Coalitions from position ``start`` on."""
        return np.concatenate(self._parts)[start:]


def estimate_every_time(games: Games, method: AnyMethod, budget: int, seed: np.random.SeedSequence) -> Floats:
    """Shapley values (rows, d) of an estimator that has paid for ``budget`` evaluations of each row."""
    ends, waiting = games.endpoints(), np.arange(games.n_rows)
    parts = []
    while len(waiting):
        estimator = as_method(method).start(games.d, np.random.default_rng(seed))
        size = 1 if estimator.choices_depend_on == "row" else len(waiting)
        rows, waiting = waiting[:size], waiting[size:]
        estimator.store = EveryTime(games.d)
        every = np.ones((len(rows), games.d), dtype=bool)
        estimator.start(Block(games, rows, ends[rows], every, None, np.zeros(4, np.uint32)))
        while (request := estimator.choose(whole_budget(budget))) is not None:
            estimator.learn(evaluate(games, rows, request))
        parts.append((estimator.estimate().values * estimator.units)[:, :, 0])
    return np.concatenate(parts)
