"""The contract of an estimator: choosing coalitions, learning from their values, estimating.

One run of a method alternates between three steps, and each has its own knowledge:

1. ``choose`` registers coalitions within a budget. It knows the number of players, the budget, the generator, and what
   ``learn`` made of earlier values, if anything. It never sees values otherwise.
2. The engine evaluates what is new.
3. ``learn`` turns the values into what further choices, and the estimate, may know of them: None for most methods.
   Estimators whose *choices* depend on it declare that in ``choices_depend_on``.

``estimate`` finally turns values into the index with its variances. It changes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import CoalitionStore

DRAWN_PER_EVALUATION = 10
"""Coalitions that are known cost nothing, but no more are drawn than this multiple of those that are paid for."""


class Budget(NamedTuple):
    """What a run may spend, in distinct coalitions, v(∅) and v(N) included."""

    now: int
    """Coalitions that the store may hold after this choice."""
    most: int
    """Coalitions that it may hold at the end of the run."""
    may_stop: bool
    """Whether the run may end before ``most`` is spent, because a tolerance is met."""


def whole_budget(most: int) -> Budget:
    """A budget that is spent at once."""
    return Budget(most, most, may_stop=False)


class Estimator(ABC):
    """One run of a method on games of d ≥ 2 players; the coalitions are shared by all rows of the run.

    Parameters
    ----------
    d : int
        Number of players.
    rng : int, Generator, SeedSequence or None

    Attributes
    ----------
    choices_depend_on : {None, "row", "rows"}
        What the choice of coalitions depends on besides d, the budget and the generator: nothing, the values of a
        single row, which then has a run of its own, or the values of all rows that share the run.

    Notes
    -----
    **Subclassing.** Define ``least_budget``, ``choose`` and ``estimate``, and ``learn`` if further choices depend on
    values. A complete estimator:

    >>> import numpy as np
    >>> import sharpley
    >>> from sharpley.coalitions.moments import Moments
    >>> from sharpley.estimators import Estimator
    >>> class FirstAndLast(Estimator):
    ...     '''The mean of each player's contributions as the first and as the last to enter.'''
    ...
    ...     @property
    ...     def least_budget(self):
    ...         return 2 + 2 * self.d
    ...
    ...     def choose(self, store, budget, learnt=None):
    ...         before, alone = len(store), np.eye(self.d, dtype=bool)
    ...         self._alone, self._others = store.add(alone), store.add(~alone)
    ...         return len(store) > before
    ...
    ...     def estimate(self, values, learnt=None):
    ...         first, last = values[:, self._alone] - values[:, :1], values[:, 1:2] - values[:, self._others]
    ...         return Moments((first + last) / 2, ((first - last) / 2) ** 2, np.ones_like(first))
    >>> sharpley.shapley_values(lambda S: S @ [1.0, 2.0, 4.0], 3, method=FirstAndLast, max_evals=8).values
    array([1., 2., 4.])
    """

    choices_depend_on: Literal["row", "rows"] | None = None

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        self.d = check_count("d", d, minimum=2)
        self._rng = np.random.default_rng(rng)

    @property
    @abstractmethod
    def least_budget(self) -> int:
        """Smallest budget that gives an estimate with an error bar."""

    def first_checkpoint(self, most: int) -> int:
        """Budget from which the error bar is reliable enough to stop on, if ``most`` may be spent in all."""
        return self.least_budget

    @abstractmethod
    def choose(self, store: CoalitionStore, budget: Budget, learnt: Any = None) -> bool:
        """Register coalitions until the store holds ``budget.now`` of them; return whether the sample grew.

        ``learnt`` is what ``learn`` returned last; None at first.
        """

    def learn(self, values: Floats) -> Any:
        """What further choices and the estimate may know of the values (r, m, k) of all registered coalitions."""
        return None

    @abstractmethod
    def estimate(self, values: Floats, learnt: Any = None) -> Moments:
        """The index from the values of all registered coalitions: (r, m, k) -> moments of shape (r, components, k).

        ``learnt`` is what ``learn`` makes of the same values; an estimator that needs it computes it if it is None.
        """
