"""Whether the errors of the methods lie closer together with networks than with trees (the paper's Section 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley_experiments.common.intervals import Interval, difference_interval
from sharpley_experiments.paper.evaluation.compare import IN_RANGE, chosen_reference, named, shown
from sharpley_experiments.paper.evaluation.errors import errors
from sharpley_experiments.paper.evaluation.figures import PROPOSED_SERIES
from sharpley_experiments.paper.evaluation.models import NETWORK, RAW_NETWORK, TREES
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding
from sharpley_experiments.paper.rules import FEWEST_TRIALS, LOWER, judged

if TYPE_CHECKING:
    from pandas import DataFrame

EXAMPLE = "adult"  # the paper's


def compute(context: Context) -> DataFrame:
    """One row for each model and data set: the spread of the proposed methods, from the cells of the other figures."""
    parts = [errors(context, kinds=(kind,), series=PROPOSED_SERIES) for kind in (TREES, NETWORK, RAW_NETWORK)]
    return spreads(parts)


def spreads(parts: list[DataFrame]) -> DataFrame:
    """Standard deviation over methods of log10 of the mean error, averaged over the n of the paper's range."""
    from pandas import DataFrame

    rows = []
    for part in parts:
        groups = chosen_reference(part).groupby(["kind", "dataset", "experiment"], sort=False)
        for (kind, name, experiment), mine in groups:
            d = int(mine["d"].iloc[0])
            means = mine.groupby(["n", "series"])["mse"].mean().unstack("series")[list(PROPOSED_SERIES)].dropna()
            means = means[[IN_RANGE.includes(int(n), d) for n in means.index]]
            spread = float(np.log10(means).std(axis=1, ddof=1).mean())
            facts = {"kind": kind, "dataset": name, "data_rows": mine["data_rows"].iloc[0], "d": d}
            rows.append({**facts, "experiment": experiment, "trials": mine["trial"].nunique(), "spread": spread})
    return DataFrame(rows)


def _ratio(table: DataFrame, dataset: str, kind: str) -> Interval:
    """Spread with a kind of networks / spread with trees: geometric means over experiments."""
    logs = [
        np.log(table[(table["dataset"] == dataset) & (table["kind"] == one)]["spread"].to_numpy())
        for one in (kind, TREES)
    ]
    gap = difference_interval(*logs)
    return Interval(*(float(np.exp(value)) for value in gap))


def findings(table: DataFrame) -> list[Finding]:
    """The claim is about some data sets, with adult as the example."""
    claim = "With networks, results are more tightly clustered than with trees on some data sets, such as adult."
    trials = int((table["trials"] * table.groupby(["kind", "dataset"])["experiment"].transform("nunique")).min())
    if trials < FEWEST_TRIALS:
        return [Finding(claim, "not judged", f"not judged at this size: {trials} trials")]
    names = list(dict.fromkeys(table["dataset"]))
    ratios = {name: [_ratio(table, name, kind) for kind in (NETWORK, RAW_NETWORK)] for name in names}
    rows = tuple((named(table, name), *map(shown, both)) for name, both in ratios.items())
    what = "spread of the errors of the five methods (standard deviation of their logarithms) / that with trees"
    head = ("data set", "standardised inputs", "raw inputs")
    return [
        Finding(claim, judged([ratios[EXAMPLE][0]], LOWER), f"{what}; adult decides", Details(head, rows), LOWER.words)
    ]


def tabulate(table: DataFrame) -> DataFrame:
    """Mean spreads."""
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "data set": named(mine, str(name)),
                **{
                    label: f"{mine[mine['kind'] == kind]['spread'].mean():.2f}"
                    for kind, label in ((TREES, "trees"), (NETWORK, "networks"), (RAW_NETWORK, "networks, raw inputs"))
                },
            }
            for name, mine in table.groupby("dataset", sort=False)
        ]
    )


CLUSTERING = Exhibit(
    "clustering",
    "Spread of the methods' errors with trees and with networks",
    "For some data sets, such as adult, the results for networks are more tightly clustered than for trees, perhaps "
    "because a single hidden layer has fewer interactions of high order. The table shows the standard deviation over "
    "the five methods of the decimal logarithm of their errors.",
    compute,
    tabulate=tabulate,
    findings=findings,
    source="Section 5.3",
)
