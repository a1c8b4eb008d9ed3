"""Results of all rows of a run, written as soon as they are known."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import stacklevel_outside
from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments
from sharpley.engine.blind import with_blind_errors
from sharpley.engine.settings import draws_per_eval
from sharpley.engine.stopping import meets
from sharpley.estimators.draws.base import Look
from sharpley.games.base import Games
from sharpley.indices import Index
from sharpley.result import ShapleyEstimate


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
    tol : float or None
        The tolerance that a row has to meet before it is finished.
    """

    def __init__(self, games: Games, index: Index, ends: Floats, tol: float | None) -> None:
        self._games, self._index, self._ends, self._tol = games, index, ends, tol
        shape = (len(ends), index.n_components(games.d), ends.shape[2])
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
        converged: bool = True,
    ) -> None:
        """Write the moments of some rows, which are given in units (r, 1, k) or (1, k)."""
        at = (rows[:, None], components)
        self._values[at], self._standard_errors[at] = units * moments.values, units * np.sqrt(moments.variances)
        self._degrees_of_freedom[at] = moments.degrees_of_freedom
        self._converged[rows] = converged

    def write_evals(self, rows: NDArray[np.int64], n_evals: int) -> None:
        """Write how many distinct coalitions were evaluated, each for all draws."""
        self._n_evals[rows] = n_evals
        self._n_predictions[rows] = (n_evals - 2) * self._games.draws_per_value + self._games.endpoint_draws

    def write_done(self, look: Look, units: Floats) -> NDArray[np.bool_]:
        """Write the rows that meet the tolerance, or all at the last look of a run with own draws; return which.

        The estimates are given in units (1, k).
        """
        rows = look.rows
        # In the unit of max_evals, one of which pays for so many predictions.
        n_evals = -(-look.spent // draws_per_eval(self._games))
        met = self.met(look.moments, look.before, look.number, n_evals)
        done = met | look.is_last
        found = with_blind_errors(look.moments.rows(done), self._ends[rows[done]] / units, n_evals[done])
        self.write(rows[done], np.arange(self.n_components), found, units)
        self._converged[rows] = met
        self._n_predictions[rows] = look.spent
        self._n_evals[rows] = n_evals
        return done

    def met(
        self,
        moments: Moments,
        before: Moments | None,
        n_looks: int,
        n_evals: NDArray[np.int64] | int,
        *,
        all_components: bool = True,
    ) -> NDArray[np.bool_]:
        """Return whether each row meets the tolerance, given the look before; all do if there is none."""
        if self._tol is None:
            return np.ones(len(moments.values), dtype=bool)
        return meets(moments, before, self._tol, n_looks=n_looks, n_evals=n_evals, all_components=all_components)

    def estimate(self, method: str) -> ShapleyEstimate:
        """Return all results as an estimate; the axis of outputs is omitted for a single output."""
        self._warn_unconverged()
        names = self._games.player_names
        whole = ShapleyEstimate(
            self._values,
            self._standard_errors,
            self._ends[:, 0],
            self._n_evals,
            method,
            self._converged,
            self._degrees_of_freedom,
            None if names is None else self._index.component_names(names),
            self._n_predictions,
        )
        return whole.without_output_axis() if self._ends.shape[2] == 1 else whole

    def _warn_unconverged(self) -> None:
        missed = int((~self._converged).sum())
        if missed:
            warnings.warn(
                f"{missed} of {len(self._converged)} rows did not reach tol={self._tol}; raise max_evals, or check "
                "`converged` and the standard errors",
                RuntimeWarning,
                stacklevel=stacklevel_outside(),
            )
