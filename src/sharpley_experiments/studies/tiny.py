"""Tiny budgets: "gp" with chosen coalitions, compared with pairs, "regression" and shapiq's ShaplEIG.

    python -m sharpley_experiments.studies.tiny --out docs/results

ShaplEIG is measured if ``shapiq[shapleig]`` is installed, which needs Python 3.12, on all models and on every third
rough game, since it takes up to a minute for a game. All games are evaluated beforehand, so that seconds of processor
time are those of the methods. Errors are mean squared errors divided by the mean square of the values; their ratios are
geometric means over games and seeds, with 95% intervals of Student's t over games.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley_experiments.common.intervals import Interval, geometric_mean_interval
from sharpley_experiments.common.quiet import without_time_warnings
from sharpley_experiments.common.style import BLUE, GREEN, GREY, ORANGE, new_figure
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines
from sharpley_experiments.studies.tiny_games import SmallGame, model_games, rough_games

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

MULTIPLES = (2, 3, 5, 10)
OURS, PEER = "gp", "ShaplEIG"
COLOURS = {OURS: ORANGE, "gp in pairs": BLUE, "regression": GREEN, PEER: GREY}
ROWS, SEEDS = 3, 2
ROUGH_FOR_PEER = 3
MOST_FOR_PEER = 5  # evaluations of a rough game for each player; with 10, ShaplEIG takes minutes
LEAST_ERROR = 1e-6  # errors below this, of parities that were found out, count as this
ROUNDING = 1e-9
DPI = 150


class Answer(NamedTuple):
    """Values with 95% intervals."""

    values: Floats
    low: Floats
    high: Floats


def _ours(game: SmallGame, budget: int, seed: int, method: object) -> Answer:
    with without_time_warnings():
        found = sharpley.shapley_values(game, game.d, method=method, max_evals=budget, rng=seed)  # type: ignore[arg-type]
    return Answer(found.values, *found.interval(0.95))


def _shapleig(game: SmallGame, budget: int, seed: int) -> Answer:
    from shapiq.approximator import ShaplEIG

    peer = ShaplEIG(n=game.d, random_state=seed, show_progress=False)
    found, variances = peer.approximate_with_variance(budget=budget, game=game)
    values, half = found.values[1:], 1.96 * np.sqrt(variances)
    return Answer(values, values - half, values + half)


IN_PAIRS = partial(GaussianProcessEstimator, settings=GPSettings(most_single=0, paired_evals_per_player=0.0))
METHODS: dict[str, Callable[[SmallGame, int, int], Answer]] = {
    OURS: partial(_ours, method="gp"),
    "gp in pairs": partial(_ours, method=IN_PAIRS),
    "regression": partial(_ours, method="regression"),
    PEER: _shapleig,
}


def measured(games: Sequence[SmallGame], seeds: int, *, for_peer: Sequence[str]) -> DataFrame:
    """Measure every method: a line for each game and budget, with means over seeds, of errors a geometric one."""
    import pandas as pd

    lines = []
    for game in games:
        for multiple in MULTIPLES:
            for method in METHODS:
                is_slow = not game.is_model and multiple > MOST_FOR_PEER
                if method == PEER and (game.name not in for_peer or is_slow):
                    continue
                runs = np.array(list(_runs(game, method, multiple * game.d, seeds)))
                if len(runs):
                    error = np.exp(np.log(runs[:, 0]).mean())
                    lines.append((game.name, game.is_model, multiple, method, error, *runs[:, 1:].mean(axis=0)))
        print(game.name, flush=True)
    columns = ["game", "is_model", "multiple", "method", "error", "coverage", "seconds"]
    return pd.DataFrame(lines, columns=columns)


def _runs(game: SmallGame, method: str, budget: int, seeds: int) -> Iterator[tuple[float, float, float]]:
    """Yield relative squared error, coverage and seconds of each run; none if the budget is too small."""
    margin = ROUNDING * np.abs(game.exact).max()
    for seed in range(seeds):
        start = time.process_time()
        try:
            found = METHODS[method](game, budget, seed)
        except ValueError as error:
            if "too small" not in str(error):
                raise
            return
        seconds = time.process_time() - start
        covered = (found.low - margin <= game.exact) & (game.exact <= found.high + margin)
        error_of = ((found.values - game.exact) ** 2).mean() / (game.exact**2).mean()
        yield max(error_of, LEAST_ERROR), covered.mean(), seconds


def compared(table: DataFrame, is_model: bool, multiple: int, method: str) -> tuple[Interval | None, int, int]:
    """Return the geometric mean of a method's errors over those of "gp", its better games, and all games."""
    mine = table[(table["is_model"] == is_model) & (table["multiple"] == multiple)]
    errors = mine.pivot(index="game", columns="method", values="error")
    logarithms = np.log((errors[method] / errors[OURS]).dropna().to_numpy())
    interval = geometric_mean_interval(logarithms) if len(logarithms) > 1 else None
    return interval, int((logarithms < 0).sum()), len(logarithms)


def summary(table: DataFrame) -> list[str]:
    """Return a table with a line for each kind of game, budget and method."""
    head = ["games", "budget", "method", "error / gp's", "better than gp in", "coverage of 95%", "seconds"]
    lines = markdown_head(head, n_text=3)
    for is_model, kind in ((True, "models"), (False, "rough")):
        for multiple in MULTIPLES:
            for method in METHODS:
                some = table[(table["is_model"] == is_model) & (table["multiple"] == multiple)]
                some = some[some["method"] == method]
                if len(some) == 0:
                    continue
                ratio, better, n = compared(table, is_model, multiple, method)
                told = "–" if ratio is None else f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
                against = ("1", "") if method == OURS else (told, f"{better} of {n}")
                cells = [*against, f"{some['coverage'].mean():.2f}", f"{some['seconds'].mean():.2f}"]
                lines.append(markdown_row([kind, f"{multiple} d", method, *cells]))
    return lines


def draw(table: DataFrame) -> Figure:
    """Draw errors against budgets: a panel for models and one for rough games, medians with quartiles."""
    figure = new_figure("Errors at tiny budgets", "medians over games, with quartiles", (8.0, 3.8))
    panels = figure.subplots(1, 2)
    for panel, is_model in zip(panels, (True, False), strict=True):
        for shift, (method, colour) in enumerate(COLOURS.items()):
            mine = table[(table["is_model"] == is_model) & (table["method"] == method)]
            if len(mine) == 0:
                continue
            low, middle, high = (mine.groupby("multiple")["error"].quantile(q) for q in (0.25, 0.5, 0.75))
            places = middle.index.to_numpy() * 1.03 ** (shift - 1.5)
            panel.errorbar(
                places, middle, [middle - low, high - middle], fmt="o-", markersize=4, color=colour, label=method
            )
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xticks(MULTIPLES, [f"{multiple} d" for multiple in MULTIPLES])
        panel.minorticks_off()
        panel.set_xlabel("evaluations")
        panel.set_title("models" if is_model else "rough games", fontsize=10)
    panels[0].set_ylabel("relative squared error")
    panels[0].legend(fontsize=8, frameon=False)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one model and one rough game")
    add_out_option(parser, Path("tiny"), "folder for the tables and the figure")
    options = parser.parse_args(arguments)
    models = list(model_games(1 if options.quick else ROWS, quick=options.quick))
    rough = list(rough_games(quick=options.quick))
    can_compare = find_spec("botorch") is not None and find_spec("shapiq") is not None
    for_peer = [game.name for game in [*models, *rough[::ROUGH_FOR_PEER]]] if can_compare else []
    table = measured([*models, *rough], 1 if options.quick else SEEDS, for_peer=for_peer)
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out / "tiny.csv", index=False, float_format="%.3g", lineterminator="\n")
    write_lines(options.out / "tiny.md", summary(table))
    draw(table).savefig(options.out / "tiny.png", dpi=DPI, metadata={"Software": None})


if __name__ == "__main__":
    main()
