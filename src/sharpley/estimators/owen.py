"""Owen's multilinear extension: φ_i = ∫₀¹ E[v(E_q ∪ i) − v(E_q ∖ i)] dq, with E_q a random coalition.

Each player is in E_q with probability q. One coalition E serves all players: v(E) and the values of the d
coalitions that differ from E in one player give a contribution of every player, for d+1 evaluations. The range of q
is divided into intervals, and one sweep draws one coalition for each:

- rule "uniform" (default): q is uniform within its interval. Unbiased.
- rule "trapezoid" (the paper's): q at the ends of intervals, with the weights of the trapezoidal rule. The standard
  error does not include its bias.

The halved variant uses only q ≤ 1/2, and each coalition together with its complement. Sweeps are independent, and the
standard error is estimated from the spread between them. The values add up to v(N) − v(∅) only on average; with
``adjust=True``, every sweep, and hence the estimate, is moved to the nearest point that does: what is missing from the
sum is divided equally among the players. This is linear in the sweep, so the estimate stays unbiased.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count, check_flag
from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments, grouped_moments, joined
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import SAMPLED_PER_EVALUATION, CoalitionEstimator
from sharpley.statistics.unseen import unseen_variances

RULES = ("uniform", "trapezoid")
MAX_INTERVALS = 16  # with more intervals, the spread of q within an interval no longer matters
MIN_SWEEPS = 5  # intervals are made finer only as long as the budget pays for this many sweeps


def least_budget(d: int, copies: int) -> int:
    """Return the number of evaluations for two sweeps of one interval, with ``copies`` coalitions for each q."""
    return min(2 + 2 * copies * (d + 1), 2**d)


class MultilinearEstimator(CoalitionEstimator):
    """Base class of Owen sampling: averages over sweeps of the integration variable q.

    Parameters
    ----------
    d : int
        Number of players.
    rule : {"uniform", "trapezoid"}
        Where q lies in its interval.
    intervals : int, optional
        Number of intervals of q in a sweep. By default as many as the budget allows for five sweeps, at most 16.
    adjust : bool, default False
        Whether to adjust the values so that they add up to v(N) − v(∅).
    rng : int, Generator, SeedSequence or None
        Source of randomness.
    """

    def __init__(
        self,
        d: int,
        *,
        rule: str = "uniform",
        intervals: int | None = None,
        adjust: bool = False,
        rng: RNG = None,
    ) -> None:
        super().__init__(d, rng=rng)
        self._adjust = check_flag("adjust", adjust)
        self._rule = check_choice("rule", rule, RULES)
        self._intervals = None if intervals is None else check_count("intervals", intervals, minimum=1)
        self._sweeps: list[NDArray[np.int64]] = []
        self._members: list[Coalitions] = []

    @property
    @abstractmethod
    def _copies(self) -> int:
        """Number of coalitions drawn for each q: 1, or 2 with the complement."""

    @property
    def _top(self) -> float:
        """Upper end of the range of q."""
        return 1.0 / self._copies

    def _nodes(self, intervals: int) -> int:
        """Number of values of q in a sweep."""
        return intervals + (self._rule == "trapezoid")

    def _sweep_cost(self, intervals: int) -> int:
        """Number of evaluations in a sweep."""
        return self._nodes(intervals) * self._copies * (self.d + 1)

    @property
    def least_budget(self) -> int:
        """Number of evaluations for two sweeps."""
        return min(2 + 2 * self._sweep_cost(self._intervals or 1), 2**self.d)

    def first_checkpoint(self, most: int) -> int:
        """Return the number of evaluations for ten sweeps."""
        intervals = self._affordable_intervals(most) if self._intervals is None else self._intervals
        return min(2 + 10 * self._sweep_cost(intervals), 2**self.d)

    def _affordable_intervals(self, most: int) -> int:
        """Largest number of intervals with which the budget pays for ``MIN_SWEEPS`` sweeps."""
        affordable = (most - 2) // (MIN_SWEEPS * self._copies * (self.d + 1)) - (self._rule == "trapezoid")
        return int(np.clip(affordable, 1, MAX_INTERVALS))

    def _choose(self, budget: Budget) -> bool:
        """Add whole sweeps as long as the budget pays for them."""
        if self._intervals is None:
            self._intervals = self._affordable_intervals(budget.most)
        before = len(self._sweeps)
        most = max(2, SAMPLED_PER_EVALUATION * budget.now // self._sweep_cost(self._intervals))
        while len(self._sweeps) < most:
            state = self._rng.bit_generator.state
            members = self._draw_sweep()
            positions = self.store.add_within(_flips(members), budget.now)
            if positions is None:
                self._rng.bit_generator.state = state  # a larger budget draws the same sweep again
                break
            self._members.append(members)
            self._sweeps.append(positions.reshape(len(members), self.d + 1))
        return len(self._sweeps) > before

    def _draw_sweep(self) -> Coalitions:
        """Draw the coalitions of one sweep, (nodes · copies, d); all complements come last."""
        intervals = self._intervals or 1
        offsets = np.arange(self._nodes(intervals), dtype=np.float64)
        if self._rule == "uniform":
            offsets += self._rng.random(intervals)
        q = self._top * offsets / intervals
        members = self._rng.random((len(q), self.d)) < q[:, None]
        return members if self._copies == 1 else np.concatenate([members, ~members])

    def _node_weights(self) -> Floats:
        """Weights of the coalitions of a sweep, summing to 1."""
        weights = np.ones(self._nodes(self._intervals or 1))
        if self._rule == "trapezoid":
            weights[[0, -1]] = 0.5
        return np.tile(weights / weights.sum() / self._copies, self._copies)

    def estimate(self) -> Moments:
        """Average over sweeps; the variance is estimated from the spread between them."""
        signs = np.where(np.stack(self._members), 1.0, -1.0)[..., None]  # (sweeps, nodes, d, 1)
        positions = np.stack(self._sweeps)
        shares = np.full(len(positions), 1.0 / len(positions))
        node_weights = self._node_weights()
        moments = []
        for row in self.values:
            found = row[positions]  # v(E), followed by the values of the d coalitions that differ from E in one player
            contributions = signs * (found[:, :, :1] - found[:, :, 1:])
            totals = np.einsum("n,sndk->sdk", node_weights, contributions) / len(positions)
            if self._adjust:
                totals += ((row[FULL] - row[EMPTY]) / len(positions) - totals.sum(axis=1))[:, None] / self.d
            unseen = unseen_variances(contributions.reshape(-1, 1, *contributions.shape[2:]))[0]
            mean = grouped_moments(totals, shares)
            variances = np.maximum(mean.variances, unseen)
            moments.append(Moments(mean.values[None], variances[None], mean.degrees_of_freedom[None]))
        return joined(moments)


def _flips(members: Coalitions) -> Coalitions:
    """Return each coalition, followed by the d that differ from it in one player: (m, d) -> (m·(d+1), d)."""
    m, d = members.shape
    changes = np.concatenate([np.zeros((1, d), dtype=bool), np.eye(d, dtype=bool)])
    return (members[:, None, :] ^ changes).reshape(m * (d + 1), d)


@final
class OwenEstimator(MultilinearEstimator):
    """Owen sampling: the multilinear extension, integrated over q in [0, 1].

    Parameters
    ----------
    d : int
        Number of players.
    rule : {"uniform", "trapezoid"}
        Where q lies in its interval: "uniform" draws it at random; "trapezoid" uses the ends of the interval, as in the
        paper, and is biased.
    intervals : int, optional
        Number of intervals of q in a sweep. By default as many as the budget allows for five sweeps, at most 16.
    adjust : bool, default False
        Whether to adjust the values so that they add up to v(N) − v(∅).
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Examples
    --------
    >>> import sharpley
    >>> from functools import partial
    >>> method = partial(OwenEstimator, rule="trapezoid", intervals=4)
    >>> sharpley.shapley_values(lambda S: S @ [1.0, 2.0, 4.0, 8.0], 4, method=method, max_evals=16).values
    array([1., 2., 4., 8.])
    """

    _copies = 1


@final
class OwenHalvedEstimator(MultilinearEstimator):
    """Owen sampling with complements: q in [0, 1/2], and each coalition together with its complement.

    Parameters
    ----------
    d : int
        Number of players.
    rule : {"uniform", "trapezoid"}
        Where q lies in its interval, as for ``OwenEstimator``.
    intervals : int, optional
        Number of intervals of q in a sweep. By default as many as the budget allows for five sweeps, at most 16.
    adjust : bool, default False
        Whether to adjust the values so that they add up to v(N) − v(∅).
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Examples
    --------
    >>> import sharpley
    >>> sharpley.shapley_values(lambda S: S @ [1.0, 2.0, 4.0, 8.0, 16.0], 5, method=OwenHalvedEstimator, rng=0).values
    array([ 1.,  2.,  4.,  8., 16.])
    """

    _copies = 2
