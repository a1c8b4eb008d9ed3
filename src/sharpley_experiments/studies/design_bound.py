"""A lower bound on the Mallows discrepancy of n orderings of few players.

Let A(g) = #{(i, j): σ_i⁻¹σ_j = g} / n. Then n D² = Σ_g A(g) (K(g) − E[K]), where A ≥ 0, A(identity) ≥ 1, ΣA = n, and
the matrix A(g⁻¹h) is positive semidefinite. The least value under these conditions is found as a linear programme, to
which eigenvectors of negative eigenvalues are added as conditions until there are none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley import Mallows, all_orderings
from sharpley._support.typing import Floats, Orderings
from sharpley_experiments.studies.design_internals import DESIGN_SCALE

LARGEST_NEGATIVE_EIGENVALUE = -1e-7
"""Eigenvalues above this count as not negative."""

CUTS_A_ROUND = 20
"""Maximum number of conditions added before the programme is solved again."""


def lower_bound(d: int, n: int, rounds: int = 400) -> float:
    """Return a discrepancy that no n orderings of d players can be below.

    Parameters
    ----------
    d : int
        Number of players; the programme has d! variables.
    n : int
        Number of orderings.
    rounds : int
        Maximum number of programmes solved. With fewer the bound may be lower, but it is valid.

    Examples
    --------
    >>> round(lower_bound(3, 2), 4)
    0.4779
    """
    group = all_orderings(d)
    kernel = Mallows(DESIGN_SCALE)
    cost = kernel.gram(group[:1], group)[0] - kernel.mean(d)
    quotient, identity = _quotients(group)
    conditions: list[Floats] = []
    value = np.nan
    for _ in range(rounds):
        solution = _least_cost(cost, conditions, n, identity)
        value = solution.fun
        violated = _violated_conditions(solution.x, quotient)
        if not violated:
            break
        conditions += violated
    return float(np.sqrt(max(0.0, value / n)))


def _quotients(group: Orderings) -> tuple[NDArray[np.int64], int]:
    """Positions (d!, d!) of g⁻¹h in the group, by those of g and h, and the position of the identity."""
    size, d = group.shape
    index = {tuple(g): k for k, g in enumerate(group.tolist())}
    inverse = np.argsort(group, axis=1)
    quotient = np.array([[index[tuple(inverse[g][group[h]])] for h in range(size)] for g in range(size)])
    return quotient, index[tuple(range(d))]


def _least_cost(cost: Floats, conditions: list[Floats], n: int, identity: int) -> Any:
    """SciPy's solution of min cost·A with A ≥ 0, A(identity) ≥ 1, ΣA = n, and c·A ≥ 0 for each condition c."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    size = len(cost)
    rows = -np.array(conditions) if conditions else None
    return linprog(
        cost,
        A_ub=None if rows is None else csr_array(rows),
        b_ub=None if rows is None else np.zeros(len(rows)),
        A_eq=np.ones((1, size)),
        b_eq=[float(n)],
        bounds=[(1.0 if g == identity else 0.0, None) for g in range(size)],
    )


def _violated_conditions(solution: Floats, quotient: NDArray[np.int64]) -> list[Floats]:
    """Conditions c·A ≥ 0 that eigenvectors with negative eigenvalues of the matrix A(g⁻¹h) break."""
    matrix = solution[quotient]
    eigenvalues, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    places, conditions = quotient.reshape(-1), []
    for k in np.flatnonzero(eigenvalues < LARGEST_NEGATIVE_EIGENVALUE)[:CUTS_A_ROUND]:
        products = np.outer(vectors[:, k], vectors[:, k]).reshape(-1)
        condition = np.bincount(places, weights=products, minlength=len(solution))
        conditions.append(np.asarray(condition, dtype=np.float64))
    return conditions
