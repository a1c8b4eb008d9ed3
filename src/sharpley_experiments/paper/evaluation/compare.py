"""Comparisons of methods on data sets: ratios of mean errors, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sharpley_experiments.common.intervals import Interval, ratio_interval
from sharpley_experiments.paper.exhibits import Finding, verdict
from sharpley_experiments.paper.tables.printed import DATA

if TYPE_CHECKING:
    from pandas import DataFrame

NEGLIGIBLE_DIFFERENCE = 0.1  # between a ratio of errors and 1
MAX_FACTOR_IF_SIMILAR = 1.25  # between two errors

Judge: TypeAlias = Callable[[Interval], bool]
"""Decides from the interval of a ratio whether a claim holds, or fails."""


class Versus(NamedTuple):
    """Ratio of the errors of two methods on a data set."""

    dataset: str
    ratio: Interval
    n: int
    """Number of orderings at which the ratio was taken."""
    n_below: int
    """How many of the numbers of orderings that both methods have give a ratio below 1."""
    n_common: int
    """How many numbers of orderings both methods have."""

    def __str__(self) -> str:
        others = f", below 1 for {self.n_below} of {self.n_common} n" if self.n_common > 1 else ""
        return f"{self.dataset} {shown(self.ratio)} at n = {self.n}{others}"


def chosen_reference(table: DataFrame) -> DataFrame:
    """Select errors against the exact values where these are known, otherwise against the mean over trials."""
    known = set(table[table["reference"] == "exact"]["dataset"])
    return table[(table["reference"] == "exact") | ~table["dataset"].isin(known)]


def versus(table: DataFrame, dataset: str, one: str, other: str, choose: Callable[[set[int]], int] = max) -> Versus:
    """Compare two methods on a data set, at the largest number of orderings that both have.

    ``choose`` may select another one of the numbers of orderings that both have.
    """
    mine = chosen_reference(table)
    mine = mine[mine["dataset"] == dataset]
    a, b = ({n: group["mse"].to_numpy() for n, group in mine[mine["series"] == s].groupby("n")} for s in (one, other))
    both = {int(n) for n in a if n in b}
    at = choose(both)
    below = sum(a[n].mean() < b[n].mean() for n in both)
    return Versus(named(table, dataset), ratio_interval(a[at], b[at]), at, int(below), len(both))


def named(table: DataFrame, dataset: str) -> str:
    """Name of a data set, with its number of rows if that is less than half of the paper's."""
    rows = int(table[table["dataset"] == dataset]["data_rows"].iloc[0])
    return f"{dataset} ({rows:,} rows)" if 2 * rows < DATA[dataset][0] else dataset


def datasets_of(table: DataFrame) -> list[str]:
    """Names of the data sets, in the order of the table."""
    return list(dict.fromkeys(table["dataset"]))


def having(table: DataFrame, series: str) -> list[str]:
    """Names of the data sets on which a method was measured."""
    return datasets_of(table[table["series"] == series])


def shown(ratio: Interval) -> str:
    """Format a ratio with its interval."""
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def finding(claim: str, compared: Sequence[Versus], holds: Judge, fails: Judge, what: str) -> Finding:
    """Judge a claim on several data sets, on each of which the interval of the ratio may decide for or against it."""
    good = sum(holds(versus.ratio) for versus in compared)
    bad = sum(fails(versus.ratio) and not holds(versus.ratio) for versus in compared)
    evidence = f"{what}: " + "; ".join(map(str, compared))
    return Finding(claim, verdict(good, bad, len(compared) - good - bad), evidence)


def below_one(ratio: Interval) -> bool:
    """Whether the first error is significantly lower."""
    return ratio.high < 1.0


def above_one(ratio: Interval) -> bool:
    """Whether the first error is significantly higher."""
    return ratio.low > 1.0


def hardly_below_one(ratio: Interval) -> bool:
    """Whether the first error is at most negligibly lower."""
    return ratio.low > 1.0 - NEGLIGIBLE_DIFFERENCE


def hardly_above_one(ratio: Interval) -> bool:
    """Whether the first error is at most negligibly higher."""
    return ratio.high < 1.0 + NEGLIGIBLE_DIFFERENCE


def not_above_one(ratio: Interval) -> bool:
    """Whether the first error is lower or not significantly different."""
    return ratio.low <= 1.0


def near_one(ratio: Interval) -> bool:
    """Whether the two errors are certainly similar."""
    return ratio.low >= 1.0 / MAX_FACTOR_IF_SIMILAR and ratio.high <= MAX_FACTOR_IF_SIMILAR


def away_from_one(ratio: Interval) -> bool:
    """Whether the first error is certainly lower or higher by more than a negligible difference."""
    return ratio.high < 1.0 - NEGLIGIBLE_DIFFERENCE or ratio.low > 1.0 + NEGLIGIBLE_DIFFERENCE


def best_of(table: DataFrame, dataset: str, series: Sequence[str]) -> str:
    """Method with the lowest mean error at the largest number of orderings that all have."""
    mine = chosen_reference(table)
    mine = mine[(mine["dataset"] == dataset) & mine["series"].isin(series)]
    at = max(set.intersection(*(set(group["n"]) for _, group in mine.groupby("series"))))
    return str(mine[mine["n"] == at].groupby("series")["mse"].mean().idxmin())


def halves(table: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Split into even and odd trials, so that what one half selects can be judged by the other half."""
    return table[table["trial"] % 2 == 0], table[table["trial"] % 2 == 1]


def counted(names: Mapping[str, str]) -> str:
    """Format as "bank λ = 4, year λ = 8"."""
    return ", ".join(f"{name} {value}" for name, value in names.items())
