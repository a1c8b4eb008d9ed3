"""Which coalitions to evaluate: one for each player first, and then those that tell most about the Shapley values.

Given the coalitions evaluated so far, a further one z lowers the sum of the variances of the Shapley values by
Σ_i Cov(φ_i, v(z))² / (Var v(z) + noise), which does not depend on its value. The best of a pool of candidates is chosen
and conditioned on, then the next, and so on: each updates all covariances by a matrix of rank one.
"""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.coalitions.store import coalition_keys, unseen
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.unpaired.kernel import WholeScales, own_kernel, shapley_of_whole_kernel, whole_kernel
from sharpley.estimators.gp.unpaired.posterior import factorise


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
        some = np.concatenate([ranks < rng.integers(1, d, size=half)[:, None], np.eye(d, dtype=bool), known])
        pool = np.unique(np.concatenate([some, ~some]), axis=0)
    return np.asarray(pool[unseen(pool, set(coalition_keys(known)))])


def most_informative(
    seen: Coalitions, pool: Coalitions, scales: WholeScales, count: int, constant: float
) -> Coalitions:
    """Return the coalitions of a pool that lower the summed variance of the Shapley values most, in order of choice.

    Parameters
    ----------
    seen : (n, d) bool
        Coalitions evaluated so far.
    pool : (m, d) bool
        Coalitions to choose from.
    scales : WholeScales
        Hyperparameters of the process.
    count : int
        Number of coalitions to choose.
    constant : float
        Prior variance of the constant part.
    """
    uncertainty = Uncertainty(np.where(seen, 1.0, -1.0), np.where(pool, 1.0, -1.0), scales, count, constant)
    return np.asarray(pool[[uncertainty.take() for _ in range(min(count, len(pool)))]])


class Uncertainty:
    """Posterior covariances of the candidates' values and the Shapley values, updated with each choice.

    Parameters
    ----------
    signs : (n, d) float
        Coalitions evaluated so far.
    pool : (m, d) float
        Candidates, neither ∅ nor N.
    scales : WholeScales
    more : int
        Number of candidates that will be taken.
    constant : float
    """

    def __init__(self, signs: Floats, pool: Floats, scales: WholeScales, more: int, constant: float) -> None:
        self._pool, self._scales, self._constant = pool, scales, constant
        n = len(signs)
        columns = [whole_kernel(signs, pool, scales, constant), shapley_of_whole_kernel(signs, scales).T]
        whitened = factorise(signs, scales, constant).whiten(np.concatenate(columns, axis=1))
        of_pool, of_shapley = np.split(whitened, [len(pool)], axis=1)
        self._known = np.empty((n + more, len(pool)))
        self._known[:n] = of_pool
        self._n_known = n
        self._covariances = shapley_of_whole_kernel(pool, scales) - of_shapley.T @ of_pool
        self._variances = own_kernel(pool, scales, constant) - (of_pool**2).sum(axis=0)
        self._noise = scales.noise + JITTER
        self._available = np.ones(len(pool), dtype=bool)

    def gains(self) -> Floats:
        """Return by how much each candidate would lower the summed variance of the Shapley values; −1 once taken."""
        gains = (self._covariances**2).sum(axis=0) / (np.maximum(self._variances, 0.0) + self._noise)
        return np.where(self._available, gains, -1.0)

    def take(self) -> int:
        """Take the best candidate, condition on it, and return its position."""
        best = int(np.argmax(self.gains()))
        known = self._known[: self._n_known]
        column = whole_kernel(self._pool, self._pool[best : best + 1], self._scales, self._constant)[:, 0]
        column -= known[:, best] @ known
        total = max(self._variances[best], 0.0) + self._noise
        self._covariances -= np.outer(self._covariances[:, best], column / total)
        self._variances -= column**2 / total
        self._known[self._n_known] = column / np.sqrt(total)
        self._n_known += 1
        self._available[best] = False
        return best
