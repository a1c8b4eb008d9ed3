"""Permutations as points on a sphere (Section 4 of the paper).

The orderings of d players, seen as rank vectors, are the vertices of the permutohedron. Centred and scaled they
lie on the unit sphere 𝕊^{d−2} inside the hyperplane Σx = 0 of ℝ^d. Going back, the vertex nearest to a point
of the hyperplane is found by sorting: ``argsort`` of the point is the *ordering* of that vertex. The cells of nearest
vertices have equal area, so uniform points give uniform permutations (the paper's Theorem 1).

    uniform numbers --uniform_to_polar--> angles --polar_to_cartesian--> 𝕊^{d−2} ⊂ ℝ^{d−1}
                    --to_hyperplane--> ℝ^d --argsort--> orderings
"""

from __future__ import annotations

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.permutations.orderings import ranks_of


def hyperplane_basis(d: int) -> Floats:
    """Orthonormal rows Û of the hyperplane Σx = 0 in ℝ^d: (d−1, d).

    Row k is (1, …, 1, −k, 0, …, 0) / √(k(k+1)), with k leading ones.

    Examples
    --------
    >>> hyperplane_basis(3).round(3)
    array([[ 0.707, -0.707,  0.   ],
           [ 0.408,  0.408, -0.816]])
    """
    d = check_count("d", d, minimum=1)
    k = np.arange(1, d)[:, None]
    column = np.arange(d)[None, :]
    basis = np.where(column < k, 1.0, np.where(column == k, -k, 0.0))
    return np.asarray(basis / np.sqrt(k * (k + 1.0)))


def to_hyperplane(points: ArrayLike) -> Floats:
    """Embed points of ℝ^{d−1} in the hyperplane Σx = 0 of ℝ^d: x̃ = Ûᵀx, (n, d−1) -> (n, d).

    Û is never formed: with y_k = x_k / √(k(k+1)) coordinate j of x̃ is Σ_{k>j} y_k − j y_j, a running sum.
    """
    x = np.asarray(points, dtype=np.float64)
    k = np.arange(1, x.shape[1] + 1)
    y = x / np.sqrt(k * (k + 1.0))
    embedded = np.zeros((x.shape[0], x.shape[1] + 1))
    embedded[:, :-1] = np.cumsum(y[:, ::-1], axis=1)[:, ::-1]
    embedded[:, 1:] -= k * y
    return embedded


def nearest_orderings(points: ArrayLike) -> Orderings:
    """Ordering of the permutohedron's vertex nearest to each point of ℝ^{d−1}: (n, d−1) -> (n, d)."""
    return np.argsort(to_hyperplane(points), axis=1)


def permutohedron(orderings: ArrayLike) -> Floats:
    """Vertices A(σ) = (σ − μ) / √(d(d²−1)/12) on the unit sphere in ℝ^d: (n, d).

    A(σ)ᵀA(σ') is Spearman's rank correlation.

    Examples
    --------
    >>> permutohedron([[0, 1, 2]]).round(3)
    array([[-0.707,  0.   ,  0.707]])
    """
    ranks = ranks_of(orderings)
    d = ranks.shape[1]
    radius = np.sqrt(d * (d * d - 1) / 12) if d > 1 else 1.0
    return np.asarray((ranks - (d - 1) / 2) / radius)


def uniform_to_polar(uniforms: ArrayLike) -> Floats:
    """Angles of uniform points on the sphere from uniform numbers: (n, m) in [0, 1) -> (n, m).

    The angles are independent. Angle j of m has density ∝ sin^{m−j} φ on [0, π], except the last, which is
    uniform on [0, 2π). If φ has density ∝ sin^{ν−1} φ, then −√ν cot φ has Student's t distribution with ν degrees
    of freedom, so the inverse CDF is closed: φ = π/2 + arctan(t_ν⁻¹(u) / √ν), without root finding.
    """
    u = np.asarray(uniforms, dtype=np.float64)
    angles = np.empty_like(u)
    if u.shape[1] == 0:
        return angles
    from scipy.special import stdtrit

    nu = np.arange(u.shape[1], 1, -1.0)
    angles[:, :-1] = np.pi / 2 + np.arctan(stdtrit(nu, u[:, :-1]) / np.sqrt(nu))
    angles[:, -1] = 2.0 * np.pi * u[:, -1]
    return angles


def polar_to_cartesian(angles: ArrayLike) -> Floats:
    """Unit vectors with the given polar angles: (n, m) -> (n, m+1).

    x_i = cos φ_i Π_{j<i} sin φ_j for i ≤ m, and the last coordinate is the product of all m sines. (The paper's
    Algorithm 4 leaves out a cosine: its points are not on the sphere.)
    """
    angles = np.asarray(angles, dtype=np.float64)
    points = np.ones((angles.shape[0], angles.shape[1] + 1))
    np.cumprod(np.sin(angles), axis=1, out=points[:, 1:])
    points[:, :-1] *= np.cos(angles)
    return points


def dot_product_bounds(kendall: ArrayLike) -> tuple[Floats, Floats]:
    """Limits of A(σ)ᵀA(σ') for two permutations with Kendall correlation K (the paper's Theorem 2).

    3K − 2 + 4((1−K)/2)^{3/2} ≤ A(σ)ᵀA(σ') + O(1/d) ≤ 3K + 2 − 4((1+K)/2)^{3/2}. In particular permutations from
    orthogonal points have K between −1/2 and 1/2 for large d.

    Parameters
    ----------
    kendall : float or array
        K in [−1, 1].

    Returns
    -------
    lower, upper : float arrays of the same shape
    """
    k = np.asarray(kendall, dtype=np.float64)
    lower = 3 * k - 2 + 4 * ((1 - k) / 2) ** 1.5
    upper = 3 * k + 2 - 4 * ((1 + k) / 2) ** 1.5
    return np.asarray(lower), np.asarray(upper)
