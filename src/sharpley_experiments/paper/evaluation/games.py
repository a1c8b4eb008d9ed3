"""The games of the evaluation: ten rows of a data set, explained for boosted trees or for a network."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats, Orderings
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.evaluation import evaluate
from sharpley.engine.progress import progress_bar
from sharpley.estimators.walks import add_walks
from sharpley.games.trees.game import TreeGame
from sharpley.protocols import RowGames
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.lookup import ENUMERABLE, TableGames, all_values, digest, network_games
from sharpley_experiments.common.models import make_task, train_mlp, train_xgboost

TREES, NETWORK = "gbdt", "mlp"


class CurveGames(NamedTuple):
    """Games with their Shapley values, if known."""

    games: RowGames
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
        return _walked_contributions(self.games, orderings)


def _walked_contributions(games: RowGames, orderings: Orderings) -> Floats:
    """Contributions by evaluating the coalitions along orderings."""
    ends = games.endpoints()
    store = CoalitionStore(games.d)
    walks = add_walks(store, orderings)
    with progress_bar(False, 0) as bar:
        rest = evaluate(games, np.arange(len(ends)), store.since(2), n_jobs=None, progress=bar)
    values = np.concatenate([ends, rest], axis=1)[:, :, 0]
    steps = np.diff(values[:, walks], axis=2)
    return np.take_along_axis(steps, np.argsort(orderings, axis=1)[None], axis=2)


@lru_cache(maxsize=2)  # cells come sorted by data set: a process makes each once
def curve_games(
    kind: str, dataset: str, rows: int, background: int, n_train: int, data: str | None, folder: str
) -> CurveGames:
    """Train the model and make its games."""
    loaded = _first_rows(load(dataset, None if data is None else Path(data)), n_train)
    train = train_mlp if kind == NETWORK else train_xgboost
    task = make_task(loaded, train(loaded), rows=rows, background=background, seed=SEED)
    kept = Path(folder) / f"{kind}-{dataset}-{digest(task)}.npz"
    if kind == NETWORK:
        return CurveGames(*network_games(task, kept))
    trees = TreeGame(task.model, task.background, task.rows)
    games = TableGames(all_values(trees, kept), trees.varying()) if trees.d <= ENUMERABLE else trees
    return CurveGames(games, trees.shapley_values())


def _first_rows(dataset: Dataset, n: int) -> Dataset:
    """A random part of the rows to train on; all, if there are no more."""
    if n >= len(dataset.X):
        return dataset
    chosen = np.random.default_rng(SEED).choice(len(dataset.X), size=n, replace=False)
    return dataset._replace(X=dataset.X[chosen], y=dataset.y[chosen])
