"""The Gaussian process prior on whole games, odd and even parts together.

The kernel of coalitions z, t ∈ {−1, +1}^d with sizes |S|, |T| is

    K = c                                           constant part, with a practically flat prior
      + s_l z·t/d                                   linear part
      + s_f e^{−Σh} exp(Σ_j h_j z_j t_j)            interactions of all orders, with scale h_j for player j
      + s_1 1[|S| = |T|], 0 at ∅ and N              size effects

and the noise has variance s_n, 0 at ∅ and N, so that Shapley values add up to v(N) − v(∅).

exp is the sum of sinh and cosh. The latter is even, and its Shapley values are 0, as are those of the constant part and
of the size effects. So the Shapley values of the kernel and their prior covariance are those of the process on pairs
(``sharpley.estimators.gp.kernel``), with τ² = s_l and without size effects. A pair tells the odd part at a point, for
two evaluations; a single coalition tells the sum of both parts, and the scales h_j, which both share, how to divide it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.estimators.gp import kernel as odd


class WholeScales(NamedTuple):
    """Hyperparameters of the process on whole games, which are normalised."""

    players: Floats
    """Scale h of each player, (d,)."""
    interactions: float
    """Variance s_f of the interactions."""
    linear: float
    """Variance s_l of the linear part."""
    sizes: float
    """Variance s_1 of the size effects."""
    noise: float
    """Variance s_n of the noise."""


class Parts(NamedTuple):
    """The parts of a Gram matrix that have a variance but no other hyperparameter."""

    linear: Floats
    """z·t/d, (n, m)."""
    sizes: Floats
    """1[|S| = |T|], 0 at ∅ and N, (n, m)."""


def parts(z: Floats, t: Floats) -> Parts:
    """Return the fixed parts of the Gram matrix between coalitions z (n, d) and t (m, d)."""
    d = z.shape[1]
    sizes = (z > 0).sum(axis=1)
    inner = (sizes > 0) & (sizes < d)
    same = inner[:, None] & (sizes[:, None] == (t > 0).sum(axis=1))
    return Parts(z @ t.T / d, same.astype(np.float64))


def interactions(z: Floats, t: Floats, h: Floats) -> Floats:
    """Return e^{−Σh} exp(Σ_j h_j z_j t_j), (n, m)."""
    exponent = (z * h) @ t.T
    exponent -= h.sum()
    return np.asarray(np.exp(exponent, out=exponent))


def whole_kernel(z: Floats, t: Floats, scales: WholeScales, constant: float, fixed: Parts | None = None) -> Floats:
    """Return the kernel, (n, m), with a constant part of the given variance."""
    fixed = parts(z, t) if fixed is None else fixed
    gram = interactions(z, t, scales.players)
    gram *= scales.interactions
    gram += scales.linear * fixed.linear
    gram += scales.sizes * fixed.sizes
    gram += constant
    return gram


def own_kernel(z: Floats, scales: WholeScales, constant: float) -> Floats:
    """Return the kernel of each coalition with itself, (n,)."""
    return constant + scales.interactions + scales.linear + scales.sizes * is_inner(z)


def is_inner(z: Floats) -> Floats:
    """Return 1 for each coalition that is neither ∅ nor N, and 0 for these, (n,)."""
    return (np.abs(z.sum(axis=1)) < z.shape[1]).astype(np.float64)


def shapley_of_whole_kernel(z: Floats, scales: WholeScales) -> Floats:
    """Return the Shapley values of the games t ↦ K(z, t) for coalitions z (n, d): (d, n)."""
    of_interactions = odd.shapley_of_interactions(z, scales.players)
    return np.asarray(scales.interactions * of_interactions + 2.0 * scales.linear / z.shape[1] * z.T)


def prior_covariance(scales: WholeScales) -> Floats:
    """Return the prior covariance of the Shapley values, (d, d)."""
    of_odd_part = odd.Scales(scales.players, scales.interactions, 0.0, 0.0, 0.0)
    return odd.prior_covariance(of_odd_part, scales.linear)
