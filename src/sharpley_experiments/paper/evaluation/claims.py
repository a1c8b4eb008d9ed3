"""The paper's claims about its evaluation, judged from the measured errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley_experiments.paper.constants import SCALES
from sharpley_experiments.paper.evaluation.compare import (
    Judge,
    above_one,
    away_from_one,
    below_one,
    best_of,
    counted,
    datasets_of,
    finding,
    halves,
    hardly_above_one,
    hardly_below_one,
    having,
    named,
    near_one,
    not_above_one,
    versus,
)
from sharpley_experiments.paper.evaluation.series import scaled
from sharpley_experiments.paper.exhibits import Finding, Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

LOW_DIMENSIONAL_DATASETS = ("cal_housing", "make_regression")
HIGH_DIMENSIONAL_DATASETS = ("adult", "year")
MAX_ERROR_OVER_BEST = 1.5  # error of λ = 4 divided by that of the best λ
MIN_TRIALS_TO_SPLIT = 4  # two in each half


def about_existing(table: DataFrame) -> list[Finding]:
    """Antithetic sampling compared with each of the other existing methods."""
    others = ("monte-carlo", "owen", "owen-halved", "stratified")
    return [
        _better(
            table, having(table, other), "antithetic", other, f"Antithetic sampling has a lower error than {other}."
        )
        for other in others
    ]


def about_proposed(table: DataFrame) -> list[Finding]:
    """The paper's claims about its own methods."""
    names = datasets_of(table)
    few, many = _of(names, LOW_DIMENSIONAL_DATASETS), _of(names, HIGH_DIMENSIONAL_DATASETS)
    greedy, others = ("herding", "sbq"), ("antithetic", "orthogonal", "sobol")
    rest = [name for name in names if name not in LOW_DIMENSIONAL_DATASETS]
    lost = "on cal_housing and make_regression"
    return [
        *(
            _better(table, few, one, other, f"With few players, {one} does better than {other}.")
            for one in greedy
            for other in others
        ),
        *(_better(table, many, "antithetic", one, f"Antithetic beats {one} on adult and year.") for one in greedy),
        _better(table, few, "sbq", "herding", "Where they do well, SBQ does better than herding."),
        _better(table, names, "orthogonal", "antithetic", "Orthogonal sampling improves over antithetic as n grows."),
        finding(
            "Orthogonal sampling is similar to antithetic for a small number of samples.",
            [versus(table, name, "orthogonal", "antithetic", choose=min) for name in names],
            near_one,
            away_from_one,
            "orthogonal / antithetic",
        ),
        _four_of_six(table),
        _better(table, rest, "orthogonal", "sobol", "Orthogonal sampling does better than Sobol' on the other four."),
        _judged(table, few, "orthogonal", "sobol", above_one, hardly_above_one, f"Orthogonal loses to Sobol' {lost}."),
        _judged(table, few, "orthogonal", "sobol", near_one, away_from_one, f"The difference {lost} is very small."),
    ]  # fmt: skip


def about_networks(table: DataFrame) -> list[Finding]:
    """The paper's claims about its own methods for neural networks."""
    names = datasets_of(table)
    few = _of(names, LOW_DIMENSIONAL_DATASETS)
    return [
        *(
            _better(
                table, few, one, "antithetic", f"Networks: with few players, {one} converges faster than antithetic."
            )
            for one in ("herding", "sbq")
        ),
        _better(table, names, "orthogonal", "antithetic", "Networks: orthogonal outperforms antithetic throughout."),
        _better(table, names, "orthogonal", "sobol", "Networks: orthogonal sampling is preferable to Sobol'."),
    ]


def _of(names: list[str], wanted: tuple[str, ...]) -> list[str]:
    return [name for name in wanted if name in names]


def _judged(
    table: DataFrame, names: list[str], one: str, other: str, holds: Judge, fails: Judge, claim: str
) -> Finding:
    return finding(claim, [versus(table, name, one, other) for name in names], holds, fails, f"{one} / {other}")


def _better(table: DataFrame, names: list[str], one: str, other: str, claim: str) -> Finding:
    return _judged(table, names, one, other, below_one, hardly_below_one, claim)


def _four_of_six(table: DataFrame) -> Finding:
    """Holds if it is exactly four data sets, in part if two or more; undecided if it could still be four."""
    compared = [versus(table, name, "sobol", "antithetic") for name in datasets_of(table)]
    worse = sum(above_one(one.ratio) for one in compared)
    unclear = sum(not above_one(one.ratio) and not below_one(one.ratio) for one in compared)
    found: Verdict = "holds" if worse == 4 else "holds in part" if worse >= 2 else "does not hold"
    if found == "does not hold" and worse + unclear >= 4:
        found = "undecided"
    evidence = "sobol / antithetic: " + "; ".join(map(str, compared))
    return Finding("Sobol' falls behind antithetic sampling on four of six data sets.", found, evidence)


def about_scales(table: DataFrame, kind: str) -> list[Finding]:
    """Whether one λ is best throughout, and how much larger the error of λ = 4 is than that of the best.

    One half of the trials selects the best λ of a data set, and the other half compares it with the others: if the same
    trials did both, the λ that was luckiest in them would be called the best.
    """
    claims = (
        f"{kind}: no λ is best throughout.",
        f"{kind}: λ = 4 has at most {MAX_ERROR_OVER_BEST} times the error of the best λ.",
    )
    if table.groupby("dataset")["trial"].nunique().min() < MIN_TRIALS_TO_SPLIT:
        return [Finding(claim, "undecided", f"fewer than {MIN_TRIALS_TO_SPLIT} trials") for claim in claims]
    found, judged = halves(table)
    series = [scaled(scale) for scale in SCALES]
    best = {name: best_of(found, name, series) for name in datasets_of(table)}
    ruled_out = {
        line: [name for name in best if above_one(versus(judged, name, line, best[name]).ratio)] for line in series
    }
    everywhere = len(set(best.values())) == 1
    spread: Verdict = "does not hold" if everywhere else "holds" if all(ruled_out.values()) else "undecided"
    still = ", ".join(line for line in series if not ruled_out[line]) or "none"
    shown = counted({named(table, name): line for name, line in best.items()})
    evidence = f"best: {shown}; not clearly worse anywhere: {still}"
    return [
        Finding(claims[0], spread, evidence),
        finding(
            claims[1],
            [versus(judged, name, scaled(4), line) for name, line in best.items()],
            lambda ratio: ratio.high <= MAX_ERROR_OVER_BEST,
            lambda ratio: ratio.low > MAX_ERROR_OVER_BEST,
            "λ = 4 / best",
        ),
    ]


def about_candidates(table: DataFrame) -> list[Finding]:
    """5 and 10 candidates compared with 25, and 25 compared with 50."""
    names = datasets_of(table)
    enough = "25 candidates"
    too_few = [
        _judged(
            table, names, f"{few} candidates", enough, above_one, hardly_above_one, f"{few} candidates are too few."
        )
        for few in (5, 10)
    ]
    claim = "There is little difference between 25 and 50 candidates."
    return [*too_few, _judged(table, names, enough, "50 candidates", near_one, away_from_one, claim)]


def about_kernels(table: DataFrame) -> list[Finding]:
    """The Mallows kernel compared with the other kernels."""
    names = datasets_of(table)
    few = _of(names, LOW_DIMENSIONAL_DATASETS)
    rest = [name for name in names if name not in LOW_DIMENSIONAL_DATASETS]
    lags = "Kendall's kernel lags behind on cal_housing and make_regression."
    keeps_up = "Kendall's kernel does as well as the Mallows kernel on the other four."
    return [
        *(
            _judged(
                table, names, "mallows", other, not_above_one, above_one,
                f"The Mallows kernel does at least as well as {other.title()}'s.",
            )
            for other in ("kendall", "spearman")
        ),
        _judged(table, few, "kendall", "mallows", above_one, hardly_above_one, lags),
        _judged(table, rest, "kendall", "mallows", not_above_one, above_one, keeps_up),
        *(
            _judged(
                table, names, "spearman", other, above_one, hardly_above_one,
                f"Spearman's kernel (of ranks, see the errata) is clearly worse than {whose}.",
            )
            for other, whose in (("mallows", "the Mallows kernel"), ("kendall", "Kendall's"))
        ),
    ]  # fmt: skip
