"""The population of draws, and the estimate of means over all of them from those that were visited.

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

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.estimators.draws.controls import NO_BIN, Controls, make_controls
from sharpley.estimators.draws.survey import Fit, Sample, Survey, endless_sample, sample_of
from sharpley.estimators.draws.visits import sizes_of_draws
from sharpley.games.base import DrawFacts
from sharpley.statistics.freedom import effective_freedom
from sharpley.statistics.unseen import ROUNDING, typical_change, unseen_variance

PRIOR_VISITS = 10.0  # second visits that the share of all players counts as, in the variance within draws
PLAUSIBLE = 2.0  # standard errors by which a sum may be off
TINY = np.finfo(np.float64).tiny
MAX_ERRORS_AT_ONCE = 2**20  # of all rows that are fitted together; several arrays of this size are needed


class VisitedSteps(NamedTuple):
    """The draws of steps."""

    draws: NDArray[np.int64]
    """The draw of each step, (n,)."""
    probabilities: Floats | None
    """The probability of each of all draws to be visited, (n_draws,); None if draws are never exhausted."""


class Visited(NamedTuple):
    """Contributions in the visited draws."""

    draws: NDArray[np.int64]
    """The visited draws, each once, (n,)."""
    counts: NDArray[np.int64]
    """How often each was visited, (n,)."""
    means: Floats
    """Mean contributions over the visits of a draw, (r, n, d, k)."""
    spreads: Floats
    """Variance between the visits of each draw that was visited more than once, (r, repeated, d, k)."""
    differing: Coalitions
    """Whether the player differs from the row in the draw, (r, n, d)."""

    @property
    def repeated(self) -> NDArray[np.int64]:
        """Places of the draws that were visited more than once."""
        return np.flatnonzero(self.counts > 1)

    def rows(self, part: slice) -> Visited:
        """Return the same for some of the rows."""
        return self._replace(means=self.means[part], spreads=self.spreads[part], differing=self.differing[part])


def by_draw(contributions: Floats, draws: NDArray[np.int64], differing: Coalitions) -> Visited:
    """Summarise contributions (r, n, d, k) in steps with given draws (n,) by draw.

    ``differing`` (r, n, d) says which players can matter in each step.
    """
    visited, which, counts = np.unique(draws, return_inverse=True, return_counts=True)
    order = np.argsort(which, kind="stable")
    starts = np.cumsum(counts) - counts
    if len(visited) == len(draws):
        nothing = np.zeros((len(contributions), 0, *contributions.shape[2:]))
        return Visited(visited, counts, contributions[:, order], nothing, differing[:, order])
    means = np.add.reduceat(contributions[:, order], starts, axis=1) / counts[None, :, None, None]
    squares = np.add.reduceat((contributions - means[:, which])[:, order] ** 2, starts, axis=1)
    repeated = counts > 1
    spreads = squares[:, repeated] / (counts[repeated] - 1)[:, None, None]
    return Visited(visited, counts, means, spreads, differing[:, order[starts]])


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
    """

    n_draws: int
    weights: Floats | None
    facts: DrawFacts | None
    use_controls: bool

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

    def sizes(self) -> Floats:
        """Return the sizes of all draws, in proportion to which they are visited, (n_draws,)."""
        assert self.weights is not None
        if self.facts is None or not self.use_controls:
            return self.weights
        return self.weights * sizes_of_draws(self.facts.empty, self.weights)

    def estimate(
        self,
        contributions: Floats,
        steps: VisitedSteps,
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
        steps : VisitedSteps
            The draw of each step, and the probabilities of all draws to be visited.
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
        visited = by_draw(contributions, steps.draws, differing)
        if self.weights is None or steps.probabilities is None:
            sample = endless_sample(visited.draws)
        else:
            chances = steps.probabilities[visited.draws]
            sample = sample_of(visited.draws, self.weights[visited.draws], chances)
        survey = Survey(self.controls(visited.means.shape[2]), self.facts, sample)
        at_once = max(1, MAX_ERRORS_AT_ONCE // visited.means[0].size)
        parts = []
        for start in range(0, len(rows), at_once):  # a few rows at a time, which bounds memory
            part = slice(start, start + at_once)
            parts.append(self._of_rows(survey, visited.rows(part), sample, rows[part], varying[part], ends[part]))
        moments = Moments(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        if self.weights is None:
            return moments  # the totals are not known either
        return _adding_up(moments, ends[:, 1] - ends[:, 0])

    def _of_rows(
        self,
        survey: Survey,
        visited: Visited,
        sample: Sample,
        rows: NDArray[np.int64],
        varying: Coalitions,
        ends: Floats,
    ) -> Moments:
        """Estimate means over all draws for some rows, with their variances."""
        r, n, d, k = visited.means.shape
        means, errors = np.empty((r, d, k)), np.empty((r, n, d, k))
        controls = self.controls(d)
        for player in range(d):
            same = self._shared_bins(controls, rows, player)
            for shared_bin in np.unique(same):
                mine = same == shared_bin
                values = np.ascontiguousarray(visited.means[mine, :, player])
                means[mine, player], errors[mine, :, player] = survey.first_stage(
                    player, int(shared_bin), rows[mine], values
                )
        improved = survey.second_stage(Fit(means.reshape(r, -1), errors.reshape(r, n, -1)))
        errors = improved.errors.reshape(r, n, d, k) * (sample.shares / sample.scales)[:, None, None]
        squares = _squares(errors**2, visited, sample)
        unseen = varying[:, :, None] * _unseen(visited, ends)
        informative = np.clip(visited.differing.sum(axis=1) - 1, 1, None)[:, :, None]
        freedom = np.minimum(effective_freedom(squares, axis=1), informative)
        return Moments(improved.means.reshape(r, d, k), squares.sum(axis=1) + unseen, freedom)

    def _shared_bins(self, controls: Controls | None, rows: NDArray[np.int64], player: int) -> NDArray[np.int64]:
        """Return the bin of draws in which the player cannot matter, for each row; NO_BIN if there is none."""
        if controls is None or self.facts is None:
            return np.full(len(rows), NO_BIN)
        return controls.shared_bins(self.facts.row_columns[rows], player)


def _squares(squares: Floats, visited: Visited, sample: Sample) -> Floats:
    """Return what each draw adds to the variance of the estimate, (r, n, d, k).

    The leave-one-out error of a draw that was visited with probability π is due to differences between draws, whose
    part in the variance is reduced by the factor 1 − π, and to differences between orderings within the draw, whose
    part is not. The latter are known for draws that were visited more than once, and are estimated as a share of the
    whole for the others: the share of the player, shrunk towards the share of all players.
    """
    again = visited.repeated
    if not len(again):
        return squares
    counts = visited.counts[again][:, None, None]
    within = visited.spreads * (sample.shares[again] ** 2)[:, None, None]  # of a single visit
    total = squares[:, again] + within * (1.0 - 1.0 / counts)
    informs = visited.differing[:, again]
    known = (informs * (visited.counts[again] - 1)[:, None]).sum(axis=1)[:, :, None]
    of_player, of_total = within.sum(axis=1), total.sum(axis=1)
    of_all = of_player.sum(axis=1, keepdims=True) / np.maximum(of_total.sum(axis=1, keepdims=True), TINY)
    share = (known * of_player / np.maximum(of_total, TINY) + PRIOR_VISITS * of_all) / (known + PRIOR_VISITS)
    inside = squares * np.minimum(share, 1.0)[:, None]
    inside[:, again] = within / counts
    unvisited = (1.0 - sample.probabilities)[:, None, None]
    return np.asarray(unvisited * squares + (1.0 - unvisited) * inside)


def _unseen(visited: Visited, ends: Floats) -> Floats:
    """Return the variance that contributions leave open which were not seen, (r, d, k).

    A player deviates in a draw if its contribution is not the most common one, the median. If no player deviates, the
    largest contribution tells how large others may be, with a weight of 1/n, or the change from ∅ to N if it is 0.
    """
    n = len(visited.draws)
    largest = np.abs(visited.means).max(axis=(1, 2), keepdims=True)[:, 0]
    squares = np.moveaxis((visited.means - np.median(visited.means, axis=1, keepdims=True)) ** 2, 1, 0)
    deviates = squares > (ROUNDING * largest) ** 2
    otherwise = np.where(largest > 0, largest**2 / n, (ends[:, 1:] - ends[:, :1]) ** 2)
    change = typical_change(squares, deviates, otherwise)
    informative = visited.differing.sum(axis=1)[:, :, None]
    return unseen_variance(change, n, informative=informative, deviating=deviates.sum(axis=0))


def _adding_up(moments: Moments, totals: Floats) -> Moments:
    """Distribute what is missing from the known totals (r, k) over the players, in proportion to their variances.

    If more is missing than the variances allow, they are too small: something was not seen. They are then raised until
    what is missing is ``PLAUSIBLE`` standard errors of the sum.
    """
    missing = totals - moments.values.sum(axis=1)
    sums = moments.variances.sum(axis=1, keepdims=True)
    known = np.where(sums > 0, sums, 1.0)
    parts = np.where(sums > 0, moments.variances / known, 0.0)
    factor = np.maximum(1.0, missing[:, None] ** 2 / (PLAUSIBLE**2 * known))
    return moments._replace(values=moments.values + parts * missing[:, None], variances=moments.variances * factor)
