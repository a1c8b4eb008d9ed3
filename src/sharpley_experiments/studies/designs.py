"""What was tried for permutation designs: starts, scales, moves, annealing, pairs, weights; a lower bound at small d.

    python benchmarks/designs.py --out docs/results

Discrepancies (Mallows, λ = 4) as means over a few starts, with seconds. Takes about five minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np
from numba import njit

from sharpley import KernelHerding, Mallows, MonteCarlo, Orthogonal, all_orderings, discrepancy, quadrature_weights
from sharpley.permutations.orderings import with_reverses
from sharpley.samplers import minimise
from sharpley.samplers._sweep import sweep
from sharpley.samplers.minimise import _differences, _player_major, _whole_numbers

CASES = ((10, 10), (10, 100), (10, 1000), (50, 10), (50, 100), (50, 1000), (200, 100))
STARTS = {
    "random": lambda d, n, seed: MonteCarlo(d, rng=seed).random(n),
    "orthogonal": lambda d, n, seed: Orthogonal(d, rng=seed).random(n).copy(),
    "directions": lambda d, n, seed: Orthogonal(d, rng=seed).random(2 * n)[::2].copy(),
    "herding": lambda d, n, seed: KernelHerding(d, fresh=True, rng=seed).random(n),
}
LONGEST = 3  # players in a block that is exchanged
SCHEDULES = ((1,), (2, 1), (4, 1), (4, 2, 1), (8, 4, 2, 1), (2,), (4,))


def swept(orderings, schedule=minimise.SCALE_FACTORS, paired=False, scale=4.0):
    orderings = orderings.copy()
    ranks = _player_major(orderings)
    for factor in schedule:
        sweep(
            orderings,
            ranks,
            *_differences(_whole_numbers(orderings.shape[1], factor * scale, paired)),
            minimise.MAX_COMPARISONS,
        )
    return with_reverses(orderings) if paired else orderings


@njit
def sum_of(discordant, values, i):
    total = 0.0
    for j in range(len(discordant)):
        if j != i:
            total += values[discordant[j]]
    return total


@njit
def count_discordant(ranks, i, discordant):
    d, n = ranks.shape
    discordant[:] = 0
    for a in range(d):
        for b in range(a):
            before = ranks[a, i] < ranks[b, i]
            for j in range(n):
                discordant[j] += before != (ranks[a, j] < ranks[b, j])


@njit
def best_place(ranks, ordering, i, player, discordant, values):
    """Where to put a player back so that the sum to the other orderings is least."""
    d, n = ranks.shape
    home = ranks[player, i]
    best, best_at = sum_of(discordant, values, i) - 1e-9, home
    for direction in (-1, 1):
        trial = discordant.copy()
        k = home + direction
        while 0 <= k < d:
            for j in range(n):
                agrees = (ranks[player, j] > ranks[ordering[k], j]) == (direction > 0)
                trial[j] += -1 if agrees else 1
            total = sum_of(trial, values, i)
            if total < best:
                best, best_at = total, k
            k += direction
    return best_at


@njit
def insertion_sweep(orderings, ranks, values):
    """Take each player of each ordering out and put it back where the sum is least; return the moves made."""
    n, d = orderings.shape
    discordant = np.empty(n, np.int64)
    moves = 0
    for i in range(n):
        count_discordant(ranks, i, discordant)
        for player in range(d):
            home, place = ranks[player, i], best_place(ranks, orderings[i], i, player, discordant, values)
            if place != home:
                moves += 1
                step = 1 if place > home else -1
                for k in range(home, place, step):
                    orderings[i, k] = orderings[i, k + step]
                orderings[i, place] = player
                ranks[orderings[i], i] = np.arange(d)
                count_discordant(ranks, i, discordant)
    return moves


def improved_further(orderings, move):
    """Sweep, then make further moves until none lowers the sum."""
    orderings = swept(orderings)
    ranks = _player_major(orderings)
    values = np.rint(2.0**36 * Mallows(4.0).discordance_table(orderings.shape[1]))
    while move(orderings, ranks, values):
        pass
    return orderings


@njit
def block_sweep(orderings, ranks, values):
    """Exchange neighbouring blocks of up to ``LONGEST`` players where that lowers the sum; return the moves made."""
    n, d = orderings.shape
    discordant, trial = np.empty(n, np.int64), np.empty(n, np.int64)
    moves = 0
    for i in range(n):
        count_discordant(ranks, i, discordant)
        for start in range(d - 1):
            for lengths in range(LONGEST * LONGEST):
                middle = start + 1 + lengths // LONGEST
                stop = middle + 1 + lengths % LONGEST
                if stop > d:
                    continue
                trial[:] = discordant
                for a in orderings[i, start:middle]:
                    for b in orderings[i, middle:stop]:
                        trial += np.where(ranks[a] > ranks[b], -1, 1)
                if sum_of(trial, values, i) < sum_of(discordant, values, i) - 1e-9:
                    moves += 1
                    exchanged = np.concatenate((orderings[i, middle:stop], orderings[i, start:middle]))
                    orderings[i, start:stop] = exchanged
                    ranks[orderings[i], i] = np.arange(d)
                    count_discordant(ranks, i, discordant)
    return moves


@njit
def change_of_swap(ranks, i, a, b, discordant, values):
    change = 0.0
    for j in range(len(discordant)):
        if j != i:
            change += values[discordant[j] + (-1 if ranks[a, j] > ranks[b, j] else 1)] - values[discordant[j]]
    return change


@njit
def anneal(orderings, ranks, values, temperatures, rng):
    """Metropolis steps with random adjacent transpositions, 4d of them for each ordering at each temperature."""
    n, d = orderings.shape
    discordant = np.empty(n, np.int64)
    for temperature in temperatures:
        for i in range(n):
            count_discordant(ranks, i, discordant)
            for _ in range(4 * d):
                k = rng.integers(0, d - 1)
                a, b = orderings[i, k], orderings[i, k + 1]
                change = change_of_swap(ranks, i, a, b, discordant, values)
                if change < 0 or rng.random() < np.exp(-change / temperature):
                    discordant += np.where(ranks[a] > ranks[b], -1, 1)
                    discordant[i] = 0
                    orderings[i, k], orderings[i, k + 1] = b, a
                    ranks[a, i], ranks[b, i] = k + 1, k


def annealed(orderings, seed, sweeps=200):
    orderings = orderings.copy()
    n, d = orderings.shape
    table = Mallows(4.0).discordance_table(d)
    # From steps that are taken freely to steps that are hardly ever taken uphill.
    typical = table[0] * 4.0 / comb(d, 2) * n**0.5
    ranks = _player_major(orderings)
    anneal(orderings, ranks, table, typical * np.geomspace(1.0, 1e-3, sweeps), np.random.default_rng(seed))
    return swept(orderings, (1,))


def best_weights(orderings):
    return discrepancy(orderings, quadrature_weights(orderings))


def timed(make, d, n, repeats):
    values, start = [], time.perf_counter()
    for seed in range(repeats):
        result = make(seed)
        values.append(result if isinstance(result, float) else discrepancy(result))
    return f"{np.mean(values):.5f} ({(time.perf_counter() - start) / repeats:.2g} s)"


def variants(d, n):
    directions, natural = STARTS["directions"], STARTS["directions" if n >= d else "orthogonal"]
    for name, start in STARTS.items():
        yield f"start: {name}", lambda seed, start=start: swept(start(d, n, seed))
    for schedule in SCHEDULES:
        label = "scales × " + ", ".join(map(str, schedule))
        yield label, lambda seed, schedule=schedule: swept(natural(d, n, seed), schedule)
    yield "paired", lambda seed: swept(directions(d, n // 2, seed), paired=True)
    if d * n <= 10_000:
        yield "and insertions", lambda seed: improved_further(natural(d, n, seed), insertion_sweep)
    if d * n <= 5_000:
        yield "and block swaps", lambda seed: improved_further(natural(d, n, seed), block_sweep)
        yield "simulated annealing", lambda seed: annealed(natural(d, n, seed), seed)
    yield "best weights", lambda seed: best_weights(swept(natural(d, n, seed)))


def explored(cases: Sequence[tuple[int, int]]) -> list[str]:
    swept(STARTS["random"](5, 4, 0))
    for move in (insertion_sweep, block_sweep):
        improved_further(STARTS["random"](5, 4, 0), move)
    annealed(STARTS["random"](5, 4, 0), 0, sweeps=2)
    table: dict[str, dict[tuple[int, int], str]] = {}
    for d, n in cases:
        for name, make in variants(d, n):
            table.setdefault(name, {})[d, n] = timed(make, d, n, 5 if n < 1000 else 2)
            print(d, n, name, table[name][d, n], flush=True)
    lines = ["| variant | " + " | ".join(f"d={d} n={n}" for d, n in cases) + " |", "|---|" + "--:|" * len(cases)]
    return lines + [
        f"| {name} | " + " | ".join(cells.get(case, "–") for case in cases) + " |" for name, cells in table.items()
    ]


def lower_bound(d: int, n: int, cuts: int = 400) -> float:
    """No n orderings of d players have a lower discrepancy.

    Let A(g) = #{(i, j): σ_i⁻¹σ_j = g} / n. Then n D² = Σ_g A(g) (K(g) − E[K]), where A ≥ 0, A(identity) ≥ 1,
    ΣA = n, and the matrix A(g⁻¹h) is positive semidefinite. The least value under these conditions is found
    as a linear programme, to which eigenvectors of negative eigenvalues are added as conditions until none is
    left.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    group = all_orderings(d)
    index = {tuple(g): k for k, g in enumerate(group.tolist())}
    size = len(group)
    inverse = np.argsort(group, axis=1)
    quotient = np.array([[index[tuple(inverse[g][group[h]])] for h in range(size)] for g in range(size)])
    kernel = Mallows(4.0)
    cost = kernel.gram(group[:1], group)[0] - kernel.mean(d)
    identity = index[tuple(range(d))]
    bounds = [(1.0 if g == identity else 0.0, None) for g in range(size)]
    conditions = []
    value = np.nan
    for _ in range(cuts):
        rows = -np.array(conditions) if conditions else None
        solution = linprog(
            cost,
            A_ub=None if rows is None else csr_array(rows),
            b_ub=None if rows is None else np.zeros(len(rows)),
            A_eq=np.ones((1, size)),
            b_eq=[float(n)],
            bounds=bounds,
        )
        value = solution.fun
        matrix = solution.x[quotient]
        eigenvalues, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        worst = np.flatnonzero(eigenvalues < -1e-7)[:20]
        if len(worst) == 0:
            break
        for k in worst:
            products = np.outer(vectors[:, k], vectors[:, k])
            conditions.append(np.bincount(quotient.reshape(-1), weights=products.reshape(-1), minlength=size))
    return float(np.sqrt(max(0.0, value / n)))


def least(d: int, n: int, starts: int = 200) -> float:
    """The lowest discrepancy of many designs from random starts."""
    return min(discrepancy(swept(STARTS["random"](d, n, seed))) for seed in range(starts))


def bounds(sizes_of: dict[int, Sequence[int]]) -> list[str]:
    lines = ["| d | n | lower bound | best of 200 starts | design | design ÷ bound |", "|--:|--:|--:|--:|--:|--:|"]
    for d, sizes in sizes_of.items():
        for n in sizes:
            bound, best, ours = lower_bound(d, n), least(d, n), discrepancy(minimise.design(d, n, 4.0, False))
            lines.append(f"| {d} | {n} | {bound:.4f} | {best:.4f} | {ours:.4f} | {ours / bound:.3f} |")
            print(lines[-1], flush=True)
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--quick", action="store_true", help="a few small cases, to see that it works")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    sizes = {3: (2,)} if options.quick else {3: (2, 3, 4, 5), 4: (2, 4, 6, 8, 12, 16), 5: (4, 10, 20, 40, 60)}
    (options.out / "design_bounds.md").write_text("\n".join(bounds(sizes)) + "\n", encoding="utf-8")
    cases = ((5, 6),) if options.quick else CASES
    (options.out / "design_variants.md").write_text("\n".join(explored(cases)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
