"""All coalitions of a few players."""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Coalitions

MAX_ENUMERATED_PLAYERS = 20  # the million coalitions of 20 players take about 250 MB


def all_coalitions(d: int) -> Coalitions:
    """Return all coalitions of d players, (2^d, d) bool; row i holds the binary digits of i, player 0's lowest.

    Examples
    --------
    >>> all_coalitions(2).astype(int)
    array([[0, 0],
           [1, 0],
           [0, 1],
           [1, 1]])
    """
    bits = np.arange(2**d, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(bits, axis=1, count=d, bitorder="little").astype(bool)


def can_be_enumerated(d: int, budget: int) -> bool:
    """Return whether all coalitions of d players fit the budget and the memory."""
    return 2**d <= budget and d <= MAX_ENUMERATED_PLAYERS
