"""The games that methods are compared on, each with its Shapley values.

- ``xgboost-…``: ten rows explained against 100 background rows. Exact values by the closed form of tree ensembles,
  which are those of interventional TreeSHAP.
- ``mlp-…``: a neural network. With d ≤ 16 all coalitions are evaluated once, which gives exact values, and every
  later evaluation is looked up. ``mlp-breast_cancer`` (d = 30) has values of a long run, with their
  standard errors, and 20 background rows.
- ``airport``, ``voting``, ``unanimity``: closed forms; one game, not ten rows.

Players that cannot matter in a row (their value is that of all background rows) are left out for everyone.
shap's explainers find them, shapiq's do not, and it is not what is compared here.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Coalitions, Floats
from sharpley.estimators.exact import all_coalitions
from sharpley.experiments.constants import SEED
from sharpley.experiments.datasets import Dataset, load
from sharpley.experiments.models import make_task, margin, train_mlp, train_xgboost
from sharpley.games.classic import Airport, UnanimitySum, WeightedVoting
from sharpley.games.plain import PlainGame
from sharpley.games.tabular import MarginalGame
from sharpley.games.trees import TreeGame
from sharpley.plan import make_settings
from sharpley.protocols import PairEvaluator, RowGames
from sharpley.run import estimate_rows

TREES = ("cal_housing", "make_regression", "bank", "breast_cancer", "adult", "year")
NETWORKS = ("cal_housing", "bank", "breast_cancer")
CLOSED_FORMS = ("airport", "voting", "unanimity")
GAMES: tuple[str, ...] = (
    *(f"xgboost-{name}" for name in TREES),
    *(f"mlp-{name}" for name in NETWORKS),
    *CLOSED_FORMS,
)
PLAYERS = 30  # of the closed forms
ENUMERABLE = 16
REFERENCE_EVALS = 60_002
FEW_ROWS = 20  # of background, where every evaluation calls the network


class BenchGame(NamedTuple):
    """Games of several rows with their Shapley values."""

    name: str
    games: RowGames
    exact: Floats
    """(rows, d)."""
    reference_variance: float
    """Mean squared standard error of ``exact``; 0 if they are."""


@lru_cache(maxsize=2)  # cells come sorted by game: a worker makes each once
def bench_game(name: str, data: str | None, folder: str) -> BenchGame:
    """Make a game; what takes long is kept in the folder."""
    if name in CLOSED_FORMS:
        return _closed_form(name)
    kind, _, dataset_name = name.partition("-")
    dataset = load(dataset_name, None if data is None else Path(data))
    if kind == "xgboost":
        task = make_task(dataset, train_xgboost(dataset), seed=SEED)
        trees = TreeGame(task.model, task.background, task.rows)
        return BenchGame(name, trees, trees.shapley_values(), 0.0)
    return _network(name, dataset, Path(folder) / f"{name}.npz")


def _network(name: str, dataset: Dataset, kept: Path) -> BenchGame:
    enumerable = dataset.X.shape[1] <= ENUMERABLE
    if enumerable and kept.exists():
        with np.load(kept) as arrays:
            return BenchGame(name, TableGames(arrays["table"]), arrays["exact"], 0.0)
    task = make_task(dataset, train_mlp(dataset), background=100 if enumerable else FEW_ROWS, seed=SEED)
    games = MarginalGame(margin(task.model), task.background, task.rows)
    if not kept.exists():
        _write(kept, **(_enumerated(games) if enumerable else _long_run(games)))
    if enumerable:
        return _network(name, dataset, kept)
    with np.load(kept) as arrays:
        return BenchGame(name, games, arrays["exact"], float(arrays["variance"]))


def _closed_form(name: str) -> BenchGame:
    rng = np.random.default_rng(SEED)
    game: Airport | WeightedVoting | UnanimitySum
    if name == "airport":
        game = Airport(tuple(np.arange(1.0, PLAYERS + 1)))
    elif name == "voting":
        votes = rng.integers(1, 20, PLAYERS)
        game = WeightedVoting(tuple(votes.tolist()), quota=int(votes.sum()) // 2 + 1)
    else:
        game = UnanimitySum.random(PLAYERS, n_terms=150, max_order=6, rng=rng)
    return BenchGame(name, PlainGame(game, PLAYERS), game.shapley_values()[None], 0.0)


@final
class TableGames:
    """Games whose values are looked up; see ``sharpley.protocols.RowGames``."""

    is_scalar = True
    pairs_per_call = 65_536
    predictions_per_value = 1

    def __init__(self, table: Floats) -> None:
        """Take values (rows, 2^d), the coalition's bits the binary digits of its column, the last player's lowest."""
        self._table = table
        self.d = int(table.shape[1]).bit_length() - 1
        self._digits = 2 ** np.arange(self.d)[::-1]

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition."""
        return self._table[:, [0, -1]][:, :, None]

    def varying(self) -> Coalitions:
        """All players may matter."""
        return np.ones((len(self._table), self.d), dtype=bool)

    def evaluator(self) -> PairEvaluator:
        """Look values up."""

        def values(rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
            return np.asarray(self._table[rows, coalitions @ self._digits][:, None])

        return values


def _enumerated(games: MarginalGame) -> dict[str, Any]:
    coalitions = all_coalitions(games.d)
    order = np.argsort(coalitions @ (2 ** np.arange(games.d)[::-1]))
    table = games(coalitions[order])
    exact = estimate_rows(TableGames(table), make_settings("exact", 2**games.d, None, 0)).values[:, :, 0]
    return {"table": table, "exact": exact}


def _long_run(games: MarginalGame) -> dict[str, Any]:
    found = estimate_rows(games, make_settings("gp", REFERENCE_EVALS, None, SEED))
    return {"exact": found.values[:, :, 0], "variance": (found.standard_errors**2).mean()}


def _write(path: Path, **arrays: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{np.random.default_rng().integers(2**62)}.npz")
    np.savez(temporary, **arrays)
    temporary.replace(path)
