"""Values with errors and labels, in one shape, from which every form of presentation is made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

ROUNDING = 1e-12  # values that are smaller than this, relative to the largest or the base value, are printed as 0


class Labelled(NamedTuple):
    """The numbers of a result, with all axes, and the labels of these."""

    values: Floats
    """(rows, d, k)."""
    standard_errors: Floats
    """(rows, d, k)."""
    lower: Floats
    """Lower confidence limits, (rows, d, k)."""
    upper: Floats
    """Upper confidence limits, (rows, d, k)."""
    base_values: Floats
    """(rows, k)."""
    rows: list[Any]
    """Labels of the rows."""
    players: list[str]
    """Names of the players."""
    outputs: list[str]
    """Names of the outputs."""
    has_rows: bool
    """Whether the result has an axis of rows."""
    has_outputs: bool
    """Whether the result has an axis of outputs."""
    noun: str
    """What one of the values is called, such as "Shapley value"."""
    heading: str
    """One line on the whole result."""

    def without_rounding_errors(self) -> Labelled:
        """Return the numbers for people: 0 instead of values that are far below what they are added to."""
        largest = np.abs(self.values).max(axis=1, keepdims=True, initial=0.0)
        least = ROUNDING * np.maximum(largest, np.abs(self.base_values)[:, None, :])
        return self._replace(values=np.where(np.abs(self.values) < least, 0.0, self.values))

    def block_title(self, row: int, output: int) -> str:
        """Return a title for the values of one row and output, such as "row 3, setosa"."""
        parts = [f"row {self.rows[row]}"] if self.has_rows else []
        parts += [self.outputs[output]] if self.has_outputs else []
        return ", ".join(parts)

    def by_size(self, row: int, output: int, most: int) -> NDArray[np.int64]:
        """Return the players with the largest values of one row and output, the largest first, at most ``most``."""
        return np.argsort(-np.abs(self.values[row, :, output]), kind="stable")[:most]


def signed(value: float) -> str:
    """Return a value with its sign, four digits of it; 0 has none."""
    return "0" if value == 0 else f"{value:+.4g}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "2 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def heading(noun: str, d: int, method: str, n_evals: Any, converged: Any, n_predictions: Any = None) -> str:
    """Return one line on a whole result; without an axis of rows, the numbers are single ones.

    The cost is that of predictions, unless every evaluation of the game is one.
    """
    missed = int(np.sum(~np.atleast_1d(converged)))
    is_game = n_predictions is None or np.array_equal(n_predictions, n_evals)
    most = int(np.max(n_evals if is_game else n_predictions, initial=0))
    cost = f"{most:,} {'evaluations' if is_game else 'predictions'}"
    if np.ndim(n_evals) == 0:
        warning = "; the tolerance was not met" if missed else ""
        return f"{noun}s of {counted(d, 'player')} by {method}, from {cost}{warning}"
    warning = f"; {counted(missed, 'row')} did not meet the tolerance" if missed else ""
    of_rows = f"{counted(len(n_evals), 'row')} and {counted(d, 'player')}"
    return f"{noun}s of {of_rows} by {method}, from up to {cost} for each row{warning}"
