"""Designs: which coalitions to evaluate.

One coalition for each player comes first. After that there are two designs.

**Single coalitions chosen by information.** Given the coalitions evaluated so far, a further one z lowers the sum of
the variances of the index by Σ_i Cov(φ_i, v(z))² / (Var v(z) + noise), which does not depend on its value. The best of
a pool of candidates is chosen and conditioned on, then the next, and so on: each updates all covariances by a matrix of
rank one.

**Pairs** of a coalition and its complement, spread over sizes. They cancel the even part of a game, whatever it is.
"""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.coalitions.store import coalition_keys, unseen
from sharpley.estimators.gp.kernel import JITTER, Parity, Scales, index_of_kernel, kernel, own_kernel, sizes_of
from sharpley.estimators.gp.learning import Values
from sharpley.estimators.gp.posterior import factorise, whiten
from sharpley.estimators.pairs.choosing import PairChooser, pairs_per_class, quotas
from sharpley.indices import Measure

EQUALLY_INFORMATIVE = 1e-3  # relative difference of gains that does not count
MIDDLE_SHARE = 0.3  # of the pairs, from class ⌊d/2⌋, whose coalitions contain half of the players


def first_coalitions(d: int, rng: np.random.Generator) -> Coalitions:
    """Return a coalition for each player, alone or missing by turns, in random order: (d, d), or fewer if d = 2."""
    alone = np.eye(d, dtype=bool)[rng.permutation(d)]
    alone[1::2] = ~alone[1::2]
    return alone if d > 2 else np.eye(2, dtype=bool)


def candidates(d: int, known: Coalitions, rng: np.random.Generator, count: int) -> Coalitions:
    """Return distinct coalitions that are not in ``known``: all, or random ones of all sizes if there are too many.

    Complements of the known ones, and of each other, are among them: together, the two values of a pair cancel all
    interactions of two players, also those that cannot be learnt.
    """
    if 2**d <= 2 * count:
        pool = all_coalitions(d)
    else:
        half = -(-count // 2)
        ranks = np.argsort(np.argsort(rng.random((half, d)), axis=1), axis=1)
        mirrored = known[np.sort(rng.permutation(len(known))[:half])]
        some = np.concatenate([ranks < rng.integers(1, d, size=half)[:, None], np.eye(d, dtype=bool), mirrored])
        pool = np.unique(np.concatenate([some, ~some]), axis=0)
    return np.asarray(pool[unseen(pool, set(coalition_keys(known)))])


def most_informative(seen: Values, pool: Coalitions, scales: Scales, count: int, measure: Measure) -> Coalitions:
    """Return the coalitions of a pool that lower the summed variance of the index most, in order of choice.

    Of coalitions that are equally informative, as all are if nothing but a linear part was seen, those of sizes that
    are known least are chosen: what the process believes to know of other sizes may be wrong.

    Parameters
    ----------
    seen : Values
        Coalitions evaluated so far.
    pool : (m, d) bool
        Coalitions to choose from.
    scales : Scales
        Hyperparameters.
    count : int
        Number of coalitions to choose.
    measure : Measure
        The measure of the index.
    """
    uncertainty = Uncertainty(seen, np.where(pool, 1.0, -1.0), scales, count, measure)
    sizes, counts = pool.sum(axis=1), np.bincount(sizes_of(seen.signs), minlength=pool.shape[1] + 1)
    chosen: list[int] = []
    for _ in range(min(count, len(pool))):
        chosen.append(uncertainty.take(1.0 + EQUALLY_INFORMATIVE / (1.0 + counts[sizes])))
        counts[sizes[chosen[-1]]] += 1
    return np.asarray(pool[chosen])


class Uncertainty:
    """Posterior covariances of the candidates' values and the index, updated with each choice.

    Parameters
    ----------
    seen : Values
        Coalitions evaluated so far.
    pool : (m, d) float
        Candidates, neither ∅ nor N.
    scales : Scales
    more : int
        Number of candidates that will be taken.
    measure : Measure
    """

    def __init__(self, seen: Values, pool: Floats, scales: Scales, more: int, measure: Measure) -> None:
        self._pool, self._scales = pool, scales
        signs, n = seen.signs, len(seen.signs)
        of_index = index_of_kernel(signs, scales, Parity.WHOLE, measure).T
        columns = np.concatenate([kernel(signs, pool, scales, Parity.WHOLE), of_index], axis=1)
        of_pool, of_index = np.split(whiten(factorise(seen, scales), columns), [len(pool)], axis=1)
        self._known = np.empty((n + more, len(pool)))
        self._known[:n] = of_pool
        self._n_known = n
        self._covariances = index_of_kernel(pool, scales, Parity.WHOLE, measure) - of_index.T @ of_pool
        self._variances = own_kernel(pool, scales) - (of_pool**2).sum(axis=0)
        self._noise = scales.noise + JITTER
        self._available = np.ones(len(pool), dtype=bool)

    def gains(self) -> Floats:
        """Return by how much each candidate would lower the summed variance of the index; −1 once taken."""
        gains = (self._covariances**2).sum(axis=0) / (np.maximum(self._variances, 0.0) + self._noise)
        return np.where(self._available, gains, -1.0)

    def take(self, importance: Floats | float = 1.0) -> int:
        """Take the candidate with the largest gain times importance (m,), condition on it, and return its position."""
        best = int(np.argmax(self.gains() * importance))
        known = self._known[: self._n_known]
        column = kernel(self._pool, self._pool[best : best + 1], self._scales, Parity.WHOLE)[:, 0]
        column -= known[:, best] @ known
        total = max(self._variances[best], 0.0) + self._noise
        self._covariances -= np.outer(self._covariances[:, best], column / total)
        self._variances -= column**2 / total
        self._known[self._n_known] = column / np.sqrt(total)
        self._n_known += 1
        self._available[best] = False
        return best


class Pairs:
    """Pairs without repetition: a share of them of half of the players, the rest spread evenly over sizes.

    Parameters
    ----------
    d : int
        Number of players.
    rng : Generator
    """

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self._d = d
        self._chooser = PairChooser(d, rng)
        self._n_requested = 0
        self._left = np.empty((0, d), dtype=bool)  # chosen, but not returned yet

    def more(self, known: Coalitions, count: int) -> Coalitions:
        """Return one coalition of each of ``count`` pairs that are not in ``known``, or fewer if there are no more."""
        seen = set(coalition_keys(known))
        found = self._left
        total = pairs_per_class(self._d).sum()
        while len(found) < count and self._n_requested < total:
            self._n_requested = int(min(self._n_requested + count - len(found), total))
            fresh = self._chooser.extend(quotas(self._d, self._n_requested, middle=MIDDLE_SHARE))
            found = np.concatenate([found, fresh[unseen(fresh, seen) & unseen(~fresh, seen)]])
        self._left = found[count:]
        return found[:count]


def completed(coalitions: Coalitions) -> Coalitions:
    """Return coalitions (n, d) and their complements, each once, so that the two of a pair are neighbours."""
    seen: set[bytes] = set()
    rows: list[Coalitions] = []
    for one, key, other in zip(coalitions, coalition_keys(coalitions), coalition_keys(~coalitions), strict=True):
        if key not in seen and other not in seen:
            seen.add(key)
            rows += [one, ~one]
    return np.array(rows)
