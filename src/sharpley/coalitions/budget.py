"""What a run may spend."""

from __future__ import annotations

from typing import NamedTuple


class Budget(NamedTuple):
    """What a run may spend, as numbers of distinct coalitions, v(∅) and v(N) included.

    Examples
    --------
    The first of several checkpoints of a run that may stop once a tolerance is met:

    >>> Budget(now=100, most=1000, may_stop=True)
    Budget(now=100, most=1000, may_stop=True)
    """

    now: int
    """Maximum number of coalitions in the store after this choice."""
    most: int
    """Maximum number of coalitions in the store at the end of the run."""
    may_stop: bool
    """Whether the run may end before ``most`` is spent, because a tolerance is met."""


def whole_budget(most: int) -> Budget:
    """Return a budget that is spent in a single choice."""
    return Budget(most, most, may_stop=False)
