"""Discrepancy of a weighted set of orderings, and the weights that minimise it.

For a kernel K with constant mean e = E[K], the worst-case error of Σ_i w_i f(σ_i) over all f of norm 1 is
the discrepancy (the paper's Equation 9),

    D² = E[K] − 2 Σ_i w_i e + wᵀKw = wᵀ(K − e)w + e (1 − Σw)²,

the second form being the one computed: its terms do not cancel. It is minimised by w = e K⁻¹1 (Bayesian
quadrature), or, among the weights that sum to 1, by K⁻¹1 / 1ᵀK⁻¹1.

The Gram matrix of n orderings is never held whole: compiled code goes through it value by value (kernels with
a table over discordant pairs) or it is used block by block, so memory does not grow with n².
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from sharpley._support.checks import check_weights, stacklevel_outside
from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.permutations.kernels import Kernel, Mallows
from sharpley.permutations.orderings import as_orderings

BLOCK_ELEMENTS = 2**20  # kernel values held at once: 8 MB, and as much again for pair counts
DENSE_LIMIT = 1024  # up to here a Gram matrix is one such block, and is factorised
CG_TOLERANCE = 1e-6  # leaves the discrepancy within 1e-5 of the least; tighter costs time for nothing
RIDGE = 1e-10  # relative to the diagonal; keeps rank-deficient kernels (Kendall, Spearman) solvable


def discrepancy(
    orderings: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
) -> float:
    """Worst-case quadrature error of a set of orderings: lower is better, 0 is exact.

    Parameters
    ----------
    orderings : (n, d) orderings
    weights : (n,) float, optional
        Equal weights 1/n by default. They need not sum to 1.
    kernel : Kernel, default Mallows(4.0)

    Returns
    -------
    float
        D(Π, w) ≥ 0: for every function f of an ordering, the error of its weighted mean is at most
        D times the norm of f in the kernel's Hilbert space.

    Notes
    -----
    Memory is bounded whatever n. Time is O(n² d² / 64) for the Mallows and Kendall kernels.

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
    squared = w @ _centred_product(orderings, w, kernel) + mean * (1.0 - w.sum()) ** 2
    return float(np.sqrt(max(0.0, squared)))  # rounding may leave −1e-17 where D is 0


def quadrature_weights(
    orderings: ArrayLike,
    *,
    kernel: Kernel = Mallows(4.0),  # noqa: B008 (frozen)
    normalize: bool = True,
) -> Floats:
    """Weights that minimise the discrepancy of given orderings.

    Parameters
    ----------
    orderings : (n, d) orderings
        Repeated orderings share the weight of one.
    kernel : Kernel, default Mallows(4.0)
    normalize : bool, default True
        True: the best weights that sum to 1, K⁻¹1 / 1ᵀK⁻¹1, as in the paper's table; constants are
        integrated exactly, so Shapley values stay efficient. False: the best weights of all,
        E[K] K⁻¹1, as in the paper's Algorithm 1; their sum is below 1.

    Returns
    -------
    (n,) float

    Notes
    -----
    Up to 1,024 distinct orderings the Gram matrix is factorised; beyond, conjugate gradients work with
    parts of it, in bounded memory, and stop when the discrepancy is within 1e-5 of the least one.

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
        raise ValueError("orderings must have at least one row, got none")
    return orderings


def _upper_blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles of at most BLOCK_ELEMENTS that cover the upper triangle of an n × n matrix.

    Each starts on the diagonal or lies right of it; its mirror image covers the lower triangle.
    """
    side = max(1, int(BLOCK_ELEMENTS**0.5))
    for top in range(0, n, side):
        for left in range(top, n, side):
            yield slice(top, min(n, top + side)), slice(left, min(n, left + side))


def _centred_product(orderings: Orderings, vector: Floats, kernel: Kernel) -> Floats:
    """(K − E[K]) times a vector, in bounded memory."""
    mean = kernel.mean(orderings.shape[1])
    table = kernel.discordance_table(orderings.shape[1])
    if table is not None:
        from sharpley.permutations import _bits

        return np.asarray(_bits.table_product(_bits.pack(orderings), table - mean, vector))
    product = np.zeros(len(orderings))
    for rows, columns in _upper_blocks(len(orderings)):
        block = kernel.gram(orderings[rows], orderings[columns]) - mean
        product[rows] += block @ vector[columns]
        if rows != columns:
            product[columns] += block.T @ vector[rows]
    return product


def _solve_ones(distinct: Orderings, kernel: Kernel) -> Floats:
    """K⁻¹1 for distinct orderings."""
    n = len(distinct)
    ones = np.ones(n)
    ridge = RIDGE * float(kernel.gram(distinct[:1])[0, 0] or 1.0)
    if n <= DENSE_LIMIT:
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
            f"quadrature weights of {n} orderings did not converge in {failed} iterations; "
            "they are usable but not optimal",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
    return np.asarray(solution)
