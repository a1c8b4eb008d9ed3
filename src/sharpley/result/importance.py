"""The result of global importance: one number for each feature, with intervals for these rows or a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice
from sharpley._support.typing import ArrayLike, Floats
from sharpley.coalitions.moments import Moments, half_widths
from sharpley.presentation.sizes import common_error, sizes_without_bias

MOST_LINES = 15  # that are printed for each cohort
LONGEST_BAR, LONGEST_NAME = 24, 28


@final
@dataclass(frozen=True, repr=False)
class Importance:
    """Global importance of features, with standard errors.

    Arrays have shape (d,), or (cohorts, d) for cohorts, and a last axis of outputs if there are several.

    Attributes
    ----------
    values : float
        Importance of each feature.
    standard_errors : float, of the same shape
        Their standard errors if the rows are a sample of a population, which is what importance is asked for.
    sampling_errors : float, of the same shape
        Their standard errors for exactly these rows: from orderings, backgrounds, and rows that were not visited.
    degrees_of_freedom, sampling_degrees : float, of the same shape
        Degrees of freedom behind both.
    names : list of str
        Names of the features.
    measure : str
        What the numbers are: ``"mean |φ|"``, ``"mean φ"``, or the loss that features reduce.
    n_rows : int or (cohorts,) int
        Number of rows.
    n_predictions : int or None
        Number of predictions of the model, if they were counted.
    converged : bool
        Whether ``tol`` was met; True without one.
    cohorts : list of str or None
        Names of the cohorts.
    output_names : list of str or None
        Names of the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> found = sharpley.importance(lambda x: 2 * x[:, 0] + x[:, 1], X, 2 * X[:, 0] + X[:, 1], rng=0)
    >>> found.names[int(found.values.argmax())]
    'Feature 0'
    """

    values: Floats
    standard_errors: Floats
    sampling_errors: Floats
    degrees_of_freedom: Floats
    sampling_degrees: Floats
    names: list[str]
    measure: str
    n_rows: int | NDArray[np.int64]
    n_predictions: int | None = None
    converged: bool = True
    cohorts: list[str] | None = None
    output_names: list[str] | None = None

    def interval(self, level: float = 0.95, *, of: str = "population") -> tuple[Floats, Floats]:
        """Return confidence intervals.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.
        of : {"population", "rows"}, default "population"
            Whether the intervals are for the population that the rows are a sample of, or for these rows.

        Returns
        -------
        lower, upper : float
            Confidence limits, each of the shape of ``values``.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}; for 95% give 0.95")
        is_rows = check_choice("of", of, ("population", "rows")) == "rows"
        errors = self.sampling_errors if is_rows else self.standard_errors
        freedom = self.sampling_degrees if is_rows else self.degrees_of_freedom
        half = half_widths(Moments(self.values, errors**2, freedom), level)
        return self.values - half, self.values + half

    def __getitem__(self, cohort: str) -> Self:
        """Return the importance in one cohort."""
        if self.cohorts is None:
            raise KeyError(f"there are no cohorts, so there is no {cohort!r}; importance(..., by=...) makes them")
        if cohort not in self.cohorts:
            raise KeyError(f"unknown cohort {cohort!r}; the cohorts are {self.cohorts}")
        at = self.cohorts.index(cohort)
        return self._with([array[at] for array in self._arrays], int(np.asarray(self.n_rows)[at]), None)

    def difference(self, one: str, other: str) -> Self:
        """Return by how much features are more important in one cohort than in another, with errors.

        Parameters
        ----------
        one, other : str
            Names of cohorts.

        Examples
        --------
        >>> import numpy as np
        >>> import sharpley
        >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 2.0], [5.0, 2.0]])
        >>> found = sharpley.importance(lambda x: x[:, 0], X, background=[[0.0, 0.0]], by=["a", "a", "b", "b"], rng=0)
        >>> found.difference("b", "a").values.round(9)
        array([2.5, 0. ])
        """
        a, b = self[one], self[other]
        population, sampling = (
            _difference_of(Moments(a.values, first**2, freedom), Moments(b.values, second**2, other_freedom))
            for first, freedom, second, other_freedom in (
                (a.standard_errors, a.degrees_of_freedom, b.standard_errors, b.degrees_of_freedom),
                (a.sampling_errors, a.sampling_degrees, b.sampling_errors, b.sampling_degrees),
            )
        )
        errors = np.sqrt(population.variances), np.sqrt(sampling.variances)
        arrays = [population.values, *errors, population.degrees_of_freedom, sampling.degrees_of_freedom]
        found = self._with(arrays, int(np.asarray(self.n_rows).sum()), None)
        return replace(found, measure=f"{self.measure}, {one} − {other}")

    @property
    def _arrays(self) -> list[Floats]:
        return [
            self.values,
            self.standard_errors,
            self.sampling_errors,
            self.degrees_of_freedom,
            self.sampling_degrees,
        ]

    def _with(self, arrays: Sequence[Floats], n_rows: int | NDArray[np.int64], cohorts: list[str] | None) -> Self:
        names = ("values", "standard_errors", "sampling_errors", "degrees_of_freedom", "sampling_degrees")
        changed: dict[str, Any] = dict(zip(names, arrays, strict=True))
        return replace(self, **changed, n_rows=n_rows, cohorts=cohorts)

    def _tables(self) -> list[tuple[dict[str, str], Any]]:
        """Return the labels and the place of every list of features: one for each cohort and output."""
        cohorts: list[Any] = [None] if self.cohorts is None else list(enumerate(self.cohorts))
        has_outputs = self.values.ndim - (self.cohorts is not None) == 2
        names = self.output_names or [f"Output {number}" for number in range(self.values.shape[-1])]
        outputs: list[Any] = list(enumerate(names)) if has_outputs else [None]
        found = []
        for cohort in cohorts:
            for output in outputs:
                labels = ({} if cohort is None else {"cohort": cohort[1]}) | (
                    {} if output is None else {"output": output[1]}
                )
                before = () if cohort is None else (cohort[0],)
                found.append((labels, (*before, slice(None), *(() if output is None else (output[0],)))))
        return found

    def to_frame(self, *, level: float = 0.95, of: str = "population") -> Any:
        """Return a pandas DataFrame, the most important features first in every cohort and output.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the limits ``lower`` and ``upper``.
        of : {"population", "rows"}, default "population"
            As for ``interval``.
        """
        import pandas as pd

        lower, upper = self.interval(level, of=of)
        errors = self.sampling_errors if of == "rows" else self.standard_errors
        parts = []
        for labels, at in self._tables():
            columns = {"importance": self.values, "standard_error": errors, "lower": lower, "upper": upper}
            table = {"feature": self.names, **{name: array[at] for name, array in columns.items()}}
            frame = pd.DataFrame({**dict.fromkeys(labels), **table}).assign(**labels)
            parts.append(frame.sort_values("importance", ascending=False, kind="stable"))
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        lines = [self._heading()]
        for labels, at in self._tables():
            values, errors = self.values[at], self.standard_errors[at]
            if labels:
                lines.append(", ".join(labels.values()))
            lines += _lines(values, errors, self.names)
        return "\n".join(lines)

    def _heading(self) -> str:
        rows = int(np.sum(self.n_rows))
        cost = "" if self.n_predictions is None else f", {self.n_predictions:,} predictions"
        missed = "" if self.converged else "; the tolerance was not met"
        return f"Importance of {len(self.names)} features ({self.measure}), from {rows:,} rows{cost}{missed}"


def _lines(values: Floats, errors: Floats, names: list[str]) -> list[str]:
    """Return the printed lines of the most important features."""
    order = np.argsort(-values, kind="stable")[:MOST_LINES]
    shown = [name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…" for name in np.array(names)[order]]
    width, largest = max(map(len, shown), default=0), float(np.abs(values).max(initial=0.0))
    lines = []
    for name, value, error in zip(shown, values[order].tolist(), errors[order].tolist(), strict=True):
        bar = ("█" if value > 0 else "▒") * (round(LONGEST_BAR * abs(value) / largest) if largest else 0)
        lines.append(f"  {name:<{width}}  {value:>10.4g} ± {error:<8.2g} {bar}".rstrip())
    left_out = len(values) - len(order)
    return [*lines, f"  … {left_out} less important"] if left_out else lines


def _difference_of(one: Moments, other: Moments) -> Moments:
    """Return the moments of a difference of independent estimates, with Satterthwaite's degrees of freedom."""
    variances = one.variances + other.variances
    parts = one.variances**2 / one.degrees_of_freedom + other.variances**2 / other.degrees_of_freedom
    known = parts > 0
    freedom = np.where(known, variances**2 / np.where(known, parts, 1.0), np.inf)
    return Moments(one.values - other.values, variances, freedom)


def cohorts_of(by: Any, n: int) -> tuple[list[str] | None, list[NDArray[np.int64]]]:
    """Return the names of cohorts, and the rows of each; all rows without names if ``by`` is None."""
    if by is None:
        return None, [np.arange(n)]
    labels = np.asarray(by)
    if labels.shape != (n,):
        raise ValueError(f"by must have one label for each of {n} rows, got shape {labels.shape}")
    texts = np.array([str(label) for label in labels.tolist()])
    names = np.unique(texts).tolist() if labels.dtype.kind in "OUS" else [str(each) for each in np.unique(labels)]
    return names, [np.flatnonzero(texts == name) for name in names]


def importance_of_values(
    values: Floats,
    errors: Floats,
    names: list[str],
    *,
    absolute: bool = True,
    by: ArrayLike | None = None,
    shared: bool = False,
    unvisited: float = 0.0,
    n_predictions: int | None = None,
    output_names: list[str] | None = None,
) -> Importance:
    """Return mean sizes of values, or mean values, over rows or cohorts of them, given values (n, d) or (n, d, k).

    ``shared`` says whether the rows share orderings or draws, so that their errors have a part in common, and
    ``unvisited`` is the share of all rows that ``values`` do not have.
    """
    sizes = sizes_without_bias(values, errors) if absolute else values
    cohorts, members = cohorts_of(by, len(values))
    parts = []
    for rows in members:
        n, mine = len(rows), sizes[rows]
        noise = (errors[rows] ** 2).mean(axis=0)
        common = common_error(values[rows], errors[rows], absolute=absolute) ** 2 if shared else 0.0
        spread = mine.var(axis=0, ddof=1) if n > 1 else np.full(mine.shape[1:], np.nan)
        between = np.maximum(spread - noise, 0.0) if n > 1 else spread
        sampling = common + noise / n + (unvisited * between / n if unvisited else 0.0)
        population = common + np.maximum(spread, noise) / n
        freedom = np.full(mine.shape[1:], max(1.0, n - 1.0))
        parts.append((mine.mean(axis=0), np.sqrt(population), np.sqrt(sampling), freedom, freedom))
    arrays = [np.stack(part) for part in zip(*parts, strict=True)]
    counts = np.array([len(rows) for rows in members])
    if cohorts is None:
        arrays, counts = [array[0] for array in arrays], counts[0]
    value, error, sampling_error, freedom, sampling_freedom = arrays
    return Importance(
        *(value, error, sampling_error, freedom, sampling_freedom),
        names=names,
        measure="mean |φ|" if absolute else "mean φ",
        n_rows=int(counts) if cohorts is None else counts,
        n_predictions=n_predictions,
        cohorts=cohorts,
        output_names=output_names,
    )
