"""What was found along the walks of rows that run together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.estimators.draws.walks import Steps, Walks


class Walked(NamedTuple):
    """Steps of rows, and what was found along them."""

    steps: Steps
    """The n steps, which all rows share."""
    contributions: Floats
    """Contributions of the players in each step, (r, n, d, k)."""
    differing: Coalitions
    """Which players can matter in each step, (r, n, d)."""
    values: list[Floats]
    """For each row, the values of all coalitions along its walks, (evaluations, k), if a surrogate learns from them."""

    def rows(self, which: NDArray[np.bool_]) -> Walked:
        """Return the same for some of the rows."""
        kept = [values for values, is_kept in zip(self.values, which, strict=True) if is_kept]
        return Walked(self.steps, self.contributions[which], self.differing[which], kept)

    def then(self, further: Walked) -> Walked:
        """Return the same for these and further steps of the same rows."""
        steps = Steps(
            np.concatenate([self.steps.orderings, further.steps.orderings]),
            np.concatenate([self.steps.draws, further.steps.draws]),
        )
        return Walked(
            steps,
            np.concatenate([self.contributions, further.contributions], axis=1),
            np.concatenate([self.differing, further.differing], axis=1),
            [np.concatenate(both) for both in zip(self.values, further.values, strict=True)],
        )

    def walks_of(self, row: int) -> Walks:
        """Return the walks of one row, in the order of its values; v_b(∅) and v_b(N) are known."""
        return Walks(self.steps, self.differing[row : row + 1], ends_known=True)
