"""Coalitions of their own for every draw.

Of few draws, each can be estimated by itself, from coalitions that are evaluated in this draw alone; the Shapley value
is the mean over draws. The errors of different draws then average out, which they do not if all draws have the same
coalitions: n draws with m coalitions each are more accurate than m coalitions on all n draws, unless m is large.

Only players that differ between the row and the draw matter. For each number t of such players, coalitions of t players
are chosen once, and every draw assigns its players to them in a random order. So they are as random as coalitions that
were chosen for each draw, but what depends on the coalitions alone is computed once for each t, whatever the number of
rows and draws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.request import Asked, Request
from sharpley.coalitions.store import CoalitionStore

NOT_PLAYING = -1


class Pairings(NamedTuple):
    """Rows with draws, each with the players that differ."""

    rows: NDArray[np.int64]
    """Position of the row of each pairing, (g,)."""
    draws: NDArray[np.int64]
    """Its draw, (g,)."""
    places: NDArray[np.int64]
    """The place that each player takes among the t players of the chosen coalitions, or NOT_PLAYING, (g, d)."""

    def some(self, which: NDArray[np.bool_]) -> Pairings:
        """Return some of the pairings."""
        return Pairings(*(part[which] for part in self))


def places_of(differing: Coalitions, draws: NDArray[np.int64], orders: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the players that differ, (g, d), in the random order of their draw.

    Parameters
    ----------
    differing : (g, d) bool
        Players that differ.
    draws : (g,) int
        The draw of each pairing.
    orders : (n_draws, d) int
        A random order of all players for every draw.
    """
    sorted_players = orders[draws]
    in_order = np.take_along_axis(differing, sorted_players, axis=1)
    places = np.where(in_order, np.cumsum(in_order, axis=1) - 1, NOT_PLAYING)
    found = np.empty_like(places)
    np.put_along_axis(found, sorted_players, places, axis=1)
    return found


class AskedCoalitions(Request):
    """The same coalitions of t players for several pairings, as single draws that have to be evaluated.

    Parameters
    ----------
    pairings : Pairings
        g pairings.
    coalitions : (m, t) bool
        The coalitions.
    """

    is_for_all_draws = False

    def __init__(self, pairings: Pairings, coalitions: Coalitions) -> None:
        self._pairings, self._m = pairings, len(coalitions)
        absent = np.zeros((self._m, 1), dtype=bool)
        self._padded = np.concatenate([coalitions, absent], axis=1)  # the last place is that of all who do not play

    def __len__(self) -> int:
        """Return the number of evaluations."""
        return len(self._pairings.rows) * self._m

    def ask(self, numbers: NDArray[np.int64]) -> Asked:
        """Return positions of rows (p,), coalitions (p, d) and draws (p,) of some of the evaluations."""
        which, coalition = numbers // self._m, numbers % self._m
        members = self._padded[coalition[:, None], self._pairings.places[which]]
        return self._pairings.rows[which], members, self._pairings.draws[which]


def chosen(store: CoalitionStore, *, ends_known: bool) -> Coalitions:
    """Return the coalitions of a store that have to be evaluated: all but ∅ and N if these are known."""
    return store.since(2 if ends_known else 0)


class Total:
    """Weighted sums of estimates over draws, for r rows, d players and k outputs."""

    def __init__(self, r: int, d: int, k: int) -> None:
        self._values, self._variances, self._squares = (np.zeros((r, d, k)) for _ in range(3))
        self._least_freedom = np.full((r, d, k), np.inf)

    def add(self, pairings: Pairings, moments: Moments, weights: Floats) -> None:
        """Add the estimates (g, t, k) of pairings, with the weights of their draws (g,)."""
        which, player = np.nonzero(pairings.places != NOT_PLAYING)
        at = pairings.rows[which], player
        place, weight = pairings.places[which, player], weights[which, None]
        variances = weight**2 * moments.variances[which, place]
        freedom = np.broadcast_to(moments.degrees_of_freedom, moments.values.shape)[which, place]
        np.add.at(self._values, at, weight * moments.values[which, place])
        np.add.at(self._variances, at, variances)
        np.add.at(self._squares, at, variances**2 / freedom)
        np.minimum.at(self._least_freedom, at, freedom)

    def moments(self) -> Moments:
        """Return means over all draws, with Satterthwaite's degrees of freedom."""
        known = self._squares > 0
        by_squares = self._variances**2 / np.where(known, self._squares, 1.0)
        freedom = np.where(known, by_squares, self._least_freedom)  # infinite only if all draws are exact
        return Moments(self._values, self._variances, freedom)
