"""The seam of this library: games of the same players, each the mean of its draws.

Everything that is estimated is one or more games, and each of them is a mean over *draws* b,

    v(S) = mean over b of v_b(S).

For the prediction of a model at a row, a draw is a background row, from which absent features take their values. For a
game that is simply a function of coalitions there is one draw, and nothing to average.

Games can be asked for the values of single draws or for the mean over all of them. The former is all that a subclass
must define; the cost of an estimate is the number of single draws that it evaluates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.values import checked_values

Evaluate: TypeAlias = Callable[[NDArray[np.int64], Coalitions, NDArray[np.int64] | None], Floats]
"""``evaluate(rows (p,), coalitions (p, d), draws (p,))`` -> values (p, k); with ``draws=None`` means over all draws."""


class Games(ABC):
    """One or more games of the same d players, each the mean of its draws.

    ``sharpley.estimate`` accepts any of them. The games are numbered by *rows*, since those of an explanation belong to
    rows of data.

    Attributes
    ----------
    d : int
        Number of players.
    n_rows : int, default 1
        Number of games.
    n_draws : int, default 1
        Number of draws of each game.
    draw_weights : (n_draws,) float or None
        Weights of the draws, which sum to 1; equal by default.
    player_names : sequence of str or None
        Names of the players, which results carry.
    draws_per_call : int, default 4096
        Single draws that are evaluated in one call at most; it bounds memory.

    Notes
    -----
    **Subclassing.** Set ``d``, and ``n_rows`` and ``n_draws`` if they are not 1, and define ``_draws(rows, coalitions,
    draws)``: the values of p single draws, (p,) or, for k outputs, (p, k). Its arguments are the numbers of the games
    (p,), a coalition for each (p, d) and the numbers of the draws (p,). Everything else has a default; override
    ``varying`` if you know that some players cannot matter in some of the games, and ``endpoints`` or ``evaluator`` if
    the values of ∅ and N, or means over all draws, can be had at less cost. A complete class:

    >>> import numpy as np
    >>> import sharpley
    >>> class SharedCapacity(sharpley.Games):
    ...     '''Plants that serve an uncertain demand together: each draw is one scenario of the demand.'''
    ...
    ...     def __init__(self, capacities, scenarios):
    ...         self.capacities, self.scenarios = np.asarray(capacities), np.asarray(scenarios)
    ...         self.d, self.n_draws = len(self.capacities), len(self.scenarios)
    ...
    ...     def _draws(self, rows, coalitions, draws):
    ...         return np.minimum(coalitions @ self.capacities, self.scenarios[draws])
    >>> games = SharedCapacity([3.0, 2.0, 2.0], scenarios=[1.0, 4.0, 6.0, 9.0])
    >>> games([[True, False, False], [True, True, True]])  # mean sales of the first plant, and of all
    array([2.5, 4.5])
    >>> sharpley.estimate(games).values.round(2)
    array([[1.92, 1.29, 1.29]])
    """

    d: int
    n_rows: int = 1
    n_draws: int = 1
    draw_weights: Floats | None = None
    player_names: Sequence[str] | None = None
    draws_per_call: int = 4096

    @abstractmethod
    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        """Values of single draws: (p,), (p, d) and (p,) -> (p,) or (p, k)."""

    @property
    def values_per_call(self) -> int:
        """Means over all draws that are evaluated in one call at most."""
        return max(1, self.draws_per_call // self.n_draws)

    def evaluator(self) -> Evaluate:
        """Return a function that evaluates the games; several such functions may be used at the same time."""
        return self._evaluate

    def endpoints(self) -> Floats:
        """Values of the empty and of the full coalition of every game, (n_rows, 2, k)."""
        rows = np.repeat(np.arange(self.n_rows), 2)
        ends = np.tile(np.array([[False] * self.d, [True] * self.d]), (self.n_rows, 1))
        return self._in_calls(rows, ends).reshape(self.n_rows, 2, -1)

    def varying(self) -> Coalitions:
        """Which players can matter in which games, (n_rows, d); all of them if nothing is known."""
        return np.ones((self.n_rows, self.d), dtype=bool)

    def __call__(self, coalitions: ArrayLike) -> Floats:
        """Values of coalitions (m, d): (m,), with an axis of rows in front and one of outputs behind if several."""
        masks = np.asarray(coalitions, dtype=bool)
        if masks.ndim != 2 or masks.shape[1] != self.d:
            raise ValueError(f"coalitions must have shape (m, {self.d}), got {masks.shape}")
        rows = np.repeat(np.arange(self.n_rows), len(masks))
        values = self._in_calls(rows, np.tile(masks, (self.n_rows, 1)))
        outputs = values.shape[1:] if values.shape[1] > 1 else ()
        values = values.reshape(self.n_rows, len(masks), *outputs)
        return np.asarray(values[0] if self.n_rows == 1 else values)

    def _in_calls(self, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Means over all draws, (p, k), in calls of bounded size."""
        evaluate, size = self.evaluator(), self.values_per_call
        starts = range(0, len(rows), size)
        parts = [evaluate(rows[i : i + size], coalitions[i : i + size], None) for i in starts]
        return np.concatenate(parts) if parts else np.empty((0, 1))

    def _evaluate(
        self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None = None
    ) -> Floats:
        if draws is None:
            return self._means(rows, coalitions)
        return checked_values(self._draws(rows, coalitions, draws), coalitions)

    def _means(self, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Means over all draws: (p,) and (p, d) -> (p, k)."""
        if self.n_draws == 1:
            return self._evaluate(rows, coalitions, np.zeros(len(rows), dtype=np.int64))
        weights = np.full(self.n_draws, 1.0 / self.n_draws) if self.draw_weights is None else self.draw_weights
        total = np.zeros(())
        for start in range(0, self.n_draws, self.draws_per_call):
            part = np.arange(start, min(self.n_draws, start + self.draws_per_call))
            single = self._evaluate(
                np.repeat(rows, len(part)), np.repeat(coalitions, len(part), axis=0), np.tile(part, len(rows))
            )
            total = total + np.einsum("b,pbk->pk", weights[part], single.reshape(len(rows), len(part), -1))
        return np.asarray(total)
