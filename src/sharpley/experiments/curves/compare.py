"""Who is better where: ratios of mean errors, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sharpley.experiments.exhibits import Finding, Verdict
from sharpley.experiments.intervals import Interval, ratio_interval

if TYPE_CHECKING:
    from pandas import DataFrame

LITTLE = 0.1  # a difference of at most a tenth


def chosen_reference(table: DataFrame) -> DataFrame:
    """Errors against exact values where these are known, else against the mean over trials."""
    known = set(table[table["reference"] == "exact"]["dataset"])
    return table[(table["reference"] == "exact") | ~table["dataset"].isin(known)]


def versus(table: DataFrame, dataset: str, one: str, other: str, n: int | None = None) -> Interval:
    """Error of one line over the other's on a data set, at n orderings or at the most that both have."""
    mine = chosen_reference(table)
    mine = mine[mine["dataset"] == dataset]
    a, b = mine[mine["series"] == one], mine[mine["series"] == other]
    at = max(set(a["n"]) & set(b["n"])) if n is None else n
    return ratio_interval(a[a["n"] == at]["mse"].to_numpy(), b[b["n"] == at]["mse"].to_numpy())


def datasets_of(table: DataFrame) -> list[str]:
    """Data sets in the order of the table."""
    return list(dict.fromkeys(table["dataset"]))


def has(table: DataFrame, dataset: str, series: str) -> bool:
    """Whether a line is there."""
    return bool(((table["dataset"] == dataset) & (table["series"] == series)).any())


def shown(ratio: Interval) -> str:
    """A ratio with its interval."""
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def finding(
    claim: str,
    ratios: dict[str, Interval],
    holds: Callable[[Interval], bool],
    fails: Callable[[Interval], bool],
    what: str,
) -> Finding:
    """Judge a claim on several data sets: it holds where its interval says so, fails where the interval excludes it."""
    good = [name for name, ratio in ratios.items() if holds(ratio)]
    bad = [name for name, ratio in ratios.items() if fails(ratio) and not holds(ratio)]
    evidence = f"{what}: " + ", ".join(f"{name} {shown(ratio)}" for name, ratio in ratios.items())
    return Finding(claim, verdict(len(good), len(bad), len(ratios)), evidence)


def verdict(good: int, bad: int, total: int) -> Verdict:
    """It holds everywhere, nowhere, in between, or there is nowhere that it is decided."""
    if good == total:
        return "holds"
    if good:
        return "holds in part"
    return "does not hold" if bad else "undecided"


def below_one(ratio: Interval) -> bool:
    """Clearly better."""
    return ratio.high < 1.0


def above_one(ratio: Interval) -> bool:
    """Clearly worse."""
    return ratio.low > 1.0


def hardly_below_one(ratio: Interval) -> bool:
    """Not better by more than a little."""
    return ratio.low > 1.0 - LITTLE


def hardly_above_one(ratio: Interval) -> bool:
    """Not worse by more than a little."""
    return ratio.high < 1.0 + LITTLE


def not_above_one(ratio: Interval) -> bool:
    """Better, or no different."""
    return ratio.low <= 1.0


def best_of(table: DataFrame, dataset: str, series: Sequence[str], n: int | None = None) -> str:
    """The line with the lowest mean error at n orderings, or at the most that all have."""
    mine = chosen_reference(table)
    mine = mine[(mine["dataset"] == dataset) & mine["series"].isin(series)]
    common = set.intersection(*(set(group["n"]) for _, group in mine.groupby("series")))
    at = max(common) if n is None else n
    return str(mine[mine["n"] == at].groupby("series")["mse"].mean().idxmin())
