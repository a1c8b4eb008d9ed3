"""Variants of permutation designs: starts, scales, moves, annealing, pairs and weights; a lower bound at small d.

    python -m sharpley_experiments.studies.designs --out docs/results

Discrepancies (Mallows, λ = 4) are means over a few starts, with seconds. A run takes about five minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import numpy as np

from sharpley import KernelHerding, MonteCarlo, Orthogonal, discrepancy, quadrature_weights
from sharpley._support.typing import Orderings
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines
from sharpley_experiments.studies.design_bound import lower_bound
from sharpley_experiments.studies.design_internals import SWEEP_FACTORS, library_design, swept
from sharpley_experiments.studies.design_moves import Move, annealed, block_sweep, improved_further, insertion_sweep

Start: TypeAlias = Callable[[int, int, int], Orderings]
"""Returns n orderings of d players: (d, n, seed) -> (n, d)."""

Variant: TypeAlias = Callable[[int], "Orderings | float"]
"""Returns orderings from a seed, or their discrepancy if their weights are not equal."""

CASES, QUICK_CASES = ((10, 10), (10, 100), (10, 1000), (50, 10), (50, 100), (50, 1000), (200, 100)), ((5, 6),)
"""Numbers d of players and n of orderings."""

SIZES_WITH_BOUNDS = {3: (2, 3, 4, 5), 4: (2, 4, 6, 8, 12, 16), 5: (4, 10, 20, 40, 60)}
"""Numbers of orderings that the lower bound is computed for, by the number of players."""

QUICK_SIZES_WITH_BOUNDS = {3: (2,)}
STARTS: dict[str, Start] = {
    "random": lambda d, n, seed: MonteCarlo(d, rng=seed).random(n),
    "orthogonal": lambda d, n, seed: Orthogonal(d, rng=seed).random(n).copy(),
    "directions": lambda d, n, seed: Orthogonal(d, rng=seed).random(2 * n)[::2].copy(),
    "herding": lambda d, n, seed: KernelHerding(d, fresh=True, rng=seed).random(n),
}
SCHEDULES = ((1,), (2, 1), (4, 1), (4, 2, 1), (8, 4, 2, 1), (2,), (4,))
"""Multiples of the scale at which orderings are swept."""

RANDOM_STARTS = 200
LARGEST_FOR_INSERTIONS, LARGEST_FOR_BLOCKS = 10_000, 5_000
"""Maximum of d n for moves that take long."""


def variants(d: int, n: int) -> Iterator[tuple[str, Variant]]:
    """Yield the name and the maker of everything that was tried for n orderings of d players."""
    natural = STARTS["directions" if n >= d else "orthogonal"]
    for name, start in STARTS.items():
        yield f"start: {name}", _swept_from(start, d, n)
    for schedule in SCHEDULES:
        yield "scales × " + ", ".join(map(str, schedule)), _swept_from(natural, d, n, schedule)
    yield "paired", _swept_from(STARTS["directions"], d, n // 2, paired=True)
    if d * n <= LARGEST_FOR_INSERTIONS:
        yield "and insertions", _moved_from(natural, d, n, insertion_sweep)
    if d * n <= LARGEST_FOR_BLOCKS:
        yield "and block swaps", _moved_from(natural, d, n, block_sweep)
        yield "simulated annealing", lambda seed: annealed(natural(d, n, seed), seed)
    yield "best weights", lambda seed: _discrepancy_with_best_weights(swept(natural(d, n, seed)))


def _swept_from(
    start: Start, d: int, n: int, schedule: Sequence[float] = SWEEP_FACTORS, *, paired: bool = False
) -> Variant:
    return lambda seed: swept(start(d, n, seed), schedule, paired=paired)


def _moved_from(start: Start, d: int, n: int, move: Move) -> Variant:
    return lambda seed: improved_further(start(d, n, seed), move)


def _discrepancy_with_best_weights(orderings: Orderings) -> float:
    return discrepancy(orderings, quadrature_weights(orderings))


def timed(make: Variant, repeats: int) -> str:
    """Return the mean discrepancy over seeds, with the seconds that one run takes."""
    values, start = [], perf_counter()
    for seed in range(repeats):
        made = make(seed)
        values.append(made if isinstance(made, float) else discrepancy(made))
    return f"{np.mean(values):.5f} ({(perf_counter() - start) / repeats:.2g} s)"


def table_of_variants(cases: Sequence[tuple[int, int]]) -> list[str]:
    """Measure all variants, and return a table with a line for each."""
    _compile()
    table: dict[str, dict[tuple[int, int], str]] = {}
    for d, n in cases:
        for name, make in variants(d, n):
            table.setdefault(name, {})[d, n] = timed(make, 5 if n < 1000 else 2)
            print(d, n, name, table[name][d, n], flush=True)
    lines = markdown_head(["variant", *(f"d={d} n={n}" for d, n in cases)])
    return lines + [markdown_row([name, *(cells.get(case, "–") for case in cases)]) for name, cells in table.items()]


def _compile() -> None:
    """Call every compiled function once, so that compilation is not timed."""
    orderings = STARTS["random"](5, 4, 0)
    swept(orderings)
    for move in (insertion_sweep, block_sweep):
        improved_further(orderings, move)
    annealed(orderings, 0, n_temperatures=2)


def least_discrepancy(d: int, n: int) -> float:
    """Return the lowest discrepancy of designs from 200 random starts."""
    return min(discrepancy(swept(STARTS["random"](d, n, seed))) for seed in range(RANDOM_STARTS))


def table_of_bounds(numbers: Mapping[int, Sequence[int]]) -> list[str]:
    """Compare designs with the lower bound; ``numbers`` are those of orderings by that of players."""
    columns = ["d", "n", "lower bound", f"best of {RANDOM_STARTS} starts", "design", "design ÷ bound"]
    lines = markdown_head(columns, n_text=0)
    for d, n in ((d, n) for d, counts in numbers.items() for n in counts):
        bound, best, ours = lower_bound(d, n), least_discrepancy(d, n), discrepancy(library_design(d, n))
        lines.append(markdown_row([d, n, f"{bound:.4f}", f"{best:.4f}", f"{ours:.4f}", f"{ours / bound:.3f}"]))
        print(lines[-1], flush=True)
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="a few small cases")
    add_out_option(parser, Path("docs/results"), "folder to write to")
    options = parser.parse_args(arguments)
    write_lines(
        options.out / "design_bounds.md",
        table_of_bounds(QUICK_SIZES_WITH_BOUNDS if options.quick else SIZES_WITH_BOUNDS),
    )
    write_lines(options.out / "design_variants.md", table_of_variants(QUICK_CASES if options.quick else CASES))


if __name__ == "__main__":
    main()
