"""The paper's Table 4: discrepancy and seconds of every method at d = 10, 50, 200 and n = 10, 100, 1000.

The sequential Bayesian quadrature cells at n = 1000, which the paper leaves out for their run time, are here.
Herding and quadrature draw fresh candidates for every trial, as the paper does. Permutation designs stand
beside the paper's methods; their discrepancy does not vary, and their seconds are those of finding them, not
of reusing what was found.
"""

from __future__ import annotations

import csv
import itertools
import time
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import track

from sharpley._checks import check_count
from sharpley.kernels import Mallows
from sharpley.quadrature import discrepancy
from sharpley.samplers import SAMPLERS
from sharpley.samplers.greedy import GreedySampler
from sharpley.samplers.minimise import minimised

DIMENSIONS = (10, 50, 200)
SIZES = (10, 100, 1000)
METHODS = ("antithetic", "orthogonal", "sobol", "herding", "sbq")
DESIGN = "design"
KERNEL = Mallows(4.0)


class Cell(NamedTuple):
    """One cell of the table, with the paper's figures beside ours (None where it has none)."""

    d: int
    n: int
    method: str
    discrepancy_mean: float
    discrepancy_std: float
    seconds: float
    paper_mean: float | None
    paper_std: float | None
    paper_seconds: float | None


def run(out: Path, *, trials: int = 25) -> list[Path]:
    """Measure all 45 cells, and the designs beside them, and write them to ``out`` as CSV and as Markdown."""
    trials = check_count("trials", trials, minimum=2)
    paper = _paper_cells()
    keys = list(itertools.product(DIMENSIONS, SIZES, (*METHODS, DESIGN)))
    for method in (*METHODS, DESIGN):
        _measure(10, 10, method, seed=0)  # compiles, so that no cell is charged for it
    cells = [_cell(*key, trials, paper) for key in track(keys, description="Table of discrepancies")]
    out.mkdir(parents=True, exist_ok=True)
    table, page = out / "table_discrepancy.csv", out / "table_discrepancy.md"
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Cell._fields)
        writer.writerows([_rounded(value) for value in cell] for cell in cells)
    page.write_text(_markdown(cells, trials), encoding="utf-8")
    return [table, page]


def _measure(d: int, n: int, method: str, seed: int) -> tuple[float, float]:
    """Discrepancy of one sample, and the seconds it took to draw it and its weights."""
    start = time.perf_counter()
    if method == DESIGN:
        orderings = minimised("design", d, n, KERNEL.scale, paired=False)
        weights = None
    else:
        fresh = {"fresh": True} if issubclass(SAMPLERS[method], GreedySampler) else {}
        sampler = SAMPLERS[method](d, rng=seed, **fresh)
        orderings = sampler.random(n)
        weights = sampler.weights(orderings)
    seconds = time.perf_counter() - start
    return discrepancy(orderings, weights, kernel=KERNEL), seconds


def _cell(d: int, n: int, method: str, trials: int, paper: dict[tuple[int, int, str], list[float]]) -> Cell:
    measured = np.array([_measure(d, n, method, seed) for seed in range(2 if method == DESIGN else trials)])
    mean, std = measured[:, 0].mean(), measured[:, 0].std(ddof=1)
    printed = paper.get((d, n, method), [None, None, None])
    return Cell(d, n, method, float(mean), float(std), float(np.median(measured[:, 1])), *printed)


def _paper_cells() -> dict[tuple[int, int, str], list[float]]:
    text = files("sharpley.experiments").joinpath("paper_discrepancy.csv").read_text(encoding="utf-8")
    return {
        (int(row["d"]), int(row["n"]), row["algorithm"]): [
            float(row[name]) for name in ("discrepancy_mean", "discrepancy_std", "seconds_mean")
        ]
        for row in csv.DictReader(text.splitlines())
    }


def _rounded(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _markdown(cells: list[Cell], trials: int) -> str:
    lines = [
        f"Means and standard deviations over {trials} trials, seconds as the median of a trial. Designs do not vary.",
        "",
        "| d | n | method | discrepancy | sd | seconds | paper | paper's sd | paper's seconds |",
        "|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    best = {
        key: min(cell.discrepancy_mean for cell in group)
        for key, group in itertools.groupby(cells, key=lambda cell: (cell.d, cell.n))
    }
    for cell in cells:
        mean = f"{cell.discrepancy_mean:.4f}"
        if cell.discrepancy_mean == best[cell.d, cell.n]:
            mean = f"**{mean}**"
        printed = ["–" if value is None else f"{value:.3f}" for value in cell[6:]]
        lines.append(
            f"| {cell.d} | {cell.n} | {cell.method} | {mean} | {cell.discrepancy_std:.4f} "
            f"| {cell.seconds:.4f} | " + " | ".join(printed) + " |"
        )
    return "\n".join(lines) + "\n"
