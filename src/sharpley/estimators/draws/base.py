"""The interface of estimators that ask for single draws.

Such an estimator gets a task: games, what is known of them, what it may spend on each row, and two functions of the
engine. ``evaluate`` returns values of coalitions in single draws, and ``judge`` decides, after each look at the
estimates, which rows are finished. ``run`` does everything else: it chooses coalitions and draws, has them evaluated,
and estimates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.games.base import DrawFacts, Games, weights_of_draws


class Asked(Protocol):
    """Coalitions to be evaluated in single draws."""

    def __len__(self) -> int:
        """Return the number of evaluations."""

    def ask(self, part: slice) -> tuple[NDArray[np.int64], Coalitions, NDArray[np.int64]]:
        """Return positions of rows (p,), coalitions (p, d) and draws (p,) of some of the evaluations."""


class Look(NamedTuple):
    """Estimates of rows at one time of a run."""

    rows: NDArray[np.int64]
    """The rows, (r,)."""
    moments: Moments
    """Their estimates, (r, d, k)."""
    before: Moments | None
    """Those of the look before, for the same rows; None at the first look."""
    spent: NDArray[np.int64]
    """Number of single draws that were evaluated for each row, (r,)."""
    number: int
    """Number of looks, this one included."""
    is_last: bool
    """Whether nothing more can be spent on these rows."""


@dataclass(frozen=True)
class DrawsTask:
    """What is to be estimated from single draws, and what may be spent on it.

    Parameters
    ----------
    games : Games
        The games.
    varying : (n_rows, d) bool
        Players that can matter in any draw.
    ends : (n_rows, 2, k) float
        Means over all draws of v_b(∅) and v_b(N).
    facts : DrawFacts or None
        What is known of all draws.
    budget : int
        Maximum number of single draws for each row, those of ∅ and N included.
    endpoint_cost : int
        How many of these the values of ∅ and N took.
    may_stop : bool
        Whether rows may be finished before the budget is spent.
    seed : (4,) int
        Seed of all random choices.
    evaluate : callable
        Maps rows (r,) and what is asked for them to values (evaluations, k).
    judge : callable
        Maps a look to which of its rows are finished, (r,): all of them at the last look.
    """

    games: Games
    varying: Coalitions
    ends: Floats
    facts: DrawFacts | None
    budget: int
    endpoint_cost: int
    may_stop: bool
    seed: NDArray[np.uint32]
    evaluate: Callable[[NDArray[np.int64], Asked], Floats]
    judge: Callable[[Look], NDArray[np.bool_]]

    @cached_property
    def weights(self) -> Floats:
        """Weights of all draws, which sum to 1."""
        return weights_of_draws(self.games)

    @property
    def ends_known(self) -> bool:
        """Whether v_b(∅) and v_b(N) are known for every draw."""
        return self.facts is not None

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.ends.shape[2]

    def generator(self) -> np.random.Generator:
        """Return a new generator, seeded in the same way every time."""
        return np.random.default_rng(self.seed)


class DrawsEstimator(ABC):
    """Base class of estimators that ask for single draws."""

    @abstractmethod
    def run(self, rows: NDArray[np.int64]) -> None:
        """Estimate the values of rows, and have them judged until all are finished."""
