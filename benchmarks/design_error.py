"""Mean squared errors of Shapley values from orderings: designs against every other sampler, on six data sets.

    python benchmarks/design_error.py --data ../shared/data --out docs/results

XGBoost with default settings (100 rounds, log-odds for classes), 100 background rows, 10 explained rows,
exact values in closed form. Every method gets the same n orderings, all in one sample (no replicates).
Herding and SBQ draw fresh candidates for every seed. Intervals are 95% bootstrap intervals over seeds of the
mean. Takes half an hour on one core.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import itertools
from pathlib import Path

import numpy as np
import xgboost
from rich.progress import track
from sklearn.datasets import make_regression

from sharpley import SAMPLERS, PermutationDesign
from sharpley.games import TreeGame
from sharpley.samplers.greedy import GreedySampler

METHODS = ("antithetic", "orthogonal", "sobol", "herding", "sbq", "design")
SIZES = (10, 32, 100, 316, 1000)
N_ROWS, N_BACKGROUND, SEEDS = 10, 100, 25
CLASSES = ("bank", "breast_cancer", "adult")


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "make_regression":
        return make_regression(1000, 10, random_state=0)
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.adult("107")[:2] if name == "adult" else getattr(module, name)()[:2]


NAMES = ("cal_housing", "make_regression", "bank", "breast_cancer", "year", "adult")


def make_game(folder: Path, name: str) -> TreeGame:
    x, y = load(folder, name)
    model = (xgboost.XGBClassifier if name in CLASSES else xgboost.XGBRegressor)(n_estimators=100).fit(x, y)
    rng = np.random.default_rng(0)
    background, rows = (x[rng.choice(len(x), n, replace=False)] for n in (N_BACKGROUND, N_ROWS))
    return TreeGame(model, background, rows)


def errors(game: TreeGame, exact: np.ndarray, method: str, seed: int) -> list[float]:
    """Mean squared error at each size; nested samples are evaluated once, to the largest size."""
    if method == "design":
        sampler = PermutationDesign(game.d, rng=seed)
        means = [game.contributions(sampler.random(n)).mean(axis=1) for n in SIZES]
    else:
        options = {"fresh": True} if issubclass(SAMPLERS[method], GreedySampler) else {}
        sampler = SAMPLERS[method](game.d, rng=seed, **options)
        orderings = sampler.random(max(SIZES))
        contributions = game.contributions(orderings)
        weights = [sampler.weights(orderings[:n]) for n in SIZES]
        means = [np.einsum("n,rnd->rd", w, contributions[:, : len(w)]) for w in weights]
    return [float(((mean - exact) ** 2).mean()) for mean in means]


def interval(values: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    means = rng.choice(values, size=(4000, len(values))).mean(axis=1)
    return tuple(np.quantile(means, [0.025, 0.975]))


def measure(folder: Path, names: list[str], seeds: int) -> list[list]:
    rows = []
    for name in names:
        game = make_game(folder, name)
        exact = game.shapley_values()
        for method in METHODS:
            runs = [errors(game, exact, method, s) for s in track(range(seeds), description=f"{name} {method}")]
            for n, values in zip(SIZES, np.array(runs).T, strict=True):
                rows.append([name, game.d, n, method, values.mean(), *interval(values)])
    return rows


def markdown(rows: list[list], seeds: int) -> str:
    lines = [
        f"Mean squared errors over {seeds} seeds, with 95% intervals; the lowest of each line is bold. "
        "The last column is the design's error over that of the best other method.",
        "",
        "| data set | d | n | " + " | ".join(METHODS) + " | ratio |",
        "|---|--:|--:|" + "--:|" * (len(METHODS) + 1),
    ]
    for (name, d, n), group in itertools.groupby(sorted(rows, key=order), key=lambda row: row[:3]):
        cells = {row[3]: row[4:] for row in group}
        best = min(cells, key=lambda method: cells[method][0])
        texts = []
        for method in METHODS:
            mean, low, high = cells[method]
            text = f"{mean:.2e} ({low:.1e} to {high:.1e})"
            texts.append(f"**{text}**" if method == best else text)
        others = min(cell[0] for method, cell in cells.items() if method != "design")
        lines.append(f"| {name} | {d} | {n} | " + " | ".join(texts) + f" | {cells['design'][0] / others:.2f} |")
    return "\n".join(lines) + "\n"


def order(row: list) -> tuple:
    return NAMES.index(row[0]), row[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--only", nargs="*", default=NAMES, help="data sets")
    options = parser.parse_args()
    rows = measure(options.data, options.only, options.seeds)
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "design_error.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["data_set", "d", "n", "method", "mse", "mse_low", "mse_high"])
        writer.writerows([f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows)
    (options.out / "design_error.md").write_text(markdown(rows, options.seeds), encoding="utf-8")


if __name__ == "__main__":
    main()
