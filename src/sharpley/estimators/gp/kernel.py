"""The Gaussian process prior on the odd part of games, and the prior that it implies for Shapley values.

The kernel of coalitions z, t ∈ {−1, +1}^d with sizes |S|, |T| is

    K = s_f e^{−Σh} sinh(Σ_j h_j z_j t_j)             interactions of all odd orders, with scale h_j for player j
      + τ²/d z·t                                      linear part, with a practically flat prior
      + s₁ (1[|S| = |T|] − 1[|S| = d − |T|])          size effects
      + s₂ (z·t/d) κ(|S|, |T|)                        linear effects that vary with size

with κ(u, w) = g(u−w) − g(u−1) g(w−1) in u = |2|S| − d| / d and g(x) = exp(−x²/(2·0.25²)), so that the last
part is 0 at the empty and the full coalition.

sinh is the odd part of Π_j (cosh h_j + z_j t_j sinh h_j), whose Shapley values are integrals over [−1, 1] of
polynomials of degree d − 1: Gauss–Legendre quadrature with ⌊d/2⌋ + 1 nodes is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

LENGTH_SCALE_OF_SIZE = 0.25  # standard deviation of g, in units of u
MAX_SAFE_EXPONENT = 300.0  # e^{−2x} for larger x would approach the smallest positive number


class Scales(NamedTuple):
    """Hyperparameters, for normalised games."""

    players: Floats
    """Scale h of each player, (d,)."""
    interactions: float
    """Variance s_f of the interactions."""
    sizes: float
    """Variance s₁ of the size effects."""
    linear_by_size: float
    """Variance s₂ of the linear effects that vary with size."""
    noise: float
    """Noise variance s_n, as a multiple of the inverse weights of the regression."""


class FixedParts(NamedTuple):
    """The parts of a Gram matrix that have a variance but no other hyperparameter, (n, m) each."""

    linear: Floats
    """z·t/d."""
    sizes: Floats
    """1[|S| = |T|] − 1[|S| = d − |T|]."""
    linear_by_size: Floats
    """(z·t/d) κ(|S|, |T|)."""


def fixed_parts(z: Floats, t: Floats) -> FixedParts:
    """Return the fixed parts of the Gram matrix between coalitions z (n, d) and t (m, d)."""
    d = z.shape[1]
    every = np.arange(d + 1.0)[:, None]  # the last two parts depend only on sizes, of which there are few
    inner = (every > 0) & (every < d)
    same = inner * inner.T * ((every == every.T).astype(np.float64) - (every == d - every.T))
    kappa = _kappa(_off_middle(every, d), _off_middle(every.T, d))
    at = np.ix_(_sizes(z), _sizes(t))
    linear = z @ t.T / d
    return FixedParts(linear, same[at], linear * kappa[at])


def kernel(z: Floats, t: Floats, scales: Scales, fixed: FixedParts | None = None) -> Floats:
    """Return the kernel without its linear part, (n, m); pass ``fixed`` if the fixed parts have been computed."""
    fixed = fixed_parts(z, t) if fixed is None else fixed
    gram = sinh_part(z, t, scales.players)
    gram *= scales.interactions
    gram += scales.sizes * fixed.sizes
    gram += scales.linear_by_size * fixed.linear_by_size
    return gram


def sinh_and_cosh(z: Floats, t: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Return e^{−Σh} sinh(x) and e^{−Σh} cosh(x) of x = Σ_j h_j z_j t_j, (n, m) each."""
    up, down = _up_and_down(z, t, h)
    cosh = up + down
    cosh /= 2.0
    up -= down
    up /= 2.0
    return up, cosh


def sinh_part(z: Floats, t: Floats, h: Floats) -> Floats:
    """Return e^{−Σh} sinh(Σ_j h_j z_j t_j), (n, m)."""
    up, down = _up_and_down(z, t, h)
    up -= down
    up /= 2.0
    return up


def _up_and_down(z: Floats, t: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Return e^{x − Σh} and e^{−x − Σh} of x = Σ_j h_j z_j t_j, (n, m) each."""
    exponent = (z * h) @ t.T
    total = float(h.sum())
    if total > MAX_SAFE_EXPONENT:
        return np.exp(exponent - total), np.exp(-exponent - total)
    exponent -= total
    up = np.exp(exponent, out=exponent)
    return up, np.exp(-2.0 * total) / up  # a division costs less than an exponential


def shapley_of_kernel(z: Floats, scales: Scales) -> Floats:
    """Return the Shapley values of the games t ↦ K(z, t), without the linear part, for coalitions z (n, d): (d, n)."""
    interactions = scales.interactions * shapley_of_interactions(z, scales.players)
    return interactions + scales.linear_by_size * shapley_of_linear_by_size(z)


def shapley_of_interactions(z: Floats, h: Floats) -> Floats:
    """Return the Shapley values of t ↦ e^{−Σh} sinh(Σ_j h_j z_j t_j) for coalitions z (n, d): (d, n)."""
    nodes, weights = np.polynomial.legendre.leggauss(z.shape[1] // 2 + 1)
    cosh, sinh = np.cosh(h), np.sinh(h)
    with_player, without_player = (np.log(cosh + sign * nodes[:, None] * sinh) for sign in (1.0, -1.0))  # (q, d)
    middle, half = (with_player + without_player) / 2.0, (with_player - without_player) / 2.0
    products = weights[:, None] * np.exp(middle.sum(axis=1)[:, None] + half @ z.T - h.sum())  # (q, n)
    # In the product, the factor of player i itself is replaced by ±sinh h_i.
    present, absent = (sinh * np.exp(-with_player)).T @ products, (-sinh * np.exp(-without_player)).T @ products
    return np.where(z.T > 0, present, absent)


def shapley_of_linear_by_size(z: Floats) -> Floats:
    """Return the Shapley values of t ↦ (z·t/d) κ(|S|, |T|) for coalitions z (n, d): (d, n)."""
    d = z.shape[1]
    over_sizes = _kappa(_all_off_middle(d)[:, None], _off_middle(_sizes(z), d)[None]).sum(axis=0)
    return _from_sums_over_sizes(d) @ (z.T * (over_sizes / d))


def prior_covariance(scales: Scales, tau2: float) -> Floats:
    """Return the prior covariance of the Shapley values, (d, d), with a linear part of variance τ²."""
    h = scales.players
    d = len(h)
    interactions = _covariance_of_interactions(h)
    sizes = _all_off_middle(d)
    mix = _from_sums_over_sizes(d)
    by_size = _kappa(sizes[:, None], sizes[None]).sum() / d * (mix @ mix.T)
    linear = 4.0 * tau2 / d * np.eye(d)
    return np.asarray(scales.interactions * interactions + linear + scales.linear_by_size * by_size)


def _covariance_of_interactions(h: Floats) -> Floats:
    """Return the double integral over [−1, 1]² of products of factors cosh h_l + xy sinh h_l, (d, d)."""
    d = len(h)
    nodes, weights = np.polynomial.legendre.leggauss(d // 2 + 1)
    cosh, sinh = np.cosh(h), np.sinh(h)
    covariance, variances = np.zeros((d, d)), np.zeros(d)
    for x, w in zip(nodes, weights, strict=True):  # one x at a time: for many players, q² nodes need too much memory
        if x < 0.0:
            continue  # (x, y) and (−x, −y) contribute the same
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
    """Return the matrix from C_j = Σ_s c_j(s) to the Shapley values of t ↦ Σ_j c_j(|T|) t_j, (d, d)."""
    return (2.0 / d + 2.0 / (d * (d - 1))) * np.eye(d) - 2.0 / (d * (d - 1))


def _sizes(z: Floats) -> NDArray[np.int64]:
    return (z > 0).sum(axis=1)


def _off_middle(sizes: Floats | NDArray[np.int64], d: int) -> Floats:
    """Return u = |2|S| − d| / d for the given sizes |S|."""
    return np.abs(2.0 * sizes - d) / d


def _all_off_middle(d: int) -> Floats:
    """Return u for the sizes 1 … d − 1."""
    return _off_middle(np.arange(1.0, d), d)


def _kappa(u: Floats, w: Floats) -> Floats:
    return _g(u - w) - _g(u - 1.0) * _g(w - 1.0)


def _g(x: Floats) -> Floats:
    return np.asarray(np.exp(-(x**2) / (2.0 * LENGTH_SCALE_OF_SIZE**2)))
