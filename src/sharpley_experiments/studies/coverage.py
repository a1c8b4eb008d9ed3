"""How often 95% intervals cover the true value, for every method: on games with closed forms, and on real models.

    python -m sharpley_experiments.studies.coverage --data ../shared/data --out docs/results/coverage.md

The games have 12 players; a budget of 20 d + 2 is the default. The models are XGBoost's, with ten rows of each data set
explained against 100 background rows and exact values in closed form; players that cannot matter in a row are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import sharpley
from sharpley._support.typing import Floats
from sharpley.games import Airport, TreeGame, UnanimitySum, WeightedVoting, as_games
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.studies.common import (
    DATA_SETS,
    QUICK_DATA_SETS,
    add_data_option,
    add_out_option,
    markdown_head,
    markdown_row,
    study_parser,
    tree_game,
    write_lines,
)

GAMES: dict[str, Airport | UnanimitySum | WeightedVoting] = {
    "airport": Airport(tuple(np.arange(1.0, 13.0))),
    "interactions": UnanimitySum.random(12, n_terms=60, max_order=6, rng=1),
    "voting": WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30),
    "two big voters": WeightedVoting((30, 20, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1), quota=48),
}
METHODS = tuple(name for name, record in sharpley.METHODS.items() if record.factory is not None and name != "exact")
METHODS_ON_MODELS = ("antithetic", "design", "regression", "gp", "gp-unbiased")
BUDGETS, QUICK_BUDGETS = (242, 600, 1200), (242,)
"""Evaluations on games."""
MULTIPLES = (5, 10, 20, 50)
"""Evaluations on models, as multiples of the number of players."""
SEEDS, QUICK_SEEDS, SEEDS_OF_GP = 150, 3, 60
SEEDS_ON_MODELS, QUICK_SEEDS_ON_MODELS = 3, 1

Column = TypeVar("Column")


def coverage(game: Airport | UnanimitySum | WeightedVoting, method: str, budget: int, n_seeds: int) -> float | None:
    """Return the share of 95% intervals that cover the true value; None if the budget is too small for the method."""
    if sharpley.METHODS[method].least_budget(game.d) > budget:
        return None
    games, truth = as_games(game), game.shapley_values()
    runs = (estimated(games, method, budget, seed) for seed in range(n_seeds))
    covered = [_covers(run.interval(0.95), truth, 1e-12) for run in runs]
    return float(np.mean(covered))


def coverage_on_model(game: TreeGame, method: str, budget: int, n_seeds: int) -> float | None:
    """Return the same share for all rows of a model; None also if the budget pays for all coalitions."""
    varying = game.varying()
    most_players = int(varying.sum(axis=1).max())
    if sharpley.METHODS[method].least_budget(most_players) > budget or budget >= 2**game.d:
        return None
    truth = game.shapley_values()
    runs = (estimated(game, method, budget, seed) for seed in range(n_seeds))
    covered = [_covers(run.interval(0.95), truth, 1e-9)[varying] for run in runs]
    return float(np.mean(np.concatenate(covered)))


def _covers(limits: tuple[Floats, Floats], truth: Floats, tolerance: float) -> NDArray[np.bool_]:
    lower, upper = limits
    return (lower - tolerance <= truth) & (truth <= upper + tolerance)


def table(
    headings: Sequence[str],
    methods: Sequence[str],
    columns: Sequence[Column],
    share: Callable[[str, Column], float | None],
) -> list[str]:
    """Return a table with a line for each method, and print its lines as they are measured.

    Parameters
    ----------
    headings : sequence of str
        One for each column.
    methods : sequence of str
    columns : sequence
        What ``share`` needs to know of each column.
    share : callable
        ``share(method, column)`` is the number in a cell, or None if there is none.
    """
    lines = markdown_head(["method", *headings])
    for method in methods:
        shares = [share(method, column) for column in columns]
        lines.append(markdown_row([method, *("–" if value is None else f"{value:.3f}" for value in shares)]))
        print(lines[-1], flush=True)
    return lines


def table_of_games(n_seeds: int, budgets: Sequence[int]) -> list[str]:
    """Measure all methods on games with closed forms."""
    seeds_of_gp = min(n_seeds, SEEDS_OF_GP)
    columns = [(name, budget) for name in GAMES for budget in budgets]

    def share(method: str, column: tuple[str, int]) -> float | None:
        name, budget = column
        return coverage(GAMES[name], method, budget, seeds_of_gp if method in ("gp", "gp-unbiased") else n_seeds)

    title = f"Coverage of 95% intervals over {n_seeds} seeds ({seeds_of_gp} of gp) and 12 players, by evaluations."
    return [title, "", *table([f"{name} {budget}" for name, budget in columns], METHODS, columns, share)]


def tables_of_models(names: Sequence[str], data: Path, n_seeds: int) -> Iterator[str]:
    """Measure some methods on XGBoost models of data sets, a table for each, and yield the lines."""
    yield f"The same for XGBoost models: {n_seeds} seeds, ten rows, all players that matter."
    for name in names:
        game = tree_game(name, data)

        def share(method: str, budget: int, game: TreeGame = game) -> float | None:
            return coverage_on_model(game, method, budget, n_seeds)

        budgets = [multiple * game.d + 2 for multiple in MULTIPLES]
        yield ""
        yield from table([f"{name} {multiple} d" for multiple in MULTIPLES], METHODS_ON_MODELS, budgets, share)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="few seeds")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    n_seeds, budgets = (QUICK_SEEDS, QUICK_BUDGETS) if options.quick else (SEEDS, BUDGETS)
    names, model_seeds = (QUICK_DATA_SETS, QUICK_SEEDS_ON_MODELS) if options.quick else (DATA_SETS, SEEDS_ON_MODELS)
    lines = [*table_of_games(n_seeds, budgets), "", *tables_of_models(names, options.data, model_seeds)]
    if options.out:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
