"""Active selection: which pairs of coalitions would tell most about the Shapley values.

Given what was seen, the process knows how uncertain each Shapley value is, and by how much the value of a further pair
would lower the sum of their variances: (Cov(φ, f(z)))² summed over players, over Var f(z) plus noise. The best
candidate is taken, its value is counted as known (it need not be), and so on.

The linear part is free, as in ``gp_posterior``. A covariance of two candidates a, b is K₀(a, b) − U_a·U_b + B_a·B_b:
the columns of U are K₀ between pairs and candidate, whitened; those of B stand for what is not known of the
linear part. Every candidate that is taken adds a row to U.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.store import coalition_keys
from sharpley.estimators.gp.kernel import Scales, kernel, shapley_of_kernel
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.posterior import FREE
from sharpley.estimators.pairs.choosing import quotas, random_members
from sharpley.estimators.pairs.regression import inverse_weights

POOL = 3000


def candidates(d: int, known: Coalitions, rng: np.random.Generator) -> Coalitions:
    """Distinct random pairs that are not known yet, spread evenly over sizes, all of the small classes: (m, d)."""
    counts = quotas(d, POOL + len(known))
    pool = np.concatenate([_some_of_class(d, k, int(count), rng) for k, count in enumerate(counts, start=1)])
    there = set(coalition_keys(known))
    new = np.array([key not in there for key in coalition_keys(pool)], dtype=bool)
    return pool[new][rng.permutation(int(new.sum()))[:POOL]]


def _some_of_class(d: int, k: int, count: int, rng: np.random.Generator) -> Coalitions:
    members = np.empty((0, d), dtype=bool)
    while len(members) < count:
        members = np.unique(np.concatenate([members, random_members(d, k, rng.random((4 * count, d)))]), axis=0)
    return members[rng.permutation(len(members))[:count]]


def most_telling(seen: Coalitions, pool: Coalitions, scales: Scales, count: int) -> NDArray[np.int64]:
    """Positions in the pool of the pairs to evaluate, one after the other."""
    uncertainty = _Uncertainty(np.where(seen, 1.0, -1.0), np.where(pool, 1.0, -1.0), scales, count)
    return np.array([uncertainty.take() for _ in range(min(count, len(pool)))], dtype=np.int64)


class _Uncertainty:
    """Posterior covariances of the candidates' odd values and the Shapley values, updated as candidates are taken."""

    def __init__(self, signs: Floats, pool: Floats, scales: Scales, more: int) -> None:
        from scipy.linalg import cholesky, solve_triangular

        d = pool.shape[1]
        self._pool, self._scales = pool, scales
        noise, pool_noise = _noises(signs, pool)
        seen = np.concatenate([signs, np.ones((1, d))])
        gram = kernel(seen, seen, scales)
        gram[np.diag_indices(len(seen))] += scales.noise * np.append(noise, 0.0) + JITTER
        columns = [kernel(seen, pool, scales), shapley_of_kernel(seen, scales).T, seen]
        whitened = solve_triangular(cholesky(gram, lower=True), np.concatenate(columns, axis=1), lower=True)
        of_pool, of_shapley, of_signs = np.split(whitened, [len(pool), len(pool) + d], axis=1)
        information = cholesky(of_signs.T @ of_signs + d / FREE * np.eye(d), lower=True)
        self._slopes = solve_triangular(information, pool.T - of_signs.T @ of_pool, lower=True)
        slopes_of_shapley = solve_triangular(information, 2.0 * np.eye(d) - of_signs.T @ of_shapley, lower=True)
        self._known = np.empty((len(seen) + more, len(pool)))
        self._known[: len(seen)] = of_pool
        self._rank = len(seen)
        self._noise = scales.noise * pool_noise + JITTER
        self.links = shapley_of_kernel(pool, scales) - of_shapley.T @ of_pool + slopes_of_shapley.T @ self._slopes
        """(d, m): covariances of Shapley values and candidates."""
        self._variances = _own_kernel(pool, scales) - (of_pool**2).sum(axis=0) + (self._slopes**2).sum(axis=0)
        self._free = np.ones(len(pool), dtype=bool)

    def gains(self) -> Floats:
        """By how much each candidate would lower the sum of the variances of all Shapley values; −1 if taken."""
        gains = (self.links**2).sum(axis=0) / (np.maximum(self._variances, 0.0) + self._noise)
        return np.where(self._free, gains, -1.0)

    def take(self) -> int:
        """Take the best candidate and condition on it."""
        best = int(np.argmax(self.gains()))
        known = self._known[: self._rank]
        column = kernel(self._pool, self._pool[best : best + 1], self._scales)[:, 0]
        column += self._slopes[:, best] @ self._slopes - known[:, best] @ known
        total = max(self._variances[best], 0.0) + self._noise[best]
        self.links -= np.outer(self.links[:, best], column / total)
        self._variances -= column**2 / total
        self._known[self._rank] = column / np.sqrt(total)
        self._rank += 1
        self._free[best] = False
        return best


def _noises(signs: Floats, pool: Floats) -> tuple[Floats, Floats]:
    """Noise of the pairs seen, and of candidates if they joined their class."""
    d = signs.shape[1]
    sizes, pool_sizes = (signs > 0).sum(axis=1), (pool > 0).sum(axis=1)
    present = np.bincount(sizes, minlength=d // 2 + 1)
    seen = inverse_weights(sizes, present[sizes], d)
    return seen / seen.mean(), inverse_weights(pool_sizes, present[pool_sizes] + 1, d) / seen.mean()


def _own_kernel(z: Floats, scales: Scales) -> Floats:
    """The kernel of each coalition with itself, which depends on its size alone."""
    d = z.shape[1]
    of_each_size = np.where(np.tri(d + 1, d, -1) > 0, 1.0, -1.0)
    return np.asarray(np.diagonal(kernel(of_each_size, of_each_size, scales))[(z > 0).sum(axis=1)])
