"""Comparisons of mean discrepancies.

Means are compared by Welch's test: a comparison is decided if the 95% interval of the difference is on one side of 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from sharpley._typing import Floats
from sharpley.experiments.exhibits import Verdict
from sharpley.experiments.intervals import Interval

Settings: TypeAlias = dict[tuple[int, int], dict[str, Floats]]
"""Discrepancies of all trials by (d, n), then by method."""

SHOWN = 6
"""Comparisons that are named in evidence."""


def difference(first: Floats, second: Floats) -> Interval:
    """Of two means, by Welch's test; samples that do not vary have an interval of no length."""
    from scipy.stats import t

    value = float(first.mean() - second.mean())
    parts = np.array([sample.var(ddof=1) / len(sample) for sample in (first, second)])
    if not parts.sum():
        return Interval(value, value, value)
    freedom = parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()
    half = float(t.ppf(0.975, freedom) * np.sqrt(parts.sum()))
    return Interval(value, value - half, value + half)


class Tally(NamedTuple):
    """Comparisons that agree with a claim, contradict it, or decide nothing; the last two by name."""

    agree: int
    against: list[str]
    undecided: list[str]

    @property
    def verdict(self) -> Verdict:
        """It holds if every comparison says so, and in part if more agree than contradict."""
        if not self.against:
            return "undecided" if not self.agree else "holds in part" if self.undecided else "holds"
        return "holds in part" if self.agree > len(self.against) else "does not hold"

    @staticmethod
    def of(parts: Sequence[Tally]) -> Tally:
        """All comparisons of several tallies."""
        return Tally(
            sum(part.agree for part in parts),
            [name for part in parts for name in part.against],
            [name for part in parts for name in part.undecided],
        )

    def __str__(self) -> str:
        text = f"{self.agree} of {self.agree + len(self.against) + len(self.undecided)} comparisons agree"
        for what, names in (("against", self.against), ("undecided", self.undecided)):
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            text += f"; {what}: {', '.join(names[:SHOWN])}{more}" if names else ""
        return text


def tally(settings: Settings, lower: tuple[str, ...], higher: tuple[str, ...]) -> Tally:
    """Compare each method of ``lower`` with each of ``higher`` in each setting."""
    agree = 0
    against: list[str] = []
    undecided: list[str] = []
    for (d, n), samples in settings.items():
        for low, high in itertools.product(lower, higher):
            gap = difference(samples[low], samples[high])
            if gap.high < 0:
                agree += 1
            else:
                (against if gap.low > 0 else undecided).append(f"{low}–{high} (d = {d}, n = {n})")
    return Tally(agree, against, undecided)
