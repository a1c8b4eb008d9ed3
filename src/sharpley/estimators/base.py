"""What every estimator does: ask for coalitions within a budget, then turn their values into Shapley values."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sharpley._support.checks import check_count
from sharpley._support.typing import RNG, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import CoalitionStore

FREE_WORK = 10  # coalitions that are known cost nothing, but no more is drawn than this multiple of what is paid for


class Estimator(ABC):
    """One run of a method on games of d ≥ 2 players.

    The run alternates between ``extend``, which registers the coalitions that a larger budget pays for, and
    ``estimate``, which uses the values of all that were registered. The coalitions are shared by all rows
    that are explained together.

    Parameters
    ----------
    d : int
        Number of players.
    rng : int, Generator, SeedSequence or None
    """

    adaptive = False
    """Whether the choice of coalitions depends on values; then every row has a run of its own."""

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        self.d = check_count("d", d, minimum=2)
        self._rng = np.random.default_rng(rng)

    @property
    @abstractmethod
    def minimum(self) -> int:
        """Smallest budget that gives an estimate with an error bar."""

    @property
    def first_checkpoint(self) -> int:
        """Budget from which the error bar is reliable enough to stop on."""
        return self.minimum

    def prepare(self, max_evals: int, *, may_stop: bool) -> None:
        """Settle what depends on the largest budget, or on whether all of it is spent; called before ``extend``."""
        return

    @abstractmethod
    def extend(self, store: CoalitionStore, budget: int, values: Floats | None) -> bool:
        """Register coalitions until ``budget`` distinct ones are in the store; tell whether the work grew.

        ``values`` are those of the coalitions registered so far, (m, k), for an adaptive estimator; else None.
        """

    @abstractmethod
    def estimate(self, values: Floats) -> Moments:
        """Shapley values from the values of all registered coalitions: (r, m, k) -> moments of shape (r, d, k)."""


def stack(moments: list[Moments]) -> Moments:
    """Stack the moments of single rows."""
    return Moments(*(np.stack(parts) for parts in zip(*moments, strict=True)))
