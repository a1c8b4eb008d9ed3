"""Permutations as points on a sphere (Section 4 of the paper).

The rank vectors of d players are the vertices of the permutohedron. Centred and scaled to unit norm, they lie on the
unit sphere 𝕊^{d−2} in the hyperplane Σ_j x_j = 0 of ℝ^d. Conversely, the vertex nearest to a point of the hyperplane
(the paper's Equation 12) is found by sorting: ``argsort`` of the point is the *ordering* of that vertex. The Voronoi
cells of the vertices have equal area, so uniform points yield uniform permutations (the paper's Theorem 1).

    uniform numbers --uniform_to_polar--> angles --polar_to_cartesian--> 𝕊^{d−2} ⊂ ℝ^{d−1}
                    --to_hyperplane--> ℝ^d --argsort--> orderings
"""

from __future__ import annotations

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.permutations.orderings import ranks_of


def hyperplane_basis(d: int) -> Floats:
    """Return an orthonormal basis Û of the hyperplane Σ_j x_j = 0 in ℝ^d, one basis vector per row.

    Row k is (1, …, 1, −k, 0, …, 0) / √(k(k+1)), with k leading ones.

    Parameters
    ----------
    d : int
        Number of players, at least 1.

    Returns
    -------
    (d−1, d) float

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
    """Embed points x of ℝ^{d−1} in the hyperplane Σ_j x̃_j = 0 of ℝ^d by x̃ = Ûᵀx.

    Parameters
    ----------
    points : (n, d−1) float

    Returns
    -------
    (n, d) float

    Notes
    -----
    Û is never formed: with y_k = x_k / √(k(k+1)), coordinate j = 0 .. d−1 of x̃ is Σ_{k>j} y_k − j y_j, a running sum.

    Examples
    --------
    >>> to_hyperplane([[1.0, 0.0]]).round(3)
    array([[ 0.707, -0.707,  0.   ]])
    """
    x = np.asarray(points, dtype=np.float64)
    k = np.arange(1, x.shape[1] + 1)
    y = x / np.sqrt(k * (k + 1.0))
    embedded = np.zeros((x.shape[0], x.shape[1] + 1))
    embedded[:, :-1] = np.cumsum(y[:, ::-1], axis=1)[:, ::-1]
    embedded[:, 1:] -= k * y
    return embedded


def nearest_orderings(points: ArrayLike) -> Orderings:
    """Return the ordering of the vertex of the permutohedron that is nearest to each point (the paper's Equation 12).

    Parameters
    ----------
    points : (n, d−1) float

    Returns
    -------
    (n, d) int
        Orderings.

    Examples
    --------
    >>> nearest_orderings([[1.0, 0.0]])
    array([[1, 2, 0]])
    """
    return np.argsort(to_hyperplane(points), axis=1)


def permutohedron(orderings: ArrayLike) -> Floats:
    """Return the vertices A(σ) = (σ − μ) / √(d(d²−1)/12) of orderings on the unit sphere in ℝ^d.

    A(σ)ᵀA(σ') is Spearman's rank correlation. (The paper's Equation 11 prints ‖σ⁻¹‖ in the denominator, where it must
    be ‖σ⁻¹ − μ‖ = √(d(d²−1)/12).)

    Parameters
    ----------
    orderings : (n, d) int

    Returns
    -------
    (n, d) float

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
    """Map uniform numbers to the polar angles of uniform points on the sphere, by inverse CDFs.

    Parameters
    ----------
    uniforms : (n, m) float
        Numbers in [0, 1).

    Returns
    -------
    (n, m) float
        Angles in [0, π], the last one in [0, 2π).

    Notes
    -----
    The angles are independent. Angle j of m has density ∝ sin^{m−j} φ on [0, π], except the last, which is uniform on
    [0, 2π). If φ has density ∝ sin^{ν−1} φ, then −√ν cot φ has Student's t distribution with ν degrees of freedom, so
    the inverse CDF has the closed form φ = π/2 + arctan(t_ν⁻¹(u) / √ν) and no root finding is needed.

    Examples
    --------
    >>> uniform_to_polar([[0.5, 0.5]]).round(4)
    array([[1.5708, 3.1416]])
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
    """Return the unit vectors with the given polar angles.

    x_i = cos φ_i Π_{j<i} sin φ_j for i = 1 .. m, and x_{m+1} = Π_{j≤m} sin φ_j. (The paper's Algorithm 4 omits the
    cosine of the last angle, so that its points are not on the sphere.)

    Parameters
    ----------
    angles : (n, m) float

    Returns
    -------
    (n, m+1) float

    Examples
    --------
    >>> polar_to_cartesian([[np.pi / 2, np.pi / 6]]).round(3)
    array([[0.   , 0.866, 0.5  ]])
    """
    angles = np.asarray(angles, dtype=np.float64)
    points = np.ones((angles.shape[0], angles.shape[1] + 1))
    np.cumprod(np.sin(angles), axis=1, out=points[:, 1:])
    points[:, :-1] *= np.cos(angles)
    return points


def dot_product_bounds(kendall: ArrayLike) -> tuple[Floats, Floats]:
    """Return the bounds on A(σ)ᵀA(σ') for two permutations with Kendall correlation K (the paper's Theorem 2).

    3K − 2 + 4((1−K)/2)^{3/2} ≤ A(σ)ᵀA(σ') + O(1/d) ≤ 3K + 2 − 4((1+K)/2)^{3/2}. In particular, permutations from
    orthogonal points have K between −1/2 and 1/2 for large d.

    Parameters
    ----------
    kendall : float or array of floats
        K in [−1, 1].

    Returns
    -------
    lower, upper : float arrays of the same shape as ``kendall``

    Examples
    --------
    >>> lower, upper = dot_product_bounds([-0.5, 0.5])
    >>> lower.round(3), upper.round(3)
    (array([-0.902,  0.   ]), array([0.   , 0.902]))
    """
    k = np.asarray(kendall, dtype=np.float64)
    lower = 3 * k - 2 + 4 * ((1 - k) / 2) ** 1.5
    upper = 3 * k + 2 - 4 * ((1 + k) / 2) ** 1.5
    return np.asarray(lower), np.asarray(upper)
