"""How often 95% intervals hold the true value, for every method, game and budget.

    python benchmarks/intervals.py [--quick] [--out docs/results/coverage.md]

The games have 12 players and closed-form values. A budget of 20 d + 2 is the default.
"""

import argparse
from pathlib import Path

import numpy as np

import sharpley
from sharpley.games import Airport, UnanimitySum, WeightedVoting
from sharpley.methods import make_estimator

GAMES = {
    "airport": Airport(tuple(np.arange(1.0, 13.0))),
    "interactions": UnanimitySum.random(12, n_terms=60, max_order=6, rng=1),
    "voting": WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30),
}
METHODS = [method for method in sharpley.METHODS if method not in ("auto", "exact")]


def coverage(game, method, budget, seeds):
    """Share of 95% intervals that hold the true value, or None if the budget is too small for the method."""
    if make_estimator(method, game.d, np.random.default_rng(0)).minimum > budget:
        return None
    truth, held = game.shapley_values(), []
    for seed in range(seeds):
        estimate = sharpley.shapley_values(game, game.d, method=method, max_evals=budget, rng=seed)
        lower, upper = estimate.interval(0.95)
        held.append((lower - 1e-12 <= truth) & (truth <= upper + 1e-12))
    return float(np.mean(held))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few seeds, to see that it runs")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    seeds, budgets = (3, (242,)) if options.quick else (150, (242, 600, 1200))
    columns = [(name, budget) for name in GAMES for budget in budgets]
    lines = [
        f"Coverage of 95% intervals over {seeds} seeds and 12 players, with so many evaluations.",
        "",
        "| method | " + " | ".join(f"{name} {budget}" for name, budget in columns) + " |",
        "|---|" + "--:|" * len(columns),
    ]
    for method in METHODS:
        shares = [coverage(GAMES[name], method, budget, seeds) for name, budget in columns]
        lines.append(f"| {method} | " + " | ".join("–" if s is None else f"{s:.3f}" for s in shares) + " |")
        print(lines[-1], flush=True)
    page = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
