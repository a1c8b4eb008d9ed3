"""The value of data: how much training rows, or groups of them, contribute to the quality of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, Floats
from sharpley.engine.methods import Method
from sharpley.engine.options import Limits, check_options, documented
from sharpley.estimation import estimate
from sharpley.games.valuation import Groups, ValuationGame
from sharpley.indices import Index
from sharpley.result import ShapleyEstimate


class DataValuation:
    """Value training rows, or groups of them, by what they contribute to the score of a model, with error bars.

    Parameters
    ----------
    model : estimator of scikit-learn's kind
        It is cloned and fitted to coalitions of rows.
    X, y : (n, columns) array or DataFrame, and (n,) array
        The training rows and their labels.
    X_test, y_test : array or DataFrame, and array
        The rows that refits are scored on.
    scorer : str or callable, optional
        A name such as "accuracy" or "neg_log_loss", or a function of (model, X, y); the model's ``score`` by default.
    groups : mapping of name to rows, or sequence of n names, optional
        Rows that form a single player, such as those of one source. By default, every row is a player.
    seeds : int or sequence of int, optional
        Seeds of random refits, or how many: each is a draw, and scores are means over all. Without them, a
        ``random_state`` that is None is set to 0.
    default : float, optional
        The value of coalitions that a model cannot be fitted to: those with fewer than ``least_rows`` rows and, for
        classifiers, with a single class. By default, the score of the best constant: the most frequent class, or the
        mean, of all training rows.
    least_rows : int, default 1
        Number of rows that a model needs.
    cache : str or Path, optional
        A file in which every score is kept as soon as it is known. The same call finds them there, so that an
        interrupted run resumes. A file of another model or of other data is an error.
    n_jobs : int, optional
        Number of refits at the same time; -1 for all cores. Results do not depend on it.
    rng : int, Generator, SeedSequence or None
        Source of randomness. With an int, every estimate makes the same random choices.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])  # the last label is wrong
    >>> valuation = DataValuation(LogisticRegression(), X, [0, 0, 1, 0], X, [0, 0, 1, 1], rng=0)
    >>> found = valuation.estimate()
    >>> found.values.round(2), float(found.base_values)
    (array([ 0.06,  0.06,  0.1 , -0.23]), 0.5)
    """

    def __init__(
        self,
        model: Any,
        X: Any,  # noqa: N803 (scikit-learn's name)
        y: Any,
        X_test: Any,  # noqa: N803
        y_test: Any,
        *,
        scorer: str | Callable[[Any, Any, Any], float] | None = None,
        groups: Groups | None = None,
        seeds: int | Sequence[int] | None = None,
        default: float | None = None,
        least_rows: int = 1,
        cache: str | Path | None = None,
        n_jobs: int | None = None,
        rng: RNG = None,
    ) -> None:
        self.game = ValuationGame(
            model,
            X,
            y,
            X_test,
            y_test,
            scorer=scorer,
            groups=groups,
            seeds=seeds,
            default=default,
            least_rows=least_rows,
            cache=cache,
            n_jobs=n_jobs,
        )
        self.rng = rng

    @property
    def n_refits(self) -> int:
        """Number of refits so far, those found in the file not included."""
        return self.game.n_refits

    @documented(Limits, without=("surrogate",))
    def estimate(
        self,
        *,
        index: str | Index = "shapley",
        method: Method = "auto",
        unbiased: bool = False,
        **limits: Unpack[Limits],
    ) -> ShapleyEstimate:
        """Estimate the values of all players; refits of earlier estimates are used again.

        Parameters
        ----------
        index : str or Index, default "shapley"
            Such as "banzhaf", which differences between random refits disturb least, or "beta(16, 1)", which weights
            small coalitions most.
        method, unbiased
            As for ``sharpley.estimate``. Every evaluation of a coalition is a refit for each seed, and a prediction is
            a refit for one seed.
        {options}

        Returns
        -------
        ShapleyEstimate
            With arrays of shape (players,).
        """
        check_options(limits, Limits, "DataValuation.estimate")
        found = estimate(self.game, index=index, method=method, unbiased=unbiased, rng=self.rng, **limits)
        values: ShapleyEstimate = found.row(0)
        return values

    def __repr__(self) -> str:
        return f"DataValuation({self.game.d} players, {self.n_refits} refits so far)"


def knn_values(
    X: Any,  # noqa: N803
    y: Any,
    X_test: Any,  # noqa: N803
    y_test: Any,
    *,
    k: int = 5,
) -> Floats:
    """Return the exact Shapley values of training rows for a classifier by k nearest neighbours, in closed form [1]_.

    The score of a coalition S is the mean over test rows of the share of the k nearest rows in S that have the right
    label; if S has fewer than k rows, of k nevertheless.

    Parameters
    ----------
    X, y : (n, columns) array, and (n,) array
        The training rows and their labels.
    X_test, y_test : (t, columns) array, and (t,) array
        The test rows and their labels.
    k : int, default 5
        Number of neighbours. Distances are Euclidean; of equally distant rows, the earlier one is nearer.

    Returns
    -------
    (n,) float
        Exact values; they add up to the score of all rows.

    References
    ----------
    .. [1] R. Jia et al., "Efficient Task-Specific Data Valuation for Nearest Neighbor Algorithms", VLDB 2019.

    Examples
    --------
    >>> knn_values([[0.0], [1.0], [3.0]], ["a", "b", "b"], [[0.9]], ["b"], k=1).round(3)
    array([-0.167,  0.833,  0.333])
    """
    rows, tests = np.asarray(X, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    labels, truth = np.asarray(y), np.asarray(y_test)
    k = check_count("k", k, minimum=1)
    if rows.ndim != 2 or tests.ndim != 2 or labels.shape != rows.shape[:1] or truth.shape != tests.shape[:1]:
        shapes = [each.shape for each in (rows, labels, tests, truth)]
        raise ValueError(f"X, y, X_test and y_test must have shapes (n, q), (n,), (t, q) and (t,), got {shapes}")
    n, found = len(rows), np.zeros(len(rows))
    ranks = np.arange(1, n)  # of all but the farthest
    for test, label in zip(tests, truth, strict=True):
        order = np.argsort(((rows - test) ** 2).sum(axis=1), kind="stable")
        right = (labels[order] == label).astype(np.float64)
        steps = (right[:-1] - right[1:]) / k * np.minimum(k, ranks) / ranks
        last = right[-1] * min(k, n) / (k * n)
        found[order] += last + np.append(np.cumsum(steps[::-1])[::-1], 0.0)
    return np.asarray(found / len(tests))
