"""What all results have in common: numbers with errors, labels and costs; selection, frames, files and text."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments, half_widths
from sharpley.indices import component_noun
from sharpley.presentation.labelled import Labelled, heading
from sharpley.presentation.selection import select


@dataclass(frozen=True, repr=False)
class Estimate:
    """Estimated components of an index, with their standard errors and their cost: the base class of results."""

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
    index: str = "shapley"
    background_predictions: int | None = None

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

    def without_output_axis(self) -> Self:
        """Return the same estimate without its last axis, for a game or model with a single output."""
        return self[..., 0]

    def row(self, index: int) -> Self:
        """Return the estimate of one row.

        Parameters
        ----------
        index : int
            Position of the row.

        Returns
        -------
        ShapleyEstimate or InteractionEstimate
            With arrays of shape (components,), or (components, k) for k outputs.

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

    def __getitem__(self, key: Any) -> Self:
        return type(self)(**select(self._fields(), key))

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

    def save(self, path: str | Path) -> None:
        """Save the estimate as a Parquet file, which ``sharpley.load`` and every tool for tables can read.

        Parameters
        ----------
        path : str or Path
            File to write, such as "phi.parquet"; an existing file is replaced.
            Needs pyarrow: ``pip install 'sharpley[files]'``.
        """
        from sharpley.presentation.parquet import write

        n, m, k = self.labelled().values.shape
        write(path, self._fields(), (n, m, k))

    @property
    def n_players(self) -> int:
        """Number of players that have values here."""
        return self.values.shape[int(self.has_rows)]

    @property
    def component_names(self) -> list[str]:
        """Names of the components; "Player 0", … if they have none."""
        return self.names or [f"Player {player}" for player in range(self.n_players)]

    @property
    def noun(self) -> str:
        """What one of the values is called, such as "Shapley value"."""
        return component_noun(self.index, 1)

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
            players=self.component_names,
            outputs=self.output_names or [f"Output {output}" for output in range(k)],
            has_rows=self.has_rows,
            has_outputs=has_outputs,
            noun=self.noun,
            heading=heading(self.noun, self.n_players, self.method, self.n_evals, self.converged, self.n_predictions),
        )

    def __repr__(self) -> str:
        from sharpley.presentation.text import as_text

        return as_text(self.labelled())

    def _repr_html_(self) -> str:
        from sharpley.presentation.html import as_html

        return as_html(self.labelled())
