"""The games that methods are compared on, each with its Shapley values.

- ``xgboost-…``: ten rows explained against 100 background rows. Exact values by the closed form of tree ensembles,
  which are those of interventional TreeSHAP.
- ``mlp-…``: a neural network. With d ≤ 16 all coalitions are evaluated once, which gives exact values, and every
  later evaluation is looked up. ``mlp-breast_cancer`` (d = 30) has values of a long run, with their
  standard errors, and 20 background rows.
- ``airport``, ``voting``, ``unanimity``: closed forms; one game, not ten rows.
- ``shapiq-…``: shapiq's own games, whose values are all looked up (``shapiq_games``); one game each.

Players that cannot matter in a row (their value is that of all background rows) are left out for everyone.
shap's explainers find them, shapiq's do not, and it is not what is compared here.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sharpley import Games
from sharpley._support.typing import Coalitions, Floats
from sharpley.games import Airport, CallableGame, TreeGame, UnanimitySum, WeightedVoting
from sharpley_experiments.bench import shapiq_games
from sharpley_experiments.bench.shapiq_games import SHAPIQ_GAMES
from sharpley_experiments.common.constants import PLAYERS, SEED
from sharpley_experiments.common.datasets import Dataset, load
from sharpley_experiments.common.lookup import (
    MAX_PLAYERS_IN_TABLE,
    TableGames,
    all_values,
    digest,
    network_games,
    write_arrays,
)
from sharpley_experiments.common.models import make_task, train_mlp, train_xgboost
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.common.versions import installed_version

TREES = ("cal_housing", "make_regression", "bank", "breast_cancer", "adult", "year")
NETWORKS = ("cal_housing", "bank", "breast_cancer")
CLOSED_FORMS = ("airport", "voting", "unanimity")
GAMES: tuple[str, ...] = (
    *(f"xgboost-{name}" for name in TREES),
    *(f"mlp-{name}" for name in NETWORKS),
    *CLOSED_FORMS,
    *SHAPIQ_GAMES,
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


def players_of(name: str) -> int:
    """Number of players of a game."""
    if name in SHAPIQ_GAMES:
        return shapiq_games.players_of(name)
    return CLOSED_FORM_PLAYERS if name in CLOSED_FORMS else PLAYERS[name.partition("-")[2]]


@lru_cache(maxsize=2)  # cells come sorted by game: a worker makes each once
def bench_game(name: str, data: str | None, folder: str) -> BenchGame:
    """Make a game; what takes long is kept in the folder."""
    if name in CLOSED_FORMS:
        return _closed_form(name)
    if name in SHAPIQ_GAMES:
        return _looked_up(name, Path(folder))
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


def _looked_up(name: str, folder: Path) -> BenchGame:
    """One of shapiq's games; its values depend on the versions of the libraries that make it."""
    libraries = "-".join(installed_version(library) for library in ("shapiq", "scikit-learn"))
    kept = folder / f"{name}-{libraries}.npz"
    d = players_of(name)

    def values(coalitions: Coalitions) -> Floats:
        return shapiq_games.value_function(name)(coalitions)  # not made where values are kept

    games = TableGames(all_values(CallableGame(values, d), kept))
    return BenchGame(name, games, estimated(games, "exact", 2**d, 0).values, 0.0)


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
