"""Owen's multilinear extension: φ_i = ∫ E[v(E_q ∪ i) − v(E_q ∖ i)] dμ(q), with E_q a random coalition.

Each player is in E_q with probability q. One coalition E serves all players: v(E) and the values of the d
coalitions that differ from E in one player give a contribution of every player, for d+1 evaluations; with those that
differ in two players, they give an interaction of every pair. The measure μ is that of the index, uniform for Shapley
values; q is its quantile at a uniform number u, or one of its nodes if it is signed. If sets of different size have
different measures, each has a coalition E of its own. The range of u is divided into intervals, and one sweep draws one
coalition for each:

- rule "uniform" (default): u is uniform within its interval. Unbiased.
- rule "trapezoid" (the paper's): u at the ends of intervals, with the weights of the trapezoidal rule. The standard
  error does not include its bias.

The halved variant uses only u ≤ 1/2, and each coalition together with its complement; it is for measures that weight q
and 1 − q equally. Sweeps are independent, and the standard error is estimated from the spread between them. Shapley
values add up to v(N) − v(∅) only on average; with ``adjust=True``, every sweep, and hence the estimate, is moved to the
nearest point that does: what is missing from the sum is divided equally among the players. This is linear in the sweep,
so the estimate stays unbiased.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count, check_flag
from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments, grouped_moments, joined
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import SAMPLED_PER_EVALUATION, CoalitionEstimator
from sharpley.indices import SHAPLEY, Label, Measure, Point
from sharpley.statistics.unseen import unseen_variances

RULES = ("uniform", "trapezoid")
MAX_INTERVALS = 16  # with more intervals, the spread of q within an interval no longer matters
MIN_SWEEPS = 5  # intervals are made finer only as long as the budget pays for this many sweeps


class _Part(NamedTuple):
    """The sets of players whose components have the same measure."""

    measure: Measure
    sizes: list[int]
    """Numbers of players of these sets."""

    def flips(self, d: int) -> int:
        """Number of coalitions that differ from a given one in at most as many players, itself included."""
        return sum(comb(d, size) for size in range(self.sizes[-1] + 1))


class _Drawn(NamedTuple):
    """The coalitions that one sweep draws for a part."""

    members: Coalitions
    """(nodes · copies, d)."""
    factors: Floats
    """What their derivatives are multiplied by, (nodes · copies,)."""
    positions: NDArray[np.int64]
    """Positions of each coalition and of all that differ from it, (nodes · copies, flips)."""


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
        self._sweeps: list[list[_Drawn]] = []

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

    @cached_property
    def _parts(self) -> list[_Part]:
        """The measures of the index, each with the numbers of players that it is for."""
        measures = self.index.measures[: self.d]
        if self._rule == "trapezoid" and set(measures) != set(SHAPLEY.measures):
            raise ValueError(f"rule 'trapezoid' is for uniform q, not for index {self.index.name!r}; omit it")
        if self._adjust and self.index != SHAPLEY:
            raise ValueError(f"adjust=True is for Shapley values, not for index {self.index.name!r}; omit it")
        return [
            _Part(each, [size for size, measure in enumerate(measures, start=1) if measure == each])
            for each in dict.fromkeys(measures)
        ]

    def _sweep_cost(self, intervals: int) -> int:
        """Number of evaluations in a sweep, if no coalition repeats."""
        return self._nodes(intervals) * self._copies * sum(part.flips(self.d) for part in self._parts)

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
        affordable = (most - 2) // (MIN_SWEEPS * self._sweep_cost(1) // self._nodes(1)) - (self._rule == "trapezoid")
        return int(np.clip(affordable, 1, MAX_INTERVALS))

    def _choose(self, budget: Budget) -> bool:
        """Add whole sweeps as long as the budget pays for them."""
        if self._intervals is None:
            self._intervals = self._affordable_intervals(budget.most)
        before = len(self._sweeps)
        most = max(2, SAMPLED_PER_EVALUATION * budget.now // self._sweep_cost(self._intervals))
        while len(self._sweeps) < most:
            state = self._rng.bit_generator.state
            drawn = [self._draw(part) for part in self._parts]
            wanted = [_flips(each.members, part.sizes[-1]) for part, each in zip(self._parts, drawn, strict=True)]
            positions = self.store.add_within(np.concatenate(wanted), budget.now)
            if positions is None:
                self._rng.bit_generator.state = state  # a larger budget draws the same sweep again
                break
            places = np.split(positions, np.cumsum([len(each) for each in wanted])[:-1])
            self._sweeps.append(
                [
                    each._replace(positions=at.reshape(len(each.members), -1))
                    for each, at in zip(drawn, places, strict=True)
                ]
            )
        return len(self._sweeps) > before

    def _draw(self, part: _Part) -> _Drawn:
        """Draw the coalitions of one sweep, (nodes · copies, d); all complements come last."""
        intervals = self._intervals or 1
        offsets = np.arange(self._nodes(intervals), dtype=np.float64)
        if self._rule == "uniform":
            offsets += self._rng.random(intervals)
        q, factors = part.measure.sample(self._top * offsets / intervals, self.d - 1)
        members = self._rng.random((len(q), self.d)) < q[:, None]
        if self._copies == 2:
            members, factors = np.concatenate([members, ~members]), np.tile(factors, 2)
        return _Drawn(members, factors, np.empty((len(members), 0), np.int64))

    def _node_weights(self) -> Floats:
        """Weights of the coalitions of a sweep, summing to 1."""
        weights = np.ones(self._nodes(self._intervals or 1))
        if self._rule == "trapezoid":
            weights[[0, -1]] = 0.5
        return np.tile(weights / weights.sum() / self._copies, self._copies)

    def estimate(self) -> Moments:
        """Average over sweeps; the variance is estimated from the spread between them."""
        shares = np.full(len(self._sweeps), 1.0 / len(self._sweeps))
        node_weights, certain = self._node_weights(), self._certain()
        moments = []
        for row in self.values:
            contributions = self._contributions(row)
            totals = np.einsum("n,sndk->sdk", node_weights, contributions) / len(shares)
            totals = self.index.carry(totals, self.d)
            if self._adjust:
                totals += ((row[FULL] - row[EMPTY]) / len(shares) - totals.sum(axis=1))[:, None] / self.d
            unseen = unseen_variances(contributions.reshape(-1, 1, *contributions.shape[2:]))[0]
            mean = grouped_moments(totals, shares)
            variances = np.where(certain, 0.0, np.maximum(mean.variances, unseen))
            degrees = np.where(certain, np.inf, mean.degrees_of_freedom)
            moments.append(Moments(mean.values[None], variances[None], degrees[None]))
        return joined(moments)

    def _contributions(self, row: Floats) -> Floats:
        """Return the derivatives in all sets, (sweeps, nodes · copies, components, k), from values (m, k)."""
        found = []
        for number, part in enumerate(self._parts):
            drawn = [sweep[number] for sweep in self._sweeps]
            values = row[np.stack([each.positions for each in drawn])]  # v(E), and those of what differs from E
            factors = np.stack([each.factors for each in drawn])[..., None, None]
            signs = np.where(np.stack([each.members for each in drawn]), 1.0, -1.0)  # (sweeps, nodes · copies, d)
            found += [(size, factors * _derivatives(values, signs, size)) for size in part.sizes]
        return np.concatenate([each for _, each in sorted(found, key=lambda pair: pair[0])], axis=2)

    def _certain(self) -> NDArray[np.bool_]:
        """Return which components are known exactly, since q = 0 or q = 1 leaves nothing to chance: (components, 1)."""
        ends = [isinstance(measure, Point) and measure.q in (0.0, 1.0) for measure in self.index.measures[: self.d]]
        return np.repeat(ends, [comb(self.d, size) for size in range(1, len(ends) + 1)])[:, None]


def _derivatives(values: Floats, signs: Floats, size: int) -> Floats:
    """Return ∂_S v(E∖S) for all sets S of one size, from the values of E and of what differs from it.

    It is the product of the signs of S, +1 for members of E, times Σ_{L⊆S} (−1)^{|L|} v(E Δ L).
    """
    d = signs.shape[-1]
    labels = np.array(list(combinations(range(d), size)))
    place = {label: number for number, label in enumerate(_sets(d, size))}
    total = np.zeros((*values.shape[:2], len(labels), values.shape[3]))
    for inner in _sets(size, size):
        columns = [place[tuple(label)] for label in labels[:, inner].tolist()]
        total += (-1.0) ** len(inner) * values[:, :, columns]
    return np.asarray(signs[:, :, labels].prod(axis=-1)[..., None] * total)


def _sets(d: int, most: int) -> list[Label]:
    """Return all sets of at most ``most`` of d players, smaller ones first."""
    return [label for size in range(most + 1) for label in combinations(range(d), size)]


def _flips(members: Coalitions, most: int) -> Coalitions:
    """Return each coalition, and all that differ from it in at most ``most`` players: (m, d) -> (m · flips, d)."""
    d = members.shape[1]
    changes = np.zeros((sum(comb(d, size) for size in range(most + 1)), d), dtype=bool)
    for number, label in enumerate(_sets(d, most)):
        changes[number, list(label)] = True
    return (members[:, None, :] ^ changes).reshape(-1, d)


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
