"""Sequential Bayesian quadrature: weighted orderings, chosen one by one (the paper's Algorithm 1).

With optimal weights w = E[K] K⁻¹1, the squared discrepancy of a set is E[K] − E[K]² 1ᵀK⁻¹1, the posterior variance of
Bayesian quadrature (the paper's Equation 7 with the constant z = E[K] 1). Each step therefore keeps the candidate that
increases 1ᵀK⁻¹1 most. For a candidate σ with kernel values y to the chosen orderings, block inversion gives the gain

    (1 − yᵀK⁻¹1)² / (K(σ, σ) − yᵀK⁻¹y).

K is stored as a Cholesky factor L, to which each step appends a row. With v = L⁻¹y and u = L⁻¹1 the gain is
(1 − vᵀu)² / (K(σ, σ) − vᵀv), and the new row is (v, s), where s² is the denominator, a Schur complement. One triangular
solve yields v for all candidates of a block; each step then appends one entry to every v.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, ArrayLike, Floats, Orderings
from sharpley.permutations.kernels import Kernel, Mallows
from sharpley.permutations.quadrature import quadrature_weights
from sharpley.samplers.greedy import GreedySampler

MIN_RELATIVE_SCHUR = 1e-9  # times K(σ, σ): a candidate below this would add only rounding errors to the factor


@final
class SequentialBayesianQuadrature(GreedySampler):
    """Orderings that greedily minimise the discrepancy with optimal weights.

    The orderings are meant to be used with ``weights(orderings)``, not with equal weights.

    Parameters
    ----------
    d : int
        Number of players, at least 1.
    kernel : Kernel, default Mallows(4.0)
        Kernel of the discrepancy.
    n_candidates : int, default 25
        Number of random orderings at each step, of which the best is kept.
    fresh : bool, default False
        Whether every sample draws new candidates, as in the paper. By default the sequence comes from one fixed seed:
        it is computed once, stored in the user's cache folder, and relabelled at random for each sample. Kernels other
        than those in ``sharpley.permutations.kernels.KERNELS`` always use new candidates.
    normalize : bool, default True
        If True, ``weights`` sum to 1, as in the paper's Table 4. If False, they are those of its Algorithm 1, whose sum
        is below 1 (0.73 at d = 10, n = 10), so that Shapley values do not satisfy efficiency.
    replicates : int, optional
        Number of independent copies that an estimate uses; see ``Sampler``.
    rng : int, Generator, SeedSequence or None
        Passed to ``np.random.default_rng``; the seed of the relabelling, or of the candidates if ``fresh``.

    Notes
    -----
    n orderings take O(n³ · n_candidates) time and O(n²) memory for the factor, only once unless ``fresh``. An ordering
    that was chosen before, which must occur when n > d!, is excluded from the factor and shares the weight of its first
    occurrence.

    Examples
    --------
    >>> sampler = SequentialBayesianQuadrature(4, rng=0)
    >>> orderings = sampler.random(3)
    >>> sampler.weights(orderings).round(3)
    array([0.349, 0.349, 0.302])
    """

    # All candidates of a block are compared with each other, most of them needlessly; short blocks limit that cost.
    block_size = 8

    def __init__(
        self,
        d: int,
        *,
        kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
        n_candidates: int = 25,
        fresh: bool = False,
        normalize: bool = True,
        replicates: int | None = None,
        rng: RNG = None,
    ) -> None:
        self.normalize = bool(normalize)
        super().__init__(d, kernel=kernel, n_candidates=n_candidates, fresh=fresh, replicates=replicates, rng=rng)

    def weights(self, orderings: ArrayLike) -> Floats:
        """Return the Bayesian quadrature weights of orderings, (n, d) -> (n,); see ``quadrature_weights``."""
        return quadrature_weights(orderings, kernel=self.kernel, normalize=self.normalize)

    def _restart(self) -> None:
        super()._restart()
        self._chosen = np.empty((0, self.d), dtype=np.int64)  # the orderings in the factor
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
        floor = MIN_RELATIVE_SCHUR * between[0, 0]

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
        """Append k rows to the factor.

        Parameters
        ----------
        orderings : (k, d) int
            The orderings that were chosen.
        columns : (n + k, k) float
            Column j is the new row n + j of L: the vector v of choice j, of which entries beyond n + j are ignored.
        ones : (n + k,) float
            u = L⁻¹1 of the enlarged factor.
        """
        n, k = len(self._chosen), len(orderings)
        factor = np.zeros((n + k, n + k))
        factor[:n, :n] = self._factor
        factor[n:] = np.tril(columns.T, n)
        self._chosen = np.concatenate([self._chosen, orderings])
        self._factor, self._ones = factor, ones


def best_gain(residual: Floats, schur: Floats, floor: float) -> int:
    """Return the index of the largest gain residual² / schur; the gain is 0 where schur ≤ floor."""
    independent = schur > floor
    gains = np.where(independent, residual**2 / np.where(independent, schur, 1.0), 0.0)
    return int(np.argmax(gains))
