"""Rough games: how often 95% intervals cover, whether a tolerance keeps its promise, and whether "auto" is accurate.

    python -m sharpley_experiments.studies.rough --out docs/results

Every game of ``sharpley_experiments.battery`` is drawn anew, with other random parameters, for each of the instances,
which are not those that any setting was chosen on. A budget that pays for nearly all coalitions is left out. A run is
*blind* if all coalitions that it evaluated have the same value. Errors are compared with those of "regression" with the
same instances and seeds; the intervals of their ratios are bootstrapped over runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sharpley
from sharpley_experiments.battery.games import RoughGame, battery
from sharpley_experiments.common.quiet import estimated, without_time_warnings
from sharpley_experiments.common.style import BLUE, GREEN, GREY, ORANGE, new_figure
from sharpley_experiments.studies.common import (
    add_out_option,
    bootstrap_ratio,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

METHODS = ("auto", "regression", "antithetic")
COMPARED_WITH = "regression"
MULTIPLES = {10: ORANGE, 20: BLUE, 50: GREEN}
"""Evaluations as multiples of the number of players, and their colours."""
INSTANCES = tuple(range(100, 104))
SEEDS = 3
QUICK_GAMES = 5
TOLERANCE, TOLERATED_MULTIPLE = 0.1, 100
NEARLY_ALL = 0.9
LEAST_COVERAGE = 0.9  # of 95% intervals, below which a cell is named
AS_GOOD = 1.1  # ratio of squared errors up to which a method counts as good as another
ROUNDING = 1e-9
DPI = 150


def measured(instances: Sequence[int], seeds: int, n_games: int | None = None) -> DataFrame:
    """Measure coverage, relative errors and variances: a line for each game, method and budget."""
    import pandas as pd

    lines = []
    for position, first in enumerate(battery(instances[0])[:n_games]):
        games = [battery(instance)[position] for instance in instances]
        for multiple in MULTIPLES:
            runs = {method: _facts(games, method, multiple, seeds) for method in METHODS}
            for method, facts in runs.items():
                if len(facts):
                    seen = facts[~facts["blind"]]["coverage"].mean()
                    ratio = bootstrap_ratio(*(each["error"].to_numpy() for each in (facts, runs[COMPARED_WITH])))
                    lines.append((first.name, method, multiple, *facts.mean(), seen, *ratio, len(facts)))
        print(first.name, flush=True)
    means = ["coverage", "error", "variance", "blind"]
    names = ["game", "method", "multiple", *means, "coverage_unless_blind", "ratio", "ratio_low", "ratio_high", "runs"]
    return pd.DataFrame(lines, columns=names)


def _facts(games: Sequence[RoughGame], method: str, multiple: int, seeds: int) -> DataFrame:
    """Return a line for each run on instances of a game; none if the method needs more, or if it is nearly all."""
    import pandas as pd

    runs = [run for game in games for run in _runs(game, method, multiple, seeds)]
    return pd.DataFrame(runs, columns=["coverage", "error", "variance", "blind"])


def _runs(game: RoughGame, method: str, multiple: int, seeds: int) -> Iterator[tuple[float, float, float, bool]]:
    """Yield coverage, relative squared error and relative variance of each run, and whether it was blind."""
    budget = multiple * game.d + 2
    if not sharpley.METHODS[method].least_budget(game.d) <= budget < NEARLY_ALL * 2**game.d:
        return
    total, margin = (game.exact**2).sum(), ROUNDING * np.abs(game.exact).max()
    for seed in range(seeds):
        found = estimated(game.games, method, budget, seed)
        lower, upper = (limit[0] for limit in found.interval(0.95))
        covered = (lower - margin <= game.exact) & (game.exact <= upper + margin)
        errors = found.values[0] - game.exact
        is_blind = bool(np.abs(found.values).max() <= margin)
        yield covered.mean(), (errors**2).sum() / total, (found.standard_errors**2).sum() / total, is_blind


def tolerances(instances: Sequence[int], seeds: int, n_games: int | None = None) -> DataFrame:
    """Measure what a tolerance promises: a line for each game, with the share of runs that kept it."""
    import pandas as pd

    lines = []
    for position, first in enumerate(battery(instances[0])[:n_games]):
        stopped, kept = 0, 0
        for instance in instances:
            game = battery(instance)[position]
            for seed in range(seeds):
                with without_time_warnings(), warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # a tolerance that was missed, which is counted
                    found = sharpley.estimate(
                        game.games, tol=TOLERANCE, max_evals=TOLERATED_MULTIPLE * game.d, rng=seed, progress=False
                    )
                if np.all(found.converged):
                    error = np.abs(found.values[0] - game.exact).max() / max(np.ptp(game.exact), np.finfo(float).tiny)
                    stopped, kept = stopped + 1, kept + (error <= 2.0 * TOLERANCE)
        lines.append((first.name, len(instances) * seeds, stopped, kept))
        print(*lines[-1], flush=True)
    return pd.DataFrame(lines, columns=["game", "runs", "converged", "kept"])


def draw(table: DataFrame, note: str) -> Figure:
    """Draw coverage as dots: a row for each game, the worst of "auto" first, and a panel for each method."""
    names = list(table[table["method"] == METHODS[0]].groupby("game")["coverage"].min().sort_values().index)
    figure = new_figure("Share of 95% intervals that contain the Shapley value, on rough games", note, (9.0, 8.0))
    panels = figure.subplots(1, len(METHODS), sharey=True)
    for panel, method in zip(panels, METHODS, strict=True):
        panel.axvspan(0.90, 0.99, color=GREY, alpha=0.2, linewidth=0)
        for multiple, colour in MULTIPLES.items():
            mine = table[(table["method"] == method) & (table["multiple"] == multiple)]
            places = [len(names) - names.index(name) for name in mine["game"]]
            panel.scatter(mine["coverage"], places, s=18, color=colour, label=f"{multiple} d evaluations")
        panel.set_title(method, fontsize=10)
        panel.set_xlim(0.0, 1.03)
        panel.grid(axis="y", linewidth=0.3)
        panel.set_axisbelow(True)
    panels[0].set_yticks(range(len(names), 0, -1), names, fontsize=8)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    return figure


def summary(table: DataFrame, stopping: DataFrame) -> list[str]:
    """Return a table of the lowest coverages of every method, and what became of the tolerance."""
    lines = markdown_head(["method", "budget", "lowest coverage", "game", "below .90", "mean coverage"])
    for method in METHODS:
        for multiple in MULTIPLES:
            mine = table[(table["method"] == method) & (table["multiple"] == multiple)]
            worst = mine.loc[mine["coverage"].idxmin()]
            below = f"{int((mine['coverage'] < LEAST_COVERAGE).sum())} of {len(mine)}"
            cells = [f"{worst['coverage']:.2f}", worst["game"], below, f"{mine['coverage'].mean():.3f}"]
            lines.append(markdown_row([method, f"{multiple} d", *cells]))
    mine = table[table["method"] == METHODS[0]]
    lines += ["", _below(mine), "", _blind(mine), "", _compared(mine)]
    kept, stopped = int(stopping["kept"].sum()), int(stopping["converged"].sum())
    missed = stopping[stopping["kept"] < stopping["converged"]]
    where = "; ".join(f"{row.game}: {row.converged - row.kept} of {row.converged}" for row in missed.itertuples())
    lines += [
        "",
        f'With tol={TOLERANCE} and at most {TOLERATED_MULTIPLE} d evaluations, "auto" stopped in {stopped} of '
        f"{int(stopping['runs'].sum())} runs, in {kept / max(stopped, 1):.1%} of them with no error above twice the "
        f"tolerance. {'Missed: ' + where + '.' if where else ''}",
    ]
    return lines


def _below(table: DataFrame) -> str:
    """Name all cells of "auto" whose coverage is too low."""
    low = table[table["coverage"] < LEAST_COVERAGE].sort_values("coverage")
    told = [f"{row.game} at {row.multiple} d {row.coverage:.2f}" for row in low.itertuples()]
    return f'Coverage of "auto" below {LEAST_COVERAGE:.2f}: {"; ".join(told) or "nowhere"}.'


def _blind(table: DataFrame) -> str:
    """Say in which games runs were blind, and how often intervals covered in all runs of these games."""
    told = [
        f"{row.game} at {row.multiple} d: {row.blind:.0%} ({row.coverage:.0%} of all intervals cover, "
        f"{row.coverage_unless_blind:.0%} of those of the other runs)"
        for row in table[table["blind"] > 0].itertuples()
    ]
    return f'Runs of "auto" in which all evaluated coalitions have the same value: {"; ".join(told) or "none"}.'


def _compared(table: DataFrame) -> str:
    """Say how the errors of "auto" compare with those of the regression."""
    above, surely = table[table["ratio"] > AS_GOOD], table[table["ratio_low"] > AS_GOOD]
    named = "; ".join(
        f"{row.game} at {row.multiple} d {row.ratio:.2f} [{row.ratio_low:.2f}, {row.ratio_high:.2f}]"
        for row in above.sort_values("ratio", ascending=False).itertuples()
    )
    return (
        f'Mean squared error of "auto", divided by that of "{COMPARED_WITH}": {table["ratio"].median():.2f} in the '
        f"median, above {AS_GOOD} in {len(above)} of {len(table)} cells, and in {len(surely)} with the whole of its "
        f"95% interval{': ' + named if named else ''}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="few games, one instance and one seed")
    add_out_option(parser, Path("rough"), "folder for the tables and the figure")
    options = parser.parse_args(arguments)
    instances, seeds, n_games = (INSTANCES[:1], 1, QUICK_GAMES) if options.quick else (INSTANCES, SEEDS, None)
    options.out.mkdir(parents=True, exist_ok=True)
    table, stopping = measured(instances, seeds, n_games), tolerances(instances[:2], seeds, n_games)
    table.to_csv(options.out / "rough.csv", index=False, float_format="%.4g", lineterminator="\n")
    stopping.to_csv(options.out / "rough_tolerance.csv", index=False, lineterminator="\n")
    note = f"{len(instances)} instances of each game, {seeds} seeds"
    draw(table, note).savefig(options.out / "rough.png", dpi=DPI, metadata={"Software": None})
    write_lines(options.out / "rough.md", summary(table, stopping))


if __name__ == "__main__":
    main()
