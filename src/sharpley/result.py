"""The result of an estimation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats


@dataclass(frozen=True)
class ShapleyEstimate:
    """Shapley values with their errors and their cost.

    For one game the arrays have shape (d,), or (d, k) for k outputs. Over rows they have one more axis in front.

    Attributes
    ----------
    values : float
        Estimated Shapley values.
    standard_errors : float, of the same shape
        Estimated standard deviations of ``values``; 0 where they are exact.
    base_values : float
        v(∅), to which the values are added: shape of ``values`` without the axis of players.
    n_evals : int, or (rows,) int
        Distinct coalitions evaluated, v(∅) and v(N) included.
    method : str
        The method used. "gp and exact", say, if some rows have so few players that matter that they were enumerated.
    converged : bool, or (rows,) bool
        Whether ``tol`` was met; True if none was asked for.
    degrees_of_freedom : float, of the same shape as ``values``
        Degrees of freedom behind the standard errors; infinite where these are exact.
    names : list of str or None
        Names of the players, if the games have them.

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0))
    >>> sharpley.shapley_values(game, names=["a", "b", "c"])
    ShapleyEstimate(values=(3,), method='exact', n_evals≤8, converged=True)
    """

    values: Floats
    standard_errors: Floats
    base_values: Floats
    n_evals: int | NDArray[np.int64]
    method: str
    converged: bool | NDArray[np.bool_]
    degrees_of_freedom: Floats
    names: list[str] | None = None

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Confidence limits (lower, upper) of every value.

        The half-width is the standard error times the quantile of Student's t distribution for the degrees of
        freedom behind it.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}; for 95% give 0.95")
        from scipy.special import ndtri, stdtrit

        upper_tail = 0.5 + level / 2
        freedom = np.maximum(self.degrees_of_freedom, np.finfo(float).tiny)
        with np.errstate(invalid="ignore"):
            quantile = np.where(np.isinf(freedom), ndtri(upper_tail), stdtrit(freedom, upper_tail))
        half = np.where(self.standard_errors == 0, 0.0, quantile * self.standard_errors)
        return self.values - half, self.values + half

    def without_output_axis(self) -> ShapleyEstimate:
        """The same without its last axis, for a game or model with a single output."""
        return replace(
            self,
            values=self.values[..., 0],
            standard_errors=self.standard_errors[..., 0],
            base_values=self.base_values[..., 0],
            degrees_of_freedom=self.degrees_of_freedom[..., 0],
        )

    def row(self, index: int) -> ShapleyEstimate:
        """The estimate of one row."""
        return replace(
            self,
            values=self.values[index],
            standard_errors=self.standard_errors[index],
            base_values=self.base_values[index],
            n_evals=int(np.asarray(self.n_evals)[index]),
            converged=bool(np.asarray(self.converged)[index]),
            degrees_of_freedom=self.degrees_of_freedom[index],
        )

    def __repr__(self) -> str:
        shape: Any = self.values.shape
        return (
            f"ShapleyEstimate(values={shape}, method={self.method!r}, "
            f"n_evals≤{int(np.max(self.n_evals, initial=0))}, converged={bool(np.all(self.converged))})"
        )
