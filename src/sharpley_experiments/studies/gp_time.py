"""Own time of "gp" for ten rows, and its error against that of fitting each row by itself.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/gp_time.py [--data ../shared/data] [--quick]

Processor seconds for a row, model calls apart, on XGBoost models: breast_cancer with 30 players and 1,502
evaluations, adult with 107 players and 5,352. "by itself" learns the hyperparameters of every row from that row
alone, with all
iterations; the error of the shared fit is to be at most twice as large.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from sharpley.coalitions.store import CoalitionStore
from sharpley.estimators import GaussianProcessEstimator
from sharpley.games import TreeGame
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import make_task, train_xgboost

CASES = (("breast_cancer", 1502), ("adult", 5352))


def measure(game, budget, seed):
    estimator, store = GaussianProcessEstimator(game.d, rng=seed), CoalitionStore(game.d)
    start = time.process_time()
    estimator.extend(store, budget, None)
    choosing = time.process_time() - start
    values = game(store.since(0))[:, :, None]
    exact = game.shapley_values()
    start = time.process_time()
    shared = estimator.estimate(values).values[:, :, 0]
    sharing = time.process_time() - start
    alone = np.concatenate([estimator.estimate(row[None]).values[:, :, 0] for row in values])
    by_itself = time.process_time() - start - sharing
    errors = [((found - exact) ** 2).mean() / (exact**2).mean() for found in (shared, alone)]
    return [(choosing + sharing) / len(values), (choosing + by_itself) / len(values), *errors]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--quick", action="store_true", help="one small case, to see that it works")
    options = parser.parse_args(arguments)
    cases, seeds = ((("make_regression", 202),), 1) if options.quick else (CASES, 5)
    print("| data set | d | evaluations | seconds a row | fitted by itself | error | fitted by itself | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, budget in cases:
        dataset = load(name, options.data)
        task = make_task(dataset, train_xgboost(dataset))
        game = TreeGame(task.model, task.background, task.rows)
        seconds, alone, error, error_alone = np.mean([measure(game, budget, seed) for seed in range(seeds)], axis=0)
        cells = f"{seconds:.3f} | {alone:.3f} | {error:.1e} | {error_alone:.1e} | {error / error_alone:.2f}"
        print(f"| {name} | {game.d} | {budget} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
