"""Sequential Bayesian quadrature: orderings with weights, chosen one by one (the paper's Algorithm 1).

With the best weights, the squared discrepancy of a set is E[K] − E[K]² 1ᵀK⁻¹1. So each step keeps the candidate that
raises 1ᵀK⁻¹1 most. For a candidate σ with kernel values y to the chosen ones, block inversion gives the gain

    (1 − yᵀK⁻¹1)² / (K(σ, σ) − yᵀK⁻¹y).

K is held as a Cholesky factor L that grows by a row at each step. With v = L⁻¹y and u = L⁻¹1 the gain is (1 −
vᵀu)² / (K(σ, σ) − vᵀv), and the row to append is (v, s) with s² the denominator. One triangular solve gives v
for all candidates of a block; each step then appends one entry to every v.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.permutations.kernels import Kernel, Mallows
from sharpley.permutations.quadrature import quadrature_weights
from sharpley.samplers.greedy import GreedySampler

DEPENDENT = 1e-9  # of K(σ, σ): below this the candidate adds nothing but rounding to the factor


@final
class SequentialBayesianQuadrature(GreedySampler):
    """Orderings that greedily minimise the discrepancy with the best weights.

    The orderings are to be used with ``weights(orderings)``, not with equal weights.

    Parameters
    ----------
    d : int
        Number of players.
    kernel : Kernel, default Mallows(4.0)
    n_candidates : int, default 25
        Random orderings at each step, of which the best is kept.
    fresh : bool, default False
        Whether every sample draws candidates of its own, as in the paper. By default the sequence is that of
        one fixed seed, found once, kept in the user's cache folder and relabelled at random for each sample.
    normalize : bool, default True
        Whether ``weights`` sum to 1, as in the paper's table, or are those printed in its Algorithm 1, whose
        sum is below 1 (0.73 at d = 10, n = 10), so that Shapley values do not add up.
    rng : int, Generator, SeedSequence or None

    Notes
    -----
    n orderings take O(n³ · n_candidates) time and O(n²) memory for the factor, once, unless ``fresh``. An
    ordering that repeats a chosen one, which is certain when n > d!, is kept out of the factor and shares the
    weight of the first.

    Examples
    --------
    >>> sampler = SequentialBayesianQuadrature(4, rng=0)
    >>> orderings = sampler.random(3)
    >>> sampler.weights(orderings).round(3)
    array([0.349, 0.349, 0.302])
    """

    # The candidates of a block are compared with each other, most of it in vain; a short block keeps that small.
    block_size = 8

    def __init__(
        self,
        d: int,
        *,
        kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
        n_candidates: int = 25,
        fresh: bool = False,
        normalize: bool = True,
        rng: RNG = None,
    ) -> None:
        self.normalize = bool(normalize)
        super().__init__(d, kernel=kernel, n_candidates=n_candidates, fresh=fresh, rng=rng)

    def weights(self, orderings: ArrayLike) -> Floats:
        """Bayesian quadrature weights, (n,): see ``quadrature_weights``."""
        return quadrature_weights(orderings, kernel=self.kernel, normalize=self.normalize)

    def _restart(self) -> None:
        super()._restart()
        self._chosen = np.empty((0, self.d), dtype=np.int64)  # those in the factor
        self._factor = np.empty((0, 0))
        self._ones = np.empty(0)  # u = L⁻¹1

    def _choose(self, candidates: Orderings) -> NDArray[np.int64]:
        from scipy.linalg import solve_triangular

        steps, flat, n = len(candidates), candidates.reshape(-1, self.d), len(self._chosen)
        gram = self.kernel.gram(np.concatenate([self._chosen, flat]), flat)
        between = gram[n:]
        v = np.zeros((n + steps, len(flat)))  # columns: L⁻¹y of each candidate
        if n:
            v[:n] = solve_triangular(self._factor, gram[:n], lower=True, check_finite=False)
        u = np.concatenate([self._ones, np.zeros(steps)])
        residual = 1.0 - self._ones @ v[:n]
        schur = np.diagonal(between) - (v[:n] ** 2).sum(axis=0)
        floor = DEPENDENT * between[0, 0]

        picks = np.zeros(steps, dtype=np.int64)
        kept: list[int] = []
        for step in range(steps):
            mine = slice(step * self.n_candidates, (step + 1) * self.n_candidates)
            picks[step] = best_gain(residual[mine], schur[mine], floor)
            pick = mine.start + picks[step]
            if schur[pick] <= floor:
                continue
            row, root = n + len(kept), np.sqrt(schur[pick])
            v[row] = (between[pick] - v[:row, pick] @ v[:row]) / root
            u[row] = residual[pick] / root
            residual -= u[row] * v[row]
            schur -= v[row] ** 2
            kept.append(pick)
        self._append(flat[kept], v[: n + len(kept), kept], u[: n + len(kept)])
        return picks

    def _append(self, orderings: Orderings, columns: Floats, ones: Floats) -> None:
        """Grow the factor by the rows Lᵀ has as ``columns``: column j is v of choice j, up to itself."""
        n, k = len(self._chosen), len(orderings)
        factor = np.zeros((n + k, n + k))
        factor[:n, :n] = self._factor
        factor[n:] = np.tril(columns.T, n)
        self._chosen = np.concatenate([self._chosen, orderings])
        self._factor, self._ones = factor, ones


def best_gain(residual: Floats, schur: Floats, floor: float) -> int:
    """Index of the largest gain residual² / schur; candidates with a Schur complement near 0 gain nothing."""
    independent = schur > floor
    gains = np.where(independent, residual**2 / np.where(independent, schur, 1.0), 0.0)
    return int(np.argmax(gains))
