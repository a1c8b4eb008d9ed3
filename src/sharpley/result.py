"""The result of an estimation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats


@dataclass(frozen=True)
class ShapleyEstimate:
    """Estimated Shapley values, with their standard errors and their cost.

    For one game, the arrays have shape (d,), or (d, k) for k outputs. For several rows, the first axis is that of rows.

    Attributes
    ----------
    values : float
        Estimated Shapley values.
    standard_errors : float, of the same shape as ``values``
        Estimated standard deviations of ``values``; 0 where these are exact.
    base_values : float
        v(∅), of the shape of ``values`` without the axis of players. For most methods, base value and values add up to
        v(N).
    n_evals : int, or (rows,) int
        Number of distinct coalitions evaluated, v(∅) and v(N) included.
    method : str
        The method used; several are joined, as in "gp and exact", if rows in which few players matter were enumerated.
    converged : bool, or (rows,) bool
        Whether ``tol`` was met; True if no tolerance was given.
    degrees_of_freedom : float, of the same shape as ``values``
        Degrees of freedom behind the standard errors; infinite where these are exact.
    names : list of str or None
        Names of the players, if the games have them.
    n_predictions : int, or (rows,) int
        Number of single draws evaluated, which for a model are predictions, those of v(∅) and v(N) included. With own
        draws, the predictions for the background, one for each of its rows once per explainer, are not.

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
    n_predictions: int | NDArray[np.int64] = 0

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return confidence intervals of all values.

        The half-width is the standard error times the quantile of Student's t distribution with the degrees of freedom
        behind it.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        lower, upper : float
            Confidence limits, each of the shape of ``values``.

        Examples
        --------
        >>> import sharpley
        >>> game = sharpley.games.Airport(tuple(range(1, 13)))
        >>> estimate = sharpley.shapley_values(game, method="antithetic", max_evals=500, rng=0)
        >>> lower, upper = estimate.interval(0.99)
        >>> bool((lower < game.shapley_values()).all() and (game.shapley_values() < upper).all())
        True
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}; for 95% give 0.95")
        from scipy.special import ndtri, stdtrit

        probability = 0.5 + level / 2
        degrees_of_freedom = np.maximum(self.degrees_of_freedom, np.finfo(float).tiny)
        with np.errstate(invalid="ignore"):
            student_t = stdtrit(degrees_of_freedom, probability)
            quantile = np.where(np.isinf(degrees_of_freedom), ndtri(probability), student_t)
        half = np.where(self.standard_errors == 0, 0.0, quantile * self.standard_errors)
        return self.values - half, self.values + half

    def without_output_axis(self) -> ShapleyEstimate:
        """Return the same estimate without its last axis, for a game or model with a single output."""
        return replace(
            self,
            values=self.values[..., 0],
            standard_errors=self.standard_errors[..., 0],
            base_values=self.base_values[..., 0],
            degrees_of_freedom=self.degrees_of_freedom[..., 0],
        )

    def row(self, index: int) -> ShapleyEstimate:
        """Return the estimate of one row.

        Parameters
        ----------
        index : int
            Position of the row.

        Returns
        -------
        ShapleyEstimate
            With arrays of shape (d,), or (d, k) for k outputs.

        Examples
        --------
        >>> import sharpley
        >>> explainer = sharpley.Explainer(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]])
        >>> explainer.estimate([[2.0, 3.0], [1.0, 4.0]]).row(1).values
        array([2., 2.])
        """
        return replace(
            self,
            values=self.values[index],
            standard_errors=self.standard_errors[index],
            base_values=self.base_values[index],
            n_evals=int(np.asarray(self.n_evals)[index]),
            n_predictions=int(np.asarray(self.n_predictions)[index]),
            converged=bool(np.asarray(self.converged)[index]),
            degrees_of_freedom=self.degrees_of_freedom[index],
        )

    def __repr__(self) -> str:
        shape: Any = self.values.shape
        return (
            f"ShapleyEstimate(values={shape}, method={self.method!r}, "
            f"n_evals≤{int(np.max(self.n_evals, initial=0))}, converged={bool(np.all(self.converged))})"
        )
