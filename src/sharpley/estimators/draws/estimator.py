"""Estimation from orderings that have draws of their own.

A game is the mean of its draws, and the Shapley value is linear: the value of a player is the mean over draws b of its
value in draw b. So nothing requires that all draws are evaluated for the same coalitions. Here every step, an ordering
or an antithetic pair, has a draw of its own. For a given number of evaluations, that is many more draws than if every
coalition were evaluated for all of them, and the cost does not depend on how many draws there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments
from sharpley.estimators.draws.controls import NO_BIN, Controls, make_controls
from sharpley.estimators.draws.survey import Fit, Survey
from sharpley.games.base import DrawFacts

PRIOR_VISITS = 10.0  # second visits that the mean over all players counts as, in the variance within draws
LEAST_DRAWS = 2
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
    degrees_of_freedom: int
    """Number of second and further visits."""


def by_draw(contributions: Floats, draws: NDArray[np.int64]) -> Visited:
    """Summarise contributions (r, n, d, k) in steps with given draws (n,) by draw."""
    visited, which, counts = np.unique(draws, return_inverse=True, return_counts=True)
    if len(visited) == len(draws):
        order = np.argsort(draws)
        nothing = np.zeros((len(contributions), *contributions.shape[2:]))
        return Visited(visited, counts, contributions[:, order], nothing, 0)
    order = np.argsort(which, kind="stable")
    starts = np.cumsum(counts) - counts
    means = np.add.reduceat(contributions[:, order], starts, axis=1) / counts[None, :, None, None]
    spread = ((contributions - means[:, which]) ** 2).sum(axis=1)
    extra = len(draws) - len(visited)
    return Visited(visited, counts, means, spread / extra, extra)


@dataclass(frozen=True)
class OwnDraws:
    """The population of draws, and the estimate from those that were visited.

    Parameters
    ----------
    n_draws : int
        Number of all draws.
    weights : (n_draws,) float
        Weights of the draws, which sum to 1.
    facts : DrawFacts or None
        What is known of all draws.
    use_controls : bool
        Whether to use what is known of all draws for a regression, which causes a bias that is small compared with the
        standard error.
    """

    n_draws: int
    weights: Floats
    facts: DrawFacts | None
    use_controls: bool

    def controls(self, d: int) -> Controls | None:
        """Return the features of all draws; None if they are unknown or not to be used."""
        if self.facts is None or not self.use_controls:
            return None
        return make_controls(self.facts, self.weights, d)

    def order(self, d: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return all draws sorted by their values of ∅; in random order if these are unknown, and among equal ones."""
        mixed = rng.permutation(self.n_draws)
        if self.facts is None:
            return mixed
        scores = make_controls(self.facts, self.weights, d).scores
        return mixed if scores.shape[1] == 0 else mixed[np.argsort(scores[mixed, 0], kind="stable")]

    def estimate(
        self, contributions: Floats, draws: NDArray[np.int64], rows: NDArray[np.int64], ends: Floats
    ) -> Moments:
        """Estimate Shapley values as means over all draws.

        Parameters
        ----------
        contributions : (r, n, d, k) float
            Contributions of the players in each step.
        draws : (n,) int
            The draw of each step.
        rows : (r,) int
            The rows.
        ends : (r, 2, k) float
            Means over all draws of v_b(∅) and v_b(N).

        Returns
        -------
        Moments
            Arrays of shape (r, d, k).
        """
        visited = by_draw(contributions, draws)
        shares = self.weights[visited.draws] * (self.n_draws / len(visited.draws))
        found = self._fit(visited, shares, rows)
        moments = self._variances(found, visited)
        return _adding_up(moments, ends[:, 1] - ends[:, 0])

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

    def _variances(self, found: _Found, visited: Visited) -> Moments:
        """Combine the variance between draws, reduced by the share of all draws that was visited, with that within."""
        n, extra = len(visited.draws), visited.degrees_of_freedom
        total = found.squares
        within = np.zeros_like(total)
        if extra:
            of_all = visited.within.mean(axis=1, keepdims=True) / np.maximum(total.mean(axis=1, keepdims=True), 1e-300)
            within = (extra * visited.within + PRIOR_VISITS * of_all * total) / (extra + PRIOR_VISITS)
            within = within * (1.0 / visited.counts).mean()
        between = np.maximum(total - within, 0.0)
        unvisited = 1.0 - n / self.n_draws if extra else 1.0
        parts = unvisited * between / n, within / n
        variances = parts[0] + parts[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = variances**2 / (parts[0] ** 2 / max(1, n - 1) + parts[1] ** 2 / (extra + PRIOR_VISITS))
        return Moments(found.means, variances, np.where(variances > 0, freedom, float(max(1, n - 1))))


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
