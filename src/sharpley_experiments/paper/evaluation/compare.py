"""Comparisons of methods on data sets: ratios of mean errors, pooled over numbers of orderings, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharpley_experiments.common.intervals import Interval, geometric_mean_interval
from sharpley_experiments.paper.constants import MAX_MARGINALS
from sharpley_experiments.paper.evaluation.models import NETWORK, RAW_NETWORK
from sharpley_experiments.paper.evaluation.series import by_code
from sharpley_experiments.paper.exhibits import Details, Finding, Verdict
from sharpley_experiments.paper.rules import FEWEST_TRIALS, Judge, judged
from sharpley_experiments.paper.tables.printed import DATA

if TYPE_CHECKING:
    from pandas import DataFrame

NOT_MEASURED = "–"


class View(NamedTuple):
    """A column of the evidence: which numbers of orderings, of which models, counted how."""

    name: str
    includes: Callable[[int, int], bool]
    """(n, d) -> whether this number of orderings belongs to the column."""
    choose: Callable[[Sequence[int]], Sequence[int]] = tuple
    """Selects among the numbers of orderings that belong."""
    counted: Callable[[str], str] = str
    """Method -> name of the line with which it takes part."""
    kind: str = ""
    """Kind of model; the table's first if empty."""


def _in_text(n: int, d: int) -> bool:
    return n * d <= MAX_MARGINALS


def _in_code(n: int, d: int) -> bool:
    return n * (d + 1) / 2 <= MAX_MARGINALS


def _larger_half(sizes: Sequence[int]) -> Sequence[int]:
    return sizes[len(sizes) // 2 :]


def _smaller_half(sizes: Sequence[int]) -> Sequence[int]:
    return sizes[: (len(sizes) + 1) // 2]


IN_RANGE = View(f"all n with n·d ≤ {MAX_MARGINALS:,}", _in_text)
AS_IN_CODE = View(f"all n with n(d + 1)/2 ≤ {MAX_MARGINALS:,}", _in_code)
BEYOND = View("beyond", lambda n, d: not _in_code(n, d))
FEW = IN_RANGE._replace(name=f"smaller half of n with n·d ≤ {MAX_MARGINALS:,}", choose=_smaller_half)
MANY = IN_RANGE._replace(name=f"larger half of n with n·d ≤ {MAX_MARGINALS:,}", choose=_larger_half)
LAST = IN_RANGE._replace(name=f"largest n with n·d ≤ {MAX_MARGINALS:,}", choose=lambda sizes: sizes[-1:])
BY_TEXT = (MANY, IN_RANGE, BEYOND)
BY_CODE = (
    AS_IN_CODE._replace(
        name=f"larger half of n with n(d + 1)/2 ≤ {MAX_MARGINALS:,}", choose=_larger_half, counted=by_code
    ),
    AS_IN_CODE._replace(counted=by_code),
    BEYOND._replace(counted=by_code),
)


def views_of(table: DataFrame) -> tuple[View, ...]:
    """Columns of the evidence of a table. The first one decides, for every claim of who wins or loses alike."""
    raw = MANY._replace(name=f"raw inputs, {MANY.name}", kind=RAW_NETWORK)
    return (MANY, *((raw,) if table["kind"].iloc[0] == NETWORK else ()), LAST, IN_RANGE, AS_IN_CODE, BEYOND)


def chosen_reference(table: DataFrame) -> DataFrame:
    """Select errors against the exact values where these are known, otherwise against the mean over trials."""
    known = set(table[table["reference"] == "exact"]["dataset"])
    return table[(table["reference"] == "exact") | ~table["dataset"].isin(known)]


def pooled(table: DataFrame, dataset: str, one: str, other: str, view: View) -> Interval | None:
    """Ratio of the errors of two methods, over the numbers of orderings of a view and all experiments.

    None if there is no number of orderings that both have.
    """
    mine = chosen_reference(table)
    kind = view.kind or table["kind"].iloc[0]
    lines = [view.counted(one), view.counted(other)]
    mine = mine[(mine["dataset"] == dataset) & (mine["kind"] == kind) & mine["series"].isin(lines)]
    if mine.empty:
        return None
    means = mine.groupby(["experiment", "n", "series"])["mse"].mean().unstack("series")
    d = int(mine["d"].iloc[0])
    if set(lines) - set(means):
        return None
    there = means[lines].dropna().index.get_level_values("n").unique().sort_values()
    sizes = list(view.choose([int(n) for n in there if view.includes(int(n), d)]))
    if not sizes:
        return None
    ratios = np.log(means[lines[0]] / means[lines[1]]).unstack("n")[sizes]
    return geometric_mean_interval(ratios.mean(axis=1).to_numpy())


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


def shown(ratio: Interval | None) -> str:
    """Format a ratio with its interval."""
    return NOT_MEASURED if ratio is None else f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def too_small(table: DataFrame) -> str:
    """Why nothing is judged from a table; empty if it can be."""
    experiments = table.groupby(["kind", "dataset"])["experiment"].nunique().min()
    trials = table.groupby(["kind", "dataset", "series"])[["experiment", "trial"]].apply(
        lambda part: len(part.drop_duplicates())
    )
    if trials.min() >= FEWEST_TRIALS and experiments >= 2:
        return ""
    return f"not judged at this size: {trials.min()} trials in {experiments} experiments"


class Compared(NamedTuple):
    """Two methods on several data sets, in several views."""

    names: list[str]
    """Data sets as shown."""
    ratios: dict[str, list[Interval | None]]
    """By view, one for each data set; the first view decides."""

    def in_view(self, name: str) -> list[Interval]:
        """Ratios that could be taken."""
        return [ratio for ratio in self.ratios[name] if ratio is not None]

    @property
    def deciding(self) -> list[Interval]:
        """Ratios of the first view."""
        return self.in_view(next(iter(self.ratios)))

    def details(self, verdicts: dict[str, Verdict]) -> Details:
        """Table of ratios, with the verdicts of the views below."""
        views = [view for view in self.ratios if self.in_view(view)]
        rows = [(name, *(shown(self.ratios[view][k]) for view in views)) for k, name in enumerate(self.names)]
        last = ("verdict", *(verdicts[view] for view in views))
        return Details(("data set", *views), (*rows, last))


def compare(table: DataFrame, names: Sequence[str], one: str, other: str, views: Sequence[View]) -> Compared:
    """Compare two methods on data sets, in each view."""
    ratios = {view.name: [pooled(table, name, one, other, view) for name in names] for view in views}
    return Compared([named(table, name) for name in names], ratios)


def finding(
    table: DataFrame, claim: str, names: Sequence[str], pair: tuple[str, str], judge: Judge, views: Sequence[View] = ()
) -> Finding:
    """Judge a claim about two methods on several data sets."""
    if small := too_small(table):
        return Finding(claim, "not judged", small)
    compared = compare(table, names, *pair, views or views_of(table))
    verdicts = {view: judged(compared.in_view(view), judge) for view in compared.ratios}
    first = next(iter(verdicts.values()))
    evidence = f"error of {pair[0]} / error of {pair[1]}"
    rule = f"{judge.words}; decided by the {next(iter(verdicts))}"
    return Finding(claim, first, evidence, compared.details(verdicts), rule)
