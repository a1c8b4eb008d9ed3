"""A Gaussian process prior on the odd part of games, and what it says of Shapley values.

The kernel of coalitions z, t ∈ {−1, +1}^d with sizes |S|, |T| is

    K = s_f e^{−Σh} sinh(Σ_j h_j z_j t_j)                        interactions of all odd orders, scale h_j for
    each player
      + τ²/d z·t                                                 the linear part, nearly free
      + s₁ (1[|S| = |T|] − 1[|S| = d − |T|])                     effects of size
      + s₂ (z·t/d) κ(|S|, |T|)                                   linear effects that change with size

with κ(u, w) = g(u−w) − g(u−1) g(w−1) in u = |2|S| − d| / d and g(x) = exp(−x²/(2·0.25²)), so that the last
part is 0 at the ends.

sinh is the odd part of Π_j (cosh h_j + z_j t_j sinh h_j), whose Shapley values are integrals over [−1, 1] of
polynomials of degree d − 1: Gauss–Legendre with ⌊d/2⌋ + 1 nodes is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

WIDTH = 0.25  # of g
LARGE_EXPONENT = 300.0  # beyond it e^{−2x} nears the smallest number


class Scales(NamedTuple):
    """Hyperparameters, for targets of unit size."""

    players: Floats
    """h, (d,)."""
    interactions: float
    """s_f."""
    sizes: float
    """s₁."""
    linear_by_size: float
    """s₂."""
    noise: float
    """s_n, a multiple of the inverse weights of the regression."""


class FixedParts(NamedTuple):
    """The parts of a Gram matrix that have a scale but no other hyperparameter."""

    linear: Floats
    sizes: Floats
    linear_by_size: Floats


def fixed_parts(z: Floats, t: Floats) -> FixedParts:
    """Parts of the Gram matrix between coalitions (n, d) and (m, d)."""
    d = z.shape[1]
    every = np.arange(d + 1.0)[:, None]  # the last two depend on sizes alone: tables of all sizes are small
    inner = (every > 0) & (every < d)
    same = inner * inner.T * ((every == every.T).astype(np.float64) - (every == d - every.T))
    kappa = _kappa(_off_middle(every, d), _off_middle(every.T, d))
    at = np.ix_(_sizes(z), _sizes(t))
    linear = z @ t.T / d
    return FixedParts(linear, same[at], linear * kappa[at])


def kernel(z: Floats, t: Floats, scales: Scales, fixed: FixedParts | None = None) -> Floats:
    """The kernel without its linear part, (n, m); ``fixed`` are its fixed parts if they are known already."""
    fixed = fixed_parts(z, t) if fixed is None else fixed
    gram = sinh_part(z, t, scales.players)
    gram *= scales.interactions
    gram += scales.sizes * fixed.sizes
    gram += scales.linear_by_size * fixed.linear_by_size
    return gram


def sinh_and_cosh(z: Floats, t: Floats, h: Floats) -> tuple[Floats, Floats]:
    """e^{−Σh} sinh and cosh of Σ_j h_j z_j t_j, (n, m)."""
    up, down = _up_and_down(z, t, h)
    cosh = up + down
    cosh /= 2.0
    up -= down
    up /= 2.0
    return up, cosh


def sinh_part(z: Floats, t: Floats, h: Floats) -> Floats:
    """e^{−Σh} sinh of Σ_j h_j z_j t_j, (n, m)."""
    up, down = _up_and_down(z, t, h)
    up -= down
    up /= 2.0
    return up


def _up_and_down(z: Floats, t: Floats, h: Floats) -> tuple[Floats, Floats]:
    """e^{x − Σh} and e^{−x − Σh} of x = Σ_j h_j z_j t_j."""
    exponent = (z * h) @ t.T
    total = float(h.sum())
    if total > LARGE_EXPONENT:
        return np.exp(exponent - total), np.exp(-exponent - total)
    exponent -= total
    up = np.exp(exponent, out=exponent)
    return up, np.exp(-2.0 * total) / up  # a division costs less than an exponential


def shapley_of_kernel(z: Floats, scales: Scales) -> Floats:
    """Shapley values of ``kernel``'s columns at coalitions (n, d), (d, n)."""
    interactions = scales.interactions * shapley_of_interactions(z, scales.players)
    return interactions + scales.linear_by_size * shapley_of_linear_by_size(z)


def shapley_of_interactions(z: Floats, h: Floats) -> Floats:
    """Shapley values of t ↦ e^{−Σh} sinh(Σ_j h_j z_j t_j) for coalitions z (n, d): (d, n)."""
    nodes, weights = np.polynomial.legendre.leggauss(z.shape[1] // 2 + 1)
    cosh, sinh = np.cosh(h), np.sinh(h)
    with_player, without_player = (np.log(cosh + sign * nodes[:, None] * sinh) for sign in (1.0, -1.0))  # (q, d)
    middle, half = (with_player + without_player) / 2.0, (with_player - without_player) / 2.0
    products = weights[:, None] * np.exp(middle.sum(axis=1)[:, None] + half @ z.T - h.sum())  # (q, n)
    # Player i's own factor is taken out of the product again, and ±sinh h_i put in.
    present, absent = (sinh * np.exp(-with_player)).T @ products, (-sinh * np.exp(-without_player)).T @ products
    return np.where(z.T > 0, present, absent)


def shapley_of_linear_by_size(z: Floats) -> Floats:
    """Shapley values of t ↦ (z·t/d) κ(|S|, |T|): (d, n)."""
    d = z.shape[1]
    over_sizes = _kappa(_all_off_middle(d)[:, None], _off_middle(_sizes(z), d)[None]).sum(axis=0)
    return _from_sums_over_sizes(d) @ (z.T * (over_sizes / d))


def prior_covariance(scales: Scales, tau2: float) -> Floats:
    """Covariance of the Shapley values before any value is seen, (d, d)."""
    h = scales.players
    d = len(h)
    interactions = _covariance_of_interactions(h)
    sizes = _all_off_middle(d)
    mix = _from_sums_over_sizes(d)
    by_size = _kappa(sizes[:, None], sizes[None]).sum() / d * (mix @ mix.T)
    linear = 4.0 * tau2 / d * np.eye(d)
    return np.asarray(scales.interactions * interactions + linear + scales.linear_by_size * by_size)


def _covariance_of_interactions(h: Floats) -> Floats:
    """The double integral over [−1, 1]² of products of factors cosh h_l + xy sinh h_l, (d, d)."""
    d = len(h)
    nodes, weights = np.polynomial.legendre.leggauss(d // 2 + 1)
    cosh, sinh = np.cosh(h), np.sinh(h)
    covariance, variances = np.zeros((d, d)), np.zeros(d)
    for x, w in zip(nodes, weights, strict=True):  # (q, d) at a time: q² nodes would be much memory for many players
        if x < 0.0:
            continue  # (x, y) and (−x, −y) are the same
        twice = w if x == 0.0 else 2.0 * w
        xy = x * nodes[:, None]
        factors = cosh + xy * sinh
        products = twice * weights[:, None] * np.exp(np.log(factors).sum(axis=1, keepdims=True) - h.sum())
        ratios = sinh / factors
        covariance += ratios.T @ (products * xy * ratios)
        variances += (products * ratios).sum(axis=0)
    np.fill_diagonal(covariance, variances)
    return covariance


def _from_sums_over_sizes(d: int) -> Floats:
    """The matrix from C_j = Σ_s c_j(s) to the Shapley values of t ↦ Σ_j c_j(|T|) t_j, (d, d)."""
    return (2.0 / d + 2.0 / (d * (d - 1))) * np.eye(d) - 2.0 / (d * (d - 1))


def _sizes(z: Floats) -> NDArray[np.int64]:
    return (z > 0).sum(axis=1)


def _off_middle(sizes: Floats | NDArray[np.int64], d: int) -> Floats:
    return np.abs(2.0 * sizes - d) / d


def _all_off_middle(d: int) -> Floats:
    return _off_middle(np.arange(1.0, d), d)


def _kappa(u: Floats, w: Floats) -> Floats:
    return _g(u - w) - _g(u - 1.0) * _g(w - 1.0)


def _g(x: Floats) -> Floats:
    return np.asarray(np.exp(-(x**2) / (2.0 * WIDTH**2)))
