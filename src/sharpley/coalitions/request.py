"""What an estimator asks for: coalitions for all draws, or coalitions in single draws.

The engine evaluates a request in calls of bounded size. It numbers the evaluations of a request, and asks for the rows,
coalitions and draws of some of them at a time, so that a large request never has to be in memory as a whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions

Asked: TypeAlias = tuple[NDArray[np.int64], Coalitions, NDArray[np.int64] | None]
"""Positions of rows (p,), coalitions (p, d) and draws (p,); None for draws means all of them."""


class Request(ABC):
    """Evaluations for the rows of a block; its length is their number."""

    is_for_all_draws: bool
    """Whether every evaluation is a mean over all draws, or one in a single draw."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of evaluations."""

    @abstractmethod
    def ask(self, numbers: NDArray[np.int64]) -> Asked:
        """Return rows, coalitions and draws of the evaluations with the given numbers (p,)."""

    def calls(self, size: int) -> list[NDArray[np.int64]]:
        """Return the numbers of the evaluations of each call, at most ``size`` in each."""
        starts = range(0, len(self), size)
        return [np.arange(start, min(len(self), start + size)) for start in starts]


@final
class AllDraws(Request):
    """Coalitions (m, d) that are evaluated for every one of r rows, as means over all draws."""

    is_for_all_draws = True

    def __init__(self, coalitions: Coalitions, n_rows: int) -> None:
        self.coalitions, self.n_rows = coalitions, n_rows

    def __len__(self) -> int:
        return self.n_rows * len(self.coalitions)

    def ask(self, numbers: NDArray[np.int64]) -> Asked:
        """Return rows and coalitions; the evaluations are numbered by row, then by coalition."""
        row, coalition = np.divmod(numbers, len(self.coalitions))
        return row, self.coalitions[coalition], None

    def calls(self, size: int) -> list[NDArray[np.int64]]:
        """Return the numbers of the evaluations of each call.

        Neighbouring coalitions are similar: along a walk, one player joins after another. So neighbours are assigned to
        the same position of consecutive calls, whose inputs then differ little.
        """
        n_calls = -(-len(self) // size)
        return [np.arange(call, len(self), n_calls) for call in range(n_calls)]
