"""Walks along orderings, each within a single draw.

Along an ordering, only players that differ between the row and the draw can change the value, so only these steps are
evaluated. With the values v_b(∅) and v_b(N) of the draw known, a walk with t such players costs t − 1 evaluations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats, Orderings
from sharpley.coalitions.request import Request


class Steps(NamedTuple):
    """Steps of one ordering, or of an antithetic pair, each with its draw."""

    orderings: Orderings
    """The orderings of each step, (n, orderings per step, d)."""
    draws: NDArray[np.int64]
    """The draw of each step, (n,)."""

    def part(self, which: slice) -> Steps:
        """Return some of the steps."""
        return Steps(self.orderings[which], self.draws[which])


@final
@dataclass(frozen=True)
class Walks(Request):
    """The walks of all rows along all steps, as the coalitions that have to be evaluated.

    Walks are numbered by row, step and ordering within the step; all rows have the same steps.

    Parameters
    ----------
    steps : Steps
        n steps of s orderings.
    differing : (r, n, d) bool
        Players that can matter, for each row and step.
    ends_known : bool
        Whether v_b(∅) and v_b(N) are known for every draw; otherwise they are evaluated too.
    """

    steps: Steps
    differing: Coalitions
    ends_known: bool
    is_for_all_draws = False

    @cached_property
    def _ranks(self) -> NDArray[np.int32]:
        """The step at which each player enters, (n · s, d); small numbers, since they are copied for every call."""
        return np.argsort(self.steps.orderings.reshape(-1, self.differing.shape[2]), axis=1).astype(np.int32)

    @cached_property
    def _changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Walk, place in the ordering and player of every change of value, in the order of the walks."""
        r, n, d = self.differing.shape
        s = self.steps.orderings.shape[1]
        orderings = np.broadcast_to(self.steps.orderings, (r, n, s, d))
        entering = np.take_along_axis(np.broadcast_to(self.differing[:, :, None], orderings.shape), orderings, axis=3)
        walk, place = np.nonzero(entering.reshape(r * n * s, d))
        return walk, place, orderings.reshape(r * n * s, d)[walk, place]

    @cached_property
    def _is_last(self) -> NDArray[np.bool_]:
        walk = self._changes[0]
        return np.diff(walk, append=-1) != 0

    @cached_property
    def _asked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Walk and last place of every coalition to evaluate; place −1 stands for ∅."""
        walk, place, _ = self._changes
        if self.ends_known:
            return walk[~self._is_last], place[~self._is_last]
        every = np.unique(walk)
        return np.concatenate([walk, every]), np.concatenate([place, np.full(len(every), -1)])

    def some_steps(self, which: NDArray[np.bool_]) -> Walks:
        """Return the walks of all rows along some of the steps."""
        steps = Steps(self.steps.orderings[which], self.steps.draws[which])
        return Walks(steps, self.differing[:, which], self.ends_known)

    def __len__(self) -> int:
        """Return the number of evaluations."""
        return len(self._asked[0])

    def evaluations_of_rows(self) -> NDArray[np.int64]:
        """Return the number of evaluations of each row, (r,)."""
        r, n, _ = self.differing.shape
        return np.bincount(self._asked[0] // (n * self.steps.orderings.shape[1]), minlength=r)

    def ask(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Coalitions, NDArray[np.int64]]:
        """Return positions of rows (p,), coalitions (p, d) and draws (p,) of some of the evaluations."""
        walk, place = self._asked[0][numbers], self._asked[1][numbers]
        _, n, _ = self.differing.shape
        s = self.steps.orderings.shape[1]
        members = self._ranks[walk % (n * s)] <= place[:, None].astype(np.int32)
        return walk // (n * s), members, self.steps.draws[(walk // s) % n]

    def contributions(self, values: Floats, empty: Floats | None, full: Floats | None) -> Floats:
        """Return the mean contributions of the players in every step.

        Parameters
        ----------
        values : (evaluations, k) float
            Values of all coalitions that were asked for.
        empty, full : (n, k) and (r, k) float, or None
            The known values of ∅ for each step, and of N for each row.

        Returns
        -------
        (r, n, d, k) float
        """
        r, n, d = self.differing.shape
        s = self.steps.orderings.shape[1]
        walk, _, player = self._changes
        after, before = self._along(values, empty, full)
        total = np.zeros((r * n, d, values.shape[1]))
        change = (after - before) / s
        for ordering in range(s):  # within one ordering of each step, no player appears twice
            mine = walk % s == ordering
            total[walk[mine] // s, player[mine]] += change[mine]
        return total.reshape(r, n, d, -1)

    def _along(self, values: Floats, empty: Floats | None, full: Floats | None) -> tuple[Floats, Floats]:
        """Return the values after and before every change, (changes, k) each."""
        walk, _, _ = self._changes
        _, n, _ = self.differing.shape
        s = self.steps.orderings.shape[1]
        is_first = np.diff(walk, prepend=-1) != 0
        after = np.empty((len(walk), values.shape[1]))
        if empty is None or full is None:
            after, start = values[: len(walk)], values[len(walk) :]
        else:
            after[~self._is_last] = values
            after[self._is_last] = full[walk[self._is_last] // (n * s)]
            start = empty[(walk[is_first] // s) % n]
        before = np.concatenate([after[:1], after[:-1]])
        before[is_first] = start
        return after, before
