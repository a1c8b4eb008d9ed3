"""``sharpley demo``: what the samplers do, in one table and one picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sharpley import plotting
from sharpley.quadrature import discrepancy
from sharpley.samplers import SAMPLERS

PLAYERS = 10
SIZES = (10, 20, 50, 100, 200, 500)
TRIALS = 5


def run(out: Path) -> None:
    """Compare the discrepancies of all samplers; print a table and save a picture in ``out``."""
    console = Console()
    curves = {
        name: [_mean_discrepancy(name, n) for n in SIZES]
        for name in track(SAMPLERS, description="Sampling", console=console, transient=True)
    }
    console.print(_table(curves))
    out.mkdir(parents=True, exist_ok=True)
    ax = plotting.convergence(SIZES, curves, ylabel="discrepancy (Mallows, λ = 4)")
    ax.set_title(f"Orderings of {PLAYERS} players: lower is better")
    path = out / "discrepancy.png"
    plotting.save(ax, path)
    console.print(f"Picture: {path}")


def _mean_discrepancy(name: str, n: int) -> float:
    def one(seed: int) -> float:
        sampler = SAMPLERS[name](PLAYERS, rng=seed)
        orderings = sampler.random(n)
        return discrepancy(orderings, sampler.weights(orderings))

    return float(np.mean([one(seed) for seed in range(TRIALS)]))


def _table(curves: dict[str, list[float]]) -> Table:
    table = Table(
        title=f"Discrepancy of n orderings of {PLAYERS} players (mean of {TRIALS} trials)",
        caption="The worst-case error of a mean over permutations: lower is better.",
    )
    table.add_column("method")
    for n in SIZES:
        table.add_column(f"n = {n}", justify="right")
    best = np.min(list(curves.values()), axis=0)
    for name, values in curves.items():
        cells = [f"{v:.3f}" for v in values]
        table.add_row(
            name,
            *(f"[bold]{c}[/]" if v == b else c for c, v, b in zip(cells, values, best, strict=True)),
        )
    return table
