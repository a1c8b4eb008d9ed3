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
from typing import NamedTuple

import numpy as np

from sharpley import Games
from sharpley._support.typing import Floats
from sharpley.games import Airport, CallableGame, TreeGame, UnanimitySum, WeightedVoting
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.lookup import MAX_PLAYERS_IN_TABLE, digest, network_games, write_arrays
from sharpley_experiments.common.models import make_task, train_mlp, train_xgboost
from sharpley_experiments.common.quiet import estimated

TREES = ("cal_housing", "make_regression", "bank", "breast_cancer", "adult", "year")
NETWORKS = ("cal_housing", "bank", "breast_cancer")
CLOSED_FORMS = ("airport", "voting", "unanimity")
GAMES: tuple[str, ...] = (
    *(f"xgboost-{name}" for name in TREES),
    *(f"mlp-{name}" for name in NETWORKS),
    *CLOSED_FORMS,
)
CLOSED_FORM_PLAYERS = 30
REFERENCE_EVALS = 60_002
ROWS_FOR_LARGE_NETWORKS = 20  # of background, where every evaluation calls the network


class BenchGame(NamedTuple):
    """Games of several rows with their Shapley values."""

    name: str
    games: Games
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
    return _network(name, dataset, Path(folder))


def _network(name: str, dataset: Dataset, folder: Path) -> BenchGame:
    enumerable = dataset.X.shape[1] <= MAX_PLAYERS_IN_TABLE
    task = make_task(dataset, train_mlp(dataset), background=100 if enumerable else ROWS_FOR_LARGE_NETWORKS, seed=SEED)
    kept = folder / f"{name}-{digest(task)}.npz"
    games, exact = network_games(task, kept)
    if exact is not None:
        return BenchGame(name, games, exact, 0.0)
    if not kept.exists():
        # Unbiased, and with errors from independent samples: no method judges itself.
        found = estimated(games, "gp-unbiased", REFERENCE_EVALS, SEED)
        variance = (found.standard_errors**2).mean()
        write_arrays(kept, exact=found.values, variance=variance)
    with np.load(kept) as arrays:
        return BenchGame(name, games, arrays["exact"], float(arrays["variance"]))


def _closed_form(name: str) -> BenchGame:
    rng = np.random.default_rng(SEED)
    game: Airport | WeightedVoting | UnanimitySum
    if name == "airport":
        game = Airport(tuple(np.arange(1.0, CLOSED_FORM_PLAYERS + 1)))
    elif name == "voting":
        votes = rng.integers(1, 20, CLOSED_FORM_PLAYERS)
        game = WeightedVoting(tuple(votes.tolist()), quota=int(votes.sum()) // 2 + 1)
    else:
        game = UnanimitySum.random(CLOSED_FORM_PLAYERS, n_terms=150, max_order=6, rng=rng)
    return BenchGame(name, CallableGame(game, CLOSED_FORM_PLAYERS), game.shapley_values()[None], 0.0)
