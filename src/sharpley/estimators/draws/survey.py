"""The survey regression: from the draws that were visited to all draws.

Let y_b be the mean contribution of a player in the visited draw b, and x_b features whose mean over all draws is known
(``controls``). The estimate of the mean of y over all draws is the difference estimator

    mean over all b of x_b·β + Σ_b ω_b (y_b − x_b·β),

where β is fitted by least squares to the visited draws, and ω_b = w_b N / n for n visited of N draws with weights w_b.
For every fixed β it is unbiased. The closer x_b·β comes to y_b, the smaller is its variance, which is that of the
residuals.

There are two stages. The first has features of the player itself: whether it differs from the row in draw b, the scores
of v_b(∅), the bins of its own column, and their products. How many of them are used is decided for every row and player
by the leave-one-out error. The second is a ridge regression of what remains on the bins of all columns, whose penalty
is chosen in the same way. Both need only one factorisation for all rows that have the same visited draws.

Products are computed for every row separately, so that the result of a row does not depend on the others to the last
bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.draws.controls import Controls

DRAWS_PER_CONTROL = 6  # minimum number of visited draws for each feature
DRAWS_PER_COMMON_CONTROL = 3  # the same for the features of all columns, whose coefficients are penalised
LEAST_DIFFERING = 8  # visited draws in which a player differs, for features of such draws alone
LEAST_IN_BIN = 3  # visited draws in a bin that gets a coefficient
RIDGE = 1e-7  # relative to the number of draws; only keeps the factorisation regular
PENALTIES = (10.0, 100.0, 1000.0, 10_000.0, np.inf)
LEAST_REMAINDER = 0.02  # 1 − leverage counts as at least this
RANK_TOLERANCE = 1e-8  # relative to the largest eigenvalue
FEATURE_COUNTS = (1, 2, 4, 9, 17, 33)  # numbers of features of the first stage that are tried


class Fit(NamedTuple):
    """Estimated means over all draws of games, one for each row and column."""

    means: Floats
    """Estimated means, (r, g)."""
    errors: Floats
    """Leave-one-out errors of the visited draws, (r, n, g)."""


class _Best:
    """The best of several fits, by the mean square of their leave-one-out errors."""

    def __init__(self, start: Fit) -> None:
        self._found = Fit(start.means.copy(), start.errors.copy())
        self._score = np.full(start.means.shape, np.inf)

    def offer(self, fit: Fit) -> None:
        score = (fit.errors**2).mean(axis=1)
        better = score < self._score
        self._score = np.where(better, score, self._score)
        np.copyto(self._found.means, fit.means, where=better)
        np.copyto(self._found.errors, fit.errors, where=better[:, None])

    @property
    def fit(self) -> Fit:
        return self._found


class Survey:
    """The regression on n visited draws.

    Parameters
    ----------
    controls : Controls or None
        Features of all draws; None if nothing is known of them.
    draws : (n,) int
        The visited draws, each once.
    shares : (n,) float
        Weights ω_b of the visited draws.
    """

    def __init__(self, controls: Controls | None, draws: NDArray[np.int64], shares: Floats) -> None:
        self._controls, self._draws, self._shares = controls, draws, shares
        self._own: dict[tuple[int, int], NestedRegression] = {}
        self._common = None if controls is None else common_features(controls, draws)
        self._ridge = None if self._common is None else RidgeRegression(self._common, shares)

    def first_stage(self, player: int, shared_bin: int, values: Floats) -> Fit:
        """Estimate the means of values (r, n, k) of one player, in rows that have the given shared value, or none."""
        if self._controls is None:
            return self._mean(values)
        if (player, shared_bin) not in self._own:
            features, means = own_features(self._controls, self._draws, player, shared_bin)
            self._own[player, shared_bin] = NestedRegression(features, means, self._shares)
        return self._own[player, shared_bin].fit(values)

    def second_stage(self, first: Fit) -> Fit:
        """Improve the estimates of all players, given their errors (r, n, d·k)."""
        return first if self._ridge is None else self._ridge.improve(first)

    def _mean(self, values: Floats) -> Fit:
        n = values.shape[1]
        left_out = (values - values.mean(axis=1, keepdims=True)) * (n / max(1, n - 1))
        return Fit(np.matmul(self._shares, values), left_out)


def own_features(controls: Controls, draws: NDArray[np.int64], player: int, shared_bin: int) -> tuple[Floats, Floats]:
    """Return the features of one player at visited draws, (n, q), the most useful first, and their means, (q,)."""
    scores, bins = controls.scores[draws], controls.players[player]
    codes = np.zeros(len(draws)) if bins is None else bins.codes[draws]
    if bins is None or (codes != shared_bin).sum() < LEAST_DIFFERING:
        return np.column_stack([np.ones(len(draws)), scores]), np.array([1.0, *np.zeros(scores.shape[1])])
    others = np.arange(len(bins.sums)) != shared_bin
    differs = (codes != shared_bin).astype(np.float64)
    columns = [differs, *(differs * score for score in scores.T)]
    means = [*bins.sums[others].sum(axis=0)]
    counts = np.bincount(codes, minlength=len(bins.sums))
    used = np.flatnonzero(others & (counts >= LEAST_IN_BIN))[1:]  # the first is what the others are compared with
    columns += [(codes == b).astype(np.float64) for b in used]
    means += [bins.sums[b, 0] for b in used]
    if scores.shape[1]:
        columns += [(codes == b) * scores[:, 0] for b in used]
        means += [bins.sums[b, 1] for b in used]
    return np.stack(columns, axis=1), np.array(means)


def common_features(controls: Controls, draws: NDArray[np.int64]) -> Floats | None:
    """Return features of all columns at visited draws, (n, q), whose mean over all draws is 0.

    These are indicators of the bins of all columns or, if there are too few draws for these, the numbers of the bins;
    None if there are too few for these too.
    """
    known = [bins for bins in controls.players if bins is not None]
    most = len(draws) // DRAWS_PER_COMMON_CONTROL
    if not known or len(known) > most:
        return None
    if sum(len(bins.sums) for bins in known) <= most:
        parts = [(bins.codes[draws, None] == np.arange(len(bins.sums))) - bins.sums[:, 0] for bins in known]
        return np.concatenate(parts, axis=1)
    return np.stack([bins.codes[draws] - np.arange(len(bins.sums)) @ bins.sums[:, 0] for bins in known], axis=1)


class NestedRegression:
    """Least squares on the first of a list of features, on the first few, or on all, by one factorisation.

    Parameters
    ----------
    features : (n, q) float
        Features of the visited draws.
    means : (q,) float
        Their means over all draws.
    shares : (n,) float
        Weights ω_b of the visited draws.
    """

    def __init__(self, features: Floats, means: Floats, shares: Floats) -> None:
        from scipy.linalg import solve_triangular

        n = len(features)
        most = max(1, min(features.shape[1], n // DRAWS_PER_CONTROL))
        regular = np.concatenate([features[:, :most], np.sqrt(RIDGE * n) * np.eye(most)])
        q, r = np.linalg.qr(regular)
        self._q = np.ascontiguousarray(q[:n])
        self._remainder = np.maximum(1.0 - np.cumsum(self._q**2, axis=1), LEAST_REMAINDER)  # (n, most)
        # What a unit of each coefficient adds to the estimate: its share of all draws, minus that of the visited ones.
        self._shift = solve_triangular(r, means[:most], trans="T") - self._q.T @ shares
        self._shares = shares
        self._counts = sorted({most, *(count for count in FEATURE_COUNTS if count < most)})

    def fit(self, values: Floats) -> Fit:
        """Estimate means of values (r, n, k)."""
        plain = np.matmul(self._shares, values)
        coefficients = np.matmul(self._q.T, values)  # (r, most, k)
        best = _Best(Fit(plain, values))
        for count in self._counts:
            fitted = np.matmul(self._q[:, :count], coefficients[:, :count])
            errors = (values - fitted) / self._remainder[:, count - 1, None]
            best.offer(Fit(plain + np.matmul(self._shift[:count], coefficients[:, :count]), errors))
        return best.fit


class RidgeRegression:
    """Ridge regression on features with mean 0 over all draws, for several penalties by one factorisation.

    Parameters
    ----------
    features : (n, q) float
        Features of the visited draws.
    shares : (n,) float
        Weights ω_b of the visited draws.
    """

    def __init__(self, features: Floats, shares: Floats) -> None:
        variances, directions = np.linalg.eigh(features.T @ features)
        kept = variances > RANK_TOLERANCE * max(float(variances[-1]), np.finfo(float).tiny)
        self._variances = variances[kept]
        self._left = (features @ directions[:, kept]) / np.sqrt(self._variances)  # orthonormal, (n, q)
        self._of_shares = self._left.T @ shares

    def improve(self, first: Fit) -> Fit:
        """Fit the errors (r, n, g) of a first regression, with the penalty whose leave-one-out error is smallest."""
        coefficients = np.matmul(self._left.T, first.errors)
        best = _Best(first)
        for penalty in PENALTIES:
            shrinkage = self._variances / (self._variances + penalty)
            remainder = np.maximum(1.0 - self._left**2 @ shrinkage, LEAST_REMAINDER)
            fitted = np.matmul(self._left, shrinkage[:, None] * coefficients)
            errors = (first.errors - fitted) / remainder[:, None]
            best.offer(Fit(first.means - np.matmul(self._of_shares * shrinkage, coefficients), errors))
        return best.fit
