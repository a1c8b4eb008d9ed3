"""Active selection: which pairs would be most informative about the Shapley values.

Given what was seen, the process knows how uncertain each Shapley value is, and by how much the value of a further pair
would lower the sum of their variances: Σ_i Cov(φ_i, f(z))² / (Var f(z) + noise). The best candidate is chosen, counted
as known (its value is not needed for that), and so on.

The linear part is free, as in ``posterior``. The covariance of two candidates a, b is K₀(a, b) − U_a·U_b + B_a·B_b:
the columns of U are K₀ between pairs and candidate, whitened; those of B stand for what is not known of the
linear part. Every candidate that is chosen adds a row to U.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.store import coalition_keys, unseen
from sharpley.estimators.gp.cholesky import Factor
from sharpley.estimators.gp.kernel import Scales, kernel, shapley_of_kernel
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.settings import DEFAULT, GPSettings
from sharpley.estimators.pairs.choosing import quotas, random_members
from sharpley.estimators.pairs.regression import inverse_weights


def candidates(d: int, known: Coalitions, rng: np.random.Generator, count: int = DEFAULT.pool) -> Coalitions:
    """Distinct random pairs that are not known yet, spread evenly over sizes, all of the small classes: (m, d)."""
    counts = quotas(d, count + len(known))
    pool = np.concatenate([_some_of_class(d, k, int(number), rng) for k, number in enumerate(counts, start=1)])
    new = unseen(pool, set(coalition_keys(known)))
    return pool[new][rng.permutation(int(new.sum()))[:count]]


def _some_of_class(d: int, k: int, count: int, rng: np.random.Generator) -> Coalitions:
    members = np.empty((0, d), dtype=bool)
    while len(members) < count:
        members = np.unique(np.concatenate([members, random_members(d, k, rng.random((4 * count, d)))]), axis=0)
    return members[rng.permutation(len(members))[:count]]


def most_informative(
    seen: Coalitions, pool: Coalitions, scales: Scales, count: int, settings: GPSettings = DEFAULT
) -> NDArray[np.int64]:
    """Positions in the pool of the pairs to evaluate, one after the other."""
    uncertainty = _Uncertainty(np.where(seen, 1.0, -1.0), np.where(pool, 1.0, -1.0), scales, count, settings)
    return np.array([uncertainty.take() for _ in range(min(count, len(pool)))], dtype=np.int64)


class _Uncertainty:
    """Posterior covariances of the candidates' odd values and the Shapley values, updated as candidates are taken."""

    def __init__(self, signs: Floats, pool: Floats, scales: Scales, more: int, settings: GPSettings = DEFAULT) -> None:
        d = pool.shape[1]
        self._pool, self._scales = pool, scales
        noise, pool_noise = _noises(signs, pool)
        seen = np.concatenate([signs, np.ones((1, d))])
        gram = kernel(seen, seen, scales)
        gram[np.diag_indices(len(seen))] += scales.noise * np.append(noise, 0.0) + JITTER
        columns = [kernel(seen, pool, scales), shapley_of_kernel(seen, scales).T, seen]
        whitened = Factor.of(gram).whiten(np.concatenate(columns, axis=1))
        of_pool, of_shapley, of_signs = np.split(whitened, [len(pool), len(pool) + d], axis=1)
        information = Factor.of(of_signs.T @ of_signs + d / settings.free_variance * np.eye(d))
        self._slopes = information.whiten(pool.T - of_signs.T @ of_pool)
        slopes_of_shapley = information.whiten(2.0 * np.eye(d) - of_signs.T @ of_shapley)
        self._known = np.empty((len(seen) + more, len(pool)))
        self._known[: len(seen)] = of_pool
        self._rank = len(seen)
        self._noise = scales.noise * pool_noise + JITTER
        self.links = shapley_of_kernel(pool, scales) - of_shapley.T @ of_pool + slopes_of_shapley.T @ self._slopes
        """(d, m): covariances of Shapley values and candidates."""
        self._variances = _own_kernel(pool, scales) - (of_pool**2).sum(axis=0) + (self._slopes**2).sum(axis=0)
        self._available = np.ones(len(pool), dtype=bool)

    def gains(self) -> Floats:
        """By how much each candidate would lower the sum of the variances of all Shapley values; −1 if taken."""
        gains = (self.links**2).sum(axis=0) / (np.maximum(self._variances, 0.0) + self._noise)
        return np.where(self._available, gains, -1.0)

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
        self._available[best] = False
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
