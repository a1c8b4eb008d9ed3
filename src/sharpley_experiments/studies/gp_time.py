"""Own time of ``gp`` for ten rows, and its error compared with that of fitting each row alone.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m sharpley_experiments.studies.gp_time --data ../shared/data

Processor seconds for a row, without model calls, on XGBoost models: breast_cancer with 30 players and 1,502
evaluations, adult with 107 players and 5,352. "fitted by itself" learns the hyperparameters of each row from that row
alone, with all iterations; the error of the shared fit should be at most twice as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import NamedTuple

import numpy as np

from sharpley.games import TreeGame
from sharpley_experiments.studies.common import add_data_option, markdown_head, markdown_row, study_parser, tree_game
from sharpley_experiments.studies.gp_internals import GaussianProcessRun

CASES, QUICK_CASES = (("breast_cancer", 1502), ("adult", 5352)), (("make_regression", 202),)
"""Data sets and budgets."""

SEEDS = 5
COLUMNS = (
    *("data set", "d", "evaluations", "seconds a row", "fitted by itself"),
    *("error", "fitted by itself", "ratio"),
)


class Outcome(NamedTuple):
    """Processor seconds for a row, and mean squared errors divided by the mean of φ²."""

    seconds: float
    seconds_alone: float
    error: float
    error_alone: float


def measure(game: TreeGame, budget: int, seed: int) -> Outcome:
    """Estimate all rows together, and then each alone from the same coalitions."""
    run = GaussianProcessRun(game.d, seed)
    start = process_time()
    run.choose(budget)
    choosing = process_time() - start
    values = np.atleast_2d(game(run.coalitions))
    exact = game.shapley_values()
    start = process_time()
    together = run.estimate(values)
    sharing = process_time() - start
    alone = np.concatenate([run.estimate(row[None]) for row in values])
    fitting_alone = process_time() - start - sharing
    errors = [float(((found - exact) ** 2).mean() / (exact**2).mean()) for found in (together, alone)]
    return Outcome((choosing + sharing) / len(values), (choosing + fitting_alone) / len(values), *errors)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one small case")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    cases, n_seeds = (QUICK_CASES, 1) if options.quick else (CASES, SEEDS)
    print("\n".join(markdown_head(COLUMNS)))
    for name, budget in cases:
        game = tree_game(name, options.data)
        mean = Outcome(*np.mean([measure(game, budget, seed) for seed in range(n_seeds)], axis=0))
        seconds = f"{mean.seconds:.3f}", f"{mean.seconds_alone:.3f}"
        errors = f"{mean.error:.1e}", f"{mean.error_alone:.1e}", f"{mean.error / mean.error_alone:.2f}"
        print(markdown_row([name, game.d, budget, *seconds, *errors]), flush=True)


if __name__ == "__main__":
    main()
