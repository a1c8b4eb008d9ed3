"""The paper's claims about its evaluation, judged from the measured errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley.experiments.curves.compare import (
    LITTLE,
    above_one,
    below_one,
    best_of,
    datasets_of,
    finding,
    hardly_above_one,
    hardly_below_one,
    has,
    not_above_one,
    shown,
    verdict,
    versus,
)
from sharpley.experiments.curves.series import SCALES, scaled
from sharpley.experiments.exhibits import Finding

if TYPE_CHECKING:
    from pandas import DataFrame

LOW_DIMENSIONAL = ("cal_housing", "make_regression")
HIGH_DIMENSIONAL = ("adult", "year")


def about_existing(table: DataFrame) -> list[Finding]:
    """Antithetic sampling against each of the others."""
    out = []
    for other in ("monte-carlo", "owen", "owen-halved", "stratified"):
        names = [name for name in datasets_of(table) if has(table, name, other)]
        ratios = {name: versus(table, name, "antithetic", other) for name in names}
        claim = f"Antithetic sampling has a lower error than {other} on all data sets."
        out.append(finding(claim, ratios, below_one, hardly_below_one, f"antithetic / {other}"))
    return out


def about_proposed(table: DataFrame) -> list[Finding]:
    """What the paper says of its own methods."""
    names = datasets_of(table)
    few, many = ([name for name in group if name in names] for group in (LOW_DIMENSIONAL, HIGH_DIMENSIONAL))
    return [
        *(_against(table, few, one, "antithetic", f"{one} does better than antithetic sampling with few players.")
          for one in ("herding", "sbq")),
        *(
            _against(table, many, "antithetic", one, f"Antithetic sampling does better than {one} on adult and year.")
            for one in ("herding", "sbq")
        ),
        _against(table, few, "sbq", "herding", "SBQ does better than herding with few players."),
        _against(table, names, "orthogonal", "antithetic", "Orthogonal sampling beats antithetic at larger n."),
        _four_of_six(table),
        _against(
            table,
            [name for name in names if name not in LOW_DIMENSIONAL],
            "orthogonal",
            "sobol",
            "Orthogonal sampling does better than Sobol' on all but cal_housing and make_regression.",
        ),
    ]  # fmt: skip


def about_networks(table: DataFrame) -> list[Finding]:
    """The same for neural networks."""
    names = datasets_of(table)
    few = [name for name in LOW_DIMENSIONAL if name in names]
    claim = "Networks: orthogonal sampling does better than antithetic sampling throughout."
    return [
        *(
            _against(table, few, one, "antithetic", f"Networks: {one} converges faster than antithetic, few players.")
            for one in ("herding", "sbq")
        ),
        _against(table, names, "orthogonal", "antithetic", claim),
        _against(table, names, "orthogonal", "sobol", "Networks: orthogonal sampling is preferable to Sobol'."),
    ]


def _against(table: DataFrame, names: list[str], one: str, other: str, claim: str) -> Finding:
    ratios = {name: versus(table, name, one, other) for name in names}
    return finding(claim, ratios, below_one, hardly_below_one, f"{one} / {other} at the largest common n")


def _four_of_six(table: DataFrame) -> Finding:
    ratios = {name: versus(table, name, "sobol", "antithetic") for name in datasets_of(table)}
    worse, better = (sum(map(judge, ratios.values())) for judge in (above_one, below_one))
    evidence = "sobol / antithetic: " + ", ".join(f"{name} {shown(ratio)}" for name, ratio in ratios.items())
    claim = "Sobol' falls behind antithetic sampling on four of six data sets."
    return Finding(claim, verdict(worse, better, 4), evidence)


def about_scales(table: DataFrame) -> list[Finding]:
    """Whether one λ is best throughout, and what λ = 4 costs against the best."""
    names = datasets_of(table)
    series = [scaled(scale) for scale in SCALES]
    best = {name: best_of(table, name, series) for name in names}
    evidence = "best: " + ", ".join(f"{name} {value}" for name, value in best.items())
    spread = Finding("No λ is best throughout.", "holds" if len(set(best.values())) > 1 else "does not hold", evidence)
    ratios = {name: versus(table, name, scaled(4), best[name]) for name in names}
    fair = finding(
        "λ = 4 performs acceptably: no clearly better λ, or a quarter at most.",
        ratios,
        lambda ratio: ratio.low <= 1.0 or ratio.value <= 1.25,
        lambda ratio: ratio.low > 1.0 and ratio.value > 1.25,
        "λ = 4 / best",
    )
    return [spread, fair]


def about_candidates(table: DataFrame) -> list[Finding]:
    """5 and 10 against 25 candidates, and 25 against 50."""
    names = datasets_of(table)
    out = []
    for few in (5, 10):
        ratios = {name: versus(table, name, f"{few} candidates", "25 candidates") for name in names}
        out.append(
            finding(
                f"{few} candidates are too few.",
                ratios,
                above_one,
                hardly_above_one,
                f"{few} / 25 candidates, largest n",
            )
        )
    ratios = {name: versus(table, name, "25 candidates", "50 candidates") for name in names}
    little = {name: ratio for name, ratio in ratios.items() if ratio.low <= 1.0 or abs(ratio.value - 1.0) <= LITTLE}
    evidence = "25 / 50 candidates, largest n: " + ", ".join(f"{name} {shown(ratio)}" for name, ratio in ratios.items())
    judged = verdict(len(little), len(ratios) - len(little), len(ratios))
    return [*out, Finding("There is little difference between 25 and 50 candidates.", judged, evidence)]


def about_kernels(table: DataFrame) -> list[Finding]:
    """Mallows against the other kernels."""
    names = datasets_of(table)
    out = []
    for other in ("kendall", "spearman"):
        ratios = {name: versus(table, name, "mallows", other) for name in names}
        claim = f"The Mallows kernel does at least as well as {other.title()}'s."
        out.append(finding(claim, ratios, not_above_one, above_one, f"mallows / {other}"))
    lagging = {name: versus(table, name, "kendall", "mallows") for name in LOW_DIMENSIONAL if name in names}
    out.append(
        finding(
            "Kendall's kernel lags on cal_housing and make_regression.",
            lagging,
            above_one,
            hardly_above_one,
            "kendall / mallows",
        )
    )
    for other in ("mallows", "kendall"):
        ratios = {name: versus(table, name, "spearman", other) for name in names}
        claim = f"Spearman's kernel (of ranks, see the errata) is clearly worse than {other.title()}'s."
        out.append(finding(claim, ratios, above_one, hardly_above_one, f"spearman / {other}"))
    return out
