"""The interface between estimators and games: games of the same players, each the mean of its draws.

Everything that is estimated is an index of one or more games, and each of them is a mean over *draws* b,

    v(S) = mean over b of v_b(S).

For the prediction of a model at a row, a draw is a background row, from which absent features take their values. A game
that is a plain function of coalitions has a single draw.

Games evaluate single draws, or the mean over all draws, which costs as many evaluations as there are draws. A subclass
need only define the former.

Estimators that give each ordering a draw of its own gain from what is known of all draws, however many there are: their
values of the empty coalition, and numbers that their other values may depend on (``DrawFacts``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.values import checked_values
from sharpley.indices import Index

ENDLESS = 2**62
"""Number of draws of games whose draws are never exhausted, such as repetitions of a random experiment."""
END_REPETITIONS = 10
"""Endless draws from which the values of ∅ and N are known, as their mean."""

Evaluate: TypeAlias = Callable[[NDArray[np.int64], Coalitions, NDArray[np.int64] | None], Floats]
"""``evaluate(rows (p,), coalitions (p, d), draws (p,))`` -> values (p, k); ``None`` for draws: means over all draws."""


class Kept:
    """What was derived from arrays, kept until it is asked for with other arrays.

    It is explicit about what a result depends on: all of it is given, and compared with what the result was made from.
    """

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[NDArray[Any], ...], Any]] = {}

    def get(self, name: str, sources: tuple[NDArray[Any], ...], make: Callable[[], Any]) -> Any:
        """Return what ``make`` returned when it was last called for the same sources, or call it."""
        if name in self._made:
            before, result = self._made[name]
            if len(before) == len(sources) and all(map(_are_equal, before, sources)):
                self._made[name] = sources, result  # the same arrays are compared in no time
                return result
        self._made[name] = sources, make()
        return self._made[name][1]


def _are_equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays have the same shape and values, where NaN equals NaN."""
    if one is other:
        return True
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())


@dataclass(frozen=True)
class DrawFacts:
    """What is known of every draw of games whose v_b(∅) is the same in all rows, and v_b(N) the same for all draws."""

    empty: Floats
    """The value v_b(∅) of each draw, (n_draws, k)."""
    columns: NDArray[np.generic]
    """Numbers that the values of a draw may depend on, (n_draws, q); categories are numbered. NaN is a number too."""
    row_columns: NDArray[np.generic]
    """The same numbers of the rows, (n_rows, q): a player all of whose numbers are equal cannot matter."""
    is_category: NDArray[np.bool_]
    """Whether the numbers of a column are those of categories, which have no order, (q,)."""
    players: NDArray[np.int64]
    """The player that each column belongs to, (q,)."""
    kept: Kept = field(default_factory=Kept)
    """Where estimators keep what they derive from the draws, for further rows with the same draws."""


class ClosedForm(NamedTuple):
    """Exact values of games, without sampling."""

    method: str
    """Name of the method in results."""
    values: Floats
    """Values of every game, (n_rows, components, k)."""
    base_values: Floats
    """v(∅), the same for all games, (k,)."""
    n_predictions: int
    """Single draws that were evaluated for each game; a fixed number for a whole call is not counted."""


def checked_names(names: Sequence[str], d: int) -> list[str]:
    """Return names as strings, one for each of d players."""
    if isinstance(names, str) or len(names) != d:
        raise ValueError(f"names must have one name for each of {d} players, got {names!r}")
    return [str(name) for name in names]


class Games(ABC):
    """One or more games of the same d players, each the mean of its draws.

    ``sharpley.estimate`` accepts every subclass. The games are called *rows*, since each game of an explanation belongs
    to a row of data.

    Attributes
    ----------
    d : int
        Number of players.
    n_rows : int, default 1
        Number of games.
    n_draws : int, default 1
        Number of draws of each game; ``games.ENDLESS`` if they are never exhausted. Every ordering then has a draw of
        its own, and the numbers of draws are random: a draw may be computed from its number as from a seed.
    draw_weights : (n_draws,) float or None
        Weights of the draws, which sum to 1; equal by default.
    player_names : sequence of str or None
        Names of the players, which are passed on to results.
    draws_per_call : int, default 4096
        Maximum number of single draws that are evaluated in one call; it bounds memory.
    draws_are_known : bool, default False
        Whether ``draw_facts`` returns what is known of all draws.
    may_be_noisy : bool, default False
        Whether the same coalition may have another value when it is evaluated again, which a run then tries once.

    Notes
    -----
    **Subclassing.** Set ``d``, and ``n_rows`` and ``n_draws`` if they are not 1, and define ``_draws(rows, coalitions,
    draws)``: the values of p single draws, (p,) or, for k outputs, (p, k). Its arguments are the numbers of the games
    (p,), a coalition for each (p, d) and the numbers of the draws (p,). Everything else has a default; override
    ``varying`` or ``differing`` if you know that some players cannot matter in some of the games or draws,
    ``endpoints`` or ``evaluator`` if the values of ∅ and N, or means over all draws, can be computed more cheaply, and
    ``draw_facts`` if something is known of all draws. A complete class:

    >>> import numpy as np
    >>> import sharpley
    >>> class SharedCapacity(sharpley.Games):
    ...     '''Plants that serve an uncertain demand together; each draw is a scenario of the demand.'''
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
    draws_are_known: bool = False
    may_be_noisy: bool = False

    @abstractmethod
    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        """Return the values of single draws: (p,), (p, d) and (p,) -> (p,) or (p, k)."""

    @property
    def draws_are_endless(self) -> bool:
        """Whether there are as many draws as are asked for, so that nothing can be evaluated for all of them."""
        return self.n_draws >= ENDLESS

    @property
    def values_per_call(self) -> int:
        """Maximum number of means over all draws that are evaluated in one call."""
        return max(1, self.draws_per_call // self.n_draws)

    def evaluator(self) -> Evaluate:
        """Return a function that evaluates the games; several such functions may be used at the same time."""
        return self._evaluate

    def endpoints(self) -> Floats:
        """Return the values of the empty and of the full coalition for every game, (n_rows, 2, k)."""
        rows = np.repeat(np.arange(self.n_rows), 2)
        ends = np.tile(np.array([[False] * self.d, [True] * self.d]), (self.n_rows, 1))
        if self.draws_are_endless:
            draws = np.repeat(np.arange(END_REPETITIONS), len(rows))
            every = np.tile(rows, END_REPETITIONS), np.tile(ends, (END_REPETITIONS, 1)), draws
            return np.asarray(self._evaluate(*every).reshape(END_REPETITIONS, self.n_rows, 2, -1).mean(axis=0))
        return self._in_calls(rows, ends).reshape(self.n_rows, 2, -1)

    def varying(self) -> Coalitions:
        """Return which players can matter in which games, (n_rows, d) bool; by default, all in all games."""
        return np.ones((self.n_rows, self.d), dtype=bool)

    def differing(self, rows: NDArray[np.int64], draws: NDArray[np.int64]) -> Coalitions:
        """Return which players can matter in single draws, (p,) and (p,) -> (p, d) bool; by default, all of them.

        A player that cannot matter in a draw leaves its value unchanged, whatever the coalition that it joins.
        """
        return np.ones((len(rows), self.d), dtype=bool)

    def draw_facts(self) -> DrawFacts | None:
        """Return what is known of all draws; by default, nothing."""
        return None

    def closed_form(self, index: Index, *, method: str | None = None, n_threads: int = 1) -> ClosedForm | None:
        """Return exact values of an index that need no sampling, if there are any; by default, there are none.

        ``method`` is the name of the closed form that was asked for, as in method="trees": if there is none, an error
        has the reason. ``None`` leaves the choice to the games.
        """
        if method is not None:
            raise ValueError(f"method {method!r} is for models that are explained without a link, not for these games")
        return None

    @property
    def draws_per_value(self) -> int:
        """Number of single draws that a mean over all draws costs; 1 if these are endless."""
        return 1 if self.draws_are_endless else self.n_draws

    @property
    def endpoint_draws(self) -> int:
        """Number of single draws that the values of ∅ and N of one game cost."""
        return 2 * (END_REPETITIONS if self.draws_are_endless else self.draws_per_value)

    def __call__(self, coalitions: ArrayLike) -> Floats:
        """Return the values of coalitions, as means over all draws.

        Parameters
        ----------
        coalitions : (m, d) bool
            True for the members of each coalition.

        Returns
        -------
        (m,), (n_rows, m), (m, k) or (n_rows, m, k) float
            The axis of rows is omitted for a single game, and that of outputs for a single output.
        """
        masks = np.asarray(coalitions)
        if masks.ndim != 2 or masks.shape[1] != self.d:
            raise ValueError(f"coalitions must have shape (m, {self.d}), got {masks.shape}")
        if masks.dtype != bool and not np.isin(masks, (0, 1)).all():
            raise ValueError(f"coalitions must be bool, True for members, not numbers of players; got {masks[0]}")
        masks = masks.astype(bool)
        rows = np.repeat(np.arange(self.n_rows), len(masks))
        values = self._in_calls(rows, np.tile(masks, (self.n_rows, 1)))
        outputs = values.shape[1:] if values.shape[1] > 1 else ()
        values = values.reshape(self.n_rows, len(masks), *outputs)
        return np.asarray(values[0] if self.n_rows == 1 else values)

    def _in_calls(self, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Return means over all draws, (p, k), in calls of bounded size."""
        evaluate, size = self.evaluator(), self.values_per_call
        starts = range(0, len(rows), size)
        asked = (slice(start, start + size) for start in starts)
        parts = [checked_values(evaluate(rows[part], coalitions[part], None), coalitions[part]) for part in asked]
        return np.concatenate(parts) if parts else np.empty((0, 1))

    def _evaluate(
        self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None = None
    ) -> Floats:
        if draws is None:
            return self._means(rows, coalitions)
        return checked_values(self._draws(rows, coalitions, draws), coalitions)

    def _means(self, rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
        """Return means over all draws: (p,) and (p, d) -> (p, k)."""
        if self.n_draws == 1:
            return self._evaluate(rows, coalitions, np.zeros(len(rows), dtype=np.int64))
        if self.draws_are_endless:
            raise ValueError(f"{type(self).__name__} has endless draws, of which there is no mean; estimate it instead")
        equal = self.draw_weights is None
        weights = np.full(self.n_draws, 1.0 / self.n_draws) if equal else np.asarray(self.draw_weights)
        total = np.zeros(())
        for start in range(0, self.n_draws, self.draws_per_call):
            part = np.arange(start, min(self.n_draws, start + self.draws_per_call))
            single = self._evaluate(
                np.repeat(rows, len(part)), np.repeat(coalitions, len(part), axis=0), np.tile(part, len(rows))
            )
            total = total + np.einsum("b,pbk->pk", weights[part], single.reshape(len(rows), len(part), -1))
        return np.asarray(total)


def weights_of_draws(games: Games) -> Floats:
    """Return the weight of every draw in the mean, (n_draws,); equal ones if the games have none."""
    n, weights = games.n_draws, games.draw_weights
    if games.draws_are_endless:
        raise ValueError("endless draws have no weights")
    return np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=np.float64)


def check_games(games: Games) -> None:
    """Check what a class of games says of itself: counts, weights of draws and names."""
    for name, count in (("d", games.d), ("n_rows", games.n_rows), ("n_draws", games.n_draws)):
        check_count(f"{type(games).__name__}.{name}", count, minimum=1)
    check_count(f"{type(games).__name__}.draws_per_call", games.draws_per_call, minimum=1)
    if games.player_names is not None:
        checked_names(games.player_names, games.d)
    if games.draws_are_endless and (games.draw_weights is not None or games.draws_are_known):
        raise ValueError("draws that are never exhausted have neither weights nor known facts; omit these")
    if games.draw_weights is not None:
        weights = np.asarray(games.draw_weights, dtype=np.float64)
        if weights.shape != (games.n_draws,) or not (weights >= 0).all() or not np.isclose(weights.sum(), 1.0):
            raise ValueError(
                f"draw_weights must be {games.n_draws} numbers of at least 0 that sum to 1, one for each draw, "
                f"got {weights}"
            )


def checked_endpoints(games: Games) -> Floats:
    """Return the values of ∅ and N of all games, (n_rows, 2, k), if they are finite numbers of that shape."""
    ends = np.asarray(games.endpoints(), dtype=np.float64)
    name = f"{type(games).__name__}.endpoints"
    if ends.ndim != 3 or ends.shape[:2] != (games.n_rows, 2):
        raise ValueError(f"{name} must return shape ({games.n_rows}, 2, k), got {ends.shape}")
    if not np.isfinite(ends).all():
        row = int(np.argwhere(~np.isfinite(ends))[0, 0])
        raise ValueError(f"{name} must return finite values, got {ends[row].tolist()} for game {row}")
    return ends


def checked_varying(games: Games) -> Coalitions:
    """Return which players can matter in which games, (n_rows, d) bool."""
    varying = np.asarray(games.varying())
    if varying.shape != (games.n_rows, games.d) or varying.dtype != bool:
        raise ValueError(
            f"{type(games).__name__}.varying must return bool of shape ({games.n_rows}, {games.d}), "
            f"got {varying.dtype} of shape {varying.shape}"
        )
    return varying
