"""Means of contributions over visits of data rows: for importance, where every row has visits with fresh backgrounds.

A visit of a row is a walk along an ordering and its reverse, from v(∅) to v(N), in one draw of the row's game. Rows are
visited in an order that spreads every beginning of it evenly over all rows, and some rows twice, which tells the
variance within rows (background, orderings) from that between rows. The estimate is the mean over rows of the mean of
their visits, corrected by a regression on features whose means over all rows and backgrounds are known.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings
from sharpley.coalitions.request import Asked, Request

FRESH_FOR_SECOND = 15  # rows that are visited for the first time for each that is visited again
FEATURE_COUNTS = (1, 2, 4, 8, 16)
VISITS_PER_FEATURE = 10
LEAST_REMAINDER = 0.05  # 1 − leverage counts as at least this


class Visits(NamedTuple):
    """Visits of the rows of games."""

    rows: NDArray[np.int64]
    """The row of each visit, (n,)."""
    draws: NDArray[np.int64]
    """The draw of each visit, (n,)."""
    orderings: Orderings
    """The orderings of each visit; each is also walked in reverse, (n, d)."""


def make_orderings(n: int, d: int, rng: np.random.Generator) -> Orderings:
    """Return n random orderings of d players."""
    return rng.permuted(np.tile(np.arange(d), (n, 1)), axis=1)


@final
class VisitRequest(Request):
    """The coalitions along the walks of visits, v(∅) and v(N) excepted."""

    is_for_all_draws = False

    def __init__(self, visits: Visits) -> None:
        self._visits, (self._n, self._d) = visits, visits.orderings.shape
        self._ranks = np.argsort(visits.orderings, axis=1)

    def __len__(self) -> int:
        return self._n * 2 * (self._d - 1)

    def ask(self, numbers: NDArray[np.int64]) -> Asked:
        """Return rows, coalitions and draws, by visit, direction and place."""
        walk, place = np.divmod(numbers, max(1, self._d - 1))
        visit, is_reverse = np.divmod(walk, 2)
        ranks = self._ranks[visit]
        ranks = np.where(is_reverse[:, None] == 1, self._d - 1 - ranks, ranks)
        return self._visits.rows[visit], ranks <= place[:, None], self._visits.draws[visit]

    def contributions(self, values: Floats, empty: Floats, full: Floats) -> Floats:
        """Return mean contributions of both directions, (n, d, k), from values and the known ends, (n, k) each."""
        k = empty.shape[1]
        along = np.empty((self._n, 2, self._d + 1, k))
        along[:, :, 0], along[:, :, -1] = empty[:, None], full[:, None]
        along[:, :, 1:-1] = values.reshape(self._n, 2, self._d - 1, k) if self._d > 1 else 0.0
        steps = np.diff(along, axis=2)
        ranks = self._ranks[:, :, None]
        forward = np.take_along_axis(steps[:, 0], ranks, axis=1)
        return np.asarray((forward + np.take_along_axis(steps[:, 1], self._d - 1 - ranks, axis=1)) / 2.0)


def visiting_order(scores: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return all rows in an order whose every beginning is spread evenly over the rows sorted by their scores.

    Sorted rows are numbered from a random start on, and visited in the order of their numbers with reversed bits.
    """
    n = len(scores)
    mixed = rng.permutation(n)
    by_score = np.roll(mixed[np.argsort(scores[mixed], kind="stable")], int(rng.integers(n)))
    bits = max(1, int(n - 1).bit_length())
    numbers = np.arange(n)
    reversed_bits = sum(((numbers >> bit) & 1) << (bits - 1 - bit) for bit in range(bits))
    return np.asarray(by_score[np.argsort(reversed_bits ^ int(rng.integers(2**bits)), kind="stable")])


def visited_rows(order: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the rows of the first visits, (count,): of every sixteen, one goes to a row that was visited before."""
    n, cycle = len(order), FRESH_FOR_SECOND + 1
    number = np.arange(count)
    again, first = number // cycle, number - number // cycle
    is_again = number % cycle == cycle - 1
    place = np.where(is_again, again, first)
    over = first >= n  # every row has been visited: go on with those that were visited once
    before = int(np.argmax(over)) if over.any() else count
    place = np.where(number >= before, number - n, place)
    return order[place % n]


class Mean(NamedTuple):
    """Means over rows, and their variances, (g,) each."""

    values: Floats
    of_rows: Floats
    """Variances of the means over these rows: from orderings, backgrounds, and rows that were not visited."""
    between: Floats
    """Variance of the values between rows, divided by their number: what a sample of other rows would add."""
    degrees_of_freedom: Floats
    """Degrees of freedom behind ``of_rows``."""


def mean_over_rows(contributions: Floats, rows: NDArray[np.int64], n_rows: int, controls: list[Controls]) -> Mean:
    """Estimate means over all rows.

    Parameters
    ----------
    contributions : (n, g) float
        Contributions in the visits, of each player.
    rows : (n,) int
        The row of each visit.
    n_rows : int
        Number of all rows.
    controls : list of g Controls
        Features for the regression of each player.
    """
    visited, which, counts = np.unique(rows, return_inverse=True, return_counts=True)
    shares = 1.0 / (len(visited) * counts[which])
    found = [regressed(values, shares, each) for values, each in zip(contributions.T, controls, strict=True)]
    means, errors = np.array([mean for mean, _ in found]), np.stack([error for _, error in found], axis=1)
    total, within = _variances(errors, which, counts)
    raw_total, raw_within = _variances(contributions, which, counts)
    m, repeated = len(visited), len(rows) - len(visited)
    unvisited = 1.0 - m / n_rows
    of_draws, of_walks = unvisited * np.maximum(total - within, 0.0) / m, within * float((shares**2).sum())
    if repeated == 0:  # the two cannot be told apart
        of_draws, of_walks = np.zeros_like(total), total / m
    freedom = of_draws**2 / max(1, m - 1) + of_walks**2 / max(1, repeated or m - 1)
    known = freedom > 0
    freedom = np.where(known, (of_draws + of_walks) ** 2 / np.where(known, freedom, 1.0), np.inf)
    return Mean(means, of_draws + of_walks, np.maximum(raw_total - raw_within, 0.0) / n_rows, freedom)


def _variances(values: Floats, which: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the variance of values (n, g) between visits of different rows, and between visits of the same row."""
    n, m = len(values), len(counts)
    means = np.zeros((m, values.shape[1]))
    np.add.at(means, which, values / counts[which, None])
    within = ((values - means[which]) ** 2).sum(axis=0) / max(1, n - m)
    excess = within * (1.0 - (1.0 / counts).mean())  # of single visits over means of visits
    return means.var(axis=0, ddof=1 if m > 1 else 0) + excess, within


class Controls(NamedTuple):
    """Features of visits, the most useful first, and their known means."""

    features: Floats
    """(n, q), the first of which is 1."""
    means: Floats
    """(q,)."""


def regressed(values: Floats, shares: Floats, controls: Controls) -> tuple[float, Floats]:
    """Return the mean of values (n,) by the regression with the smallest leave-one-out errors, and these, (n,)."""
    n = len(values)
    most = max(1, min(controls.features.shape[1], n // VISITS_PER_FEATURE))
    features, means = controls.features[:, :most], controls.means[:most]
    scale = np.sqrt((features**2).mean(axis=0))
    q, r = np.linalg.qr(features / np.where(scale > 0, scale, 1.0))
    regular = np.abs(np.diag(r)) > 1e-7 * np.sqrt(n)
    q = np.where(regular, q, 0.0)
    coefficients, best = q.T @ values, (np.inf, 0.0, values)
    r = np.where(np.eye(most, dtype=bool) & ~regular, 1.0, r)
    shift = np.where(regular, np.linalg.solve(r.T, means / np.where(scale > 0, scale, 1.0)), 0.0) - shares @ q
    for count in sorted({most, *(each for each in FEATURE_COUNTS if each < most)}):
        remainder = np.maximum(1.0 - (q[:, :count] ** 2).sum(axis=1), LEAST_REMAINDER)
        errors = (values - q[:, :count] @ coefficients[:count]) / remainder
        score = float((errors**2).mean())
        if score < best[0]:
            best = score, float(shares @ values + shift[:count] @ coefficients[:count]), errors
    return best[1], best[2]
