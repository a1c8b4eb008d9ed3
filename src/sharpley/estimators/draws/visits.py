"""Which draws are visited: without replacement, spread evenly, and each with the same probability.

The draws are sorted by what is known of them, and every k-th one is visited, from a random start (systematic sampling).
Each draw then has the same probability of being visited, so that means over visited draws are unbiased, and the sample
represents every part of the list. Once all draws have been visited, all of them are visited again.

If a sample is a considerable part of all draws, its error is smaller than that of the same number of draws from many
(finite population). This applies to differences between draws, not to those between orderings within a draw. To tell
the two apart, some draws are visited twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FINITE_SHARE = 0.1  # up to this share of visited draws, the population counts as infinite: errors are 5% too large
REVISITED_SHARE = 0.03  # of the visits, if more than that share of all draws is visited
LEAST_REVISITED = 16


class Visits:
    """The draws that are visited, which can be extended.

    Parameters
    ----------
    order : (n_draws,) int
        All draws, those that are expected to be similar next to each other.
    rng : Generator
        Source of randomness.
    """

    def __init__(self, order: NDArray[np.int64], rng: np.random.Generator) -> None:
        self._order, self._rng = order, rng
        self._counts = np.zeros(len(order), dtype=np.int64)  # in the order of the list

    def extend(self, count: int) -> NDArray[np.int64]:
        """Visit ``count`` more draws, and return them in random order."""
        twice = self._to_revisit(count)
        places = np.concatenate([self._spread(count - twice), self._revisit(twice)])
        return self._order[self._rng.permutation(places)]

    def _to_revisit(self, count: int) -> int:
        """Return how many of the next visits are to draws that have been visited, though others have not."""
        visited, total = np.count_nonzero(self._counts), int(self._counts.sum()) + count
        if total <= FINITE_SHARE * len(self._counts) or total < 2 * LEAST_REVISITED:
            return 0
        wanted = max(LEAST_REVISITED, int(np.ceil(REVISITED_SHARE * total)))
        # Beyond all draws, further visits are second ones anyway.
        surplus = max(0, total - len(self._counts))
        revisited = int(self._counts.sum()) - visited
        return int(np.clip(wanted - surplus - revisited, 0, count // 2))

    def _spread(self, count: int) -> NDArray[np.int64]:
        """Visit the draws that were visited least often: all of them, or evenly spaced ones."""
        chosen = []
        while count > 0:
            least = np.flatnonzero(self._counts == self._counts.min())
            part = least if count >= len(least) else least[_evenly_spaced(len(least), count, self._rng)]
            self._counts[part] += 1
            chosen.append(part)
            count -= len(part)
        return np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)

    def _revisit(self, count: int) -> NDArray[np.int64]:
        """Visit evenly spaced draws among those that have been visited once."""
        once = np.flatnonzero(self._counts == 1)
        part = once[_evenly_spaced(len(once), min(count, len(once)), self._rng)]
        self._counts[part] += 1
        rest = count - len(part)
        return np.concatenate([part, self._spread(rest)]) if rest else part


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
    folds : (n_draws,) int
        The fold of each draw; each has at least one.
    rng : Generator
        Source of randomness.
    """

    def __init__(self, order: NDArray[np.int64], folds: NDArray[np.int64], rng: np.random.Generator) -> None:
        self._rng, self._total = rng, 0
        self._visits = [Visits(order[folds[order] == fold], rng) for fold in range(int(folds.max()) + 1)]

    def extend(self, count: int) -> NDArray[np.int64]:
        """Visit ``count`` more draws, and return them in random order."""
        turns = np.arange(self._total, self._total + count) % len(self._visits)
        self._total += count
        parts = [visits.extend(int((turns == fold).sum())) for fold, visits in enumerate(self._visits)]
        return self._rng.permutation(np.concatenate(parts))


def _evenly_spaced(n: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``count`` of n places, n / count apart, from a random start."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    places = np.floor((rng.random() + np.arange(count)) * (n / count)).astype(np.int64)
    return np.minimum(places, n - 1)
