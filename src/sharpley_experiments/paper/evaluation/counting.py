"""Estimators as the paper counts them: every evaluation is paid for, whether or not its value is known already.

The library evaluates a coalition once and counts distinct ones. With few players that would be another
experiment: after 2^d evaluations all is known, and every method exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import evaluate
from sharpley.engine.methods import make_estimator
from sharpley.engine.progress import progress_bar
from sharpley.protocols import RowGames


class EveryTime(CoalitionStore):
    """A store in which every coalition is new."""

    def __init__(self, d: int) -> None:
        self._parts: list[Coalitions] = []
        self._count = 0
        super().__init__(d)

    def __len__(self) -> int:
        return self._count

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


def estimate_every_time(
    games: RowGames, factory: Callable[..., Any], budget: int, seed: np.random.SeedSequence
) -> Floats:
    """Shapley values (rows, d) of an estimator that has paid for ``budget`` evaluations of each row."""
    ends = games.endpoints()
    rows = np.arange(len(ends))
    adaptive = make_estimator(factory, games.d, np.random.default_rng(0)).adaptive
    parts = rows[:, None] if adaptive else rows[None]
    return np.concatenate([_estimate(games, factory, budget, seed, part, ends[part]) for part in parts])


def _estimate(
    games: RowGames,
    factory: Callable[..., Any],
    budget: int,
    seed: np.random.SeedSequence,
    rows: NDArray[np.int64],
    values: Floats,
) -> Floats:
    estimator = make_estimator(factory, games.d, np.random.default_rng(seed))
    estimator.prepare(budget, may_stop=False)
    store = EveryTime(games.d)
    with progress_bar(False, 0) as bar:
        while estimator.extend(store, budget, values[0] if estimator.adaptive else None):
            new = evaluate(games, rows, store.since(values.shape[1]), n_jobs=None, progress=bar)
            values = np.concatenate([values, new], axis=1)
    return estimator.estimate(values).values[:, :, 0]
