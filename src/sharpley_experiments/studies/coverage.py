"""How often 95% intervals hold the true value, for every method: on games with closed forms, and on real models.

    python benchmarks/intervals.py [--quick] [--data ../shared/data] [--out docs/results/coverage.md]

The games have 12 players; a budget of 20 d + 2 is the default. The models are XGBoost's, ten rows of each data set
against 100 background rows, with values in closed form; players that cannot matter in a row are left out.
"""

import argparse
from pathlib import Path

import numpy as np

import sharpley
from sharpley.engine.methods import gp_unbiased, make_estimator
from sharpley.games import Airport, TreeGame, UnanimitySum, WeightedVoting
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import make_task, train_xgboost
from sharpley_experiments.common.quiet import estimated

GAMES = {
    "airport": Airport(tuple(np.arange(1.0, 13.0))),
    "interactions": UnanimitySum.random(12, n_terms=60, max_order=6, rng=1),
    "voting": WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30),
    "two big voters": WeightedVoting((30, 20, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1), quota=48),
}
UNBIASED = "gp, unbiased"
METHODS = [*(method for method in sharpley.METHODS if method not in ("auto", "exact")), UNBIASED]
DATA = ("cal_housing", "make_regression", "bank", "breast_cancer", "year", "adult")
OF_MODELS = ("antithetic", "design", "regression", "gp", UNBIASED)
MULTIPLES = (5, 10, 20, 50)
FEW_SEEDS = 60


def coverage(game, method, budget, seeds):
    """Share of 95% intervals that hold the true value, or None if the budget is too small for the method."""
    if minimum(method, game.d) > budget:
        return None
    truth, held = game.shapley_values(), []
    for seed in range(seeds):
        unbiased = method == UNBIASED
        name = "gp" if unbiased else method
        run = sharpley.shapley_values(game, game.d, method=name, max_evals=budget, rng=seed, unbiased=unbiased)
        lower, upper = run.interval(0.95)
        held.append((lower - 1e-12 <= truth) & (truth <= upper + 1e-12))
    return float(np.mean(held))


def coverage_of_model(game, method, budget, seeds):
    """The same for all rows of a model."""
    varying = game.varying()
    if minimum(method, int(varying.sum(axis=1).max())) > budget or budget >= 2**game.d:
        return None
    truth, held = game.shapley_values(), []
    for seed in range(seeds):
        unbiased = method == UNBIASED
        found = estimated(game, "gp" if unbiased else method, budget, seed, unbiased=unbiased)
        lower, upper = (limits[:, :, 0] for limits in found.interval(0.95))
        held.append(((lower - 1e-9 <= truth) & (truth <= upper + 1e-9))[varying])
    return float(np.mean(np.concatenate(held)))


def minimum(method, d):
    return make_estimator(gp_unbiased if method == UNBIASED else method, d, np.random.default_rng(0)).minimum


def table(head, methods, columns, share):
    """A line for each method; ``share(method, column)`` gives its cells."""
    lines = ["| method | " + " | ".join(head) + " |", "|---|" + "--:|" * len(columns)]
    for method in methods:
        shares = [share(method, column) for column in columns]
        lines.append(f"| {method} | " + " | ".join("–" if s is None else f"{s:.3f}" for s in shares) + " |")
        print(lines[-1], flush=True)
    return [*lines, ""]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few seeds, to see that it runs")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    seeds, budgets = (3, (242,)) if options.quick else (150, (242, 600, 1200))
    columns = [(name, budget) for name in GAMES for budget in budgets]
    few = min(seeds, FEW_SEEDS)
    lines = [
        f"Coverage of 95% intervals over {seeds} seeds ({few} of gp) and 12 players, by evaluations.",
        "",
    ]
    head = [f"{name} {budget}" for name, budget in columns]

    def share(method, column):
        name, budget = column
        return coverage(GAMES[name], method, budget, few if method in ("gp", UNBIASED) else seeds)

    lines += table(head, METHODS, columns, share)
    model_seeds = 1 if options.quick else 3
    lines += [f"The same for XGBoost models: {model_seeds} seeds, ten rows, all players that matter.", ""]
    for name in DATA[1:2] if options.quick else DATA:
        dataset = load(name, options.data)
        task = make_task(dataset, train_xgboost(dataset))
        game = TreeGame(task.model, task.background, task.rows)
        head = [f"{name} {multiple} d" for multiple in MULTIPLES]
        budgets = [multiple * game.d + 2 for multiple in MULTIPLES]
        lines += table(
            head,
            OF_MODELS,
            budgets,
            lambda method, budget, game=game: coverage_of_model(game, method, budget, model_seeds),
        )
    if options.out:
        options.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
