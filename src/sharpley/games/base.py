"""What a game is: anything that gives a value to coalitions of players.

A game of d players is a callable. It takes coalitions as a bool array (m, d), one row a coalition with True for its
members, and returns their values: (m,) numbers, or (m, k) for k games played at once.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sharpley._typing import ArrayLike, Coalitions, Floats


class Game(Protocol):
    """A cooperative game: bool coalitions (m, d) -> values (m,) or (m, k)."""

    def __call__(self, coalitions: Coalitions, /) -> ArrayLike:
        """Return the values of coalitions."""
        ...


class RowGames(Protocol):
    """Games of the same d players, one for each row that is to be explained; what estimators evaluate."""

    d: int
    n_rows: int
    pairs_per_call: int
    """(row, coalition) pairs to be asked for in one call of an evaluator."""

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition for every row, (n_rows, 2, k)."""
        ...

    def evaluator(self) -> PairEvaluator:
        """A function with memory of its own, so that several can run at once."""
        ...


class PairEvaluator(Protocol):
    """Values of coalitions for given rows: (p,) and (p, d) -> (p, k)."""

    def __call__(self, rows: np.ndarray, coalitions: Coalitions, /) -> Floats:
        """Return one value (or k) for each pair."""
        ...


def check_values(raw: ArrayLike, coalitions: Coalitions) -> Floats:
    """Check what a game returned for coalitions, and return it as (m, k) float."""
    values = np.asarray(raw)
    m = len(coalitions)
    if values.ndim not in (1, 2) or len(values) != m:
        raise ValueError(f"the game must return shape ({m},) or ({m}, k) for {m} coalitions, got {values.shape}")
    values = _as_float(values, "the game").reshape(m, -1)
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(f"the game must return finite values, got {values[first]} for {describe(coalitions[first])}")
    return values


def _as_float(values: np.ndarray, who: str) -> Floats:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{who} must return numbers, got dtype {values.dtype}") from None


def describe(coalition: np.ndarray) -> str:
    """Name a coalition by its members in an error message."""
    members = np.flatnonzero(coalition).tolist()
    if len(members) > 12:
        return f"the coalition of {len(members)} players {str(members[:12])[:-1]}, …]"
    return f"the coalition of players {members}"
