"""The survey regression: from the draws that were visited to all draws.

Let y_b be the mean contribution of a player in the visited draw b, and x_b features whose mean over all draws is known
(``controls``). The estimate of the mean of y over all draws is the generalised regression estimator

    mean over all b of x_b·β + Σ_b ω_b (y_b − x_b·β),

where ω_b = w_b / π_b, for a draw with weight w_b that is visited with probability π_b (``visits``). It is unbiased
for every fixed β. Its variance is about Σ_b ω_b² (1 − π_b) (y_b − x_b·β)², and β minimises just that: least squares
with the roots of ω_b² (1 − π_b) as scales. Draws that are visited in any case hardly count, since nothing is to be
inferred from them.

There are several sets of features, and the leave-one-out error decides for every row and player which of them is used,
and how many features of it. Errors are those of the regression without the draw itself, so that a draw with much
leverage does not hide its error. They are multiplied by the part that the draw has in the estimate, relative to ω_b (a
"g-weight"), so that a regression that extrapolates has large errors too.

- The distance x_i − b_i between the row and the draw in the player's own column, alone: a linear model.
- Whether the player differs from the row in draw b, the scores of v_b(∅), the own column, its bins, and their products
  with the scores. The own column counts as it is, or within the limits of the visited draws (``VisitedNumbers``).
- All columns of numbers as they are, and their products with the own column: products of two columns, of which an
  antithetic pair of orderings finds the value in a draw without error.

A second stage is a ridge regression of the remaining errors on the bins of all columns, whose penalty is chosen in the
same way. All but the first need only one factorisation for all rows that have the same visited draws.

Products are computed for every row separately, so that the result of a row does not depend on the others to the last
bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.draws.controls import DRAWS_AT_ONCE, Controls
from sharpley.games.base import DrawFacts

DRAWS_PER_CONTROL = 6  # minimum number of visited draws for each feature
DRAWS_PER_PRODUCT = 3  # the same for columns of numbers and their products, which fit very well or not at all
DRAWS_PER_COMMON_CONTROL = 3  # the same for the features of all columns, whose coefficients are penalised
LEAST_DIFFERING = 8  # visited draws in which a player differs, for features of such draws alone
LEAST_IN_BIN = 3  # visited draws in a bin that gets a coefficient
PENALTIES = (10.0, 100.0, 1000.0, 10_000.0, np.inf)
LEAST_REMAINDER = 0.02  # 1 − leverage counts as at least this
MISFIT = 10.0  # times the errors of visited draws, at the same distance, are those of draws beyond them
LEAST_UNVISITED = 0.05  # 1 − π counts as at least this in the regression
RANK_TOLERANCE = 1e-8  # relative to the largest eigenvalue
DEPENDENT = 1e-5  # a feature whose part that others do not explain is below this share of it is left out
FEATURE_COUNTS = (1, 2, 3, 4, 9, 17, 33)  # numbers of features of a set that are tried


class Fit(NamedTuple):
    """Estimated means over all draws of games, one for each row and column."""

    means: Floats
    """Estimated means, (r, g)."""
    errors: Floats
    """Leave-one-out errors of the visited draws, times their scales and their part in the estimate, (r, n, g)."""


class Sample(NamedTuple):
    """The visited draws, each once."""

    draws: NDArray[np.int64]
    """(n,)."""
    shares: Floats
    """Weights ω_b, (n,)."""
    probabilities: Floats
    """Probabilities π_b of being visited, (n,); 0 for draws that are never exhausted."""
    scales: Floats
    """Scales of the draws in the regression, with mean square 1, (n,)."""


def sample_of(draws: NDArray[np.int64], weights: Floats, probabilities: Floats) -> Sample:
    """Return the sample of visited draws with given weights and probabilities, (n,) each."""
    shares = weights / probabilities
    scales = shares * np.sqrt(np.maximum(1.0 - probabilities, LEAST_UNVISITED))
    return Sample(draws, shares, probabilities, scales / np.sqrt((scales**2).mean()))


def endless_sample(draws: NDArray[np.int64]) -> Sample:
    """Return the sample of some of endless draws, all with the same share."""
    n = len(draws)
    return Sample(draws, np.full(n, 1.0 / n), np.zeros(n), np.ones(n))


class _Best:
    """The best of several fits, by the mean square of their leave-one-out errors."""

    def __init__(self, start: Fit) -> None:
        self._found = Fit(start.means.copy(), start.errors.copy())
        self._score = (start.errors**2).mean(axis=1)

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
    facts : DrawFacts or None
        What is known of all draws.
    sample : Sample
        The visited draws.
    """

    def __init__(self, controls: Controls | None, facts: DrawFacts | None, sample: Sample) -> None:
        self._controls, self._sample = controls, sample
        self._of_bins: dict[tuple[int, int], NestedRegression] = {}
        self._of_products: dict[int, NestedRegression | None] = {}
        self._ridge: RidgeRegression | None = None
        if controls is not None and facts is not None:
            self._row_columns = facts.row_columns
            self._numbers = VisitedNumbers(controls, facts, sample)
            common = common_features(controls, sample.draws)
            self._ridge = None if common is None else RidgeRegression(common, sample)

    def first_stage(self, player: int, shared_bin: int, rows: NDArray[np.int64], values: Floats) -> Fit:
        """Estimate the means of values (r, n, k) of one player, in rows that have the given shared value, or none."""
        if self._controls is None:
            return self._mean(values)
        best = _Best(self._with_bins(player, shared_bin).fit(values))
        products = self._with_products(player)
        if products is not None:
            best.offer(products.fit(values))
        mine = np.flatnonzero(self._controls.numbers.players == player)
        if len(mine) == 1:
            of_rows = self._controls.numbers.at(self._row_columns[rows])[:, mine[0]]
            distances = of_rows[:, None] - self._numbers.raw[:, mine[0]]
            fit = _of_distances(distances, of_rows, values, self._sample)
            best.offer(fit._replace(errors=fit.errors * _caution(self._numbers.doubt(mine), self._sample)))
        return best.fit

    def second_stage(self, first: Fit) -> Fit:
        """Improve the estimates of all players, given their errors (r, n, d·k)."""
        return first if self._ridge is None else self._ridge.improve(first)

    def _with_bins(self, player: int, shared_bin: int) -> NestedRegression:
        """Return the regression on the columns of a player and their bins."""
        assert self._controls is not None
        if (player, shared_bin) not in self._of_bins:
            most = len(self._sample.draws) // DRAWS_PER_CONTROL
            mine, numbers = np.flatnonzero(self._controls.numbers.players == player), self._numbers
            at = self._controls, self._sample.draws, player, shared_bin, numbers.raw[:, mine]
            features, means = own_features(*at, np.zeros(len(mine)))
            _, within = own_features(*at, numbers.means_within[mine], numbers.limits[:, mine])
            self._of_bins[player, shared_bin] = NestedRegression(
                features, means, self._sample, most, within=within, doubt=numbers.doubt(mine)
            )
        return self._of_bins[player, shared_bin]

    def _with_products(self, player: int) -> NestedRegression | None:
        """Return the regression on all columns of numbers and their products with the player's; None if too many."""
        assert self._controls is not None
        if player not in self._of_products:
            numbers, scores = self._controls.numbers, self._controls.scores[self._sample.draws]
            most = len(self._sample.draws) // DRAWS_PER_PRODUCT
            mine, others = np.flatnonzero(numbers.players == player), np.flatnonzero(numbers.players != player)
            count = 1 + scores.shape[1] + len(mine) + (1 + len(mine)) * len(others)
            if numbers.products is None or len(mine) != 1 or count > most:
                self._of_products[player] = None
            else:
                own, z = self._numbers.raw[:, mine], self._numbers.raw[:, others]
                features = np.concatenate([np.ones((len(z), 1)), scores, own, z, own * z], axis=1)
                means = np.zeros(features.shape[1])
                means[0], means[-len(others) :] = 1.0, numbers.products[mine[0], others]
                doubt = self._numbers.doubt(np.append(mine, others))
                self._of_products[player] = NestedRegression(
                    features, means, self._sample, most, only_all=True, doubt=doubt
                )
        return self._of_products[player]

    def _mean(self, values: Floats) -> Fit:
        n, shares, scales = values.shape[1], self._sample.shares, self._sample.scales
        of_sample = np.matmul(shares / shares.sum(), values)
        left_out = scales[:, None] * (values - of_sample[:, None]) * (n / max(1, n - 1))
        return Fit(np.matmul(shares, values), left_out)


class VisitedNumbers:
    """Columns of numbers at the visited draws, and how far all draws are beyond these.

    A regression on columns as they are extrapolates to draws beyond those that were visited. How far off it is there
    cannot be seen. Its errors are taken to grow with the distance, ``MISFIT`` times as fast as those of the visited
    draws would: an exact fit extrapolates without limits, and a bad one had better not. The alternative is a column
    within the limits of the visited draws, which is flat beyond them.

    Parameters
    ----------
    controls : Controls
        Features of all draws.
    facts : DrawFacts
        What is known of all draws.
    sample : Sample
        The visited draws.

    Attributes
    ----------
    raw : (n, q) float
        The columns, standardised.
    limits : (2, q) float
        Their least and largest values.
    means_within : (q,) float
        Means over all draws of the columns within the limits.
    """

    def __init__(self, controls: Controls, facts: DrawFacts, sample: Sample) -> None:
        self.raw = controls.numbers.at(facts.columns[sample.draws])
        self.limits = np.stack([self.raw.min(axis=0), self.raw.max(axis=0)])
        below, above = np.zeros(self.raw.shape[1]), np.zeros(self.raw.shape[1])
        for start in range(0, len(facts.columns), DRAWS_AT_ONCE):
            part = slice(start, start + DRAWS_AT_ONCE)
            numbers, weights = controls.numbers.at(facts.columns[part]), controls.weights[part]
            below += weights @ np.maximum(self.limits[0] - numbers, 0.0)
            above += weights @ np.maximum(numbers - self.limits[1], 0.0)
        self.means_within = below - above  # the mean of the columns as they are is 0
        spread = self.raw.std(axis=0)
        self._beyond = (below + above) / np.where(spread > 0, spread, np.inf)

    def doubt(self, columns: NDArray[np.int64]) -> float:
        """Return by how much a regression on columns as they are may be off, in units of its errors."""
        return MISFIT * float(np.sqrt((self._beyond[columns] ** 2).sum()))


def _caution(doubt: float, sample: Sample) -> float:
    """Return the factor of errors that corresponds to a doubt in units of errors."""
    return float(np.sqrt(1.0 + len(sample.draws) * doubt**2))


def _of_distances(distances: Floats, of_rows: Floats, values: Floats, sample: Sample) -> Fit:
    """Fit values (r, n, k) by multiples of the distance (r, n) between row and draw, whose mean is that of the row."""
    scaled = distances * sample.scales
    squares = (scaled**2).sum(axis=1)
    regular = np.where(squares > 0, squares, 1.0)
    slopes = np.matmul((scaled * sample.scales)[:, None], values)[:, 0] / regular[:, None]
    residuals = values - distances[:, :, None] * slopes[:, None]
    remainder = np.maximum(1.0 - scaled**2 / regular[:, None], LEAST_REMAINDER)
    means = of_rows[:, None] * slopes + np.matmul(sample.shares, residuals)
    shift = (of_rows - (distances * sample.shares).sum(axis=1)) / regular
    parts = 1.0 + shift[:, None] * scaled * (sample.scales / sample.shares)
    return Fit(means, residuals * (parts * sample.scales / remainder)[:, :, None])


def own_features(
    controls: Controls,
    draws: NDArray[np.int64],
    player: int,
    shared_bin: int,
    numbers: Floats,
    means_of_numbers: Floats,
    limits: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the features of one player at visited draws, (n, q), the most useful first, and their means, (q,).

    ``numbers`` are the player's standardised numbers at these draws, (n, columns), possibly none, and
    ``means_of_numbers`` their means over all draws; ``limits`` (2, columns) those that all draws are brought within.
    """
    scores, bins = controls.scores[draws], controls.players[player]
    codes = np.zeros(len(draws)) if bins is None else bins.codes[draws]
    if bins is None or (codes != shared_bin).sum() < LEAST_DIFFERING:
        features = np.column_stack([np.ones(len(draws)), scores, numbers])
        return features, np.concatenate([[1.0], np.zeros(scores.shape[1]), means_of_numbers])
    others = np.arange(len(bins.sums)) != shared_bin
    differs = (codes != shared_bin).astype(np.float64)
    columns = [differs, *(differs * score for score in scores.T), *(differs * number for number in numbers.T)]
    in_bin = _part_of_bin(controls, player, shared_bin, limits) if numbers.shape[1] else np.empty(0)
    means = [*bins.sums[others].sum(axis=0), *(means_of_numbers - in_bin)]
    counts = np.bincount(codes, minlength=len(bins.sums))
    used = np.flatnonzero(others & (counts >= LEAST_IN_BIN))[1:]  # the first is what the others are compared with
    columns += [(codes == b).astype(np.float64) for b in used]
    means += [bins.sums[b, 0] for b in used]
    if scores.shape[1]:
        columns += [(codes == b) * scores[:, 0] for b in used]
        means += [bins.sums[b, 1] for b in used]
    return np.stack(columns, axis=1), np.array(means)


def _part_of_bin(controls: Controls, player: int, shared_bin: int, limits: Floats | None) -> Floats:
    """Return what the draws of a shared bin add to the means of the player's standardised numbers, (columns,)."""
    numbers, bins = controls.numbers, controls.players[player]
    mine = numbers.players == player
    if bins is None or shared_bin < 0:
        return np.zeros(int(mine.sum()))
    place = np.searchsorted(controls.columns[player], numbers.columns[mine])
    shared = np.asarray(bins.shared[shared_bin, place], dtype=np.float64)
    standard = np.nan_to_num((shared - numbers.centres[mine]) / numbers.scales[mine], posinf=0.0, neginf=0.0)
    return np.asarray(bins.sums[shared_bin, 0] * (standard if limits is None else np.clip(standard, *limits)))


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
    sample : Sample
        The visited draws.
    most : int
        Maximum number of features.
    only_all : bool, default False
        Whether to try all features only.
    within : (q,) float, optional
        Means over all draws of features that have the same values at the visited draws, and are flat beyond these.
    doubt : float, default 0.0
        By how much the mean may be off because of draws beyond the visited ones, in units of errors.
    """

    def __init__(
        self,
        features: Floats,
        means: Floats,
        sample: Sample,
        most: int,
        *,
        only_all: bool = False,
        within: Floats | None = None,
        doubt: float = 0.0,
    ) -> None:
        from scipy.linalg import solve_triangular

        most = max(1, min(features.shape[1], most))
        scaled = features[:, :most] * sample.scales[:, None]
        kept = _independent(scaled)
        self._q, r = np.linalg.qr(scaled[:, kept])
        self._remainder = np.maximum(1.0 - np.cumsum(self._q**2, axis=1), LEAST_REMAINDER)  # (n, most)
        of_sample = self._q.T @ (sample.shares / sample.scales)
        self._ways = []
        for each in (means, means if within is None else within):
            # What a unit of each coefficient adds to the estimate: its share of all draws, minus that of the visited.
            shift = solve_triangular(r, each[:most][kept], trans="T") - of_sample
            # The part of each draw in the estimate, relative to its share, with more and more features, (n, most).
            parts = 1.0 + np.cumsum(self._q * shift, axis=1) * (sample.scales / sample.shares)[:, None]
            self._ways.append((shift, parts))
        self._sample, self._doubt, self._has_two_ways = sample, doubt, within is not None
        counts = {int((kept < count).sum()) for count in FEATURE_COUNTS if count < most and not only_all}
        self._counts = sorted({len(kept), *counts})

    def fit(self, values: Floats) -> Fit:
        """Estimate means of values (r, n, k)."""
        plain = np.matmul(self._sample.shares, values)
        values = values * self._sample.scales[:, None]
        coefficients = np.matmul(self._q.T, values)  # (r, most, k)
        best: _Best | None = None
        for count in self._counts:
            fitted = np.matmul(self._q[:, :count], coefficients[:, :count])
            errors = (values - fitted) / self._remainder[:, count - 1, None]
            fit = self._extrapolated(plain, coefficients, errors, count)
            best = _Best(fit) if best is None else best
            best.offer(fit)
        assert best is not None
        return best.fit

    def _extrapolated(self, plain: Floats, coefficients: Floats, errors: Floats, count: int) -> Fit:
        """Return the fit with a number of features, whose errors at the visited draws are known."""
        (far, near), n = (
            [
                Fit(plain + np.matmul(shift[:count], coefficients[:, :count]), errors * parts[:, count - 1, None])
                for shift, parts in self._ways
            ],
            errors.shape[1],
        )
        squares = (errors**2).mean(axis=1)
        doubt = self._doubt * np.sqrt(squares)
        if not self._has_two_ways:
            return far._replace(errors=far.errors * _caution(self._doubt, self._sample))
        gap = np.abs(far.means - near.means)
        goes_far = doubt <= gap
        off = np.minimum(doubt, gap)
        caution = np.sqrt(1.0 + n * off**2 / np.where(squares > 0, squares, 1.0))
        means = np.where(goes_far, far.means, near.means)
        return Fit(means, np.where(goes_far[:, None], far.errors, near.errors) * caution[:, None])


def _independent(features: Floats) -> NDArray[np.int64]:
    """Return the numbers of the features (n, q) that those before them do not explain; always the first."""
    r = np.linalg.qr(features, mode="r")
    left = np.zeros(features.shape[1])
    left[: len(r)] = np.abs(np.diag(r))
    kept = left > DEPENDENT * np.sqrt((features**2).sum(axis=0))
    kept[0] = True
    return np.flatnonzero(kept)


class RidgeRegression:
    """Ridge regression on features with mean 0 over all draws, for several penalties by one factorisation.

    Parameters
    ----------
    features : (n, q) float
        Features of the visited draws.
    sample : Sample
        The visited draws.
    """

    def __init__(self, features: Floats, sample: Sample) -> None:
        scaled = features * sample.scales[:, None]
        variances, directions = np.linalg.eigh(scaled.T @ scaled)
        kept = variances > RANK_TOLERANCE * max(float(variances[-1]), np.finfo(float).tiny)
        self._variances = variances[kept]
        self._left = (scaled @ directions[:, kept]) / np.sqrt(self._variances)  # orthonormal, (n, q)
        self._of_shares = self._left.T @ (sample.shares / sample.scales)

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
