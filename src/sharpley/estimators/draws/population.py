"""The population of draws, and the estimate of means over all of them from those that were visited.

A game is the mean of its draws, and the Shapley value is linear: the value of a player is the mean over draws b of its
value in draw b. So nothing requires that all draws are evaluated for the same coalitions. Here every step, an ordering
or an antithetic pair, has a draw of its own. For a given number of evaluations, that is many more draws than if every
coalition were evaluated for all of them, and the cost does not depend on how many draws there are.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.estimators.draws.controls import NO_BIN, Controls, make_controls
from sharpley.estimators.draws.survey import Fit, Survey
from sharpley.games.base import DrawFacts

PRIOR_VISITS = 10.0  # second visits that the share of all players counts as, in the variance within draws
TINY = np.finfo(np.float64).tiny
MAX_ERRORS_AT_ONCE = 2**20  # of all rows that are fitted together; several arrays of this size are needed


class Visited(NamedTuple):
    """Contributions in the visited draws."""

    draws: NDArray[np.int64]
    """The visited draws, each once, (n,)."""
    counts: NDArray[np.int64]
    """How often each was visited, (n,)."""
    means: Floats
    """Mean contributions over the visits of a draw, (r, n, d, k)."""
    within: Floats
    """Variance of the contributions between visits of the same draw, (r, d, k)."""
    informative: NDArray[np.int64]
    """Number of visited draws in which the player differs from the row, (r, d)."""
    revisited: NDArray[np.int64]
    """Number of second and further visits to such draws, (r, d)."""

    @property
    def has_repetitions(self) -> bool:
        """Whether any draw was visited more than once."""
        return bool((self.counts > 1).any())


def by_draw(contributions: Floats, draws: NDArray[np.int64], differing: Coalitions) -> Visited:
    """Summarise contributions (r, n, d, k) in steps with given draws (n,) by draw.

    ``differing`` (r, n, d) says which players can matter in each step.
    """
    visited, which, counts = np.unique(draws, return_inverse=True, return_counts=True)
    if len(visited) == len(draws):
        order = np.argsort(draws)
        nothing = np.zeros((len(contributions), *contributions.shape[2:]))
        seen = differing.sum(axis=1)
        return Visited(visited, counts, contributions[:, order], nothing, seen, np.zeros_like(seen))
    order = np.argsort(which, kind="stable")
    starts = np.cumsum(counts) - counts
    means = np.add.reduceat(contributions[:, order], starts, axis=1) / counts[None, :, None, None]
    spread = ((contributions - means[:, which]) ** 2).sum(axis=1) / (len(draws) - len(visited))
    seen = differing[:, order[starts]].sum(axis=1)
    return Visited(visited, counts, means, spread, seen, differing.sum(axis=1) - seen)


@dataclass(frozen=True)
class Population:
    """The population of draws, and the estimate from those that were visited.

    Parameters
    ----------
    n_draws : int
        Number of all draws.
    weights : (n_draws,) float or None
        Weights of the draws, which sum to 1; None for draws that are never exhausted, of which nothing is known.
    facts : DrawFacts or None
        What is known of all draws.
    use_controls : bool
        Whether to use what is known of all draws for a regression, which causes a bias that is small compared with the
        standard error.
    folds : (n_draws,) int, optional
        Parts of all draws of which a given number is visited, by number; one part by default.
    """

    n_draws: int
    weights: Floats | None
    facts: DrawFacts | None
    use_controls: bool
    folds: NDArray[np.int64] | None = None

    def controls(self, d: int) -> Controls | None:
        """Return the features of all draws; None if they are unknown or not to be used."""
        if self.facts is None or self.weights is None or not self.use_controls:
            return None
        return make_controls(self.facts, self.weights, d)

    def order(self, d: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return all draws sorted by their values of ∅; in random order if these are unknown, and among equal ones."""
        mixed = rng.permutation(self.n_draws)
        if self.facts is None or self.weights is None:
            return mixed
        scores = make_controls(self.facts, self.weights, d).scores
        return mixed if scores.shape[1] == 0 else mixed[np.argsort(scores[mixed, 0], kind="stable")]

    def estimate(
        self,
        contributions: Floats,
        draws: NDArray[np.int64],
        differing: Coalitions,
        varying: Coalitions,
        rows: NDArray[np.int64],
        ends: Floats,
    ) -> Moments:
        """Estimate Shapley values as means over all draws.

        Parameters
        ----------
        contributions : (r, n, d, k) float
            Contributions of the players in each step.
        draws : (n,) int
            The draw of each step.
        differing : (r, n, d) bool
            Which players can matter in each step.
        varying : (r, d) bool
            Which players can matter in any draw.
        rows : (r,) int
            The rows.
        ends : (r, 2, k) float
            Means over all draws of v_b(∅) and v_b(N).

        Returns
        -------
        Moments
            Arrays of shape (r, d, k).
        """
        visited = by_draw(contributions, draws, differing)
        n = len(visited.draws)
        shares = (
            np.full(n, 1.0 / n)
            if self.weights is None
            else self.weights[visited.draws] * self._draws_for_each(visited.draws)
        )
        found = self._fit(visited, shares, rows)
        moments = self._variances(found, visited, varying)
        if self.weights is None:
            return moments  # the totals are not known either
        return _adding_up(moments, ends[:, 1] - ends[:, 0])

    def _draws_for_each(self, visited: NDArray[np.int64]) -> Floats | float:
        """Return how many of all draws each of the visited ones stands for."""
        if self.folds is None:
            return self.n_draws / len(visited)
        mine = self.folds[visited]
        return np.asarray(
            (np.bincount(self.folds) / np.maximum(1, np.bincount(mine, minlength=int(self.folds.max()) + 1)))[mine]
        )

    def _fit(self, visited: Visited, shares: Floats, rows: NDArray[np.int64]) -> _Found:
        """Estimate means over all draws, a few rows at a time, which bounds memory."""
        survey = Survey(self.controls(visited.means.shape[2]), visited.draws, shares)
        at_once = max(1, MAX_ERRORS_AT_ONCE // visited.means[0].size)
        parts = []
        for start in range(0, len(rows), at_once):
            part = slice(start, start + at_once)
            parts.append(self._fit_rows(survey, visited.means[part], shares, rows[part]))
        return _Found(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _fit_rows(self, survey: Survey, values: Floats, shares: Floats, rows: NDArray[np.int64]) -> _Found:
        r, n, d, k = values.shape
        means, errors = np.empty((r, d, k)), np.empty((r, n, d, k))
        for player in range(d):
            same = self._shared_bins(rows, player, d)
            for shared_bin in np.unique(same):
                mine = same == shared_bin
                fit = survey.first_stage(player, int(shared_bin), np.ascontiguousarray(values[mine, :, player]))
                means[mine, player], errors[mine, :, player] = fit
        improved = survey.second_stage(Fit(means.reshape(r, -1), errors.reshape(r, n, -1)))
        squares = ((n * shares[:, None] * improved.errors) ** 2).mean(axis=1)
        return _Found(improved.means.reshape(r, d, k), squares.reshape(r, d, k))

    def _shared_bins(self, rows: NDArray[np.int64], player: int, d: int) -> NDArray[np.int64]:
        """Return the bin of draws in which the player cannot matter, for each row; NO_BIN if there is none."""
        controls = self.controls(d)
        if controls is None or self.facts is None:
            return np.full(len(rows), NO_BIN)
        return controls.shared_bins(self.facts.row_columns[rows], player)

    def _variances(self, found: _Found, visited: Visited, varying: Coalitions) -> Moments:
        """Combine the variance between draws, reduced by the share of all draws that was visited, with that within."""
        n = len(visited.draws)
        between, within = (
            found.squares + varying[:, :, None] * _unseen(visited, found.squares),
            np.zeros_like(found.squares),
        )
        unvisited: float = 1.0
        freedom_within: Floats = np.ones(visited.revisited.shape)
        # With the typical player as one further value, m values have m degrees of freedom.
        freedom_between = np.clip(visited.informative, 1, max(1, n - 1))
        if visited.has_repetitions:
            within = _shrunk_within(visited, between) * (1.0 / visited.counts).mean()
            between = np.maximum(between - within, 0.0)
            unvisited = 1.0 - n / self.n_draws
            freedom_within = np.asarray(visited.revisited + PRIOR_VISITS, dtype=np.float64)
        of_draws, of_orderings = unvisited * between / n, within / n
        variances = of_draws + of_orderings
        squared = of_draws**2 / freedom_between[:, :, None] + of_orderings**2 / freedom_within[:, :, None]
        known = squared > 0  # Satterthwaite's degrees of freedom
        freedom = np.where(known, variances**2 / np.where(known, squared, 1.0), float(max(1, n - 1)))
        return Moments(found.means, variances, freedom)


def _shrunk_within(visited: Visited, total: Floats) -> Floats:
    """Return the variance within draws, shrunk towards the share of the total that it is for all players, (r, d, k).

    A player that differs in few of the draws that were visited twice is known to vary little by chance alone.
    """
    share = visited.within.sum(axis=1, keepdims=True) / np.maximum(total.sum(axis=1, keepdims=True), TINY)
    known = visited.revisited[:, :, None]
    return np.asarray((known * visited.within + PRIOR_VISITS * share * total) / (known + PRIOR_VISITS))


def _unseen(visited: Visited, squares: Floats) -> Floats:
    """Return what is added to mean squares because few of the visited draws tell of a player, (r, d, k).

    If a player differs in m of n visited draws, its effect in such draws is known from m values. The mean square of a
    typical player in such draws counts as one further value, with a weight that decreases with m².
    """
    n, m = len(visited.draws), visited.informative[:, :, None]
    in_draws = np.where(m > 0, squares * n / np.maximum(m, 1), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no player differs in any draw
        typical = np.nan_to_num(np.nanmedian(in_draws, axis=1, keepdims=True))
    share = np.maximum(m, 1) / n
    return np.asarray(share * typical / (m + 1.0) ** 2)


class _Found(NamedTuple):
    """Estimated means, and the mean squares of leave-one-out errors, (r, d, k)."""

    means: Floats
    squares: Floats


def _adding_up(moments: Moments, totals: Floats) -> Moments:
    """Distribute what is missing from the known totals (r, k) over the players, in proportion to their variances."""
    missing = totals - moments.values.sum(axis=1)
    sums = moments.variances.sum(axis=1, keepdims=True)
    parts = np.where(sums > 0, moments.variances / np.where(sums > 0, sums, 1.0), 0.0)
    return moments._replace(values=moments.values + parts * missing[:, None])
