"""Background rows, and explicit ways to choose a few of them from more data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count, stacklevel_outside
from sharpley._support.typing import RNG, Floats
from sharpley.games.marginal.containers import check_readable
from sharpley.games.marginal.shap_background import USE_ADAPTER, rows_and_weights

MAX_ROWS = 2**20  # of the background; more are not predicted


@dataclass(frozen=True)
class Background:
    """Background rows with weights.

    What is estimated is the mean over these rows, so the best background is all of the training data: the cost of an
    explanation does not depend on their number, apart from one prediction for each of them, once for an explainer. Of
    more than 2^20 rows, a random part of that size is used, and a warning says so. ``Background.sample`` and
    ``Background.kmeans`` choose fewer rows, for methods that evaluate every coalition for all of them.

    Parameters
    ----------
    rows : (n, columns) array, pandas or polars DataFrame, or scipy sparse matrix
        The background rows.
    weights : (n,) float, optional
        Share of the data that each row represents; equal by default. Weights are scaled to sum to 1.

    Examples
    --------
    The base value is the weighted mean of the predictions for the background rows:

    >>> import sharpley
    >>> background = sharpley.Background([[0.0, 0.0], [1.0, 2.0]], weights=[3, 1])
    >>> explainer = sharpley.Explainer(lambda X: X.sum(axis=1), background)
    >>> explainer.estimate([[2.0, 2.0]]).base_values
    array([0.75])
    """

    rows: Any
    weights: Floats | None = None

    @classmethod
    def sample(cls, data: Any, n: int, *, rng: RNG = None) -> Self:
        """Draw rows at random, without repetition.

        Parameters
        ----------
        data : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Data to draw from.
        n : int
            Number of rows to draw; all rows are used if there are at most n.
        rng : int, Generator, SeedSequence or None
            Source of randomness.

        Returns
        -------
        Background
            Rows of the type of ``data``, with equal weights.

        Examples
        --------
        >>> import numpy as np
        >>> Background.sample(np.arange(20.0).reshape(10, 2), 3, rng=0).rows.shape
        (3, 2)
        """
        n = check_count("n", n, minimum=1)
        total = number_of_rows(data)
        chosen = np.sort(np.random.default_rng(rng).choice(total, size=min(n, total), replace=False))
        return cls(take_rows(data, chosen))

    @classmethod
    def kmeans(cls, data: Any, n: int, *, rng: RNG = None) -> Self:
        """Summarise data by the centres of k-means clusters, with each value moved to the nearest one in its column.

        Parameters
        ----------
        data : (rows, columns) array, or pandas or polars DataFrame
            Data to summarise, which must be finite numbers.
        n : int
            Number of clusters; at most the number of rows is used.
        rng : int, Generator, SeedSequence or None
            Source of randomness.

        Returns
        -------
        Background
            One row for each cluster, of the type of ``data``, weighted by the share of rows in the cluster.

        Examples
        --------
        >>> import numpy as np
        >>> background = Background.kmeans(np.array([[0.0], [1.0], [1.0], [9.0]]), 2, rng=0)
        >>> sorted(zip(background.rows[:, 0].tolist(), background.weights.tolist()))
        [(1.0, 0.75), (9.0, 0.25)]
        """
        from sklearn.cluster import KMeans

        check_readable("data", data)
        values = _as_numbers(data)
        if not np.isfinite(values.astype(np.float64)).all():
            raise TypeError("k-means needs finite numbers, but the data contain NaN or infinity; use Background.sample")
        seed = int(np.random.default_rng(rng).integers(2**31))
        clusters = KMeans(min(check_count("n", n, minimum=1), len(values)), n_init=10, random_state=seed).fit(values)
        # One centre at a time: all at once would need memory for clusters × rows × columns numbers.
        nearest = np.array([np.abs(values - centre).argmin(axis=0) for centre in clusters.cluster_centers_])
        shares = np.bincount(clusters.labels_, minlength=len(nearest)) / len(values)
        return cls(_gather(data if hasattr(data, "columns") else values, nearest), shares)

    def weights_of(self, n: int) -> Floats:
        """Return the weights of the n rows, scaled to sum to 1, (n,)."""
        if n == 0:
            raise ValueError("the background must have at least one row, got none")
        if self.weights is None:
            return np.full(n, 1.0 / n)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (n,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            raise ValueError(
                f"background weights must be {n} non-negative numbers with a positive sum, "
                f"got {np.array2string(weights, threshold=10)}"
            )
        return weights / weights.sum()


def _as_numbers(data: Any) -> NDArray[Any]:
    """Return rows as an array of numbers; columns of flags and of numbers may stand beside each other."""
    values = data.to_numpy() if hasattr(data, "to_numpy") else np.asarray(data)
    if values.dtype.kind in "biuf":
        return np.asarray(values)
    try:
        if any(isinstance(value, str | bytes) for value in values.reshape(-1)):
            raise ValueError("text")
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"k-means needs numbers, got dtype {values.dtype}; use Background.sample") from None


def number_of_rows(data: Any) -> int:
    """Return the number of rows of an array, DataFrame, sparse matrix or list of rows."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def take_rows(data: Any, positions: NDArray[np.int64]) -> Any:
    """Return some of the rows, with the type of the data."""
    rows = data if hasattr(data, "shape") else np.asarray(data)
    return rows.iloc[positions] if hasattr(rows, "iloc") else rows[positions]


def _gather(data: Any, positions: NDArray[np.int64]) -> Any:
    """Return rows whose entry (i, j) is that of row positions[i, j] in column j, with the type and dtypes of data."""
    if not hasattr(data, "columns"):
        return np.take_along_axis(data, positions, axis=0)
    if hasattr(data, "iloc"):
        columns = {j: data.iloc[:, j].array.take(positions[:, j]) for j in range(data.shape[1])}
        return type(data)(columns).set_axis(data.columns, axis=1)
    return type(data)([series.gather(positions[:, j]) for j, series in enumerate(data.get_columns())])


def as_background(background: Any, *, rng: RNG = None) -> Background:
    """Return ``background`` if it is a Background, and otherwise a Background with these rows, or some of too many.

    The summaries of ``shap.kmeans`` and shap's maskers with data have rows, and may have weights.
    """
    if isinstance(background, Background):
        return background
    check_readable("background", background)
    if (of_shap := rows_and_weights(background)) is not None:
        return Background(*of_shap)
    if background is None or callable(background):
        masker = "" if background is None else f"; if it is a masker, {USE_ADAPTER}"
        raise TypeError(
            f"the background must be rows of data, got {background!r}; "
            f"pass training data, as in Explainer(model, X_train){masker}"
        )
    if isinstance(background, int | np.integer):
        raise TypeError(
            f"the background must be rows of data, got the number {background}; "
            f"choose rows by Background.sample(data, {background}) or Background.kmeans(data, {background})"
        )
    if (n := number_of_rows(background)) > MAX_ROWS:
        warnings.warn(
            f"the background has {n} rows; a random part of {MAX_ROWS} of them is used. To choose them yourself, pass "
            f"Background.sample(data, {MAX_ROWS})",
            UserWarning,
            stacklevel=stacklevel_outside(),
        )
        return Background.sample(background, MAX_ROWS, rng=rng)
    return Background(background)
