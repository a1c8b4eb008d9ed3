"""How often 95% intervals cover the true value if a game's values are random, and how accurate the values are.

    python -m sharpley_experiments.studies.noise --out docs/results/noise.md

A sum of interactions among ten players has independent normal noise of several levels, relative to the standard
deviation of its values. "noisy" gives every antithetic pair of orderings a repetition of its own (``NoisyGame``); the
other methods take the game for one without noise, and evaluate every coalition once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import sharpley
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import CallableGame, NoisyGame, NoisyGameWarning, UnanimitySum
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines

PLAYERS, TERMS, MAX_ORDER = 10, 30, 4
LEVELS = (0.01, 0.1, 0.5, 2.0)
METHODS = ("noisy", "gp", "regression", "antithetic")
MULTIPLES = (20, 50)
SEEDS = 60


def measured(level: float, method: str, multiple: int, seeds: int) -> tuple[float, float]:
    """Return coverage and relative error: means over seeds, each with a game of its own."""
    covered, errors = [], []
    for seed in range(seeds):
        plain = UnanimitySum.random(PLAYERS, n_terms=TERMS, max_order=MAX_ORDER, rng=np.random.default_rng([seed, 1]))
        function = _noisy(plain, level, np.random.default_rng([seed, 2]))
        games: sharpley.Games = NoisyGame(function, PLAYERS) if method == "noisy" else CallableGame(function, PLAYERS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoisyGameWarning)  # which is known
            found = estimated(games, "auto" if method == "noisy" else method, multiple * PLAYERS + 2, seed)
        truth = plain.shapley_values()
        lower, upper = found.interval(0.95)
        covered.append(((lower <= truth) & (truth <= upper)).mean())
        errors.append(((found.values - truth) ** 2).sum() / (truth**2).sum())
    return float(np.mean(covered)), float(np.mean(errors))


def _noisy(plain: UnanimitySum, level: float, rng: np.random.Generator) -> Callable[[Coalitions], Floats]:
    scale = level * plain(all_coalitions(PLAYERS)).std()
    return lambda coalitions: plain(coalitions) + scale * rng.normal(size=len(coalitions))


def table(seeds: int) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = markdown_head(["noise", "evaluations", *METHODS])
    for level in LEVELS:
        for multiple in MULTIPLES:
            cells = []
            for method in METHODS:
                coverage, error = measured(level, method, multiple, seeds)
                cells.append(f"{coverage:.3f}, {error:.1e}")
            lines.append(markdown_row([f"{level:g}", str(multiple * PLAYERS + 2), *cells]))
            print(lines[-1], flush=True)
    return [f"Coverage of 95% intervals, and relative error of the values; {seeds} random games each.", "", *lines]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="three seeds")
    add_out_option(parser, Path("noise.md"), "file for the table")
    options = parser.parse_args(arguments)
    write_lines(options.out, table(3 if options.quick else SEEDS))


if __name__ == "__main__":
    main()
