"""Active selection of the pairs that are most informative about the Shapley values.

Given the pairs evaluated so far, the posterior determines how uncertain each Shapley value is, and by how much the
value at a further pair z would lower the sum of their variances: Σ_i Cov(φ_i, f(z))² / (Var f(z) + noise). The best
candidate is chosen and conditioned on, for which its value is not needed, then the next, and so on.

The linear part has a practically flat prior, as in ``posterior``. The covariance of two candidates a, b is
K₀(a, b) − U_a·U_b + B_a·B_b: the columns of U are the whitened K₀ between pairs and candidates; those of B account for
the uncertainty of the linear part. Every candidate that is chosen adds a row to U.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.store import coalition_keys, unseen
from sharpley.estimators.gp.cholesky import Factor
from sharpley.estimators.gp.kernel import Scales, kernel, shapley_of_kernel
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.pairs.choosing import quotas, random_members
from sharpley.estimators.pairs.regression import inverse_weights


def candidates(d: int, known: Coalitions, rng: np.random.Generator, count: int = DEFAULT_SETTINGS.pool) -> Coalitions:
    """Draw distinct random pairs that are not in ``known``, spread evenly over sizes; of small classes, all: (m, d)."""
    counts = quotas(d, count + len(known))
    pool = np.concatenate([_some_of_class(d, k, int(number), rng) for k, number in enumerate(counts, start=1)])
    new = unseen(pool, set(coalition_keys(known)))
    return pool[new][rng.permutation(int(new.sum()))[:count]]


def _some_of_class(d: int, k: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Draw distinct random pairs of class k, (count, d)."""
    members = np.empty((0, d), dtype=bool)
    while len(members) < count:
        members = np.unique(np.concatenate([members, random_members(d, k, rng.random((4 * count, d)))]), axis=0)
    return members[rng.permutation(len(members))[:count]]


def most_informative(
    seen: Coalitions, pool: Coalitions, scales: Scales, count: int, settings: GPSettings = DEFAULT_SETTINGS
) -> NDArray[np.int64]:
    """Choose the pairs that lower the summed variance of the Shapley values most, one after the other.

    Parameters
    ----------
    seen : (n, d) bool
        Pairs evaluated so far, each represented by its smaller coalition.
    pool : (m, d) bool
        Pairs to choose from.
    scales : Scales
        Hyperparameters of the process.
    count : int
        Number of pairs to choose.
    settings : GPSettings, optional

    Returns
    -------
    (count,) int
        Positions in the pool, in the order of choice.
    """
    uncertainty = _Uncertainty(np.where(seen, 1.0, -1.0), np.where(pool, 1.0, -1.0), scales, count, settings)
    return np.array([uncertainty.take() for _ in range(min(count, len(pool)))], dtype=np.int64)


class _Uncertainty:
    """Posterior covariances of the candidates' odd values and the Shapley values, updated with each choice."""

    def __init__(
        self, signs: Floats, pool: Floats, scales: Scales, more: int, settings: GPSettings = DEFAULT_SETTINGS
    ) -> None:
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
        self._n_known = len(seen)
        self._noise = scales.noise * pool_noise + JITTER
        self.covariances = shapley_of_kernel(pool, scales) - of_shapley.T @ of_pool + slopes_of_shapley.T @ self._slopes
        """Covariances of the Shapley values and the candidates, (d, m)."""
        self._variances = _own_kernel(pool, scales) - (of_pool**2).sum(axis=0) + (self._slopes**2).sum(axis=0)
        self._available = np.ones(len(pool), dtype=bool)

    def gains(self) -> Floats:
        """Return by how much each candidate would lower the summed variance of the Shapley values; −1 once taken."""
        gains = (self.covariances**2).sum(axis=0) / (np.maximum(self._variances, 0.0) + self._noise)
        return np.where(self._available, gains, -1.0)

    def take(self) -> int:
        """Take the best candidate, condition on it, and return its position."""
        best = int(np.argmax(self.gains()))
        known = self._known[: self._n_known]
        column = kernel(self._pool, self._pool[best : best + 1], self._scales)[:, 0]
        column += self._slopes[:, best] @ self._slopes - known[:, best] @ known
        total = max(self._variances[best], 0.0) + self._noise[best]
        self.covariances -= np.outer(self.covariances[:, best], column / total)
        self._variances -= column**2 / total
        self._known[self._n_known] = column / np.sqrt(total)
        self._n_known += 1
        self._available[best] = False
        return best


def _noises(signs: Floats, pool: Floats) -> tuple[Floats, Floats]:
    """Return the noise of the pairs seen, (n,), and of each candidate if it were added to its class, (m,)."""
    d = signs.shape[1]
    sizes, pool_sizes = (signs > 0).sum(axis=1), (pool > 0).sum(axis=1)
    present = np.bincount(sizes, minlength=d // 2 + 1)
    seen = inverse_weights(sizes, present[sizes], d)
    return seen / seen.mean(), inverse_weights(pool_sizes, present[pool_sizes] + 1, d) / seen.mean()


def _own_kernel(z: Floats, scales: Scales) -> Floats:
    """Return the kernel of each coalition with itself, (n,), which depends only on its size."""
    d = z.shape[1]
    of_each_size = np.where(np.tri(d + 1, d, -1) > 0, 1.0, -1.0)
    return np.asarray(np.diagonal(kernel(of_each_size, of_each_size, scales))[(z > 0).sum(axis=1)])
