"""Linear models: φ_i = w_i (x_i − mean b_i), summed over the columns of a player."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.indices import Index


class LinearModel(NamedTuple):
    """A linear function of numbers, up to a constant."""

    coefficients: Floats
    """(k, columns)."""

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.coefficients)

    def select(self, outputs: NDArray[np.int64]) -> LinearModel:
        """Return the model of some of the outputs."""
        return LinearModel(self.coefficients[outputs])

    def sums(self, numbers: Floats) -> Floats:
        """Return the outputs for a table of numbers (n, columns), up to a constant, (n, k)."""
        return numbers @ self.coefficients.T

    def values(
        self, rows: Floats, background: Floats, weights: Floats, players: NDArray[np.int64], d: int, index: Index
    ) -> tuple[Floats, Floats]:
        """Return the values of every row, (rows, d, k), and the mean over the background, (k,), up to a constant."""
        mean = weights @ background
        differences = float(index.measure.nodes(0)[1].sum()) * (rows - mean)  # contributions do not depend on q
        values = np.zeros((len(rows), d, self.n_outputs))
        for column, player in enumerate(players):
            values[:, player] += differences[:, column, None] * self.coefficients[:, column]
        return values, self.sums(mean[None])[0]


def read_linear(model: Any) -> LinearModel | None:
    """Return the coefficients of a linear model of scikit-learn or statsmodels; None if it is of no such class."""
    library = type(model).__module__.partition(".")[0]
    if library == "sklearn":
        coefficients = getattr(model, "coef_", None)
    elif library == "statsmodels" and not hasattr(getattr(model, "model", None), "formula"):
        coefficients = getattr(model, "params", None)
    else:
        return None
    if coefficients is None:
        return None
    if hasattr(coefficients, "toarray"):
        coefficients = coefficients.toarray()
    return LinearModel(np.atleast_2d(np.asarray(coefficients, dtype=np.float64)))
