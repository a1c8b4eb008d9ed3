"""Interactions of three players that stand out, as features beside the kernel of "gp".

The kernel gives all interactions of players that interact at all a like size. Models made of trees have a few that are
much larger than their neighbours, and the rest is smaller for it. So those few, χ(z) = z_i z_j z_k, are taken out of
the kernel's hands: each gets a prior variance λ of its own, found by the evidence, as in sparse Bayesian
learning (Tipping and Faul, 2003). Write P for the precision of the data given all else, s = χ'Pχ and q = χ'Py.
A variance λ raises the logarithm of the evidence by

    ½ (λ q² / (1 + λs) − ln(1 + λs)),

most at λ = (q² − s) / s² if q² > s. There are many triples to choose from, of which about as many as there are players
are expected to stand out, rather among players that interact much: one whose players are among the r that interact
most must earn ln(number of triples of r players / d). Interactions of five and more stay with the kernel.

χ(1) − χ(−1) = 2 falls equally to its three players: their Shapley values are 2/3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.settings import DEFAULT, GPSettings

SHAPLEY_SHARE = 2.0 / 3.0  # each player's Shapley value of an interaction
LEAST_REMAINDER = 1e-8  # share of the squares below which nothing is left to explain: λ would follow rounding errors
LEAST_VISIBLE = 1e-9  # share of a feature that the others do not explain, below which it is left out
LINEAR_REMAINDER = 1e-12  # share of the expected variance that the linear part leaves of a linear game


class Triples(NamedTuple):
    """Interactions of one game."""

    members: NDArray[np.int64]
    """(k, 3)."""
    variances: Floats
    """(k,): λ."""

    def at(self, signs: Floats) -> Floats:
        """χ of every interaction at coalitions (n, d): (n, k)."""
        return _products(signs, self.members)

    def shapley(self, d: int) -> Floats:
        """Shapley values of the interactions, (d, k)."""
        values = np.zeros((d, len(self.members)))
        values[self.members, np.arange(len(self.members))[:, None]] = SHAPLEY_SHARE
        return values


NONE = Triples(np.empty((0, 3), dtype=np.int64), np.empty(0))


def _products(signs: Floats, members: NDArray[np.int64]) -> Floats:
    return np.asarray(signs[:, members[:, 0]] * signs[:, members[:, 1]] * signs[:, members[:, 2]])


def outstanding(
    signs: Floats,
    residuals: Floats,
    scales: Floats,
    *,
    degrees_of_freedom: int,
    whiten: Callable[[Floats], Floats],
    unwhiten: Callable[[Floats], Floats],
    settings: GPSettings = DEFAULT,
) -> Triples:
    """Choose interactions that explain the residuals of a game.

    Parameters
    ----------
    signs : (n, d) float
        Coalitions.
    residuals : (n,) float
        What the linear part leaves of the game's values there, whitened.
    scales : (d,) float
        How much each player interacts: candidates are made of those that do most, where players are many.
    degrees_of_freedom : int
        Degrees of freedom of ``residuals``.
    whiten, unwhiten : callable
        From features at the coalitions (n, k) to their residuals, whitened; and from ``residuals`` (n,) to P times
        values.
    settings : GPSettings
    """
    total = float(residuals @ residuals)
    if total <= LINEAR_REMAINDER * degrees_of_freedom:
        return NONE
    prices = _prices(scales)
    candidates = _Candidates(signs, prices, settings)
    found, features, remainder = NONE, np.empty((len(residuals), 0)), residuals
    for _ in range(settings.triple_rounds):
        fresh = candidates.most_informative(unwhiten(remainder), known=found.members)
        members = np.concatenate([found.members, fresh])
        features = np.concatenate([features, whiten(_products(signs, fresh))], axis=1)
        evidence = Evidence(features, residuals, prices[members].max(axis=1), degrees_of_freedom)
        for i, variance in enumerate(found.variances):
            evidence.change(i, variance)
        evidence.maximise(settings.triple_steps, settings.triple_gain)
        kept = evidence.variances > 0.0
        enough = not kept[len(found.members) :].any()
        found, features = Triples(members[kept], evidence.variances[kept]), features[:, kept]
        remainder = residuals - features @ evidence.coefficients[kept]
        if enough or remainder @ remainder <= LEAST_REMAINDER * total:
            break  # the remainder looks like noise, or is nothing
    return found


def _prices(scales: Floats) -> Floats:
    """ln(triples / d) by the number of triples of players that interact at least as much as each, (d,)."""
    d = len(scales)
    rank = np.empty(d)
    rank[np.argsort(-scales, kind="stable")] = np.arange(1, d + 1)
    return np.log(np.maximum(rank * (rank - 1) * (rank - 2) / 6.0, d) / d)


class _Candidates:
    """All triples of the players that interact most, to be ranked by how much of a remainder they explain."""

    def __init__(self, signs: Floats, prices: Floats, settings: GPSettings = DEFAULT) -> None:
        self._count = settings.triple_candidates
        self._players = np.sort(np.argsort(prices, kind="stable")[: settings.triple_players])
        self._signs = signs[:, self._players].astype(np.float32)  # this only ranks
        self._triples = _all_triples(len(self._players))
        self._prices = prices[self._players][self._triples].max(axis=0)

    def most_informative(self, alpha: Floats, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """Triples with the largest |χ'α| for their price that are not known yet, (m, 3), each in increasing order."""
        squares = self._projections(alpha) ** 2
        # Of noise alone a square would be about the mean: this is what λ can gain, roughly.
        worth = squares / (2.0 * squares.mean()) - self._prices
        worth[np.isin(self._named(self._triples), self._named(np.searchsorted(self._players, known).T))] = 0.0
        best = np.argsort(-worth, kind="stable")[: self._count]
        return self._players[self._triples[:, best[worth[best] > 0.0]].T]

    def _projections(self, alpha: Floats) -> NDArray[np.float32]:
        """χ'α of all triples, up to a factor."""
        z, p = self._signs, len(self._players)
        weights = (alpha / np.abs(alpha).max()).astype(np.float32)
        projections = np.zeros((p, p, p), dtype=np.float32)
        for i in range(p - 2):
            later = z[:, i + 1 :]
            projections[i, i + 1 :, i + 1 :] = (later * (z[:, i] * weights)[:, None]).T @ later
        return projections[tuple(self._triples)]

    def _named(self, triples: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for each triple (3, m)."""
        p = len(self._players)
        return np.asarray((triples[0] * p + triples[1]) * p + triples[2])


@lru_cache(maxsize=4)
def _all_triples(p: int) -> NDArray[np.int64]:
    """All i < j < k below p, (3, m)."""
    triples = np.array(list(combinations(range(p), 3)), dtype=np.int64).reshape(-1, 3).T
    triples.flags.writeable = False
    return triples


class Evidence:
    """The evidence of the variances of features, which begin at 0; how large everything is, is found along with them.

    A change of a variance by δ changes P by −δ Pχχ'P / (1 + δs), and so all that is known of the features.

    Parameters
    ----------
    features : (n, m) float
        Whitened, with all that is explained already projected out.
    residuals : (n,) float
        The residuals of the values, likewise.
    prices : (m,) float
        What each feature has to earn.
    degrees_of_freedom : int
    """

    def __init__(self, features: Floats, residuals: Floats, prices: Floats, degrees_of_freedom: int) -> None:
        self.variances = np.zeros(len(prices))
        self._gram, self._projections = features.T @ features, features.T @ residuals
        self._total = float(residuals @ residuals)
        self._prices, self._degrees_of_freedom = prices, degrees_of_freedom
        self._least = LEAST_VISIBLE * np.diagonal(self._gram)
        self._smallest = max(LEAST_REMAINDER * self._total, np.finfo(float).tiny)

    @property
    def coefficients(self) -> Floats:
        """Posterior means."""
        return self.variances * self._projections

    def maximise(self, steps: int = DEFAULT.triple_steps, least_gain: float = DEFAULT.triple_gain) -> None:
        """Change one variance after the other, each time the one that gains most; 0 is a feature left out."""
        for _ in range(steps if len(self.variances) else 0):
            best, gains = self.best_of_each()
            i = int(np.argmax(gains))
            if gains[i] < least_gain:
                break
            self.change(i, best[i])

    def change(self, i: int, variance: float) -> None:
        """Give a feature another variance."""
        difference = variance - self.variances[i]
        column, projection = self._gram[i].copy(), self._projections[i]
        factor = difference / (1.0 + difference * column[i])
        update = np.outer(column, column)
        update *= factor
        self._gram -= update
        self._projections -= factor * projection * column
        self._total -= factor * projection**2
        self.variances[i] = variance

    def best_of_each(self) -> tuple[Floats, Floats]:
        """The best variance of each feature if all others stay, and how much of log evidence it would gain."""
        s = np.diagonal(self._gram)
        # The feature itself is taken out again, if it is used.
        without = np.maximum(1.0 - self.variances * s, np.finfo(float).eps)
        s = s / without
        size = max(self._total, self._smallest) / self._degrees_of_freedom
        squares = (self._projections / without) ** 2 / size
        visible = s > self._least
        best = np.where(visible, np.maximum(squares - s, 0.0) / np.where(visible, s, 1.0) ** 2, 0.0)
        now, then = self._gain(s, squares, np.stack([self.variances, best]))
        best[then <= 0.0] = 0.0
        return best, np.maximum(then, 0.0) - now

    def _gain(self, s: Floats, squares: Floats, variances: Floats) -> Floats:
        """Log evidence of these variances against 0, less the price."""
        spread = 1.0 + variances * s
        return np.where(variances > 0.0, 0.5 * (variances * squares / spread - np.log(spread)) - self._prices, 0.0)
