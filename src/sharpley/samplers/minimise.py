"""Sets of orderings with the lowest Mallows discrepancy that can be found: the designs.

A design depends on d, n and its settings alone: its random start has a fixed seed, and its sums are exact. It becomes a
random sample by relabelling, see ``relabelling``.

**Start.** The directions of random orthonormal bases without their negatives (``Orthogonal``), which are far
apart but not paired; below d orderings, and for nested sets, with the negatives. Below d/2 orderings designs are
made of pairs throughout, which are exact for pairwise interactions: so few orderings cannot be even in any other way.

**Descent.** Sweeps of improving adjacent transpositions (``_sweep``), first with four times the scale, then
twice, then the scale asked for. The larger scales spread neighbours, which gets around poor local minima. Small
designs are the best of up to 20 starts.

**Limits.** The descent stops when the work is used up, which is counted, not timed. Beyond d = 2,896 there is no
table of kernel values, and the start is left as it is. The choices are measured in
``sharpley_experiments.studies.designs``.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import factorial

import numpy as np

from sharpley._support import cache as _cache
from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.kernels import Mallows
from sharpley.permutations.orderings import all_orderings, with_reverses
from sharpley.samplers.orthogonal import Orthogonal

VERSION = 1  # of the algorithm: files of other versions are not used
SEED = 2022
SCALES = (4.0, 2.0, 1.0)
PAIRED_BELOW = 0.5  # times d
WORK = 5 * 10**9  # comparisons for each scale: about two seconds
WALKS = 4  # for each ordering that a first sweep needs, about
CODE_BYTES = 2**28  # held at most as bit sets of pairs
RESTARTS, RESTART_WORK = 20, 2 * 10**6  # starts at most, and n²d summed over them: some tenths of a second
WORTH_KEEPING = 10**4  # n²d: below, computing is about as fast as reading a file
WHOLE_NUMBERS = 2.0**36  # kernel values are rounded to 2^-36: sums of 2^16 of them stay exact
ENUMERABLE = 7  # up to 5,040 orderings


def largest_design(d: int) -> int:
    """Orderings in a design at most, so that a first sweep fits the work and the bit sets fit the memory."""
    return max(1, min(int((WORK / (WALKS * d)) ** 0.5), CODE_BYTES * 16 // d**2))


@lru_cache(maxsize=32)
def design(d: int, n: int, scale: float, paired: bool) -> Orderings:
    """A design of n ≤ ``largest_design(d)`` orderings, (n, d), read-only; with ``paired``, n is even."""
    if d <= ENUMERABLE and n >= factorial(d):  # the whole group has discrepancy 0: only the rest is to be chosen
        copies, rest = divmod(n, factorial(d))
        parts = [np.tile(_whole_group(d), (copies, 1)), design(d, rest, scale, paired)]
        return _frozen(np.concatenate(parts))
    if n < 2:
        return _frozen(np.tile(np.arange(d), (n, 1)))
    return _kept("design", d, n, scale, paired)


@lru_cache(maxsize=32)
def nested_design(d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Orderings of which every first part is as even as a greedy choice makes it, (n, d), read-only."""
    return _kept("nested", d, n, scale, paired)


def _whole_group(d: int) -> Orderings:
    """All orderings, each followed by its reverse."""
    everything = all_orderings(d)
    return everything if d == 1 else with_reverses(everything[everything[:, 0] < everything[:, -1]])


def _kept(kind: str, d: int, n: int, scale: float, paired: bool) -> Orderings:
    compute = partial(minimised, kind, d, n, scale, paired)
    if n * n * d < WORTH_KEEPING:
        return _frozen(compute())
    variant = "paired" if paired else "plain"
    return _cache.cached(f"{kind}-v{VERSION}-d{d}-n{n}-scale{scale!r}-{variant}", n, d, compute)


def minimised(kind: str, d: int, n: int, scale: float, paired: bool) -> Orderings:
    """Find a design of kind "design" or "nested", whether or not one is kept."""
    if kind == "design" and not paired and n < PAIRED_BELOW * d:
        return minimised(kind, d, n + n % 2, scale, paired=True)[:n]
    descended = _nested if kind == "nested" else _best_of_restarts
    return with_reverses(descended(d, n // 2, scale, paired)) if paired else descended(d, n, scale, paired)


def _nested(d: int, n: int, scale: float, paired: bool) -> Orderings:
    from sharpley.samplers._sweep import grow

    orderings = _start(d, n, SEED, with_negatives=not paired)
    values = _whole_numbers(d, scale, paired)
    if values is not None:
        grow(orderings, _player_major(orderings), *_differences(values))
    return orderings


def _best_of_restarts(d: int, n: int, scale: float, paired: bool) -> Orderings:
    with_negatives = n < d and not paired
    restarts = 1 if n < d else max(1, min(RESTARTS, RESTART_WORK // (n * n * d)))
    found = [_descend(_start(d, n, SEED + k, with_negatives=with_negatives), scale, paired) for k in range(restarts)]
    values = _whole_numbers(d, scale, paired)
    if restarts == 1 or values is None:
        return found[0]
    return min(found, key=lambda orderings: _energy(orderings, values))


def _energy(orderings: Orderings, values: Floats) -> float:
    """Sum of kernel values between all orderings: a whole number, so that ties are ties on every machine."""
    from sharpley.permutations import _bits

    return float(_bits.table_product(_bits.pack(orderings), values, np.ones(len(orderings))).sum())


def _descend(orderings: Orderings, scale: float, paired: bool) -> Orderings:
    from sharpley.samplers._sweep import sweep

    ranks = _player_major(orderings)
    for factor in SCALES:
        values = _whole_numbers(orderings.shape[1], factor * scale, paired)
        if values is not None:
            sweep(orderings, ranks, *_differences(values), WORK)
    return orderings


def _start(d: int, n: int, seed: int, *, with_negatives: bool) -> Orderings:
    """The points of random orthonormal bases; those of fewer are the first of those of more."""
    spherical = Orthogonal(d, rng=seed)
    return spherical.random(n).copy() if with_negatives else spherical.random(2 * n)[::2].copy()


def _player_major(orderings: Orderings) -> np.ndarray:
    ranks = np.argsort(orderings, axis=1).T
    return np.ascontiguousarray(ranks, dtype=np.int16 if orderings.shape[1] < 2**15 else np.int32)


def _whole_numbers(d: int, scale: float, paired: bool) -> Floats | None:
    """Kernel values by discordant pairs; in pairs, an ordering meets both members of every other pair.

    None if there are too many players for a table; so many leave little to gain.
    """
    values = Mallows(scale).discordance_table(d)
    if values is None:
        return None
    return np.rint(WHOLE_NUMBERS * (values + values[::-1] if paired else values))


def _differences(values: Floats) -> tuple[Floats, Floats]:
    """``up`` and ``gain`` of ``_sweep``."""
    steps = np.diff(values)
    up, down = np.append(steps, 0.0), np.append(0.0, -steps)
    return up, down - up


def _frozen(orderings: Orderings) -> Orderings:
    orderings.flags.writeable = False
    return orderings
