"""Search for designs: sets of orderings whose Mallows discrepancy is as low as possible.

With equal weights, minimising D² (the paper's Equation 8) is the same as minimising the energy Σ_ij K(σ_i, σ_j). A
design depends only on d, n and its settings, because its random start has a fixed seed and its sums are exact. It
becomes a random sample by relabelling, see ``relabelling``.

**Start.** The directions of random orthonormal bases without their negatives (``Orthogonal``), which are far apart but
not antithetic; for fewer than d orderings and for nested sets, the directions together with their negatives. Designs of
fewer than d/2 orderings consist of antithetic pairs throughout, which are exact for interactions of two players; with
this few orderings there is no better way of being even.

**Descent.** Sweeps of improving adjacent transpositions (``_sweep``), first with four times the requested scale of the
kernel, then with twice the scale, then with the scale itself. The larger scales separate close neighbours, which avoids
poor local minima. Small designs are the best of up to 20 starts.

**Limits.** The descent stops when its work is used up, which is counted in operations, not in seconds. If d > 2,896,
there is no look-up table of kernel values, and the start is returned as it is. The study
``sharpley_experiments.studies.designs`` measures these choices.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import factorial

import numpy as np

from sharpley._support import cache as _cache
from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.kernels import Mallows, SummableKernel
from sharpley.permutations.orderings import all_orderings, with_reverses
from sharpley.samplers.orthogonal import Orthogonal

VERSION = 1  # of the algorithm; cached files of other versions are ignored
SEED = 2022  # of the first start
SCALE_FACTORS = (4.0, 2.0, 1.0)  # multiples of the requested scale, in the order of the sweeps
MIN_UNPAIRED_FRACTION = 0.5  # of d: designs of fewer orderings consist of antithetic pairs
MAX_COMPARISONS = 5 * 10**9  # of two players, for each scale: about two seconds
WALKS_PER_ORDERING = 4  # that a first sweep needs, approximately
MAX_CODE_BYTES = 2**28  # of the packed orderings
MAX_RESTARTS = 20
MAX_RESTART_WORK = 2 * 10**6  # n²d summed over the restarts: some tenths of a second
MIN_CACHED_WORK = 10**4  # n²d: designs with less are computed about as fast as a file is read
FIXED_POINT_ONE = 2.0**36  # kernel values are rounded to multiples of 2^−36: sums of 2^16 of them are exact
MAX_PLAYERS_ENUMERATED = 7  # 5,040 orderings
MAX_EXCHANGES = 1000  # of two players that are tried at a time, for kernels of few features
MAX_EXCHANGE_SWEEPS = 20
ROUNDING = 1e-12  # relative change of a sum that is due to rounding


def largest_design(d: int) -> int:
    """Return the largest n for which a first sweep stays within the work and the packed orderings fit into memory."""
    return max(1, min(int((MAX_COMPARISONS / (WALKS_PER_ORDERING * d)) ** 0.5), MAX_CODE_BYTES * 16 // d**2))


@lru_cache(maxsize=32)
def design(d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Return a design of n ≤ ``largest_design(d)`` orderings, (n, d), read-only; with ``paired``, n must be even."""
    # All d! orderings together have discrepancy 0: copies of them leave only the remainder to be chosen.
    if d <= MAX_PLAYERS_ENUMERATED and n >= factorial(d):
        copies, rest = divmod(n, factorial(d))
        parts = [np.tile(_whole_group(d), (copies, 1)), design(d, rest, scale, paired)]
        return _frozen(np.concatenate(parts))
    if n < 2:
        return _frozen(np.tile(np.arange(d), (n, 1)))
    return _cached("design", d, n, scale, paired)


@lru_cache(maxsize=32)
def nested_design(d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Return orderings, (n, d), read-only, each of which is chosen greedily given those before it."""
    return _cached("nested", d, n, scale, paired)


@lru_cache(maxsize=32)
def counted_design(kernel: SummableKernel, d: int, n: int) -> Orderings:
    """Return orderings, (n, d), read-only, at a local minimum of the discrepancy of a kernel of few features.

    The moves are exchanges of any two players of an ordering; sums over the other orderings are look-ups.
    """
    compute = partial(_exchanged, kernel, d, n)
    return (
        _frozen(compute())
        if n * n * d < MIN_CACHED_WORK
        else _cache.cached(f"{kernel}-v{VERSION}-d{d}-n{n}", n, d, compute)
    )


def _exchanged(kernel: SummableKernel, d: int, n: int) -> Orderings:
    orderings = start_orderings(d, n, SEED, with_negatives=False)
    rng, total = np.random.default_rng(SEED), kernel.total(orderings)
    every = np.array(np.triu_indices(d, k=1)).T
    for _ in range(MAX_EXCHANGE_SWEEPS):
        before = orderings.copy()
        for i in range(n):
            others = total - kernel.total(orderings[i : i + 1])
            swaps = every if len(every) <= MAX_EXCHANGES else rng.permutation(every)[:MAX_EXCHANGES]
            orderings[i] = _best_exchange(kernel, orderings[i], others, swaps)
            total = others + kernel.total(orderings[i : i + 1])
        if np.array_equal(before, orderings):
            break
    return orderings


def _best_exchange(kernel: SummableKernel, ordering: Orderings, others: Floats, swaps: np.ndarray) -> Orderings:
    """Exchange two players of an ordering (d,), the best two of those in ``swaps``, as long as that helps."""
    rows = np.arange(len(swaps))[:, None]
    while len(swaps):
        candidates = np.tile(ordering, (len(swaps), 1))
        candidates[rows, swaps] = candidates[rows, swaps[:, ::-1]]
        sums = kernel.sums(np.concatenate([ordering[None], candidates]), others)
        best = int(sums.argmin())
        if sums[best] >= sums[0] - ROUNDING * abs(sums[0]):
            break
        ordering = candidates[best - 1]
    return ordering


def _whole_group(d: int) -> Orderings:
    """Return all d! orderings, each followed by its reverse."""
    everything = all_orderings(d)
    return everything if d == 1 else with_reverses(everything[everything[:, 0] < everything[:, -1]])


def _cached(kind: str, d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Return a design from the cache on disk, or compute it; small designs are not stored."""
    compute = partial(minimised, kind, d, n, scale, paired)
    if n * n * d < MIN_CACHED_WORK:
        return _frozen(compute())
    variant = "paired" if paired else "plain"
    return _cache.cached(f"{kind}-v{VERSION}-d{d}-n{n}-scale{scale!r}-{variant}", n, d, compute)


def minimised(kind: str, d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Compute a design of kind "design" or "nested", (n, d), without using the cache."""
    if kind == "design" and not paired and n < MIN_UNPAIRED_FRACTION * d:
        return minimised(kind, d, n + n % 2, scale, paired=True)[:n]
    descended = _nested if kind == "nested" else _best_of_restarts
    return with_reverses(descended(d, n // 2, scale, paired)) if paired else descended(d, n, scale, paired)


def _nested(d: int, n: int, scale: float, paired: bool) -> Orderings:
    from sharpley.samplers._sweep import grow

    orderings = start_orderings(d, n, SEED, with_negatives=not paired)
    values = whole_kernel_values(d, scale, paired)
    if values is not None:
        grow(orderings, player_major_ranks(orderings), *kernel_differences(values))
    return orderings


def _best_of_restarts(d: int, n: int, scale: float, paired: bool) -> Orderings:
    with_negatives = n < d and not paired
    restarts = 1 if n < d else max(1, min(MAX_RESTARTS, MAX_RESTART_WORK // (n * n * d)))
    found = [
        descended(start_orderings(d, n, SEED + k, with_negatives=with_negatives), scale, paired)
        for k in range(restarts)
    ]
    values = whole_kernel_values(d, scale, paired)
    if restarts == 1 or values is None:
        return found[0]
    return min(found, key=lambda orderings: _energy(orderings, values))


def _energy(orderings: Orderings, values: Floats) -> float:
    """Return Σ_ij K(σ_i, σ_j), an integer, so that equal energies are equal on every machine."""
    from sharpley.permutations import _bits

    n = len(orderings)
    return float(_bits.table_rows(_bits.pack(orderings), values, np.ones(n), 0, n).sum())


def descended(orderings: Orderings, scale: float, paired: bool) -> Orderings:
    """Lower the energy of orderings, in place, by sweeps with larger scales first; return them."""
    from sharpley.samplers._sweep import sweep

    ranks = player_major_ranks(orderings)
    for factor in SCALE_FACTORS:
        values = whole_kernel_values(orderings.shape[1], factor * scale, paired)
        if values is not None:
            sweep(orderings, ranks, *kernel_differences(values), MAX_COMPARISONS)
    return orderings


def start_orderings(d: int, n: int, seed: int, *, with_negatives: bool) -> Orderings:
    """Return the orderings of random orthonormal bases, (n, d); a smaller n returns the first of a larger n."""
    spherical = Orthogonal(d, rng=seed)
    return spherical.random(n).copy() if with_negatives else spherical.random(2 * n)[::2].copy()


def player_major_ranks(orderings: Orderings) -> np.ndarray:
    """Return the ranks of the players in each ordering, (d, n)."""
    ranks = np.argsort(orderings, axis=1).T
    return np.ascontiguousarray(ranks, dtype=np.int16 if orderings.shape[1] < 2**15 else np.int32)


def whole_kernel_values(d: int, scale: float, paired: bool) -> Floats | None:
    """Return the kernel values, rounded to integers, for each number of discordant pairs, (C(d, 2) + 1,).

    If ``paired``, an ordering is compared with both orderings of every other antithetic pair, so the values are
    S(m) + S(N − m) with N = C(d, 2). The result is None if there are too many players for a look-up table; with that
    many players there is little to gain.
    """
    values = Mallows(scale).discordance_table(d)
    if values is None:
        return None
    return np.rint(FIXED_POINT_ONE * (values + values[::-1] if paired else values))


def kernel_differences(values: Floats) -> tuple[Floats, Floats]:
    """Return the arrays ``up`` and ``gain`` of ``_sweep``, (C(d, 2) + 1,) each."""
    steps = np.diff(values)
    up, down = np.append(steps, 0.0), np.append(0.0, -steps)
    return up, down - up


def _frozen(orderings: Orderings) -> Orderings:
    orderings.flags.writeable = False
    return orderings
