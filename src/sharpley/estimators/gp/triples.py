"""Outstanding interactions of three players, as features in addition to the kernel of "gp".

Under the kernel, all interactions among players that interact have similar prior variances. Tree models have a few
interactions that are much larger than the others. So these few, χ(z) = z_i z_j z_k, are modelled as separate features:
each has its own prior variance λ, which maximises the evidence, as in sparse Bayesian learning (Tipping and Faul,
2003). Let P be the precision of the data given everything else, s = χ'Pχ and q = χ'Py. A variance λ raises the log
evidence by

    ½ (λ q² / (1 + λs) − ln(1 + λs)),

which is largest at λ = (q² − s) / s² if q² > s. There are many triples to choose from. About as many as there are
players are expected to be outstanding, and rather among players that interact strongly. So a triple whose players are
among the r that interact most must gain more than its *price*, ln(number of triples of r players / d). Interactions of
five or more players are left to the kernel.

χ(1) − χ(−1) = 2 is shared equally by the three players: the Shapley value of each is 2/3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings

SHAPLEY_VALUE_OF_MEMBER = 2.0 / 3.0  # of each of the three players of an interaction
MIN_RESIDUAL_SHARE = 1e-8  # share of the sum of squares below which residuals are rounding errors, which λ would fit
MIN_UNEXPLAINED_SHARE = 1e-9  # features of which the others explain all but this share are not used
LINEAR_GAME_TOLERANCE = 1e-12  # mean square of the whitened residuals, 1 a priori, up to which a game counts as linear


class Triples(NamedTuple):
    """Interactions of three players in one game."""

    members: NDArray[np.int64]
    """The players of each interaction, (k, 3)."""
    variances: Floats
    """Prior variance λ of each interaction, (k,)."""

    def at(self, signs: Floats) -> Floats:
        """Return χ of every interaction at coalitions (n, d): (n, k)."""
        return _products(signs, self.members)

    def shapley(self, d: int) -> Floats:
        """Return the Shapley values of the interactions, (d, k)."""
        values = np.zeros((d, len(self.members)))
        values[self.members, np.arange(len(self.members))[:, None]] = SHAPLEY_VALUE_OF_MEMBER
        return values


NO_TRIPLES = Triples(np.empty((0, 3), dtype=np.int64), np.empty(0))


def _products(signs: Floats, members: NDArray[np.int64]) -> Floats:
    """Return χ(z) = z_i z_j z_k of triples (k, 3) at coalitions z (n, d): (n, k)."""
    return np.asarray(signs[:, members[:, 0]] * signs[:, members[:, 1]] * signs[:, members[:, 2]])


def outstanding(
    signs: Floats,
    residuals: Floats,
    scales: Floats,
    *,
    degrees_of_freedom: int,
    whiten: Callable[[Floats], Floats],
    unwhiten: Callable[[Floats], Floats],
    settings: GPSettings = DEFAULT_SETTINGS,
) -> Triples:
    """Choose interactions that explain the residuals of a game.

    Parameters
    ----------
    signs : (n, d) float
        Coalitions.
    residuals : (n,) float
        Whitened residuals of the linear part at these coalitions.
    scales : (d,) float
        How strongly each player interacts. With many players, candidates are formed from those that interact most.
    degrees_of_freedom : int
        Degrees of freedom of ``residuals``.
    whiten : callable
        Maps features at the coalitions, (n, k), to their whitened residuals, (n, k).
    unwhiten : callable
        Maps whitened residuals y, (n,), to Py.
    settings : GPSettings, optional

    Returns
    -------
    Triples
        The outstanding interactions.
    """
    total = float(residuals @ residuals)
    if total <= LINEAR_GAME_TOLERANCE * degrees_of_freedom:
        return NO_TRIPLES
    prices = _prices(scales)
    candidates = _Candidates(signs, prices, settings)
    found, features, unexplained = NO_TRIPLES, np.empty((len(residuals), 0)), residuals
    for _ in range(settings.triple_rounds):
        fresh = candidates.most_informative(unwhiten(unexplained), known=found.members)
        members = np.concatenate([found.members, fresh])
        features = np.concatenate([features, whiten(_products(signs, fresh))], axis=1)
        evidence = Evidence(features, residuals, prices[members].max(axis=1), degrees_of_freedom)
        for i, variance in enumerate(found.variances):
            evidence.change(i, variance)
        evidence.maximise(settings.triple_steps, settings.triple_gain)
        kept = evidence.variances > 0.0
        enough = not kept[len(found.members) :].any()
        found, features = Triples(members[kept], evidence.variances[kept]), features[:, kept]
        unexplained = residuals - features @ evidence.coefficients[kept]
        if enough or unexplained @ unexplained <= MIN_RESIDUAL_SHARE * total:
            break  # the residuals look like noise, or are rounding errors
    return found


def _prices(scales: Floats) -> Floats:
    """Return ln(n_r / d) for each player, (d,), where n_r triples can be formed of the r players up to it.

    The players are sorted by how strongly they interact; n_r counts as at least d.
    """
    d = len(scales)
    r = np.empty(d)
    r[np.argsort(-scales, kind="stable")] = np.arange(1, d + 1)
    return np.log(np.maximum(r * (r - 1) * (r - 2) / 6.0, d) / d)


class _Candidates:
    """All triples of the players that interact most, sorted by how much of given residuals they explain."""

    def __init__(self, signs: Floats, prices: Floats, settings: GPSettings = DEFAULT_SETTINGS) -> None:
        self._count = settings.triple_candidates
        self._players = np.sort(np.argsort(prices, kind="stable")[: settings.triple_players])
        self._signs = signs[:, self._players].astype(np.float32)  # accurate enough for sorting
        self._triples = _all_triples(len(self._players))
        self._prices = prices[self._players][self._triples].max(axis=0)

    def most_informative(self, alpha: Floats, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the triples with the largest |χ'α| compared with their price that are not in ``known``, (m, 3).

        The players of each triple are in increasing order.
        """
        squares = self._projections(alpha) ** 2
        # The square of pure noise would be about the mean, so this approximates the gain of the best λ.
        gains = squares / (2.0 * squares.mean()) - self._prices
        gains[np.isin(self._keys(self._triples), self._keys(np.searchsorted(self._players, known).T))] = 0.0
        best = _largest(gains, self._count)
        return self._players[self._triples[:, best[gains[best] > 0.0]].T]

    def _projections(self, alpha: Floats) -> NDArray[np.float32]:
        """Return χ'α of all triples, up to a common factor."""
        z, p = self._signs, len(self._players)
        weights = (alpha / np.abs(alpha).max()).astype(np.float32)
        projections = np.zeros((p, p, p), dtype=np.float32)
        for i in range(p - 2):
            later = z[:, i + 1 :]
            projections[i, i + 1 :, i + 1 :] = (later * (z[:, i] * weights)[:, None]).T @ later
        return projections[tuple(self._triples)]

    def _keys(self, triples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a distinct number for each triple (3, m): (m,)."""
        p = len(self._players)
        return np.asarray((triples[0] * p + triples[1]) * p + triples[2])


def _largest(values: NDArray[np.floating[Any]], count: int) -> NDArray[np.int64]:
    """Return the positions of the largest values, the largest first, and of equal values the first first."""
    if count < len(values):  # to sort hundreds of thousands of triples would take longer than to compute them
        least = np.partition(values, len(values) - count)[len(values) - count]
        candidates = np.flatnonzero(values >= least)
    else:
        candidates = np.arange(len(values))
    return candidates[np.argsort(-values[candidates], kind="stable")[:count]]


@lru_cache(maxsize=4)
def _all_triples(p: int) -> NDArray[np.int64]:
    """Return all triples i < j < k < p, (3, m)."""
    triples = np.array(list(combinations(range(p), 3)), dtype=np.int64).reshape(-1, 3).T
    triples.flags.writeable = False
    return triples


class Evidence:
    """The evidence as a function of the prior variances of features, which start at 0.

    The overall variance of the data is estimated along with them. A change of a variance by δ changes P by
    −δ Pχχ'P / (1 + δs), and all inner products of the features accordingly.

    Parameters
    ----------
    features : (n, m) float
        Whitened features, with the linear part projected out.
    residuals : (n,) float
        Whitened values, with the linear part projected out.
    prices : (m,) float
        Minimum gain of log evidence with which each feature is used.
    degrees_of_freedom : int
        Degrees of freedom of ``residuals``.
    """

    def __init__(self, features: Floats, residuals: Floats, prices: Floats, degrees_of_freedom: int) -> None:
        self.variances = np.zeros(len(prices))
        self._gram, self._projections = features.T @ features, features.T @ residuals
        self._total = float(residuals @ residuals)
        self._prices, self._degrees_of_freedom = prices, degrees_of_freedom
        self._min_s = MIN_UNEXPLAINED_SHARE * np.diagonal(self._gram)
        self._min_total = max(MIN_RESIDUAL_SHARE * self._total, np.finfo(float).tiny)

    @property
    def coefficients(self) -> Floats:
        """Posterior means of the coefficients, (m,)."""
        return self.variances * self._projections

    def maximise(
        self, steps: int = DEFAULT_SETTINGS.triple_steps, min_gain: float = DEFAULT_SETTINGS.triple_gain
    ) -> None:
        """Change one variance after another, each time the one with the largest gain; 0 means that it is not used."""
        for _ in range(steps if len(self.variances) else 0):
            best, gains = self.best_of_each()
            i = int(np.argmax(gains))
            if gains[i] < min_gain:
                break
            self.change(i, best[i])

    def change(self, i: int, variance: float) -> None:
        """Change the variance of feature i."""
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
        """Return the best variance of each feature given the others, and the gain of log evidence, (m,) each."""
        s = np.diagonal(self._gram)
        # Remove the effect of the feature itself, if it is used.
        without = np.maximum(1.0 - self.variances * s, np.finfo(float).eps)
        s = s / without
        variance_of_data = max(self._total, self._min_total) / self._degrees_of_freedom
        squares = (self._projections / without) ** 2 / variance_of_data
        usable = s > self._min_s
        best = np.where(usable, np.maximum(squares - s, 0.0) / np.where(usable, s, 1.0) ** 2, 0.0)
        now, then = self._gain(s, squares, np.stack([self.variances, best]))
        best[then <= 0.0] = 0.0
        return best, np.maximum(then, 0.0) - now

    def _gain(self, s: Floats, squares: Floats, variances: Floats) -> Floats:
        """Return the log evidence of the variances, compared with 0, minus the price of each feature."""
        spread = 1.0 + variances * s
        return np.where(variances > 0.0, 0.5 * (variances * squares / spread - np.log(spread)) - self._prices, 0.0)
