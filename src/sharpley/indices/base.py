"""An index is a measure over q and an order.

Let every player but those of S join with probability q, independently, and let M be the mean value: the multilinear
extension of a game. The discrete derivative ∂_S v(T) = Σ_{L⊆S} (−1)^{|S|−|L|} v(T ∪ L) is the contribution of a single
player, the interaction of a pair, and so on. Every index here is

    I_S = ∫ ∂_S M(q, …, q) dμ(q) = Σ_{T ⊆ N∖S} p_{|T|} ∂_S v(T),   p_t = ∫ q^t (1−q)^{d−|S|−t} dμ(q),

with a measure μ for each number of players |S| up to the order of the index. ``Measure.nodes`` makes the integral a
sum, exactly; exact values, the functional of a kernel and closed forms follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

Label: TypeAlias = tuple[int, ...]
"""The players that a component of an index belongs to, in increasing order."""

LARGEST_DIRECT = 500  # up to this many trials, binomial probabilities are products that neither overflow nor vanish


class Measure(ABC):
    """A measure over q in [0, 1], which may be signed.

    Notes
    -----
    **Subclassing.** Define ``nodes``. A complete measure, of two points:

    >>> import numpy as np
    >>> from sharpley.indices import Index, Measure
    >>> class Ends(Measure):
    ...     '''Half of the weight on the contribution of the first player to enter, half on the last one's.'''
    ...     def nodes(self, degree):
    ...         return np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> Ends().sizes(3)
    array([0.5, 0. , 0. , 0.5])
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0))
    >>> sharpley.estimate(game, index=Index("ends", (Ends(),))).values
    array([[0.5, 1. , 3. ]])
    """

    @abstractmethod
    def nodes(self, degree: int) -> tuple[Floats, Floats]:
        """Return points q (m,) and weights w (m,) with Σ w f(q) = ∫ f dμ for every polynomial f up to that degree."""

    def sample(self, u: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return points q and factors w with E[w f(q)] = ∫ f dμ for every polynomial f up to the degree, for uniform u.

        By default, q is one of the nodes.
        """
        q, w = self.nodes(degree)
        masses = np.abs(w)
        at = np.minimum(np.searchsorted(np.cumsum(masses) / masses.sum(), u, side="right"), len(q) - 1)
        return q[at], np.sign(w[at]) * masses.sum()

    def sizes(self, n: int) -> Floats:
        """Return the probability that s of n other players are members, for s = 0 … n: C(n, s) ∫ q^s (1−q)^{n−s} dμ."""
        q, w = self.nodes(n)
        return np.asarray(w @ binomial(n, q))


def binomial(n: int, q: Floats) -> Floats:
    """Return the probabilities of 0 … n successes in n trials, each with probability q: (m,) -> (m, n+1)."""
    from scipy.special import gammaln, xlog1py, xlogy

    s, q = np.arange(n + 1.0), q[:, None]
    if n <= LARGEST_DIRECT:
        return np.asarray(_binomial_coefficients(n) * q**s * (1.0 - q) ** (n - s))
    logarithms = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
    return np.asarray(np.exp(logarithms + xlogy(s, q) + xlog1py(n - s, -q)))


def _binomial_coefficients(n: int) -> Floats:
    return np.array([comb(n, s) for s in range(n + 1)], dtype=np.float64)


def component_noun(name: str, order: int) -> str:
    """Return what a component of an index is called in headings, given the name and the order of the index.

    Examples
    --------
    >>> component_noun("shapley", 1), component_noun("beta(4, 1)", 1), component_noun("k-SII", 2)
    ('Shapley value', 'beta(4, 1) value', 'k-SII interaction')
    """
    title = name.capitalize() if name.isalpha() and name.islower() else name
    return f"{title} {'value' if order == 1 else 'interaction'}"


@final
@dataclass(frozen=True)
class Index:
    """A linear functional of games, with a number, called *component*, for every set of up to ``order`` players.

    Parameters
    ----------
    name : str
        Its name, which ``index=`` accepts if it is in ``sharpley.indices.INDICES``.
    measures : tuple of Measure
        The measure for single players, for pairs, and so on; their number is the order of the index.
    carried : tuple of float, optional
        How much of the components of larger sets is added to those of their subsets: ``carried[j]`` for sets with j
        more players, so that the components of one interaction index follow from another's. ``carried[0]`` is 1.

    Examples
    --------
    >>> from sharpley.indices import Index, Point
    >>> banzhaf = Index("banzhaf", (Point(0.5),))
    >>> both_needed = np.array([0.0, 0.0, 0.0, 6.0]).reshape(1, 4, 1)  # v(∅), v({0}), v({1}), v({0, 1})
    >>> banzhaf.of_all_values(both_needed, 2)[0, :, 0]
    array([3., 3.])
    """

    name: str
    measures: tuple[Measure, ...]
    carried: tuple[float, ...] = (1.0,)

    @property
    def order(self) -> int:
        """Largest number of players that a component belongs to."""
        return len(self.measures)

    @property
    def measure(self) -> Measure:
        """The measure for sets of ``order`` players."""
        return self.measures[-1]

    def labels(self, d: int) -> Sequence[Label]:
        """Return the players of each component, for games of d players: single players, pairs and so on."""
        return _labels(d, self.order)

    def n_components(self, d: int) -> int:
        """Return the number of components for games of d players."""
        return sum(comb(d, size) for size in range(1, self.order + 1))

    def positions(self, players: NDArray[np.int64], d: int) -> NDArray[np.int64]:
        """Return the positions of the components of a game restricted to some players among those for all d players."""
        if self.order == 1:
            return players
        place = {label: position for position, label in enumerate(self.labels(d))}
        reduced = self.labels(len(players))
        return np.array([place[tuple(int(players[i]) for i in label)] for label in reduced], dtype=np.int64)

    def component_names(self, player_names: Sequence[str]) -> list[str]:
        """Names of the components: the names of their players."""
        return [" × ".join(player_names[player] for player in label) for label in self.labels(len(player_names))]

    def of_all_values(self, values: Floats, d: int) -> Floats:
        """Return the index of games, given their values at all coalitions: (r, 2^d, k) -> (r, components, k).

        Coalitions are numbered by their binary digits, player 0's the lowest; see ``all_coalitions``. A component is 0
        exactly if no value depends on one of its players.
        """
        weights = [_coalition_weights(measure, d - size) for size, measure in enumerate(self.measures[:d], start=1)]
        place = {label: position for position, label in enumerate(self.labels(d))}
        found = np.empty((values.shape[0], len(place), values.shape[2]))
        # Row by row, and contiguous, so that the order of summation does not depend on the rows explained together.
        for row, cube in enumerate(values):
            for label, derivative in _derivatives(np.ascontiguousarray(cube), (), d, self.order):
                found[row, place[label]] = weights[len(label) - 1] @ derivative
        return self.carry(found, d)

    def carry(self, components: Floats, d: int) -> Floats:
        """Add to each component its share of those of larger sets: (..., components, k) -> the same shape."""
        if len(self.carried) == 1:
            return components
        found = components.copy()
        for more, share in enumerate(self.carried[1 : self.order], start=1):
            smaller, larger = _subsets(d, self.order, more)
            np.add.at(np.moveaxis(found, -2, 0), smaller, share * np.moveaxis(components, -2, 0)[larger])
        return found


def _coalition_weights(measure: Measure, n: int) -> Floats:
    """Return p_{|T|} for all coalitions T of n players, (2^n,)."""
    return (measure.sizes(n) / _binomial_coefficients(n))[np.bitwise_count(np.arange(2**n))]


def _derivatives(cube: Floats, label: Label, below: int, order: int) -> Iterator[tuple[Label, Floats]]:
    """Yield ∂_S v for all S that are ``label`` and up to ``order`` more players, all with numbers below ``below``.

    ``cube`` (2^n, k) has the values of ∂_label v. The derivative in a player halves their number, and does not renumber
    the players below.
    """
    for player in range(below if order else 0):
        pairs = cube.reshape(-1, 2, 2**player, cube.shape[1])
        derivative = (pairs[:, 1] - pairs[:, 0]).reshape(-1, cube.shape[1])
        yield (player, *label), derivative
        yield from _derivatives(derivative, (player, *label), player, order - 1)


@lru_cache(maxsize=16)
def _labels(d: int, order: int) -> tuple[Label, ...]:
    return tuple(label for size in range(1, order + 1) for label in combinations(range(d), size))


@lru_cache(maxsize=16)
def _subsets(d: int, order: int, more: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of all sets with ``more`` players more than one of their subsets, after the subset's."""
    labels = _labels(d, order)
    place = {label: position for position, label in enumerate(labels)}
    found = [
        (place[subset], place[label])
        for label in labels
        if len(label) > more
        for subset in combinations(label, len(label) - more)
    ]
    smaller, larger = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return smaller, larger
