"""The interface of an estimator: choose coalitions, learn from their values, estimate.

``run`` repeats three steps, each of which has access to different information:

1. ``choose`` registers coalitions within a budget. It depends only on the number of players, the budget, the random
   generator and the last result of ``learn``, if there is one; it never sees the values themselves.
2. The newly registered coalitions are evaluated, by the engine.
3. ``learn`` computes from the values what further choices and the estimate may depend on: None for most methods.
   Estimators whose *choices* depend on it declare this in ``choices_depend_on``.

Once a budget is spent, ``estimate`` computes the index and its variances from the values. It does not change the
estimator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.threads import one_thread
from sharpley._support.typing import RNG, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import CoalitionStore

SAMPLED_PER_EVALUATION = 10
"""Maximum number of coalitions drawn per evaluation in the budget; repeated coalitions cost no evaluation."""


class Evaluated(Protocol):
    """Coalitions and their values, as a run needs them; ``sharpley.engine.evaluation.Evaluation`` is one."""

    store: CoalitionStore
    """Where coalitions are registered."""
    values: Floats
    """Values (r, m, k) of the coalitions evaluated so far."""

    def catch_up(self) -> None:
        """Evaluate the coalitions that were registered since the last call."""


class Estimator(ABC):
    """Base class of estimators: one run of a method on games of d ≥ 2 players.

    All rows of a run share the same coalitions.

    Parameters
    ----------
    d : int
        Number of players.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Attributes
    ----------
    choices_depend_on : {None, "row", "rows"}
        What the choice of coalitions depends on in addition to d, the budget and the generator: nothing (None), the
        values of a single row, which then has its own run ("row"), or the values of all rows of the run ("rows").

    Notes
    -----
    **Subclassing.** Define ``least_budget``, ``choose`` and ``estimate``, and ``learn`` if further choices depend on
    values. Positions 0 and 1 of every store, and of the values, are ∅ and N; the generator is ``self._rng``. A choice
    that leaves more than ``budget.now`` coalitions in the store is an error: ``store.add_within`` keeps the limit. A
    complete estimator:

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
        """Return the budget from which on the error bar is reliable enough to stop, in a run with budget ``most``."""
        return self.least_budget

    def run(self, evaluation: Evaluated, budgets: Iterable[Budget]) -> Iterator[Moments | None]:
        """Spend one budget after the other, and yield the estimate after each.

        Parameters
        ----------
        evaluation : Evaluated
            Evaluates the coalitions that are chosen. Between two budgets, rows may be removed from it.
        budgets : iterable of Budget
            Budgets that grow.

        Yields
        ------
        Moments or None
            Arrays of shape (r, components, k); None if there is nothing to estimate, since the sample has not grown,
            or since all coalitions have been evaluated, so that the values are known exactly.
        """
        learnt, grew = None, True  # so that the first budget is followed by an estimate in any case
        for budget in budgets:
            # What was learnt reaches only those choices that are declared to depend on values.
            while self._chooses(evaluation.store, budget, learnt if self.choices_depend_on else None):
                grew = True
                evaluation.catch_up()
                if evaluation.store.is_complete:
                    break
                with one_thread():
                    learnt = self.learn(evaluation.values)
            is_known = evaluation.store.is_complete
            with one_thread():
                found = self.estimate(evaluation.values, learnt) if grew and not is_known else None
            yield found
            grew = False

    def _chooses(self, store: CoalitionStore, budget: Budget, learnt: Any) -> bool:
        """Choose coalitions, and check that the budget pays for them."""
        with one_thread():
            grew = self.choose(store, budget, learnt)
        if len(store) > budget.now:
            name = type(self).__name__
            raise RuntimeError(f"{name} chose {len(store)} coalitions, more than its budget of {budget.now}")
        return grew

    @abstractmethod
    def choose(self, store: CoalitionStore, budget: Budget, learnt: Any = None) -> bool:
        """Register coalitions, up to ``budget.now`` of them in the store, and return whether the sample grew.

        Parameters
        ----------
        store : CoalitionStore
            Where coalitions are registered.
        budget : Budget
        learnt : optional
            The last result of ``learn``; None in the first call.

        Returns
        -------
        bool
            False if the budget does not pay for anything more.
        """

    def learn(self, values: Floats) -> Any:
        """Compute from the values (r, m, k) of all registered coalitions what further choices may depend on."""
        return None

    @abstractmethod
    def estimate(self, values: Floats, learnt: Any = None) -> Moments:
        """Estimate the index from the values of all registered coalitions.

        Parameters
        ----------
        values : (r, m, k) float
            Values of r rows at the m coalitions of the store, with k outputs.
        learnt : optional
            The result of ``learn`` for the same values. An estimator that needs it computes it if it is None.

        Returns
        -------
        Moments
            Arrays of shape (r, components, k).
        """
