"""Discrepancy of a weighted set of orderings, and the weights that minimise it.

For a kernel K with constant mean e = E[K(σ, ·)], the worst-case error of the estimate Σ_i w_i f(σ_i) of a mean over
all f of norm 1 is the discrepancy (the paper's Equation 8),

    D² = E[K] − 2 Σ_i w_i E[K(σ_i, ·)] + Σ_ij w_i w_j K(σ_i, σ_j)
       = e − 2 e Σ_i w_i + wᵀKw
       = wᵀ(K − e)w + e (1 − Σ_i w_i)².

The last form is the one that is computed, because its terms do not cancel. D² is minimised by w = e K⁻¹1 (Bayesian
quadrature, the paper's Equation 9) and, among the weights that sum to 1, by w = K⁻¹1 / 1ᵀK⁻¹1.

The Gram matrix of n orderings is never stored as a whole. Kernels with few features need none of it. For kernels with a
look-up table over discordant pairs, compiled code visits it tile by tile, on all processors; for others it is computed
block by block. Memory does not grow with n².
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from sharpley._support.checks import check_weights, stacklevel_outside
from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.permutations.kernels import Kernel, Mallows, SummableKernel
from sharpley.permutations.orderings import as_orderings

MAX_BLOCK_ELEMENTS = 2**20  # kernel values in memory at once: 8 MB, and as much again for numbers of discordant pairs
MAX_DENSE_ORDERINGS = 1024  # up to here the Gram matrix is a single block and is factorised
CG_TOLERANCE = 1e-6  # yields a discrepancy within 1e-5 of the minimum; a tighter one costs time without any benefit
THREADED_WORDS = 10**9  # compared words, from which threads pay: about a second
PARTS = 64  # of a product that threads compute
RELATIVE_RIDGE = 1e-10  # times the diagonal; keeps rank-deficient Gram matrices (Kendall, Spearman) solvable


def discrepancy(
    orderings: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
    progress: bool | None = None,
) -> float:
    """Return the worst-case quadrature error of a set of orderings: lower is better, 0 is exact.

    Parameters
    ----------
    orderings : (n, d) int
        At least one ordering.
    weights : (n,) float, optional
        Quadrature weights, 1/n each by default. They need not sum to 1.
    kernel : Kernel, default Mallows(4.0)
        Defines the Hilbert space of functions over which the worst case is taken.
    progress : bool, optional
        Whether to show a progress bar; by default, only on a terminal. Its heading says how long a computation of more
        than a few seconds will take, before it starts.

    Returns
    -------
    float
        D(Π, w) ≥ 0 (the paper's Equation 8). For every function f of an ordering, the error of its weighted mean is
        at most D · ‖f‖, with the norm of the kernel's Hilbert space.

    Notes
    -----
    Time is O(n² d² / 64) for the Mallows and Kendall kernels, divided by the number of processors: about a second for
    1,000 orderings of 1,000 players, and one to two minutes for 10,000. It is O(n d) for Spearman, Hamming and
    Adjacency. Memory does not grow with n².

    Examples
    --------
    >>> from sharpley import all_orderings
    >>> bool(discrepancy(all_orderings(4)) < 1e-7)
    True
    >>> round(discrepancy([[0, 1, 2, 3]]), 4)
    0.8864
    """
    orderings = _at_least_one(orderings)
    n, d = orderings.shape
    w = np.full(n, 1.0 / n) if weights is None else check_weights(weights, n)
    mean = kernel.mean(d)
    squared = w @ _centred_product(orderings, w, kernel, progress=progress) + mean * (1.0 - w.sum()) ** 2
    return float(np.sqrt(max(0.0, squared)))  # rounding may leave −1e-17 where D is 0


def quadrature_weights(
    orderings: ArrayLike,
    *,
    kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
    normalize: bool = True,
) -> Floats:
    """Return the weights that minimise the discrepancy of the given orderings.

    Parameters
    ----------
    orderings : (n, d) int
        At least one ordering. Repeated orderings share the weight of one.
    kernel : Kernel, default Mallows(4.0)
        Kernel of the discrepancy.
    normalize : bool, default True
        If True, return the best weights among those that sum to 1, K⁻¹1 / 1ᵀK⁻¹1, as in the paper's Table 4;
        constants are integrated exactly, so Shapley values stay efficient. If False, return the unconstrained
        optimum E[K] K⁻¹1 of the paper's Algorithm 1, whose sum is below 1.

    Returns
    -------
    (n,) float

    Notes
    -----
    Up to 1,024 distinct orderings the Gram matrix is factorised. For more, conjugate gradients use it block by block,
    in bounded memory, and stop when the discrepancy is within 1e-5 of the minimum.

    Examples
    --------
    >>> quadrature_weights([[0, 1, 2], [2, 1, 0], [2, 1, 0]]).round(6)
    array([0.5 , 0.25, 0.25])
    """
    orderings = _at_least_one(orderings)
    distinct, inverse, counts = np.unique(orderings, axis=0, return_inverse=True, return_counts=True)
    solution = _solve_ones(distinct, kernel)
    solution *= 1.0 / solution.sum() if normalize else kernel.mean(orderings.shape[1])
    return np.asarray((solution / counts)[inverse.reshape(-1)])


def _at_least_one(orderings: ArrayLike) -> Orderings:
    orderings = as_orderings(orderings)
    if len(orderings) == 0:
        raise ValueError("orderings must have at least one row, got 0 rows")
    return orderings


def _upper_blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Yield blocks of at most MAX_BLOCK_ELEMENTS entries that cover the upper triangle of an n × n matrix.

    Each block starts on the diagonal or lies to the right of it; its transpose covers the lower triangle.
    """
    side = max(1, int(MAX_BLOCK_ELEMENTS**0.5))
    for row in range(0, n, side):
        for column in range(row, n, side):
            yield slice(row, min(n, row + side)), slice(column, min(n, column + side))


def _centred_product(orderings: Orderings, vector: Floats, kernel: Kernel, *, progress: bool | None = False) -> Floats:
    """Return (K − E[K]) · vector, (n,), in bounded memory."""
    mean = kernel.mean(orderings.shape[1])
    if isinstance(kernel, SummableKernel):
        return np.asarray(kernel.sums(orderings, kernel.total(orderings, vector)) - mean * vector.sum())
    table = kernel.discordance_table(orderings.shape[1])
    if table is not None:
        return _table_product(orderings, table - mean, vector, progress)
    product = np.zeros(len(orderings))
    for rows, columns in _upper_blocks(len(orderings)):
        block = kernel.gram(orderings[rows], orderings[columns]) - mean
        product[rows] += block @ vector[columns]
        if rows != columns:
            product[columns] += block.T @ vector[rows]
    return product


def _table_product(orderings: Orderings, table: Floats, vector: Floats, progress: bool | None) -> Floats:
    """Return K · vector for a kernel with a look-up table, by threads if that takes more than an instant.

    Parts are added in a fixed order, so the result does not depend on the number of threads.
    """
    from sharpley.permutations import _bits

    n, codes = len(orderings), _bits.pack(orderings)
    if n * n / 2 * codes.shape[1] < THREADED_WORDS:
        return np.asarray(_bits.table_rows(codes, table, vector, 0, n))
    # Parts of equal work: rows further down have more columns.
    edges = np.unique((n * np.sqrt(np.linspace(0.0, 1.0, PARTS + 1))).astype(np.int64))
    product = np.zeros(n)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda part: _bits.table_rows(codes, table, vector, *part), pairwise(edges.tolist()))
        for part in _shown(parts, len(edges) - 1, n, progress):
            product += part
    return product


def _shown(parts: Iterator[Floats], total: int, n: int, progress: bool | None) -> Iterator[Floats]:
    """Yield parts under a progress bar, whose heading says the expected time after the first part."""
    from tqdm.auto import tqdm

    start = time.perf_counter()
    with tqdm(total=total, disable=None if progress is None else not progress, leave=False) as bar:
        for number, part in enumerate(parts):
            if number == 0:
                seconds = (time.perf_counter() - start) * total / (os.cpu_count() or 1)
                bar.set_description(f"discrepancy of {n:,} orderings, about {seconds:.0f} s")
            bar.update()
            yield part


def _solve_ones(distinct: Orderings, kernel: Kernel) -> Floats:
    """Return K⁻¹1, (n,), for distinct orderings."""
    n = len(distinct)
    ones = np.ones(n)
    ridge = RELATIVE_RIDGE * float(kernel.gram(distinct[:1])[0, 0] or 1.0)
    if n <= MAX_DENSE_ORDERINGS:
        from scipy.linalg import solve

        gram = kernel.gram(distinct)
        gram[np.diag_indices(n)] += ridge
        return np.asarray(solve(gram, ones, assume_a="pos"))

    from scipy.sparse.linalg import LinearOperator, cg

    mean = kernel.mean(distinct.shape[1])

    def product(vector: Floats) -> Floats:
        vector = vector.reshape(-1)
        return np.asarray(_centred_product(distinct, vector, kernel) + mean * vector.sum() + ridge * vector)

    solution, failed = cg(LinearOperator((n, n), matvec=product, dtype=float), ones, rtol=CG_TOLERANCE)
    if failed:
        warnings.warn(
            f"the quadrature weights of {n} orderings did not converge in {failed} iterations; "
            f"they are usable but not optimal; up to {MAX_DENSE_ORDERINGS:,} distinct orderings are solved directly",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
    return np.asarray(solution)
