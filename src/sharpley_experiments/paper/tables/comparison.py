"""Comparisons of mean discrepancies.

Means are compared by Welch's test: a comparison is decided if the 95% interval of the difference excludes 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sharpley._support.typing import Floats
from sharpley_experiments.common.intervals import difference_interval
from sharpley_experiments.paper.exhibits import Details, Verdict
from sharpley_experiments.paper.rules import verdict

Settings: TypeAlias = dict[tuple[int, int], dict[str, Floats]]
"""Discrepancies of all trials by (d, n), then by method."""


class Tally(NamedTuple):
    """Comparisons that agree with a claim (their number), contradict it, or are undecided (both by name)."""

    agree: int
    against: list[str]
    undecided: list[str]

    @property
    def verdict(self) -> Verdict:
        """Verdict of all comparisons."""
        return verdict(self.agree, len(self.against), len(self.undecided))

    @staticmethod
    def of(parts: Sequence[Tally]) -> Tally:
        """Combine the comparisons of several tallies."""
        return Tally(
            sum(part.agree for part in parts),
            [name for part in parts for name in part.against],
            [name for part in parts for name in part.undecided],
        )

    def __str__(self) -> str:
        return f"{self.agree} of {self.agree + len(self.against) + len(self.undecided)} comparisons agree"

    @property
    def details(self) -> Details | None:
        """The comparisons that do not agree, if there are any."""
        rows = [(name, what) for what in ("against", "undecided") for name in getattr(self, what)]
        return Details(("comparison", "result"), tuple(rows)) if rows else None


def tally(settings: Settings, lower: tuple[str, ...], higher: tuple[str, ...]) -> Tally:
    """Compare each method of ``lower`` with each method of ``higher`` in each setting."""
    agree = 0
    against: list[str] = []
    undecided: list[str] = []
    for (d, n), samples in settings.items():
        for low, high in itertools.product(lower, higher):
            gap = difference_interval(samples[low], samples[high])
            if gap.high < 0:
                agree += 1
            else:
                (against if gap.low > 0 else undecided).append(f"{low}–{high} (d = {d}, n = {n})")
    return Tally(agree, against, undecided)
