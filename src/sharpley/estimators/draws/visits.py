"""Which draws are visited: in proportion to their sizes, spread evenly over a list of all draws.

The draws are sorted by what is known of them and laid end to end, each as long as its probability p_b. The points of a
regular pattern on [0, 1), all moved by the same random number, fall on the draws to be visited (systematic sampling).
A pattern of a known number of points is equidistant. A sequence that may be extended takes the multiples of the golden
ratio, of which any number are spread evenly.

The probability that a draw is visited at all follows from the gaps between the points: Σ over gaps of min(gap, p_b).
With it, the mean over all draws is estimated without bias (Horvitz and Thompson). Draws for which it is 1 are the
take-all stratum: they add nothing to the variance between draws. Sizes may be unequal: where few draws have most of
the variance, these are the ones to visit (``sizes_of_draws``), even several times, since orderings differ within a
draw. If a known number of visits is enough for all draws, each is visited at least once.

If a sample is a considerable part of all draws, its error is smaller than that of the same number of draws from many
(finite population). This applies to differences between draws, not to those between orderings within a draw. To tell
the two apart, some draws are visited twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

FINITE_SHARE = 0.1  # up to this share of visited draws, the population counts as infinite: errors are 5% too large
AGAIN_EVERY = 32  # one in so many visits is a second one, if more than that share of all draws is visited
LEAST_AGAIN = 16  # second visits, if there are enough visits
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
MOST_VISITS = 4.0  # to be expected to one draw if few of all draws are visited; 1 if just all could be
NORMAL_KURTOSIS, HEAVY_KURTOSIS = 10.0, 100.0  # of v_b(∅): up to which sizes are equal, and from which on they differ
ROUNDING = 1e-9
LEAST_SIZE = 0.5  # of a draw, relative to the mean deviation, if sizes differ


def sizes_of_draws(empty: Floats, weights: Floats) -> Floats:
    """Return the size of each draw, (n_draws,), with mean 1, from the values v_b(∅) of all draws, (n_draws, k).

    The kurtosis decides how unequal sizes are. Those of values with heavy tails are the deviations from the median plus
    half of their mean, so that no draw is left out; those of other values are equal.
    """
    sizes = np.zeros(len(empty))
    for values in empty.T:
        deviations = np.abs(values - _median(values, weights))
        mean = weights @ deviations
        variance = weights @ (values - weights @ values) ** 2
        if not (mean > 0 and variance > 0):
            sizes += 1.0
            continue
        kurtosis = weights @ ((values - weights @ values) ** 2 / variance) ** 2
        heavy = np.clip(np.log(kurtosis / NORMAL_KURTOSIS) / np.log(HEAVY_KURTOSIS / NORMAL_KURTOSIS), 0.0, 1.0)
        sizes += (1.0 - heavy) + heavy * (deviations / mean + LEAST_SIZE) / (1.0 + LEAST_SIZE)
    return np.asarray(sizes / empty.shape[1])


def _median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    half = int(np.searchsorted(np.cumsum(weights[order]), 0.5))
    return float(values[order][min(half, len(values) - 1)])


class Visits:
    """The draws that are visited, which can be extended.

    Parameters
    ----------
    order : (m,) int
        The draws that may be visited, those that are expected to be similar next to each other.
    sizes : (n_draws,) float
        Sizes of all draws; a draw of size 0 is never visited.
    rng : Generator
        Source of randomness.
    expected : int or None
        Number of visits, if it is known; None for a sequence that is extended.
    """

    def __init__(self, order: NDArray[np.int64], sizes: Floats, rng: np.random.Generator, expected: int | None) -> None:
        self._order, self._rng, self._expected, self._n_draws = order, rng, expected, len(sizes)
        self._lengths = np.maximum(sizes[order], 0.0) / sizes[order].sum()
        self._population = np.count_nonzero(self._lengths)
        self._sizes = self._lengths
        if expected:
            self._lengths = self._for(expected - self._again_of(expected))
        self._ends = np.cumsum(self._lengths)
        self._start, self._total = rng.random(), 0
        self._places = np.empty(0, dtype=np.int64)

    def extend(self, count: int) -> NDArray[np.int64]:
        """Visit ``count`` more draws, and return them; those of a known number of visits come in random order."""
        if self._expected is not None:
            return self._order[self._rng.permutation(self._at_once(count))]
        visits = np.arange(self._total, self._total + count)
        again = self._is_again(visits)
        first = visits - np.cumsum(again) - self._n_again(self._total)
        fresh = self._place(self._start + first[~again] * GOLDEN)
        places = np.concatenate([self._places, np.zeros(count, dtype=np.int64)])
        places[visits[~again]] = fresh
        places[visits[again]] = places[visits[again] - AGAIN_EVERY // 2]
        self._places, self._total = places, self._total + count
        return self._order[places[visits]]

    def probabilities(self, n: int) -> Floats:
        """Return the probability of each draw to be among the first n visits, (n_draws,)."""
        found = np.zeros(self._n_draws)
        if n == 0:
            return found
        if self._expected is not None:
            first = n - self._again_of(n)
            gaps = np.full(first, 1.0 / first)
        else:
            points = np.sort(np.arange(n - self._n_again(n)) * GOLDEN % 1.0)
            gaps = np.sort(np.diff(points, append=points[0] + 1.0))
        below = np.searchsorted(gaps, self._lengths)
        sums = np.concatenate([[0.0], np.cumsum(gaps)])
        chances = np.minimum(sums[below] + self._lengths * (len(gaps) - below), 1.0)
        found[self._order] = np.where(chances > 1.0 - ROUNDING, 1.0, chances)
        return found

    def _at_once(self, count: int) -> NDArray[np.int64]:
        if self._total or count != self._expected:
            raise ValueError(f"made for {self._expected} visits at once, asked for {count} after {self._total}")
        self._total = count
        again = self._again_of(count)
        places = self._place((self._start + np.arange(count - again)) / (count - again))
        visited = np.unique(places)
        spread = np.cumsum(self._sizes[visited])
        points = (self._rng.random() + np.arange(again)) / max(again, 1)
        twice = visited[np.minimum(np.searchsorted(spread, points * spread[-1], side="right"), len(visited) - 1)]
        return np.concatenate([places, twice])

    def _for(self, count: int) -> Floats:
        """Return the lengths of all draws for a known number of visits, which includes all draws if it can."""
        if count < self._population:
            share = count / self._population
            return _capped(self._lengths, ((1.0 - share) * MOST_VISITS + share) / count)
        return ((self._lengths > 0) + (count - self._population) * self._lengths) / count

    def _again_of(self, count: int) -> int:
        """Return how many of a known number of visits are second ones; none if many draws are visited often anyway."""
        if count <= FINITE_SHARE * self._population or count < 2 * LEAST_AGAIN:
            return 0
        wanted = max(LEAST_AGAIN, count // AGAIN_EVERY)
        anyway = np.maximum(count * self._for(count) - 1.0, 0.0).sum()
        return max(0, wanted - int(anyway))

    def _is_again(self, visits: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (visits % AGAIN_EVERY == AGAIN_EVERY - 1) & (visits > FINITE_SHARE * self._population)

    def _n_again(self, n: int) -> int:
        """Return how many of the first n visits of a sequence are second ones."""
        return int(self._is_again(np.arange(n)).sum())

    def _place(self, points: Floats) -> NDArray[np.int64]:
        """Return the places in the order that points fall on."""
        places = np.searchsorted(self._ends, points % 1.0, side="right")
        last = np.flatnonzero(self._lengths)[-1]  # the sum of all lengths may be 1 only up to rounding
        return np.minimum(places, last)


class EndlessVisits:
    """Visits to draws that are never exhausted: each is another one.

    Parameters
    ----------
    n_draws : int
        How many numbers draws may have, so many that none comes twice.
    rng : Generator
        Source of randomness.
    """

    def __init__(self, n_draws: int, rng: np.random.Generator) -> None:
        self._n_draws, self._rng = n_draws, rng

    def extend(self, count: int) -> NDArray[np.int64]:
        """Visit ``count`` more draws."""
        return self._rng.integers(self._n_draws, size=count)


class FoldedVisits:
    """Visits to the draws of several folds, alternately and independently of each other.

    What is learnt from the walks in one fold then says nothing about which draws of another fold are visited.

    Parameters
    ----------
    order : (n_draws,) int
        All draws, those that are expected to be similar next to each other.
    sizes : (n_draws,) float
        Sizes of all draws.
    folds : (n_draws,) int
        The fold of each draw; each has at least one.
    rng : Generator
        Source of randomness.
    expected : int or None
        Number of visits, if it is known; None for a sequence that is extended.
    """

    def __init__(
        self,
        order: NDArray[np.int64],
        sizes: Floats,
        folds: NDArray[np.int64],
        rng: np.random.Generator,
        expected: int | None,
    ) -> None:
        self._rng, self._total, self._expected = rng, 0, expected
        self._n_draws, self._n_folds = len(order), int(folds.max()) + 1
        counts = [None] * self._n_folds if expected is None else self._counts(expected)
        self._visits = [Visits(order[folds[order] == fold], sizes, rng, mine) for fold, mine in enumerate(counts)]

    def extend(self, count: int) -> NDArray[np.int64]:
        """Visit ``count`` more draws, and return them; those of a known number of visits come in random order."""
        turns = np.arange(self._total, self._total + count) % self._n_folds
        self._total += count
        found = np.empty(count, dtype=np.int64)
        for fold, visits in enumerate(self._visits):
            found[turns == fold] = visits.extend(int((turns == fold).sum()))
        return found if self._expected is None else self._rng.permutation(found)

    def probabilities(self, n: int) -> Floats:
        """Return the probability of each draw to be among the first n visits, (n_draws,)."""
        return np.sum([v.probabilities(mine) for v, mine in zip(self._visits, self._counts(n), strict=True)], axis=0)

    def _counts(self, n: int) -> list[int]:
        """Return how many of the first n visits are to draws of each fold."""
        return [len(range(fold, n, self._n_folds)) for fold in range(self._n_folds)]


def _capped(lengths: Floats, most: float) -> Floats:
    """Return lengths that sum to 1, none above ``most``, the others in proportion to those given."""
    lengths = lengths.copy()
    capped = np.zeros(len(lengths), dtype=bool)
    while (over := (lengths > most) & ~capped).any() and not (capped | over | (lengths == 0)).all():
        capped |= over
        lengths[capped] = most
        lengths[~capped] *= (1.0 - most * capped.sum()) / lengths[~capped].sum()
    return lengths
