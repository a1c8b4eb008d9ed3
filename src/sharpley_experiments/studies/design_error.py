"""Mean squared errors of Shapley values from orderings: designs against every other sampler, on six data sets.

    python benchmarks/design_error.py --data ../shared/data --out docs/results

XGBoost with default settings (100 rounds, log-odds for classes), 100 background rows, 10 explained rows,
exact values in closed form. Every method gets the same n orderings, all in one sample (no replicates). Herding
and SBQ draw fresh candidates for every seed. A second table compares variants of designs. Intervals are 95%
bootstrap intervals over seeds of the mean. Takes half an hour on one core.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import itertools
from functools import cache
from pathlib import Path

import numpy as np
import xgboost
from rich.progress import track
from sklearn.datasets import make_regression

from sharpley import SAMPLERS, Orthogonal, PermutationDesign
from sharpley.games import TreeGame
from sharpley.samplers import minimise
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


@cache
def without_negatives(d: int, n: int) -> np.ndarray:
    """A design from orthogonal directions alone, also where there are fewer orderings than players."""
    return minimise._descend(minimise._start(d, n, minimise.SEED, with_negatives=False), 4.0, paired=False)


VARIANTS = {
    "orthogonal": lambda d, n, rng: Orthogonal(d, rng=rng).random(n),
    "design": lambda d, n, rng: PermutationDesign(d, rng=rng).random(n),
    "paired": lambda d, n, rng: PermutationDesign(d, paired=True, rng=rng).random(n),
    "without negatives": lambda d, n, rng: rng.permutation(d)[without_negatives(d, n)],
    "nested": lambda d, n, rng: PermutationDesign(d, nested=True, rng=rng).random(n),
    "nested pairs": lambda d, n, rng: PermutationDesign(d, nested=True, paired=True, rng=rng).random(n),
    "scale 1": lambda d, n, rng: PermutationDesign(d, scale=1.0, rng=rng).random(n),
    "scale 2": lambda d, n, rng: PermutationDesign(d, scale=2.0, rng=rng).random(n),
    "scale 8": lambda d, n, rng: PermutationDesign(d, scale=8.0, rng=rng).random(n),
    "scale 16": lambda d, n, rng: PermutationDesign(d, scale=16.0, rng=rng).random(n),
}
VARIANT_SIZES = (10, 100)


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


def variant_errors(game: TreeGame, exact: np.ndarray, variant: str, n: int, seeds: int) -> float:
    samples = [VARIANTS[variant](game.d, n, np.random.default_rng(seed)) for seed in range(seeds)]
    return float(np.mean([(game.contributions(sample).mean(axis=1) - exact) ** 2 for sample in samples]))


def interval(values: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    means = rng.choice(values, size=(4000, len(values))).mean(axis=1)
    return tuple(np.quantile(means, [0.025, 0.975]))


def measure(name: str, game: TreeGame, seeds: int) -> list[list]:
    rows = []
    exact = game.shapley_values()
    for method in METHODS:
        runs = [errors(game, exact, method, s) for s in track(range(seeds), description=f"{name} {method}")]
        for n, values in zip(SIZES, np.array(runs).T, strict=True):
            rows.append([name, game.d, n, method, values.mean(), *interval(values)])
    return rows


def compare_variants(name: str, game: TreeGame, seeds: int) -> list[str]:
    exact = game.shapley_values()
    lines = []
    for n in VARIANT_SIZES:
        mse = {v: variant_errors(game, exact, v, n, seeds) for v in track(VARIANTS, description=f"{name} variants")}
        ratios = " | ".join(
            f"{mse[variant] / mse['orthogonal']:.2f}" for variant in VARIANTS if variant != "orthogonal"
        )
        lines.append(f"| {name} | {game.d} | {n} | {ratios} |")
    return lines


def markdown(rows: list[list], seeds: int) -> str:
    lines = [
        f"Mean squared errors over {seeds} seeds, with half the width of their 95% intervals; the lowest of each line "
        "is bold. The last columns are the design's error over that of the best other method, and over orthogonal's.",
        "",
        "| data set | d | n | " + " | ".join(METHODS) + " | ÷ best other | ÷ orthogonal |",
        "|---|--:|--:|" + "--:|" * (len(METHODS) + 2),
    ]
    for (name, d, n), group in itertools.groupby(sorted(rows, key=order), key=lambda row: row[:3]):
        cells = {row[3]: row[4:] for row in group}
        best = min(cells, key=lambda method: cells[method][0])
        texts = []
        for method in METHODS:
            mean, low, high = cells[method]
            text = f"{mean:.1e} ±{(high - low) / 2 / mean:.0%}"
            texts.append(f"**{text}**" if method == best else text)
        others = min(cell[0] for method, cell in cells.items() if method != "design")
        design = cells["design"][0]
        ratios = f"{design / others:.2f} | {design / cells['orthogonal'][0]:.2f}"
        lines.append(f"| {name} | {d} | {n} | " + " | ".join(texts) + f" | {ratios} |")
    return "\n".join(lines) + "\n"


def draw(rows: list[list], path: Path) -> None:
    """Error against the number of orderings, a panel for each data set."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row[0] for row in sorted(rows, key=order)))
    figure = Figure(figsize=(9.0, 2.9 * -(-len(names) // 3)), layout="constrained")
    panels = figure.subplots(-(-len(names) // 3), 3, squeeze=False).reshape(-1)
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    for name, panel in zip(names, panels, strict=False):
        for method in METHODS:
            mine = sorted(row[2:] for row in rows if row[0] == name and row[3] == method)
            n, _, mean, low, high = zip(*mine, strict=True)
            width = 2.2 if method == "design" else 1.1
            panel.plot(n, mean, marker="o", markersize=3, linewidth=width, label=method)
            panel.fill_between(n, low, high, alpha=0.2, linewidth=0)
        players = next(row[1] for row in rows if row[0] == name)
        panel.set(xscale="log", yscale="log", title=f"{name} (d = {players})", xlabel="orderings")
    panels[0].set_ylabel("mean squared error")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS), frameon=False)
    figure.savefig(path, dpi=110)


def read(path: Path) -> list[list]:
    with path.open() as stream:
        return [
            [row[0], int(row[1]), int(row[2]), row[3], *map(float, row[4:])] for row in list(csv.reader(stream))[1:]
        ]


def order(row: list) -> tuple:
    return NAMES.index(row[0]), row[2]


def run(data: Path, out: Path, names: tuple[str, ...], seeds: int) -> None:
    rows, variants = [], []
    for name in names:
        game = make_game(data, name)
        rows += measure(name, game, seeds)
        variants += compare_variants(name, game, seeds)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "design_error.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["data_set", "d", "n", "method", "mse", "mse_low", "mse_high"])
        writer.writerows([f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows)
    columns = list(VARIANTS)[1:]
    lines = ["| data set | d | n | " + " | ".join(columns) + " |", "|---|--:|--:|" + "--:|" * len(columns), *variants]
    (out / "design_variants_error.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--quick", action="store_true", help="two seeds on generated data, to see that it works")
    parser.add_argument("--redraw", action="store_true", help="only make table and picture from the CSV file")
    options = parser.parse_args(arguments)
    names, seeds = (("make_regression",), 2) if options.quick else (NAMES, SEEDS)
    if not options.redraw:
        run(options.data, options.out, names, seeds)
    rows = read(options.out / "design_error.csv")
    draw(rows, options.out / "design_error.png")
    (options.out / "design_error.md").write_text(markdown(rows, seeds), encoding="utf-8")


if __name__ == "__main__":
    main()
