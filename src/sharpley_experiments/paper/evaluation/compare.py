"""Who is better where: ratios of mean errors, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sharpley_experiments.common.intervals import Interval, ratio_interval
from sharpley_experiments.paper.exhibits import Finding, verdict
from sharpley_experiments.paper.tables.printed import DATA

if TYPE_CHECKING:
    from pandas import DataFrame

NEGLIGIBLE_DIFFERENCE = 0.1  # a difference of a tenth
MAX_FACTOR_IF_SIMILAR = 1.25  # errors within this factor

Judge: TypeAlias = Callable[[Interval], bool]


class Versus(NamedTuple):
    """Error of one line over another's."""

    dataset: str
    ratio: Interval
    n: int
    """Orderings where the ratio was taken."""
    n_below: int
    """Of all numbers of orderings that both have, those where the ratio is below 1."""
    n_common: int

    def __str__(self) -> str:
        others = f", below 1 at {self.n_below} of {self.n_common} n" if self.n_common > 1 else ""
        return f"{self.dataset} {shown(self.ratio)} at n = {self.n}{others}"


def chosen_reference(table: DataFrame) -> DataFrame:
    """Errors against exact values where these are known, else against the mean over trials."""
    known = set(table[table["reference"] == "exact"]["dataset"])
    return table[(table["reference"] == "exact") | ~table["dataset"].isin(known)]


def versus(table: DataFrame, dataset: str, one: str, other: str, choose: Callable[[set[int]], int] = max) -> Versus:
    """Compare two lines on a data set, at the most orderings that both have, or at those that ``choose`` chooses."""
    mine = chosen_reference(table)
    mine = mine[mine["dataset"] == dataset]
    a, b = ({n: group["mse"].to_numpy() for n, group in mine[mine["series"] == s].groupby("n")} for s in (one, other))
    both = {int(n) for n in a if n in b}
    at = choose(both)
    below = sum(a[n].mean() < b[n].mean() for n in both)
    return Versus(named(table, dataset), ratio_interval(a[at], b[at]), at, int(below), len(both))


def named(table: DataFrame, dataset: str) -> str:
    """A data set's name; with its rows if there are far fewer than the paper's."""
    rows = int(table[table["dataset"] == dataset]["data_rows"].iloc[0])
    return f"{dataset} ({rows:,} rows)" if 2 * rows < DATA[dataset][0] else dataset


def datasets_of(table: DataFrame) -> list[str]:
    """Data sets in the order of the table."""
    return list(dict.fromkeys(table["dataset"]))


def having(table: DataFrame, series: str) -> list[str]:
    """Data sets that have a line."""
    return datasets_of(table[table["series"] == series])


def shown(ratio: Interval) -> str:
    """A ratio with its interval."""
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def finding(claim: str, compared: Sequence[Versus], holds: Judge, fails: Judge, what: str) -> Finding:
    """Judge a claim on several data sets: it holds where its interval says so, fails where the interval excludes it."""
    good = sum(holds(versus.ratio) for versus in compared)
    bad = sum(fails(versus.ratio) and not holds(versus.ratio) for versus in compared)
    evidence = f"{what}: " + "; ".join(map(str, compared))
    return Finding(claim, verdict(good, bad, len(compared) - good - bad), evidence)


def below_one(ratio: Interval) -> bool:
    """Clearly better."""
    return ratio.high < 1.0


def above_one(ratio: Interval) -> bool:
    """Clearly worse."""
    return ratio.low > 1.0


def hardly_below_one(ratio: Interval) -> bool:
    """Not better by more than a little."""
    return ratio.low > 1.0 - NEGLIGIBLE_DIFFERENCE


def hardly_above_one(ratio: Interval) -> bool:
    """Not worse by more than a little."""
    return ratio.high < 1.0 + NEGLIGIBLE_DIFFERENCE


def not_above_one(ratio: Interval) -> bool:
    """Better, or no different."""
    return ratio.low <= 1.0


def near_one(ratio: Interval) -> bool:
    """Similar for sure."""
    return ratio.low >= 1.0 / MAX_FACTOR_IF_SIMILAR and ratio.high <= MAX_FACTOR_IF_SIMILAR


def away_from_one(ratio: Interval) -> bool:
    """More than a little better or worse for sure."""
    return ratio.high < 1.0 - NEGLIGIBLE_DIFFERENCE or ratio.low > 1.0 + NEGLIGIBLE_DIFFERENCE


def best_of(table: DataFrame, dataset: str, series: Sequence[str]) -> str:
    """The line with the lowest mean error at the most orderings that all have."""
    mine = chosen_reference(table)
    mine = mine[(mine["dataset"] == dataset) & mine["series"].isin(series)]
    at = max(set.intersection(*(set(group["n"]) for _, group in mine.groupby("series"))))
    return str(mine[mine["n"] == at].groupby("series")["mse"].mean().idxmin())


def halves(table: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Even and odd trials: what is chosen by the one half is judged by the other."""
    return table[table["trial"] % 2 == 0], table[table["trial"] % 2 == 1]


def counted(names: Mapping[str, str]) -> str:
    """Such as "bank λ = 4, year λ = 8"."""
    return ", ".join(f"{name} {value}" for name, value in names.items())
