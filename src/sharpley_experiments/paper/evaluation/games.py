"""The games of the evaluation: ten rows of a data set, explained for boosted trees or for a network."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sharpley import Games
from sharpley._support.typing import Floats, Orderings
from sharpley.engine.evaluation import walk_contributions
from sharpley.games import TreeGame
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.lookup import MAX_PLAYERS_IN_TABLE, TableGames, all_values, digest, network_games
from sharpley_experiments.common.models import make_task, train_mlp, train_xgboost

TREES, NETWORK = "gbdt", "mlp"


class CurveGames(NamedTuple):
    """Games with their Shapley values, if known."""

    games: Games
    exact: Floats | None
    """(rows, d)."""

    @property
    def d(self) -> int:
        """Number of players."""
        return self.games.d

    def contributions(self, orderings: Orderings) -> Floats:
        """Contributions of players along each ordering, (rows, n, d)."""
        if isinstance(self.games, TreeGame | TableGames):
            return self.games.contributions(orderings)
        return walk_contributions(self.games, orderings)[:, 0]


@lru_cache(maxsize=2)  # cells come sorted by data set: a process makes each once
def curve_games(
    kind: str, dataset: str, rows: int, background: int, n_train: int, data: str | None, folder: str
) -> CurveGames:
    """Train the model and make its games."""
    loaded = rows_to_train_on(load(dataset, None if data is None else Path(data)), n_train)
    train = train_mlp if kind == NETWORK else train_xgboost
    task = make_task(loaded, train(loaded), rows=rows, background=background, seed=SEED)
    kept = Path(folder) / f"{kind}-{dataset}-{digest(task)}.npz"
    if kind == NETWORK:
        return CurveGames(*network_games(task, kept))
    trees = TreeGame(task.model, task.background, task.rows)
    games = TableGames(all_values(trees, kept), trees.varying()) if trees.d <= MAX_PLAYERS_IN_TABLE else trees
    return CurveGames(games, trees.shapley_values())


def rows_to_train_on(dataset: Dataset, n: int) -> Dataset:
    """A random part of the rows to train on; all, if there are no more."""
    if n >= len(dataset.X):
        return dataset
    chosen = np.random.default_rng(SEED).choice(len(dataset.X), size=n, replace=False)
    return dataset._replace(X=dataset.X[chosen], y=dataset.y[chosen])
