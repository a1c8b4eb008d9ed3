"""What an explanation will cost, and how accurate it will be, told before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.model import CallTime
from sharpley.result import ShapleyEstimate

PILOT_ROWS = 3
EXACT_PILOT_ROWS = 1000  # for values in closed form, which take far less time for each row
EXACT_NOTE = "values in closed form: exact over all background rows, without sampling"


@dataclass(frozen=True)
class Forecast:
    """What explaining some rows will cost, extrapolated from a few of them; ``Explainer.plan`` returns it.

    Attributes
    ----------
    rows : int
        Number of rows to explain.
    method : str
        The method that will be used.
    predictions : int
        Expected number of predictions for all rows. Those for the background, made once, are not included.
    model_calls : int
        Expected number of calls of the model.
    seconds : float
        Expected time in seconds in one process, of which ``model_seconds`` are spent in the model.
    model_seconds : float
        Expected time in calls of the model.
    standard_error : float
        Typical standard error of a Shapley value: the root of their mean square in the pilot rows.
    relative_error : float
        The same, divided by the root mean square of the values.
    pilot_rows : int
        Number of rows that were explained for the forecast.
    notes : list of str
        What else is worth knowing before a long run.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> X = np.random.default_rng(0).normal(size=(500, 12))
    >>> explainer = sharpley.Explainer(lambda x: x[:, 0] * x[:, 1] + x[:, 2:].sum(axis=1), X, rng=0)
    >>> forecast = explainer.plan(X, max_predictions=2000)
    >>> forecast.rows, forecast.method, forecast.predictions <= 500 * 2000
    (500, 'antithetic', True)
    """

    rows: int
    method: str
    predictions: int
    model_calls: int
    seconds: float
    model_seconds: float
    standard_error: float
    relative_error: float
    pilot_rows: int
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} rows by method {self.method!r}: {self.predictions:,} predictions in "
            f"{self.model_calls:,} model calls",
            f"about {readable(self.seconds)}, of which {readable(self.model_seconds)} in the model",
            f"standard errors about {self.standard_error:.2g}, {self.relative_error:.1%} of the values "
            f"(from {self.pilot_rows} rows)",
        ]
        return "\n".join([*lines, *self.notes])


def pilot_positions(n: int, count: int = PILOT_ROWS) -> NDArray[np.int64]:
    """Return the positions of the pilot rows among n rows, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def forecast(n_rows: int, found: ShapleyEstimate, in_model: CallTime, exact_seconds: float | None) -> Forecast:
    """Extrapolate from the estimate of pilot rows, and the time that it took in the model, to all rows.

    ``exact_seconds`` is what a closed form takes for the background, once; None for values that are estimated.
    """
    pilot = len(found.values)
    factor = n_rows / pilot
    error, size = (_root_mean_square(values) for values in (found.standard_errors, found.values))
    return Forecast(
        rows=n_rows,
        method=found.method,
        predictions=int(np.ceil(np.mean(np.asarray(found.n_predictions)) * n_rows)),
        model_calls=int(np.ceil(in_model.calls * factor)),
        seconds=(found.compute_time or 0.0) * factor + (exact_seconds or 0.0),
        model_seconds=in_model.seconds * factor,
        standard_error=error,
        relative_error=error / size if size else 0.0,
        pilot_rows=pilot,
        notes=[] if exact_seconds is None else [EXACT_NOTE],
    )


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def readable(seconds: float) -> str:
    """Return a time in the unit that people would use.

    Examples
    --------
    >>> readable(0.25), readable(75), readable(9000)
    ('0.25 s', '1.2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 3600 else f"{seconds / 3600:.2g} h"
