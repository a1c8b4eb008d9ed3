"""The result of an estimation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.shap_names import OF_ESTIMATE, hint
from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments, half_widths
from sharpley.presentation.labelled import Labelled, heading
from sharpley.presentation.selection import select

if TYPE_CHECKING:
    import shap


@dataclass(frozen=True, repr=False)
class ShapleyEstimate:
    """Estimated Shapley values, with their standard errors and their cost.

    For one game, the arrays have shape (d,), or (d, k) for k outputs. For several rows, the first axis is that of rows.
    ``len(estimate)`` is the number of rows (of one game: of players), and ``estimate[rows, players, outputs]`` selects,
    by position or by name, as in ``estimate[0]``, ``estimate["age"]`` and ``estimate[:, ["age", "sex"], "yes"]``.

    Attributes
    ----------
    values : float
        Estimated Shapley values.
    standard_errors : float, of the same shape as ``values``
        Estimated standard deviations of ``values``; 0 where these are exact.
    base_values : float
        v(∅), of the shape of ``values`` without the axis of players. Base value and values add up to v(N), except for
        the methods "owen", "owen-halved" and "stratified" (``sharpley.METHODS[name].adds_up`` is False), whose values
        do so only on average.
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
    n_predictions : int, (rows,) int, or None
        Number of single draws evaluated, which for a model are predictions, those of v(∅) and v(N) included. With own
        draws, the predictions for the background, one for each of its rows once per explainer, are not.
    output_names : list of str or None
        Names of the outputs, if the model has them.
    row_labels : list or None
        Labels of the rows: the index of a frame.
    compute_time : float or None
        Seconds that an explainer took for all rows.

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0))
    >>> sharpley.shapley_values(game, names=["a", "b", "c"])
    Shapley values of 3 players by exact, from 8 evaluations
    base value 0
      c   +2.833 ± 0       ████████████████████████
      b  +0.8333 ± 0       ███████
      a  +0.3333 ± 0       ███
    """

    values: Floats
    standard_errors: Floats
    base_values: Floats
    n_evals: int | NDArray[np.int64]
    method: str
    converged: bool | NDArray[np.bool_]
    degrees_of_freedom: Floats
    names: list[str] | None = None
    n_predictions: int | NDArray[np.int64] | None = None
    output_names: list[str] | None = None
    row_labels: list[Any] | None = None
    compute_time: float | None = None

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
        half = half_widths(Moments(self.values, self.standard_errors**2, self.degrees_of_freedom), level)
        return self.values - half, self.values + half

    @property
    def has_rows(self) -> bool:
        """Whether the first axis is that of rows."""
        return np.ndim(self.n_evals) == 1

    def without_output_axis(self) -> ShapleyEstimate:
        """Return the same estimate without its last axis, for a game or model with a single output."""
        return self[..., 0]

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
        return self[index]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> ShapleyEstimate:
        return ShapleyEstimate(**select(self._fields(), key))

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_frame(self, *, wide: bool = False, level: float = 0.95) -> Any:
        """Return the estimate as a pandas DataFrame, with errors and confidence limits.

        Parameters
        ----------
        wide : bool, default False
            Whether to return one line for each row, with columns such as ``frame["value"]["age"]``. By default, there
            is one line for each row and player.
        level : float, default 0.95
            Confidence level of the limits ``lower`` and ``upper``.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import sharpley
        >>> explainer = sharpley.Explainer(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]])
        >>> frame = explainer.estimate([[2.0, 3.0], [1.0, 4.0]]).to_frame()
        >>> frame[["row", "feature", "value", "standard_error"]]
           row    feature  value  standard_error
        0    0  Feature 0    3.0             0.0
        1    0  Feature 1    3.0             0.0
        2    1  Feature 0    2.0             0.0
        3    1  Feature 1    2.0             0.0
        """
        from sharpley.presentation.frames import long_frame, wide_frame

        return (wide_frame if wide else long_frame)(self.labelled(level))

    def to_explanation(self, data: Any = None) -> shap.Explanation:
        """Return the estimate as a ``shap.Explanation``, for shap's plots; a saved estimate, too.

        Parameters
        ----------
        data : (rows, d) array or DataFrame, optional
            The rows that were explained, which a saved estimate does not have: plots colour points by these values,
            and print them.

        Returns
        -------
        shap.Explanation
            With standard errors in ``error_std``, and 95% confidence limits in ``lower_bounds`` and ``upper_bounds``.

        Examples
        --------
        >>> import numpy as np, sharpley
        >>> explainer = sharpley.Explainer(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]])
        >>> rows = np.array([[2.0, 3.0], [1.0, 4.0]])
        >>> explanation = explainer.estimate(rows).to_explanation(rows)
        >>> explanation.values[0], explanation.data[0], explanation.feature_names
        (array([3., 3.]), array([2., 3.]), ['Feature 0', 'Feature 1'])
        """
        from sharpley.presentation.explanation import with_table

        return with_table(self._fields(), self.interval(), data)

    def save(self, path: str | Path) -> None:
        """Save the estimate as a Parquet file, which ``sharpley.load`` and every tool for tables can read.

        Parameters
        ----------
        path : str or Path
            File to write, such as "phi.parquet"; an existing file is replaced.
            Needs pyarrow: ``pip install 'sharpley[files]'``.
        """
        from sharpley.presentation.parquet import write

        n, d, k = self.labelled().values.shape
        write(path, self._fields(), (n, d, k))

    def labelled(self, level: float = 0.95) -> Labelled:
        """Return all numbers with an axis of rows and one of outputs, and with labels for every axis."""
        has_outputs = self.values.ndim == (3 if self.has_rows else 2)
        n_rows, d = self.values.shape[:2] if self.has_rows else (1, len(self.values))
        k = self.values.shape[-1] if has_outputs else 1
        shape = (n_rows, d, k)
        lower, upper = self.interval(level)
        return Labelled(
            values=self.values.reshape(shape),
            standard_errors=self.standard_errors.reshape(shape),
            lower=lower.reshape(shape),
            upper=upper.reshape(shape),
            base_values=np.asarray(self.base_values).reshape(n_rows, k),
            rows=self.row_labels or list(range(n_rows)),
            players=self.names or [f"Player {player}" for player in range(d)],
            outputs=self.output_names or [f"Output {output}" for output in range(k)],
            has_rows=self.has_rows,
            has_outputs=has_outputs,
            heading=heading(d, self.method, self.n_evals, self.converged, self.n_predictions),
        )

    if not TYPE_CHECKING:  # for which all names would then exist

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"'ShapleyEstimate' object has no attribute {name!r}{hint(name, OF_ESTIMATE)}")

    def __repr__(self) -> str:
        from sharpley.presentation.text import as_text

        return as_text(self.labelled())

    def _repr_html_(self) -> str:
        from sharpley.presentation.html import as_html

        return as_html(self.labelled())


def load(path: str | Path) -> ShapleyEstimate:
    """Load an estimate that ``ShapleyEstimate.save`` or ``sharpley explain`` wrote.

    Parameters
    ----------
    path : str or Path
        A Parquet file, or the folder that ``sharpley explain`` wrote to. The ids of rows become their labels.

    Returns
    -------
    ShapleyEstimate
    """
    from sharpley.presentation import parquet, row_table

    folder = Path(path)
    return ShapleyEstimate(**(row_table.read(folder) if folder.is_dir() else parquet.read(path)))
