"""The whole benchmark of backgrounds: which cells there are, in which order, and their means with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpley._support.checks import check_choice
from sharpley_experiments.bench.peers import version_of
from sharpley_experiments.bench.population.explainers import FLOOR, OURS, OURS_ON_FEW, ways
from sharpley_experiments.bench.population.measure import measure
from sharpley_experiments.bench.population.problems import GAMES
from sharpley_experiments.bench.run import made_from, relative_error
from sharpley_experiments.common.cells import Cell, Rows, run_cells, stored_cells
from sharpley_experiments.common.constants import MANY_PLAYERS, PLAYERS

if TYPE_CHECKING:
    from pandas import DataFrame

MULTIPLES = (2, 5, 10, 20, 50, 100)
LARGE_MULTIPLES = (50, 100)
"""Budgets with fewer seeds, and none at all with more than 50 players, who have fewer seeds from 20 d on."""
MOST_FOR_MANY = 10
SEEDS, FEW_SEEDS = 10, 3
QUICK_GAMES = ("xgboost-make_regression",)


def players_of(game: str) -> int:
    """Number of players of a game."""
    return PLAYERS[game.partition("-")[2]]


def run(
    out: Path,
    *,
    data: Path | None,
    jobs: int = 1,
    games: list[str] | None = None,
    methods: list[str] | None = None,
    seeds: int = SEEDS,
    quick: bool = False,
) -> DataFrame:
    """Measure cells, and return one line for each game, method and budget; those measured earlier are among them."""
    import pandas as pd

    known = (OURS, OURS_ON_FEW, FLOOR, *(name for name in ways() if name not in (OURS, OURS_ON_FEW)))
    for game in games or ():
        check_choice("game", game, GAMES)
    for method in methods or ():
        check_choice("method", method, known)
    cells = cells_of(games or (QUICK_GAMES if quick else GAMES), methods or known, data, seeds=seeds, quick=quick)
    folder = out / "cells"
    context = {"data": None if data is None else str(data.resolve()), "folder": str(folder.resolve())}
    run_cells(measure, cells, folder, jobs=jobs, description="Backgrounds", context=context)
    rows = _current_rows(folder, data, known)
    if not rows:
        raise ValueError("no budget of these games is large enough for these methods; choose others")
    return summarised(pd.DataFrame(rows))


def cells_of(
    games: Sequence[str], methods: Sequence[str], data: Path | None, *, seeds: int, quick: bool = False
) -> list[Cell]:
    """Return all cells: the first three seeds of everything come first, and of these the least expensive."""
    cells: list[Cell] = [
        {"game": game, "method": method, "multiple": multiple, "seed": seed, "version": _version(game, method, data)}
        for game in games
        for method in methods
        for multiple in _multiples(game, method, quick=quick)
        for seed in range(_seeds(game, multiple, seeds, quick=quick))
    ]
    return sorted(cells, key=_turn)


def _turn(cell: Cell) -> tuple[bool, int]:
    """Return when it is a cell's turn."""
    return int(cell["seed"]) >= FEW_SEEDS, players_of(str(cell["game"])) * int(cell["multiple"])


def _multiples(game: str, method: str, *, quick: bool) -> tuple[int, ...]:
    """Return the budgets of a game, as multiples of the number of players; exact values have none."""
    if method == FLOOR:
        return (0,)
    if quick:
        return MULTIPLES[:2]
    return tuple(m for m in MULTIPLES if m not in LARGE_MULTIPLES or players_of(game) <= MANY_PLAYERS)


def _seeds(game: str, multiple: int, seeds: int, *, quick: bool) -> int:
    if quick:
        return min(seeds, 2)
    is_long = multiple in LARGE_MULTIPLES or (multiple > MOST_FOR_MANY and players_of(game) > MANY_PLAYERS)
    return min(seeds, FEW_SEEDS if is_long else SEEDS)


def _version(game: str, method: str, data: Path | None) -> str:
    """Return what a stored result depends on beside its settings."""
    return version_of("population" if method in (OURS, OURS_ON_FEW, FLOOR) else method) + made_from(game, data)


def _current_rows(folder: Path, data: Path | None, known: Sequence[str]) -> Rows:
    """Return all stored rows of the current versions of at least two seeds, in the order of games and methods."""
    found: dict[tuple[int, int, int], Rows] = {}
    for cell, rows in stored_cells(folder):
        game, method = str(cell["game"]), str(cell["method"])
        if method in known and cell["version"] == _version(game, method, data):
            line = GAMES.index(game), int(cell["multiple"]), known.index(method)
            found.setdefault(line, []).extend({**cell, **row} for row in rows)
    return [row for line in sorted(found) if len(found[line]) > 1 for row in found[line]]


def summarised(table: DataFrame) -> DataFrame:
    """Means over seeds of the relative error with 95% intervals, of the coverage and of what was spent."""
    import pandas as pd

    table = table.reindex(columns=list(dict.fromkeys([*table.columns, *SPENT, "coverage"])))
    lines: list[dict[str, Any]] = []
    for (game, method, multiple), group in table.groupby(["game", "method", "multiple"], sort=False):
        lines.append(
            {
                "game": game,
                "d": int(group["d"].iloc[0]),
                "population": int(group["population"].iloc[0]),
                "multiple": int(multiple),
                "method": method,
                **relative_error(group),
                "coverage": group["coverage"].mean(),
                **{column: group[column].median() for column in SPENT},
            }
        )
    return pd.DataFrame(lines)


SPENT = ("predictions", "seconds", "own_seconds")
"""What a method spent on a row; nothing is known of exact values."""
