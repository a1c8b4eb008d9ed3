"""The games of the evaluation: ten rows of a data set, explained for boosted trees or for a network."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from sharpley import Games, MarginalGame
from sharpley._support.typing import Floats, Orderings
from sharpley.games import TreeGame
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.lookup import MAX_PLAYERS_IN_TABLE, TableGames, all_values, digest_of
from sharpley_experiments.common.models import choose_rows, margin
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.paper.data import load_for_paper, rows_to_train_on
from sharpley_experiments.paper.evaluation.models import TREES, kept_model
from sharpley_experiments.paper.evaluation.networks import HiddenLayer, all_network_values, network_contributions


class CurveGames(NamedTuple):
    """Games, the contributions of players along orderings, and the Shapley values, if known."""

    games: Games
    contributions: Callable[[Orderings], Floats]
    """Orderings (n, d) -> (rows, n, d)."""
    exact: Floats | None
    """(rows, d)."""

    @property
    def d(self) -> int:
        """Number of players."""
        return self.games.d


@lru_cache(maxsize=2)  # cells come sorted by data set and experiment: a process makes each once
def curve_games(
    kind: str, dataset: str, experiment: int, rows: int, background: int, n_train: int, data: str | None, folder: str
) -> CurveGames:
    """Games of an experiment, see ``models``. Its rows and background are its own."""
    loaded = rows_to_train_on(load_for_paper(dataset, None if data is None else Path(data)), n_train)
    explained, others = choose_rows(loaded, rows=rows, background=background, seed=SEED + experiment)
    model = kept_model(kind, loaded, experiment, Path(folder))
    if kind != TREES:
        return games_of_network(model, explained, others)
    trees = TreeGame(model, others, explained)
    if trees.d > MAX_PLAYERS_IN_TABLE:
        return CurveGames(trees, trees.contributions, trees.shapley_values())
    kept = Path(folder) / "models" / f"{kind}-{dataset}-{digest_of(margin(model), others, explained)}.npz"
    table = TableGames(all_values(trees, kept), trees.varying())
    return CurveGames(table, table.contributions, trees.shapley_values())


def games_of_network(network: HiddenLayer, rows: Floats, background: Floats) -> CurveGames:
    """Games of explaining a network; those of few players are looked up, and their Shapley values are known."""
    games = MarginalGame(network, background, rows)
    if games.d > MAX_PLAYERS_IN_TABLE:
        return CurveGames(games, partial(network_contributions, network, rows, background), None)
    table = TableGames(all_network_values(network, rows, background))
    return CurveGames(table, table.contributions, estimated(table, "exact", 2**games.d, 0).values)
