"""The seam between games and what evaluates them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats

PairEvaluator: TypeAlias = Callable[[NDArray[np.int64], Coalitions], Floats]
"""Values of coalitions for given rows: (p,) and (p, d) -> (p, k)."""


class PairGame(Protocol):
    """What can be evaluated on pairs of a row and a coalition."""

    @property
    def pairs_per_call(self) -> int:
        """Pairs to be asked for in one call of an evaluator."""

    def evaluator(self) -> PairEvaluator:
        """A function with memory of its own, so that several can run at once."""


class RowGames(PairGame, Protocol):
    """Games of the same d players, one for each row that is to be explained."""

    @property
    def d(self) -> int:
        """Number of players."""

    @property
    def is_scalar(self) -> bool:
        """Whether there is one output without an axis of its own; known after ``endpoints``."""

    @property
    def predictions_per_value(self) -> int:
        """Predictions of a model behind the value of one coalition; 1 if there is no model."""

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition for every row, (n_rows, 2, k)."""

    def varying(self) -> Coalitions:
        """Which players can matter in which rows, (n_rows, d)."""
