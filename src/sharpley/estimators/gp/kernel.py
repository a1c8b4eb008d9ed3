"""The Gaussian process prior on whole games, and the prior that it implies for an index.

A coalition is z ∈ {−1, +1}^d, with −z its complement. The kernel of coalitions z, t with sizes |S|, |T| is

    K = c + s_e e^{−Σh} cosh(Σ_j h_j z_j t_j) + s_1 ½ (1[|S| = |T|] + 1[|S| = d − |T|])          even part
      + s_l z·t/d + s_o e^{−Σh} sinh(Σ_j h_j z_j t_j) + s_1 ½ (1[|S| = |T|] − 1[|S| = d − |T|])   odd part
      + s_2 (z·t/d) κ(u_S, u_T)

with a scale h_j for each player. Size effects are 0 at ∅ and N. So are linear effects that vary with size, which votes
have: κ(u, w) = g(u−w) − g(u−1) g(w−1) in u = |2|S| − d| / d, with g(x) = exp(−x²/(2·0.25²)). The noise has variance
s_n, and 0 at ∅ and N, so that Shapley values add up. For pairs, it is multiplied by the inverse weights of the
regression, which is then a limiting case: the estimate from pairs is consistent whatever the hyperparameters.

A *pair* of a coalition and its complement has an odd value (v(z) − v(−z)) / 2, whose kernel is the odd part alone, and
an even value (v(z) + v(−z)) / 2, whose kernel is the even part. The two are independent. So for pairs the Gram matrix
falls into two blocks of half the size, and the odd block alone determines Shapley values.

An index of single players is φ_i = ∫ ∂_i M(q, …, q) dμ(q) with M the multilinear extension and μ a measure over q. With
x = 2q − 1, a column of the product kernel Π_j (cosh h_j + z_j t_j sinh h_j) has the index

    F_i(z) = 2 z_i sinh h_i ∫ Π_{j≠i} (cosh h_j + x z_j sinh h_j) dμ,

its odd part (F(z) − F(−z)) / 2 and its even part (F(z) + F(−z)) / 2, which is 0 if μ is symmetric about ½. The
integrand is a polynomial of degree d − 1, so that Gaussian quadrature is exact.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.indices import Measure

LENGTH_SCALE_OF_SIZE = 0.25  # standard deviation of g, in units of u
MAX_SAFE_EXPONENT = 300.0  # e^{−2x} for larger x would approach the smallest positive number
CONSTANT_VARIANCE = 1e4  # prior variance c of the constant part; games are normalised, so that it is practically flat
JITTER = 1e-6  # added to the diagonal of Gram matrices, so that they are numerically positive definite


class Parity(Enum):
    """Which parts of the kernel a value has: a coalition's has both, a pair has an odd and an even one."""

    WHOLE = (1.0, 1.0)
    ODD = (1.0, 0.0)
    EVEN = (0.0, 1.0)


class Scales(NamedTuple):
    """Hyperparameters, for normalised games."""

    players: Floats
    """Scale h of each player, (d,)."""
    odd: float
    """Variance s_o of interactions of odd order."""
    even: float
    """Variance s_e of interactions of even order."""
    linear: float
    """Variance s_l of the linear part."""
    sizes: float
    """Variance s_1 of the size effects."""
    linear_by_size: float
    """Variance s_2 of the linear effects that vary with size."""
    noise: float
    """Variance s_n of the noise."""


class FixedParts(NamedTuple):
    """The parts of a Gram matrix that have a variance but no other hyperparameter, (n, m) each."""

    linear: Floats
    sizes: Floats
    linear_by_size: Floats


def fixed_parts(z: Floats, t: Floats, parity: Parity) -> FixedParts:
    """Return the linear part and the effects of size in the Gram matrix between coalitions z (n, d) and t (m, d)."""
    d, (odd, even) = z.shape[1], parity.value
    every = np.arange(d + 1)[:, None]  # effects of size depend only on sizes, of which there are few
    inner = (every > 0) & (every < d)
    # ½ (even + odd) of equal sizes and ½ (even − odd) of mirrored ones: for whole games, 1 and 0.
    same = inner * ((even + odd) / 2.0 * (every == every.T) + (even - odd) / 2.0 * (every == d - every.T))
    at = np.ix_(sizes_of(z), sizes_of(t))
    linear = odd / d * (z @ t.T)
    return FixedParts(linear, same[at], linear * _kappa(d)[at])


def kernel(z: Floats, t: Floats, scales: Scales, parity: Parity, fixed: FixedParts | None = None) -> Floats:
    """Return the kernel between coalitions z (n, d) and t (m, d), (n, m)."""
    odd, even = parity.value
    fixed = fixed_parts(z, t, parity) if fixed is None else fixed
    gram = interactions(z, t, scales.players, odd * scales.odd, even * scales.even)
    gram += scales.linear * fixed.linear
    gram += scales.sizes * fixed.sizes
    gram += scales.linear_by_size * fixed.linear_by_size
    if even:
        gram += CONSTANT_VARIANCE
    return gram


def own_kernel(z: Floats, scales: Scales) -> Floats:
    """Return the kernel of each coalition with itself, (n,)."""
    e = np.exp(-2.0 * scales.players.sum())
    both = (scales.odd * (1.0 - e) + scales.even * (1.0 + e)) / 2.0
    of_size = scales.sizes * is_inner(z) + scales.linear_by_size * np.diagonal(_kappa(z.shape[1]))[sizes_of(z)]
    return CONSTANT_VARIANCE + both + scales.linear + of_size


def interactions(z: Floats, t: Floats, h: Floats, of_sinh: float, of_cosh: float) -> Floats:
    """Return e^{−Σh} (of_sinh · sinh(x) + of_cosh · cosh(x)) of x = Σ_j h_j z_j t_j, (n, m)."""
    up, down = _up_and_down(z, t, h)
    up *= (of_cosh + of_sinh) / 2.0
    down *= (of_cosh - of_sinh) / 2.0
    up += down
    return up


def sinh_and_cosh(z: Floats, t: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Return e^{−Σh} sinh(x) and e^{−Σh} cosh(x) of x = Σ_j h_j z_j t_j, (n, m) each."""
    up, down = _up_and_down(z, t, h)
    cosh = up + down
    cosh /= 2.0
    up -= down
    up /= 2.0
    return up, cosh


def _up_and_down(z: Floats, t: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Return e^{x − Σh} and e^{−x − Σh} of x = Σ_j h_j z_j t_j, (n, m) each."""
    exponent = (z * h) @ t.T
    total = float(h.sum())
    if total > MAX_SAFE_EXPONENT:
        return np.exp(exponent - total), np.exp(-exponent - total)
    exponent -= total
    up = np.exp(exponent, out=exponent)
    return up, np.exp(-2.0 * total) / up  # a division costs less than an exponential


def sizes_of(z: Floats) -> NDArray[np.int64]:
    """Return the number of members of each coalition (n, d), (n,)."""
    return (z > 0).sum(axis=1)


def is_inner(z: Floats) -> Floats:
    """Return 1 for each coalition that is neither ∅ nor N, and 0 for these, (n,)."""
    return (np.abs(z.sum(axis=1)) < z.shape[1]).astype(np.float64)


def index_of_kernel(z: Floats, scales: Scales, parity: Parity, measure: Measure) -> Floats:
    """Return the index of the games t ↦ K(z, t) for coalitions z (n, d): (d, n)."""
    d, (odd, even) = z.shape[1], parity.value
    q, weights = measure.nodes(d - 1)
    ahead, back = _index_of_products(z, scales.players, q, weights)
    found = odd * scales.odd * (ahead - back) + even * scales.even * (ahead + back)
    found += odd * scales.linear * 2.0 * weights.sum() / d * z.T
    of_sizes = _index_of_sizes(d, q, weights)
    sizes = sizes_of(z)
    found += scales.sizes * ((even + odd) / 2.0 * of_sizes[sizes] + (even - odd) / 2.0 * of_sizes[d - sizes])
    of_own, of_others = _index_of_slopes(_kappa(d), q, weights)
    total = z.sum(axis=1)
    found += odd * scales.linear_by_size / d * (of_own[sizes] * z.T + of_others[sizes] * (total - z.T))
    return np.asarray(found)


def _index_of_products(z: Floats, h: Floats, q: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return e^{−Σh} F(z) / 2 and e^{−Σh} F(−z) / 2, (d, n) each."""
    x = (2.0 * q - 1.0)[:, None]
    cosh, sinh = np.cosh(h), np.sinh(h)
    present, absent = np.log(cosh + x * sinh), np.log(cosh - x * sinh)  # (q, d)
    middle, half = (present + absent).sum(axis=1)[:, None] / 2.0 - h.sum(), (present - absent) / 2.0 @ z.T
    found = []
    for sign in (1.0, -1.0):
        products = weights[:, None] * np.exp(middle + sign * half)  # (q, n)
        # In the product, the factor of player i itself is replaced by ±sinh h_i.
        with_i, without_i = (sinh * np.exp(-present)).T @ products, (-sinh * np.exp(-absent)).T @ products
        found.append(np.where(sign * z.T > 0, with_i, without_i))
    return found[0], found[1]


def _shares_of_sizes(d: int, q: Floats, weights: Floats) -> Floats:
    """Return the shares of the sizes 0 … d − 1 of the coalitions that a player joins, (d,)."""
    from scipy.stats import binom

    return np.asarray(weights @ binom.pmf(np.arange(d), d - 1, q[:, None]))


def _index_of_sizes(d: int, q: Floats, weights: Floats) -> Floats:
    """Return the index, the same for all players, of the game that is 1 at size s, for s = 0 … d; 0 for both ends."""
    shares = _shares_of_sizes(d, q, weights)
    found = np.zeros(d + 1)
    found[1:d] = shares[:-1] - shares[1:]
    return np.where(np.abs(found) < np.finfo(float).eps * d, 0.0, found)


def _index_of_slopes(slopes: Floats, q: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the index of the games t ↦ c(|T|) t_j for player j, and for any other one, (m,) each.

    There are m games, with slopes c (d+1, m) for all sizes. A player that joins a coalition of s others finds player j
    in it with probability s / (d − 1).
    """
    d = len(slopes) - 1
    shares = _shares_of_sizes(d, q, weights)
    other = shares * (2.0 * np.arange(d) / max(1, d - 1) - 1.0)
    return shares @ (slopes[1:] + slopes[:-1]), other @ (slopes[1:] - slopes[:-1])


@lru_cache(maxsize=8)
def _kappa(d: int) -> Floats:
    """Return κ for all sizes, (d+1, d+1)."""
    u = np.abs(2.0 * np.arange(d + 1) - d) / d
    g = np.exp(-((u[:, None] - u) ** 2) / (2.0 * LENGTH_SCALE_OF_SIZE**2))
    kappa = g - np.outer(g[:, 0], g[:, 0])
    kappa.flags.writeable = False
    return kappa


def prior_variances(scales: Scales, measure: Measure) -> Floats:
    """Return the prior variances of the index of the whole game, (d,)."""
    h, d = scales.players, len(scales.players)
    q, weights = measure.nodes(d - 1)
    nodes, cosh, sinh = 2.0 * q - 1.0, np.cosh(h), np.sinh(h)
    total = np.zeros((2, d))  # for xy and for −xy
    for x, w in zip(nodes, weights, strict=True):  # one x at a time: for many players, m² nodes need too much memory
        for number, xy in enumerate((x * nodes[:, None], -x * nodes[:, None])):
            factors = cosh + xy * sinh
            products = 4.0 * w * weights * np.exp(np.log(factors).sum(axis=1) - h.sum())
            total[number] += products @ (sinh / factors)
    same, mirrored = total
    found = scales.odd * (same + mirrored) / 2.0 + scales.even * (same - mirrored) / 2.0
    found += scales.linear * 4.0 * weights.sum() ** 2 / d
    found += scales.sizes * (_index_of_sizes(d, q, weights) ** 2).sum()
    of_own, of_others = _index_of_slopes(_kappa(d), q, weights)
    own, other = _index_of_slopes(np.stack([of_own, of_others], axis=1), q, weights)
    return np.asarray(found + scales.linear_by_size / d * (own[0] + (d - 1) * other[1]))
