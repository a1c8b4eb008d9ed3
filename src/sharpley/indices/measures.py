"""Measures over q: beta distributions, points, polynomial densities, and weights that are given for every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from sharpley._support.typing import Floats
from sharpley.indices.base import Measure, binomial

LARGEST_WEIGHT = 1e8  # sums with larger weights at the nodes would lose more than half of all digits


@final
@dataclass(frozen=True)
class Beta(Measure):
    """The beta distribution, of density q^(a−1) (1−q)^(b−1) / B(a, b); ``Beta(1, 1)`` is uniform.

    Examples
    --------
    >>> q, w = Beta(1.0, 1.0).nodes(3)
    >>> float((w @ q**3).round(12))
    0.25
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        if not (np.isfinite([self.a, self.b]).all() and self.a > 0 and self.b > 0):
            raise ValueError(f"a beta distribution needs two positive numbers, got a={self.a!r} and b={self.b!r}")

    def nodes(self, degree: int) -> tuple[Floats, Floats]:
        """Return the nodes and weights of Gauss-Jacobi quadrature; of Gauss-Legendre, if uniform."""
        return _gauss(self.a, self.b, degree // 2 + 1)

    def sample(self, u: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return quantiles, which are equally weighted."""
        if self.a == self.b == 1.0:
            return u, np.ones_like(u)
        from scipy.special import betaincinv

        return np.asarray(betaincinv(self.a, self.b, u)), np.ones_like(u)

    def sizes(self, n: int) -> Floats:
        """Return the probabilities of the beta-binomial distribution."""
        if self.a == self.b == 1.0:
            return np.full(n + 1, 1.0 / (n + 1))
        from scipy.special import betaln

        s = np.arange(n + 1.0)
        coefficients = -betaln(n - s + 1, s + 1) - np.log(n + 1)
        return np.asarray(np.exp(coefficients + betaln(self.a + s, self.b + n - s) - betaln(self.a, self.b)))


UNIFORM = Beta(1.0, 1.0)


@lru_cache(maxsize=256)
def _gauss(a: float, b: float, n: int) -> tuple[Floats, Floats]:
    """Return the n nodes of Gauss quadrature for a beta distribution on [0, 1], and weights that sum to 1."""
    from scipy.special import roots_jacobi, roots_legendre

    x, w = roots_legendre(n) if a == b == 1.0 else roots_jacobi(n, b - 1, a - 1)
    q, w = (1.0 + x) / 2.0, w / w.sum()
    q.flags.writeable = w.flags.writeable = False
    return q, w


@final
@dataclass(frozen=True)
class Point(Measure):
    """A unit mass at one q; ``Point(0.5)`` weights all coalitions equally.

    Examples
    --------
    >>> Point(0.5).sizes(2)
    array([0.25, 0.5 , 0.25])
    """

    q: float

    def nodes(self, degree: int) -> tuple[Floats, Floats]:
        """Return the point, with weight 1."""
        return np.array([self.q]), np.ones(1)


@final
@dataclass(frozen=True)
class PolynomialDensity(Measure):
    """A measure with a polynomial as its density, which may be negative; the coefficient of q^j is number j.

    Examples
    --------
    The density 4 − 6q:

    >>> PolynomialDensity((4.0, -6.0)).sizes(2).round(12)
    array([ 0.83333333,  0.33333333, -0.16666667])
    """

    coefficients: tuple[float, ...]

    def nodes(self, degree: int) -> tuple[Floats, Floats]:
        """Return Gauss-Legendre nodes, with weights times the density."""
        q, w = UNIFORM.nodes(degree + len(self.coefficients) - 1)
        return q, w * np.polynomial.polynomial.polyval(q, self.coefficients)


@final
@dataclass(frozen=True)
class SizeWeights(Measure):
    """A probabilistic value of games of d players, given by the probability of entering after 0 … d−1 others.

    A game in which only m < d players matter has the weights that leave the others' components 0 and those of the m
    unchanged. More than d players are an error.

    Parameters
    ----------
    weights : sequence of d float
        They sum to 1. Equal weights give Shapley values.

    Examples
    --------
    >>> SizeWeights((0.5, 0.0, 0.5)).sizes(1)  # for two of the three players
    array([0.5, 0.5])
    """

    weights: tuple[float, ...]

    def __init__(self, weights: Sequence[float]) -> None:
        checked = np.asarray(weights, dtype=np.float64)
        if checked.ndim != 1 or not np.isfinite(checked).all() or not np.isclose(checked.sum(), 1.0):
            raise ValueError(
                f"weights over sizes must be finite numbers that sum to 1, one for each of 0 … d−1, got {weights!r}"
            )
        object.__setattr__(self, "weights", tuple(checked.tolist()))

    def sizes(self, n: int) -> Floats:
        """Return the weights, for n others; if these are fewer than were given, averaged over those left out."""
        given = len(self.weights)
        if n >= given:
            raise ValueError(f"{given} weights over sizes are for games of {given} players, got {n + 1} players")
        found = np.array(self.weights)
        for others in range(given - 1, n, -1):  # one of the others is left out: it was a member, or it was not
            s = np.arange(others)
            found = found[:-1] * (others - s) / others + found[1:] * (s + 1) / others
        return found

    def nodes(self, degree: int) -> tuple[Floats, Floats]:
        """Return Gauss-Legendre points with the weights that agree for every polynomial; they may be negative."""
        q, _ = UNIFORM.nodes(2 * degree)
        w = np.asarray(np.linalg.solve(binomial(degree, q).T, self.sizes(degree)), dtype=np.float64)
        if np.abs(w).sum() > LARGEST_WEIGHT:
            raise ValueError(
                f"weights over the sizes of {degree + 1} players are no measure over q that can be summed accurately; "
                "use method 'exact', or a beta distribution"
            )
        return q, w
