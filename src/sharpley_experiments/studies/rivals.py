"""Rivals since the paper: other ways to choose orderings, beside ``design`` and the paper's best.

    python -m sharpley_experiments.studies.rivals --data ../shared/data --out docs/results/rivals.md

- *foldover*: half of the orderings are annealed by random transpositions, so that the mean squared rank correlation
  (Kendall's τ) between them is as low as possible; the other half are their reverses (as in arXiv 2605.27248).
- *component orthogonal array*: for a prime p ≥ d, the p (p − 1) orderings k ↦ a k + b modulo p, in which every two
  players occur at every two positions equally often; players from d on are left out, and n of the rows are used.
- *kernel thinning*: random orderings, four or sixteen times as many, are halved again and again: of each pair of
  orderings one is kept, so that the mean of the Mallows kernel over the kept half stays near the mean over both.

All are relabelled at random. The first table has discrepancies (Mallows, λ = 4), as the paper's Table 4; the second has
squared errors of Shapley values of ten rows of XGBoost models from 100 orderings, relative to ``design``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import sharpley
from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import discordant_pairs, with_reverses
from sharpley.samplers.base import random_orderings
from sharpley_experiments.studies.common import (
    add_data_option,
    add_out_option,
    bootstrap_ratio,
    markdown_head,
    markdown_row,
    study_parser,
    tree_game,
    write_lines,
)

SIZES = tuple((d, n) for d in (10, 50, 200) for n in (10, 100, 1000) if d * n < 200_000)  # beyond, annealing is slow
QUICK_SIZES = ((10, 10), (10, 100))
PAPERS_BEST = {
    (10, 10): ".240 (SBQ)",
    (10, 100): ".056 (SBQ)",
    (10, 1000): ".013 (herding)",
    (50, 10): ".269 (orthogonal)",
    (50, 100): ".072 (orthogonal)",
    (50, 1000): ".022 (Sobol')",
    (200, 10): ".272 (orthogonal, Sobol')",
    (200, 100): ".083 (orthogonal)",
}
"""The lowest discrepancy in the paper's Table 4."""
MODELS, QUICK_MODELS = ("make_regression", "bank"), ("make_regression",)
ORDERINGS = 100
SEEDS, SEEDS_ON_MODELS, QUICK_SEEDS = 2, 5, 1
ANNEALING_STEPS, HOT, COLD = 20_000, 0.05, 1e-5
MOST_THINNED = 4000


def foldover(d: int, n: int, rng: np.random.Generator) -> Orderings:
    """Return annealed orderings with their reverses, (n, d)."""
    half = random_orderings(rng, (n + 1) // 2, d)
    n_pairs = d * (d - 1) / 2
    energies = _squared_correlations(half, half, n_pairs)
    np.fill_diagonal(energies, 0.0)
    for temperature in np.geomspace(HOT, COLD, ANNEALING_STEPS):
        i = int(rng.integers(len(half)))
        start, length = int(rng.integers(d - 1)), 1 + int(rng.integers(max(1, d // 10)))
        j, k = start, min(d - 1, start + length)
        changed = half[i].copy()
        changed[[j, k]] = changed[[k, j]]
        row = _squared_correlations(changed[None], half, n_pairs)[0]
        row[i] = 0.0
        if rng.random() < np.exp(min(0.0, (energies[i].sum() - row.sum()) / temperature)):
            half[i], energies[i], energies[:, i] = changed, row, row
    return with_reverses(half)[:n]


def _squared_correlations(a: Orderings, b: Orderings, n_pairs: float) -> Floats:
    return np.asarray((1.0 - 2.0 * discordant_pairs(a, b) / n_pairs) ** 2)


def component_orthogonal_array(d: int, n: int, rng: np.random.Generator) -> Orderings:
    """Return n rows of component orthogonal arrays of the smallest prime p ≥ d, (n, d)."""
    p = next(p for p in range(max(2, d), 2 * d + 2) if all(p % q for q in range(2, int(p**0.5) + 1)))
    found: list[Orderings] = []
    while sum(map(len, found)) < n:
        slopes, shifts = np.repeat(np.arange(1, p), p), np.tile(np.arange(p), p - 1)
        rows = (slopes[:, None] * np.arange(p) + shifts[:, None]) % p
        kept = rows[rows < d].reshape(len(rows), d)
        found.append(rng.permutation(d)[kept[rng.permutation(len(kept))]])
    return np.concatenate(found)[:n]


def kernel_thinning(d: int, n: int, rng: np.random.Generator) -> Orderings:
    """Return random orderings that were halved again and again, (n, d)."""
    halvings = 4 if 16 * n <= MOST_THINNED else 2
    kept = random_orderings(rng, n * 2**halvings, d)
    for _ in range(halvings):
        gram = sharpley.Mallows(4.0).gram(kept)
        imbalance = np.zeros(len(kept))  # Σ ± K(σ, ·) over the pairs so far
        chosen = np.empty(len(kept) // 2, dtype=np.int64)
        for pair in range(len(chosen)):
            first, second = 2 * pair, 2 * pair + 1
            keep_first = imbalance[first] <= imbalance[second]
            chosen[pair] = first if keep_first else second
            imbalance += (gram[first] - gram[second]) * (1.0 if keep_first else -1.0)
        kept = kept[chosen]
    return kept


def _of_sampler(name: str, d: int, n: int, rng: np.random.Generator) -> Orderings:
    return sharpley.SAMPLERS[name](d, rng=rng).random(n)


RIVALS: dict[str, Callable[[int, int, np.random.Generator], Orderings]] = {
    "random": partial(_of_sampler, "monte-carlo"),
    "component orthogonal array": component_orthogonal_array,
    "kernel thinning": kernel_thinning,
    "foldover": foldover,
    "orthogonal": partial(_of_sampler, "orthogonal"),
    "design": partial(_of_sampler, "design"),
}


def discrepancies(sizes: Sequence[tuple[int, int]], seeds: int) -> Iterator[str]:
    """Yield the table of discrepancies."""
    yield from markdown_head(["d, n", "paper's best", *RIVALS])
    for d, n in sizes:
        means = []
        for make in RIVALS.values():
            found = [sharpley.discrepancy(make(d, n, np.random.default_rng([d, n, seed]))) for seed in range(seeds)]
            means.append(f"{np.mean(found):.4f}")
        line = markdown_row([f"{d}, {n}", PAPERS_BEST[d, n], *means])
        print(line, flush=True)
        yield line


def errors(models: Sequence[str], data: Path, seeds: int) -> Iterator[str]:
    """Yield the table of squared errors relative to ``design``."""
    yield from markdown_head(["model", *RIVALS])
    for name in models:
        game = tree_game(name, data)
        exact = game.shapley_values()
        squared = {}
        for rival, make in RIVALS.items():
            drawn = [make(game.d, ORDERINGS, np.random.default_rng([game.d, seed])) for seed in range(seeds)]
            values = [sharpley.from_orderings(game, orderings).values for orderings in drawn]
            squared[rival] = np.array([((found - exact) ** 2).mean() for found in values])
        ratios = [bootstrap_ratio(squared[rival], squared["design"]) for rival in RIVALS]
        line = markdown_row(
            [f"{name}, d = {game.d}", *(f"{r.value:.2f} ({r.low:.2f} to {r.high:.2f})" for r in ratios)]
        )
        print(line, flush=True)
        yield line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="few sizes, seeds and models")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    sizes, seeds = (QUICK_SIZES, QUICK_SEEDS) if options.quick else (SIZES, SEEDS)
    models, model_seeds = (QUICK_MODELS, QUICK_SEEDS) if options.quick else (MODELS, SEEDS_ON_MODELS)
    lines = [
        f"Discrepancies (Mallows, λ = 4), means of {seeds} seeds:",
        "",
        *discrepancies(sizes, seeds),
        "",
        f"Squared errors of {ORDERINGS} orderings, relative to `design`, over {model_seeds} seeds:",
        "",
        *errors(models, options.data, model_seeds),
    ]
    if options.out:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
