"""How many steps of orderings with draws of their own a row can afford.

A walk costs one evaluation for each player that differs between the row and the draw, so that a row that has much in
common with the draws can afford more steps than others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.base import Block
from sharpley.estimators.draws.controls import NO_BIN, make_controls
from sharpley.games.base import DrawFacts

LEAST_STEPS = 2
MAX_CONTRIBUTIONS = 2**24  # steps × players of one row, kept until the estimate: 128 MB
DRAWS_TO_COUNT = 64  # draws in which differing players are counted, if nothing else is known of them
STEPS_BITS = 5  # numbers of steps are rounded down to this many significant bits, so that more rows share them
SPARE_FACTOR = 2.0  # standard deviations of the cost of a sample that are kept in reserve


def affordable_steps(block: Block, orderings_per_step: int, budget: int) -> NDArray[np.int64]:
    """Return how many steps each row can afford, (r,), from the players that are expected to differ in a draw.

    ``budget`` is what the walks may cost, without the values of ∅ and N.
    """
    expected, spread = np.full(len(block.rows), float(block.games.d)), np.zeros(len(block.rows))
    if block.facts is not None:
        expected, spread = _expected_players(block, block.facts)
    ends = -1.0 if block.ends_known else 1.0
    cost = orderings_per_step * np.maximum(expected + ends, 0.5)
    free = float(budget)
    count = free / cost
    count = (free - SPARE_FACTOR * orderings_per_step * spread * np.sqrt(count)) / cost
    most = max(LEAST_STEPS, MAX_CONTRIBUTIONS // block.games.d)
    count = np.clip(count, LEAST_STEPS, most).astype(np.int64)
    return np.where(spread > 0, _rounded_down(count), count)


def fewer_steps(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what rows try next that could not afford so many steps."""
    return np.maximum(LEAST_STEPS, steps - np.maximum(1, steps // 32))


def _expected_players(block: Block, facts: DrawFacts) -> tuple[Floats, Floats]:
    """Return the mean number of players that differ in a draw, and its standard deviation at most, (r,) each."""
    games, rows = block.games, block.rows
    if facts.columns.shape[1] == 0:  # nothing is known of the players: some draws have to tell
        some = block.generator().integers(games.n_draws, size=DRAWS_TO_COUNT)
        differ = [games.differing(np.full(len(some), row), some).sum(axis=1) for row in rows]
        return np.mean(differ, axis=1), np.std(differ, axis=1)
    expected, spread = np.full(len(rows), float(games.d)), np.zeros(len(rows))
    controls = make_controls(facts, block.weights, games.d)
    for player, bins in enumerate(controls.players):
        same = controls.shared_bins(facts.row_columns[rows], player)
        if bins is not None and (same != NO_BIN).any():
            share = np.where(same == NO_BIN, 0.0, np.minimum(bins.sums[same, 0], 1.0))
            expected, spread = expected - share, spread + np.sqrt(share * (1.0 - share))
    return expected, spread


def _rounded_down(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round down to STEPS_BITS significant bits."""
    shifts = np.maximum(0, np.floor(np.log2(counts)).astype(np.int64) + 1 - STEPS_BITS)
    return (counts >> shifts) << shifts
