"""All uses that the studies make of the search for designs beyond its public interface."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import with_reverses
from sharpley.samplers import minimise

DESIGN_SCALE = 4.0
"""The scale λ of the Mallows kernel that designs are made for."""

NOT_TABULATED = "kernel values are tabulated for at most 2,896 players, got {}"

SWEEP_FACTORS = minimise.SCALE_FACTORS
"""Multiples of the scale at which designs are swept, one after the other."""


def ranks_by_player(orderings: Orderings) -> NDArray[np.signedinteger]:
    """Return the ranks (d, n) of each player in each of the orderings (n, d), as the compiled sweeps read them."""
    return minimise.player_major_ranks(orderings)


def whole_kernel_values(d: int, scale: float = DESIGN_SCALE, *, paired: bool = False) -> Floats:
    """Return Mallows kernel values by the number of discordant pairs, as whole numbers, so that sums are exact."""
    values = minimise.whole_kernel_values(d, scale, paired)
    if values is None:
        raise ValueError(NOT_TABULATED.format(d))
    return values


def swept(orderings: Orderings, factors: Sequence[float] = SWEEP_FACTORS, *, paired: bool = False) -> Orderings:
    """Lower the discrepancy of orderings by adjacent transpositions, and return the new orderings.

    Parameters
    ----------
    orderings : (n, d) int
        They are not changed.
    factors : sequence of float
        Multiples of ``DESIGN_SCALE`` at which the orderings are swept, one after the other.
    paired : bool
        Whether each ordering is followed by its reverse in the result, which then has 2n orderings.
    """
    from sharpley.samplers._sweep import sweep

    orderings = orderings.copy()
    ranks = ranks_by_player(orderings)
    for factor in factors:
        values = whole_kernel_values(orderings.shape[1], factor * DESIGN_SCALE, paired=paired)
        sweep(orderings, ranks, *minimise.kernel_differences(values), minimise.MAX_COMPARISONS)
    return with_reverses(orderings) if paired else orderings


def library_design(d: int, n: int) -> Orderings:
    """Return the library's design, (n, d), before players are relabelled at random."""
    return minimise.design(d, n, DESIGN_SCALE, False)


@cache
def design_without_negatives(d: int, n: int) -> Orderings:
    """Return a design from orthogonal directions alone, (n, d), even if there are fewer orderings than players."""
    start = minimise.start_orderings(d, n, minimise.SEED, with_negatives=False)
    return minimise.descended(start, DESIGN_SCALE, paired=False)
