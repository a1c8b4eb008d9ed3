"""The whole benchmark: which cells there are, and their means with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpley._support.checks import check_choice
from sharpley_experiments.bench.games import CLOSED_FORMS, GAMES, players_of
from sharpley_experiments.bench.measure import OURS, measure
from sharpley_experiments.bench.peers import available_peers, version_of
from sharpley_experiments.bench.shapiq_games import SHAPIQ_GAMES
from sharpley_experiments.common.cells import Cell, Rows, run_cells, stored_cells
from sharpley_experiments.common.constants import MANY_PLAYERS
from sharpley_experiments.common.datasets import number_of_rows
from sharpley_experiments.common.intervals import mean_interval
from sharpley_experiments.common.versions import with_version

if TYPE_CHECKING:
    from pandas import DataFrame

MULTIPLES = (5, 10, 20, 50, 100)
SEEDS = 10
FEW_SEEDS = 3
# Up to minutes for a row: with more than 50 players three seeds and up to 20 d, with 30 players three at 100 d.
SLOW_METHODS = ("shapiq PolySHAP", "shapiq SVARM", "stratified")
SLOW_MULTIPLES = (5, 10, 20)
SLOW_PLAYERS = 30
# Seconds for a small game: two seeds. ShaplEIG needs a minute for 100 evaluations of ten players, so it gets no more.
SLOWEST_METHODS, SLOWEST_SEEDS = ("shapiq ShaplEIG", "shapiq SPEX"), 2
SHAPLEIG_MULTIPLES, SHAPLEIG_PLAYERS = (5, 10), 12
SHAPIQ_MULTIPLES, SHAPIQ_SEEDS = (5, 10, 20, 50), 5
QUICK_GAMES = ("xgboost-make_regression", "airport")


def run(
    out: Path,
    *,
    data: Path | None,
    jobs: int = 1,
    games: list[str] | None = None,
    methods: list[str] | None = None,
    quick: bool = False,
) -> DataFrame:
    """Measure cells, and return one line for each game, method and budget; those measured earlier are among them."""
    import pandas as pd

    known = (*OURS, *available_peers())
    for method in methods or ():
        check_choice("method", method, known)
    wanted_games = matching_games(games) if games else QUICK_GAMES if quick else available_games()
    cells = [
        cell for game in wanted_games for method in methods or known for cell in _cells(game, method, data, quick=quick)
    ]
    folder = out / "cells"
    context = {"data": None if data is None else str(data.resolve()), "folder": str(folder.resolve())}
    if not run_cells(measure, cells, folder, jobs=jobs, description="Benchmark", context=context):
        raise ValueError("no budget of these games is large enough for these methods; choose others")
    versions = {(str(cell["game"]), str(cell["method"])): str(cell["version"]) for cell in cells}
    return summarised(pd.DataFrame(_whole_lines(folder, versions, known, quick=quick)))


def available_games() -> tuple[str, ...]:
    """Return all games that the installed libraries can make."""
    return tuple(game for game in GAMES if game not in SHAPIQ_GAMES or find_spec("shapiq_games") is not None)


def matching_games(patterns: Sequence[str]) -> list[str]:
    """Return the games that any of the patterns names, such as "airport" or "shapiq-*"."""
    for pattern in patterns:
        if not any(fnmatchcase(game, pattern) for game in GAMES):
            check_choice("game", pattern, GAMES)
    return [game for game in GAMES if any(fnmatchcase(game, pattern) for pattern in patterns)]


def _whole_lines(folder: Path, versions: dict[tuple[str, str], str], known: Sequence[str], *, quick: bool) -> Rows:
    """Rows of all budgets of a game and a method that have all their seeds, in the order of games and methods.

    ``versions`` are those measured now; of what was measured earlier, the last there is.
    """
    found: dict[tuple[str, str, int], dict[str, Rows]] = {}
    seeds: Counter[tuple[str, str, int, str]] = Counter()
    for cell, rows in stored_cells(folder):
        line = str(cell["game"]), str(cell["method"]), int(cell["multiple"])
        version = str(cell["version"])
        found.setdefault(line, {}).setdefault(version, []).extend({**cell, **row} for row in rows)
        seeds[*line, version] += 1
    lines = []
    for (game, method, multiple), by_version in found.items():
        version = versions.get((game, method), max(by_version))
        wanted = 2 if quick else _seeds(game, players_of(game), method, multiple)
        if method in known and seeds[game, method, multiple, version] >= wanted:
            lines.append((GAMES.index(game), multiple, known.index(method), by_version[version]))
    return [row for *_, rows in sorted(lines, key=lambda line: line[:3]) for row in rows]


def _cells(game: str, method: str, data: Path | None, *, quick: bool) -> list[Cell]:
    d = players_of(game)
    version = version_of(method) + made_from(game, data)
    cells: list[Cell] = []
    for multiple in _multiples(game, d, method)[: 2 if quick else None]:
        if multiple * d + 2 >= 2**d:
            continue  # all coalitions fit: every method is exact, or should be
        cells += [
            {"game": game, "method": method, "multiple": multiple, "seed": seed, "version": version}
            for seed in range(2 if quick else _seeds(game, d, method, multiple))
        ]
    return cells


def _multiples(game: str, d: int, method: str) -> tuple[int, ...]:
    """Budgets of a method on a game, as multiples of the number of players."""
    if method == "shapiq ShaplEIG":
        return SHAPLEIG_MULTIPLES if d <= SHAPLEIG_PLAYERS else ()
    if d > MANY_PLAYERS and method in SLOW_METHODS:
        return SLOW_MULTIPLES
    return SHAPIQ_MULTIPLES if game in SHAPIQ_GAMES else MULTIPLES


def made_from(game: str, data: Path | None) -> str:
    """What a game depends on beside its name: the library that trains its model, and how many rows its data have."""
    if game in CLOSED_FORMS:
        return ""
    if game in SHAPIQ_GAMES:
        return f", {with_version('shapiq')}, {with_version('scikit-learn')}"
    kind, _, dataset = game.partition("-")
    library = "xgboost" if kind == "xgboost" else "scikit-learn"
    return f", {with_version(library)}, {number_of_rows(dataset, data)} rows"


def _seeds(game: str, d: int, method: str, multiple: int) -> int:
    if method in SLOWEST_METHODS:
        return SLOWEST_SEEDS
    if game in SHAPIQ_GAMES:
        return SHAPIQ_SEEDS
    most = multiple == MULTIPLES[-1]
    if d > MANY_PLAYERS:
        return FEW_SEEDS if most or method in SLOW_METHODS else SEEDS
    slow = method in SLOW_METHODS and d >= SLOW_PLAYERS and game not in CLOSED_FORMS  # these have one row, not ten
    return FEW_SEEDS if most and slow else SEEDS


def summarised(table: DataFrame) -> DataFrame:
    """Means over seeds of the error relative to the mean square of the exact values, with 95% intervals."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for (game, method, multiple), group in table.groupby(["game", "method", "multiple"], sort=False):
        lines.append(
            {
                "game": game,
                "d": int(group["d"].iloc[0]),
                "multiple": int(multiple),
                "method": method,
                **relative_error(group),
                "evaluations": group["evaluations"].mean(),
                "own_seconds": group["own_seconds"].median(),
                "seconds": group["seconds"].median(),
            }
        )
    return pd.DataFrame(lines)


def relative_error(group: DataFrame) -> dict[str, Any]:
    """Mean squared error over the seeds of a line, with its interval, relative to the mean square of the values."""
    interval = mean_interval((group["mse"] / group["size"]).to_numpy())
    reference = float((group["reference_variance"] / group["size"]).iloc[0])
    return {
        "error": interval.value,
        "low": interval.low,
        "high": interval.high,
        "reference": reference,
        "seeds": len(group),
    }
