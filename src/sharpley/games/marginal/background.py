"""Background rows, and how to have fewer of them without cutting silently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, Floats


@dataclass(frozen=True)
class Background:
    """Background rows with weights.

    Every evaluation of a coalition costs one model prediction for each background row, so a few dozen to a
    few hundred rows are usual. ``Background.sample`` and ``Background.kmeans`` make them from more data.

    Parameters
    ----------
    rows : table
        Array, pandas or polars frame, or scipy sparse matrix.
    weights : (rows,) float, optional
        Share of the data that each row stands for; equal by default.
    """

    rows: Any
    weights: Floats | None = None

    @classmethod
    def sample(cls, data: Any, n: int, *, rng: RNG = None) -> Self:
        """Draw n rows at random, without repetition; all of them if there are not more."""
        n = check_count("n", n, minimum=1)
        table = data if hasattr(data, "shape") else np.asarray(data)
        total = table.shape[0]
        chosen = np.sort(np.random.default_rng(rng).choice(total, size=min(n, total), replace=False))
        return cls(table.iloc[chosen] if hasattr(table, "iloc") else table[chosen])

    @classmethod
    def kmeans(cls, data: Any, n: int, *, rng: RNG = None) -> Self:
        """Take n weighted rows at the centres of k-means clusters, each value moved to the nearest one in the data.

        For arrays and frames of numbers only. The weights are the shares of rows in the clusters.
        """
        from sklearn.cluster import KMeans

        values = data.to_numpy() if hasattr(data, "to_numpy") else np.asarray(data)
        if values.dtype.kind not in "biuf" or not np.isfinite(values.astype(np.float64)).all():
            raise TypeError("k-means needs a table of finite numbers; use Background.sample")
        seed = int(np.random.default_rng(rng).integers(2**31))
        clusters = KMeans(min(check_count("n", n, minimum=1), len(values)), n_init=10, random_state=seed).fit(values)
        # Centre by centre: all at once would take memory of clusters × rows × columns.
        nearest = np.array([np.abs(values - centre).argmin(axis=0) for centre in clusters.cluster_centers_])
        shares = np.bincount(clusters.labels_, minlength=len(nearest)) / len(values)
        return cls(_gather(data if hasattr(data, "columns") else values, nearest), shares)

    def weights_of(self, n: int) -> Floats:
        """Weights of the n rows, summing to 1."""
        if n == 0:
            raise ValueError("the background must have at least one row, got none")
        if self.weights is None:
            return np.full(n, 1.0 / n)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (n,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            raise ValueError(f"background weights must be {n} numbers of at least 0 with a positive sum")
        return weights / weights.sum()


def _gather(table: Any, positions: NDArray[np.int64]) -> Any:
    """Take each entry (i, j) from row positions[i, j] of column j; the type and the dtypes of the table are kept."""
    if not hasattr(table, "columns"):
        return np.take_along_axis(table, positions, axis=0)
    if hasattr(table, "iloc"):
        columns = {j: table.iloc[:, j].array.take(positions[:, j]) for j in range(table.shape[1])}
        return type(table)(columns).set_axis(table.columns, axis=1)
    return type(table)([series.gather(positions[:, j]) for j, series in enumerate(table.get_columns())])


def as_background(background: Any) -> Background:
    """Rows or a Background as a Background."""
    if isinstance(background, Background):
        return background
    if isinstance(background, int | np.integer):
        raise TypeError(
            f"the background must be rows of data, got the number {background}; "
            f"say how to choose them: Background.sample(data, {background}) or Background.kmeans(data, {background})"
        )
    return Background(background)
