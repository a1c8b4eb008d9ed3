"""Games whose values are random, so that the same coalition has another value each time.

The game is the mean over repetitions, v(S) = E f(S, ε). A repetition is a draw, and there are as many as are asked for
(``ENDLESS``): every ordering, or antithetic pair of orderings, has a repetition of its own, and the standard errors,
which come from differences between these, include the noise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count, check_flag, stacklevel_outside
from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import ENDLESS, Games, checked_names

NOISE = 1e-4  # values that differ by less than this times their spread, or size, count as equal


class NoisyGameWarning(RuntimeWarning):
    """The same coalition had two different values."""


@final
class NoisyGame(Games):
    """The mean of a function of coalitions that returns random values.

    Parameters
    ----------
    function : callable
        Maps bool coalitions (m, d) to random values (m,), or (m, k) for k outputs.
    d : int
        Number of players, at least 2.
    seeded : bool, default False
        Whether the function is called with a seed as its second argument, ``function(coalitions, seed)``, an int that
        says which repetition is wanted. It is called for one repetition at a time. Its values must then depend on
        nothing else, so that the same ``rng`` of an estimate gives the same results. What all coalitions of a
        repetition have in common, such as the split of the data, does not disturb differences between them.
    names : sequence of d str, optional
        Names of the players.
    batch_size : int, optional
        Maximum number of coalitions in one call; 4,096 by default.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> def noisy(coalitions, seed):
    ...     noise = np.random.default_rng(seed).normal(size=len(coalitions))
    ...     return coalitions @ np.array([3.0, 2.0, 1.0]) + 0.1 * noise
    >>> game = sharpley.games.NoisyGame(noisy, d=3, seeded=True)
    >>> estimate = sharpley.estimate(game, max_evals=1000, rng=0)
    >>> estimate.values.round(1)
    array([[3., 2., 1.]])
    >>> bool((estimate.standard_errors > 0.005).all())
    True
    """

    n_draws = ENDLESS

    def __init__(
        self,
        function: Callable[..., Any],
        d: int,
        *,
        seeded: bool = False,
        names: Sequence[str] | None = None,
        batch_size: int | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"function must be callable with bool coalitions (m, d), got {function!r}")
        self.d = check_count("d", d, minimum=2)
        self._function, self._seeded = function, check_flag("seeded", seeded)
        self.player_names = None if names is None else checked_names(names, self.d)
        if batch_size is not None:
            self.draws_per_call = check_count("batch_size", batch_size, minimum=1)

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        if not self._seeded:
            return self._function(coalitions)
        repetitions, which = np.unique(draws, return_inverse=True)
        parts = [np.flatnonzero(which == number) for number in range(len(repetitions))]
        values = [self._of(coalitions[part], int(seed)) for part, seed in zip(parts, repetitions, strict=True)]
        return np.concatenate(values)[np.argsort(np.concatenate(parts))]

    def _of(self, coalitions: Coalitions, seed: int) -> NDArray[Any]:
        """Return the values of one repetition."""
        values = np.asarray(self._function(coalitions, seed))
        if values.shape[:1] != (len(coalitions),):
            raise ValueError(f"function must return one value for each of {len(coalitions)} coalitions, got {values}")
        return values


def warn_if_different(known: Floats, position: int, again: Floats, coalition: Coalitions) -> None:
    """Warn if a coalition that was evaluated again has another value (k,) than that of its position in (m, k)."""
    value, spread = known[position], np.ptp(known, axis=0)
    differs = np.flatnonzero(np.abs(again - value) > NOISE * np.where(spread > 0, spread, np.abs(value)))
    if len(differs) == 0:
        return
    output = differs[0]
    warnings.warn(
        f"the game is noisy: for the same coalition, of {int(coalition.sum())} of {len(coalition)} players, it "
        f"returned {value[output]:.6g} and then {again[output]:.6g}. Standard errors from one value for each coalition "
        "may be too small, and are 0 if all coalitions were evaluated. "
        "sharpley.estimate(sharpley.games.NoisyGame(function, d)) has standard errors that include the noise",
        NoisyGameWarning,
        stacklevel=stacklevel_outside(),
    )
