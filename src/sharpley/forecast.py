"""What an explanation will cost, and how accurate it will be, told before it starts.

Rows differ in difficulty, so the pilot is a random sample, stratified by prediction: rows are sorted by their
predictions, and one row of each stratum is explained. Rows whose prediction is far from the mean are more likely to be
chosen, and count less. The differences between pilot rows show how far their mean may be from the mean over all rows.

The first explanation compiles code, so some of the pilot rows are explained once before any time is taken. The pilot is
then explained in groups of different sizes. A line through their times separates what every call takes from what every
prediction takes, and its residuals show how sure the forecast is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.engine.methods import METHODS
from sharpley.games.marginal.model import CallTime
from sharpley.result import ShapleyEstimate

PILOT_ROWS = 20
MOST_SORTED = 10_000  # rows that are predicted, in order to sort them; more are a random sample of these
SHARES = (0.05, 0.05, 0.1, 0.1, 0.25, 0.45)  # of the pilot rows in each group
BY_SIZE = 0.5  # share of the chance to be chosen that depends on the prediction
ROUNDS = 20  # of limiting the chances of single rows
LONG_ENOUGH, GROWTH = 0.5, 4  # seconds that the largest group should take, and how much larger the next one is
LEVEL = 0.95
ROUNDING = 1e-9

Timed: TypeAlias = tuple[ShapleyEstimate, CallTime]
"""The result of some rows, and the time that it took in the model."""
Explain: TypeAlias = Callable[[NDArray[np.int64]], Timed]
"""Explains some of the rows, by their positions, and returns the time in the model, too."""


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
        Expected time in seconds in one process, of which ``model_seconds`` are spent in the model. The time to compile
        code, at the first explanation in a process, is not included.
    model_seconds : float
        Expected time in calls of the model.
    standard_error : float
        Typical standard error of a Shapley value: the root of the mean square over all rows and players.
    relative_error : float
        The same, divided by the root mean square of the values.
    pilot_rows : int
        Number of rows that were explained for the forecast.
    seconds_interval, standard_error_interval : (float, float)
        95% confidence limits, from the differences between pilot rows and between measured times.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> X = np.random.default_rng(0).normal(size=(500, 12))
    >>> explainer = sharpley.Explainer(lambda x: x[:, 0] * x[:, 1] + x[:, 2:].sum(axis=1), X, rng=0)
    >>> forecast = explainer.plan(X, max_predictions=2000)
    >>> forecast.rows, forecast.method, forecast.predictions <= 500 * 2000
    (500, 'antithetic', True)
    >>> low, high = forecast.standard_error_interval
    >>> low < forecast.standard_error < high
    True
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
    seconds_interval: tuple[float, float]
    standard_error_interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.standard_error_interval
        if self.method in METHODS and METHODS[self.method].is_closed_form:
            errors = "values in closed form: exact over all background rows, without sampling"
        else:
            errors = (
                f"standard errors about {self.standard_error:.2g} ({low:.2g} to {high:.2g}), {self.relative_error:.1%} "
                f"of the values (from {self.pilot_rows} rows)"
            )
        return "\n".join(
            [
                f"{self.rows:,} rows by method {self.method!r}: {self.predictions:,} predictions in "
                f"{self.model_calls:,} model calls",
                f"about {readable(self.seconds)} ({' to '.join(map(readable, self.seconds_interval))}), of which "
                f"{readable(self.model_seconds)} in the model",
                errors,
            ]
        )


def sorted_sample(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the positions of the rows that are predicted in order to sort them, of n rows: all, if they are few."""
    return np.sort(rng.choice(n, size=MOST_SORTED, replace=False)) if n > MOST_SORTED else np.arange(n)


class Pilot(NamedTuple):
    """Pilot rows."""

    positions: NDArray[np.int64]
    """Which rows they are, (m,)."""
    weights: Floats
    """How many rows each of them stands for, relative to the others, (m,)."""


def choose_pilot(predictions: Floats, count: int, rng: np.random.Generator) -> Pilot:
    """Choose pilot rows by their predictions (n, k), one at random from each stratum of similar predictions.

    Half of the chance to be chosen is the same for all rows; the other half is in proportion to the squared distance
    of a prediction from the mean, since a few rows with large values often have most of the errors.
    """
    n, m = len(predictions), min(len(predictions), count)
    centred = predictions - predictions.mean(axis=0)
    scale = np.abs(centred).max(axis=0)
    scaled = centred / np.where(scale > 0, scale, 1.0)
    direction = np.linalg.svd(scaled, full_matrices=False)[2][0]  # of the largest variation of several outputs
    order = np.argsort(scaled @ direction, kind="stable")
    if m == n:
        return Pilot(order, np.ones(n))
    sizes = np.square(scaled[order]).sum(axis=1)
    chances = np.full(n, 1.0 / n) if sizes.sum() == 0 else (1 - BY_SIZE) / n + BY_SIZE * sizes / sizes.sum()
    for _ in range(ROUNDS):  # no row needs to be chosen twice
        chances = np.minimum(chances, 1.0 / m)
        chances /= chances.sum()
    points = (np.arange(m) + rng.uniform(size=m)) / m
    chosen = np.minimum(np.searchsorted(np.cumsum(chances), points), n - 1)
    return Pilot(order[chosen], 1.0 / chances[chosen])


def make_forecast(
    n_rows: int, pilot: Pilot, more: NDArray[np.int64], explain: Explain, rows_per_call: int, rng: np.random.Generator
) -> Forecast:
    """Explain pilot rows, and extrapolate to n rows; ``more`` rows are explained as long as that takes no time."""
    groups = _groups(len(pilot.positions), rng)
    explain(pilot.positions[groups[0]])  # compiles code
    results = [explain(pilot.positions[group]) for group in groups]
    squares, sizes, costs = (np.zeros(len(pilot.positions)) for _ in range(3))
    for group, (found, _) in zip(groups, results, strict=True):
        each = (len(group), -1)
        squares[group] = np.square(found.standard_errors).reshape(each).mean(axis=1)
        sizes[group] = np.square(found.values).reshape(each).mean(axis=1)
        costs[group] = np.asarray(found.n_predictions)
    error, size, cost = (_mean_over_all(each, pilot.weights, n_rows) for each in (squares, sizes, costs))
    results += _larger(len(pilot.positions), more, explain, results[-1])
    total, is_closed_form = cost.value * n_rows, not np.any(results[-1][0].n_evals)
    by_row = [np.ones(len(found)) if is_closed_form else found.n_predictions for found, _ in results]
    work, whole = (
        np.array([float(np.sum(np.asarray(each, dtype=np.float64))) for each in by_row]),
        n_rows if is_closed_form else total,
    )
    seconds = _at(whole, work, np.array([found.compute_time or 0.0 for found, _ in results]))
    in_model = _at(whole, work, np.array([time.seconds for _, time in results]))
    calls = _at(whole, work, np.array([float(time.calls) for _, time in results]))
    overall = _Estimated(seconds.value, float(np.hypot(seconds.relative_error, cost.relative_error)), seconds.freedom)
    low, high = np.sqrt(error.interval())
    return Forecast(
        rows=n_rows,
        method=results[-1][0].method,
        predictions=int(np.ceil(total)),
        model_calls=int(np.ceil(max(calls.value, total / rows_per_call))),
        seconds=seconds.value,
        model_seconds=min(in_model.value, seconds.value),
        standard_error=float(np.sqrt(error.value)),
        relative_error=float(np.sqrt(error.value / size.value)) if size.value else 0.0,
        pilot_rows=len(pilot.positions),
        seconds_interval=overall.interval(),
        standard_error_interval=(float(low), float(high)),
    )


def _larger(m: int, more: NDArray[np.int64], explain: Explain, last: Timed) -> list[Timed]:
    """Explain larger and larger groups, for their times alone, as long as these are too short to be measured well."""
    found: list[Timed] = []
    while (last[0].compute_time or 0.0) < LONG_ENOUGH and m < len(more):
        m = GROWTH * m
        last = explain(more[:m])
        found.append(last)
    return found


class _Estimated(NamedTuple):
    """A positive number, with its relative standard error and the degrees of freedom behind that."""

    value: float
    relative_error: float
    freedom: int

    def interval(self) -> tuple[float, float]:
        """Return confidence limits, which are positive as well."""
        from scipy.special import stdtrit

        factor = float(np.exp(stdtrit(self.freedom, (1 + LEVEL) / 2) * self.relative_error))
        return self.value / factor, self.value * factor


def _mean_over_all(values: Floats, weights: Floats, n: int) -> _Estimated:
    """Return the mean over n rows, from values of rows that were chosen with unequal chances (Hájek's estimator)."""
    m, shares = len(values), weights / weights.sum()
    mean = float(shares @ values)
    if m == n or mean == 0.0:
        return _Estimated(mean, 0.0, max(1, m - 1))
    if m == 1:
        return _Estimated(mean, 1.0, 1)  # nothing is known of how rows differ
    variance = m / (m - 1) * np.sum(np.square(shares * (values - mean)))
    return _Estimated(mean, float(np.sqrt(variance)) / mean, m - 1)


def _at(total: float, work: Floats, measured: Floats) -> _Estimated:
    """Extrapolate what was measured for groups of different work, along a line that does not fall, to the total work.

    Larger groups vary more: their variance is taken to be in proportion to their work.
    """
    weights = 1.0 / work
    design = np.stack([np.ones_like(work), work], axis=1)
    if len(work) > 2 and np.ptp(work) > 0:
        gram = design.T @ (weights[:, None] * design)
        line = np.linalg.solve(gram, design.T @ (weights * measured))
        line[np.abs(line * [1.0, total]) < ROUNDING * measured.max()] = 0.0
        if (line >= 0).all() and line.any():
            variance = np.sum(weights * np.square(measured - design @ line)) / (len(work) - 2)
            at = np.array([1.0, total])
            value = float(at @ line)
            return _Estimated(value, float(np.sqrt(variance * (at @ np.linalg.solve(gram, at)))) / value, len(work) - 2)
    ratio = measured.sum() / work.sum()
    if ratio == 0.0:
        return _Estimated(0.0, 0.0, 1)
    variance = np.sum(weights * np.square(measured - ratio * work)) / max(1, len(work) - 1) / work.sum()
    return _Estimated(float(ratio * total), float(np.sqrt(variance)) / ratio, max(1, len(work) - 1))


def _groups(m: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Divide m pilot rows at random into groups of different sizes, the smallest first; one or two rows repeatedly."""
    if m < 3:
        return [np.arange(m)] * 3
    sizes = [max(1, int(share * m)) for share in SHARES[: min(m, len(SHARES))]]
    sizes[-1] += m - sum(sizes)
    return np.split(rng.permutation(m), np.cumsum(sizes)[:-1])


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
