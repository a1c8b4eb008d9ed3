"""Results of all rows of a run, written as soon as they are known."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments
from sharpley.games.base import Games
from sharpley.indices import Index
from sharpley.result import InteractionEstimate, ShapleyEstimate

MAX_NUMBERS = 2**28  # in each of the three arrays of a result: 2 GB


class Results:
    """Results of all rows; components that cannot matter remain 0.

    Parameters
    ----------
    games : Games
        The games, one for each row.
    index : Index
        What is estimated.
    ends : (rows, 2, k) float
        Values of the empty and of the full coalition.
    """

    def __init__(self, games: Games, index: Index, ends: Floats) -> None:
        self._games, self._index, self._ends = games, index, ends
        shape = (len(ends), index.n_components(games.d), ends.shape[2])
        _check_memory(index, games.d, shape)
        self._values, self._standard_errors = np.zeros(shape), np.zeros(shape)
        self._degrees_of_freedom = np.full(shape, np.inf)
        self._n_evals = np.full(len(ends), 2, dtype=np.int64)
        self._n_predictions = np.full(len(ends), games.endpoint_draws, dtype=np.int64)
        self._converged = np.ones(len(ends), dtype=bool)

    @property
    def n_components(self) -> int:
        """Number of components of the index."""
        return self._values.shape[1]

    def write(
        self,
        rows: NDArray[np.int64],
        components: NDArray[np.int64],
        moments: Moments,
        units: Floats | float = 1.0,
        *,
        converged: NDArray[np.bool_] | bool = True,
    ) -> None:
        """Write the moments of some rows, which are given in units (r, 1, k)."""
        at = (rows[:, None], components)
        self._values[at], self._standard_errors[at] = units * moments.values, units * np.sqrt(moments.variances)
        self._degrees_of_freedom[at] = moments.degrees_of_freedom
        self._converged[rows] = converged

    def write_costs(
        self, rows: NDArray[np.int64], n_evals: NDArray[np.int64], n_predictions: NDArray[np.int64]
    ) -> None:
        """Write how many coalitions and single draws were evaluated."""
        self._n_evals[rows], self._n_predictions[rows] = n_evals, n_predictions

    def estimate(self, method: str) -> Any:
        """Return all results as an estimate of values or of interactions; a single output has no axis."""
        players, d = self._games.player_names, self._games.d
        found: dict[str, Any] = {
            "values": self._values,
            "standard_errors": self._standard_errors,
            "base_values": self._ends[:, 0],
            "n_evals": self._n_evals,
            "method": method,
            "converged": self._converged,
            "degrees_of_freedom": self._degrees_of_freedom,
            "names": None if players is None else self._index.component_names(players),
            "n_predictions": self._n_predictions,
            "index": self._index.name,
        }
        whole: ShapleyEstimate | InteractionEstimate
        if self._index.order == 1:
            whole = ShapleyEstimate(**found)
        else:
            labels = list(self._index.labels(d))
            whole = InteractionEstimate(**found, labels=labels, players=None if players is None else list(players), d=d)
        return whole.without_output_axis() if self._ends.shape[2] == 1 else whole

    def warn_unconverged(self, tol: float | None) -> None:
        """Warn if some rows missed the tolerance."""
        missed = int((~self._converged).sum())
        if missed:
            warnings.warn(
                f"{missed} of {len(self._converged)} rows did not reach tol={tol}; raise max_evals, or check "
                "`converged` and the standard errors",
                RuntimeWarning,
                stacklevel=stacklevel_outside(),
            )


def _check_memory(index: Index, d: int, shape: tuple[int, int, int]) -> None:
    """Raise an error if the numbers of a result would not fit into memory."""
    numbers = prod(shape)
    if numbers > MAX_NUMBERS:
        rows, components, outputs = shape
        raise ValueError(
            f"index {index.name!r} of order {index.order} has {components:,} components for {d} players; with {rows} "
            f"rows and {outputs} outputs, the result would take {3 * 8 * numbers / 1e9:.1f} GB. Explain fewer rows or "
            "outputs at a time, or let several players play as one, by groups="
        )
