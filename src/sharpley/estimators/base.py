"""The interface of an estimator: choose evaluations, learn from their values, estimate.

The engine starts an estimator with a block of rows, and then repeats, for one budget after the other:

1. ``choose`` returns a request, coalitions for all draws or coalitions in single draws, or None once the budget does
   not pay for more.
2. The engine evaluates the request, and passes the values to ``learn``.
3. Once ``choose`` returns None, ``estimate`` returns the index with its variances.

Choices depend on d, the budget and the generator alone, unless an estimator declares in ``choices_depend_on`` that they
depend on values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.coalitions.moments import Moments, units_of
from sharpley.coalitions.request import AllDraws, Request
from sharpley.coalitions.store import CoalitionStore
from sharpley.games.base import DrawFacts, Games, weights_of_draws
from sharpley.indices import SHAPLEY, Index

SAMPLED_PER_EVALUATION = 10
"""Maximum number of coalitions drawn per evaluation in the budget; repeated coalitions cost no evaluation."""


@dataclass(frozen=True)
class Block:
    """Rows that are estimated together, and what is known of their games.

    Parameters
    ----------
    games : Games
        The games.
    rows : (r,) int
        Rows of ``games``.
    ends : (r, 2, k) float
        Values of ∅ and N, as means over all draws.
    varying : (r, d) bool
        Players that can matter in each row.
    facts : DrawFacts or None
        What is known of all draws.
    seed : (4,) int
        Seed of the run.
    """

    games: Games
    rows: NDArray[np.int64]
    ends: Floats
    varying: Coalitions
    facts: DrawFacts | None
    seed: NDArray[np.uint32]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.ends.shape[2]

    @property
    def ends_known(self) -> bool:
        """Whether v_b(∅) and v_b(N) are known for every draw."""
        return self.facts is not None

    @cached_property
    def weights(self) -> Floats:
        """Weights of all draws, which sum to 1."""
        return weights_of_draws(self.games)

    def generator(self) -> np.random.Generator:
        """Return a new generator, seeded in the same way every time."""
        return np.random.default_rng(self.seed)

    def in_units(self) -> tuple[Floats, Block]:
        """Return units (r, 1, k), the same for all rows, and the block with all known values divided by them.

        What is derived from the facts is kept for further rows, so that the unit does not depend on rows.
        """
        units = units_of(np.concatenate(self.ends) if self.facts is None else self.facts.empty)
        if (units == 1.0).all():
            return np.ones((len(self.rows), *units.shape)), self
        facts = None if self.facts is None else replace(self.facts, empty=self.facts.empty / units)
        every = np.broadcast_to(units, (len(self.rows), *units.shape))
        return every, replace(self, ends=self.ends / units, facts=facts)

    def some(self, which: slice | NDArray[Any]) -> Block:
        """Return the block of some of the rows, given by a mask or by positions."""
        return replace(self, rows=self.rows[which], ends=self.ends[which], varying=self.varying[which])


class Estimator(ABC):
    """Base class of estimators: one run of a method on a block of rows.

    Parameters
    ----------
    d : int
        Number of players.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Attributes
    ----------
    choices_depend_on : {None, "row", "rows"}
        What choices depend on in addition to d, the budget and the generator: nothing (None), the values of a single
        row, which then has its own run ("row"), or the values of all rows of the run ("rows").
    is_complete : bool
        Whether all coalitions have been evaluated, so that every index is known exactly.
    index : Index
        What is estimated; the engine sets it before the run, to one that ``MethodRecord.indices`` names.
    units : (r, 1, k) float
        What the values of each row and output are divided by, and the estimate has to be multiplied by: 1, or a power
        of 2 if values are so large or small that their squares would not be finite, or 0.
    """

    choices_depend_on: Literal["row", "rows"] | None = None
    is_complete: bool = False
    index: Index = SHAPLEY
    units: Floats

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        self.d = check_count("d", d, minimum=1)
        self._rng = np.random.default_rng(rng)

    @property
    @abstractmethod
    def least_budget(self) -> int:
        """Smallest budget that gives an estimate with an error bar."""

    def first_checkpoint(self, most: int) -> int:
        """Return the budget from which on the error bar is reliable enough to stop, in a run with budget ``most``."""
        return self.least_budget

    @abstractmethod
    def rows_at_once(self, block: Block, budget: int) -> int:
        """Return how many of a block's rows fit into memory together, each with this budget."""

    @abstractmethod
    def start(self, block: Block) -> None:
        """Start the run on a block of rows."""

    @abstractmethod
    def choose(self, budget: Budget) -> Request | None:
        """Return what to evaluate next; None if the budget does not pay for anything more."""

    @abstractmethod
    def learn(self, values: Floats) -> None:
        """Receive the values (evaluations, k) of the last request."""

    @abstractmethod
    def estimate(self) -> Moments:
        """Estimate the index from all values so far, in ``units``; arrays have shape (r, components, k)."""

    @abstractmethod
    def keep(self, which: NDArray[np.bool_]) -> None:
        """Continue with only some of the rows, given by a mask (r,)."""

    @property
    @abstractmethod
    def seen(self) -> Floats:
        """Values of coalitions in ``units``, (r, m, k), which tell how much values may differ."""

    @property
    @abstractmethod
    def spent(self) -> NDArray[np.int64]:
        """What was spent on each row so far, in the unit of the budget, (r,)."""


class CoalitionEstimator(Estimator):
    """Base class of estimators that evaluate coalitions for all draws; all rows share their coalitions.

    Attributes
    ----------
    store : CoalitionStore
        The distinct coalitions that were chosen so far. Positions 0 and 1 are ∅ and N.
    values : (r, m, k) float
        Values of the coalitions of the store that were evaluated so far.

    Notes
    -----
    **Subclassing.** Define ``least_budget``, ``_choose`` and ``estimate``. If choices depend on values, declare it in
    ``choices_depend_on``, and define ``_learn``. ``_choose`` registers coalitions in ``self.store``, up to
    ``budget.now`` of them, and returns whether the sample grew; ``store.add_within`` keeps the limit. The generator is
    ``self._rng``. A complete estimator:

    >>> import numpy as np
    >>> import sharpley
    >>> from sharpley.coalitions.moments import Moments
    >>> from sharpley.estimators import CoalitionEstimator
    >>> class FirstAndLast(CoalitionEstimator):
    ...     '''The mean of each player's contributions as the first and as the last to enter.'''
    ...
    ...     @property
    ...     def least_budget(self):
    ...         return 2 + 2 * self.d
    ...
    ...     def _choose(self, budget):
    ...         before, alone = len(self.store), np.eye(self.d, dtype=bool)
    ...         self._alone, self._others = self.store.add(alone), self.store.add(~alone)
    ...         return len(self.store) > before
    ...
    ...     def estimate(self):
    ...         first = self.values[:, self._alone] - self.values[:, :1]
    ...         last = self.values[:, 1:2] - self.values[:, self._others]
    ...         return Moments((first + last) / 2, ((first - last) / 2) ** 2, np.ones_like(first))
    >>> sharpley.shapley_values(lambda S: S @ [1.0, 2.0, 4.0], 3, method=FirstAndLast, max_evals=8).values
    array([1., 2., 4.])
    """

    values: Floats
    max_values_at_once: int = 2**23  # values of coalitions held in memory for a block of rows: 64 MB

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self.store = CoalitionStore(self.d)

    def rows_at_once(self, block: Block, budget: int) -> int:
        """Return how many rows fit into memory; one if choices depend on the values of a single row."""
        if self.choices_depend_on == "row":
            return 1
        return max(1, self.max_values_at_once // (budget * block.n_outputs))

    def start(self, block: Block) -> None:
        """Start the run with the values of ∅ and N."""
        self.values, self.units = block.ends, np.ones((len(block.rows), 1, block.n_outputs))

    def choose(self, budget: Budget) -> AllDraws | None:
        """Return the coalitions that were not registered before; None if the sample has not grown."""
        known = len(self.store)
        if not self._choose(budget):
            return None
        if len(self.store) > budget.now:
            name = type(self).__name__
            raise RuntimeError(f"{name} chose {len(self.store)} coalitions, more than its budget of {budget.now}")
        return AllDraws(self.store.since(known), len(self.values))

    def learn(self, values: Floats) -> None:
        """Append values to those that are known; the first ones decide the units, since those of ∅ and N may be 0."""
        r, known, k = self.values.shape
        new = values.reshape(r, -1, k)
        if known == 2:
            ends = self.values * self.units
            self.units = units_of(np.concatenate([ends, new], axis=1))
            self.values = ends / self.units
        self.values = np.concatenate([self.values, new / self.units], axis=1)
        if self.choices_depend_on is not None and not self.is_complete:
            self._learn()

    @property
    def is_complete(self) -> bool:  # type: ignore[override] # a fact for others, which depends on the values here
        """Whether all coalitions have been evaluated, so that every index is known exactly."""
        return self.values.shape[1] == 2**self.d

    def all_coalitions(self) -> tuple[NDArray[np.int64], AllDraws]:
        """Return the positions of all coalitions, in the order of their numbers, and a request for those missing."""
        known = len(self.store)
        positions = self.store.add(all_coalitions(self.d))
        return positions, AllDraws(self.store.since(known), len(self.values))

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Continue with only some of the rows."""
        self.values, self.units = self.values[which], self.units[which]

    @property
    def seen(self) -> Floats:
        """All values."""
        return self.values

    @property
    def spent(self) -> NDArray[np.int64]:
        """The number of distinct coalitions, which is the same for all rows."""
        return np.full(len(self.values), len(self.store))

    @abstractmethod
    def _choose(self, budget: Budget) -> bool:
        """Register coalitions, up to ``budget.now`` of them in the store, and return whether the sample grew."""

    def _learn(self) -> None:
        """Compute from the values what further choices, or the estimate, depend on."""
