"""A user's game as the one-row case of the games that estimators evaluate."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.games.base import Game, check_values
from sharpley.protocols import PairEvaluator

COALITIONS_PER_CALL = 4096


@final
class PlainGame:
    """One game given as a callable; see ``sharpley.protocols.RowGames``."""

    pairs_per_call = COALITIONS_PER_CALL
    predictions_per_value = 1

    def __init__(self, game: Game, d: int) -> None:
        if not callable(game):
            raise TypeError(f"game must be callable with bool coalitions (m, d), got {game!r}")
        if getattr(game, "n_rows", 1) != 1:
            raise ValueError("a MarginalGame of several rows is as many games; explain them with Explainer.estimate")
        self._game = game
        self.d = d
        self.is_scalar = True

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition, (1, 2, k)."""
        ends = np.array([[False] * self.d, [True] * self.d])
        raw = np.asarray(self._game(ends))
        self.is_scalar = raw.ndim == 1
        return check_values(raw, ends)[None]

    def evaluator(self) -> PairEvaluator:
        """The game itself, with its values checked."""
        return self._values

    def _values(self, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        return check_values(self._game(coalitions), coalitions)

    def varying(self) -> Coalitions:
        """Nothing is known of the players beforehand: all may matter."""
        return np.ones((1, self.d), dtype=bool)
