"""The paper's claims about its evaluation, judged from the measured errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley_experiments.paper.evaluation.compare import (
    BY_CODE,
    BY_TEXT,
    FEW,
    compare,
    datasets_of,
    finding,
    having,
    too_small,
    views_of,
)
from sharpley_experiments.paper.evaluation.series import CASTRO, ON_ORDERINGS, OUR_ALLOCATION
from sharpley_experiments.paper.exhibits import Finding, Verdict
from sharpley_experiments.paper.rules import AT_LEAST_AS_WELL, HIGHER, LOWER, SIMILAR

if TYPE_CHECKING:
    from pandas import DataFrame

LOW_DIMENSIONAL_DATASETS = ("cal_housing", "make_regression")
HIGH_DIMENSIONAL_DATASETS = ("adult", "year")


def about_existing(table: DataFrame) -> list[Finding]:
    """Antithetic sampling compared with each of the other existing methods, counted in both ways."""
    claim = "Antithetic sampling has a lower error than {}."
    found = [finding(table, claim.format("monte-carlo"), datasets_of(table), ("antithetic", "monte-carlo"), LOWER)]
    ways = (
        ("a marginal evaluation costs 1, as in the paper's text", BY_TEXT),
        ("evaluations of v cost 1/2, as in the authors' early code", BY_CODE),
    )
    for other in ("owen", "owen-halved", CASTRO):
        names = having(table, other)
        found += [
            finding(table, claim.format(f"{other} ({words})"), names, ("antithetic", other), LOWER, views)
            for words, views in ways
        ]
    return [*found, _allocations(table)]


def _allocations(table: DataFrame) -> Finding:
    """Not of the paper: what our allocation makes of stratified sampling."""
    claim = "Beside the paper: the library's allocation of stratified sampling compared with Castro's."
    return _as_remark(finding(table, claim, having(table, CASTRO), (OUR_ALLOCATION, CASTRO), LOWER, BY_TEXT))


def _as_remark(found: Finding) -> Finding:
    """Show a comparison that the paper does not make, without a verdict on the paper."""
    return found if found.verdict == "not judged" else found._replace(verdict="remark")


def about_proposed(table: DataFrame) -> list[Finding]:
    """The paper's claims about its own methods."""
    names = datasets_of(table)
    few, many = _of(names, LOW_DIMENSIONAL_DATASETS), _of(names, HIGH_DIMENSIONAL_DATASETS)
    greedy, others = ("herding", "sbq"), ("antithetic", "orthogonal", "sobol")
    rest = [name for name in names if name not in LOW_DIMENSIONAL_DATASETS]
    lost = "on cal_housing and make_regression"
    return [
        *(
            finding(table, f"With few players, {one} does better than {other}.", few, (one, other), LOWER)
            for one in greedy
            for other in others
        ),
        *(
            finding(table, f"Antithetic beats {one} on adult and year.", many, ("antithetic", one), LOWER)
            for one in greedy
        ),
        finding(table, "Where they do well, SBQ does better than herding.", few, ("sbq", "herding"), LOWER),
        *_orthogonal(table, "", names),
        finding(
            table,
            "Orthogonal sampling is similar to antithetic for a small number of samples.",
            names,
            ("orthogonal", "antithetic"),
            SIMILAR,
            (FEW,),
        ),
        _four_of_six(table),
        finding(table, "Orthogonal does better than Sobol' on the other four.", rest, ("orthogonal", "sobol"), LOWER),
        finding(table, f"Orthogonal loses to Sobol' {lost}.", few, ("orthogonal", "sobol"), HIGHER),
        finding(table, f"The difference {lost} is very small.", few, ("orthogonal", "sobol"), SIMILAR),
    ]


def _orthogonal(table: DataFrame, prefix: str, names: list[str]) -> list[Finding]:
    return [
        finding(
            table,
            f"{prefix}Orthogonal sampling improves over antithetic as n grows, on all data sets.",
            names,
            ("orthogonal", "antithetic"),
            LOWER,
        ),
        finding(
            table,
            f"{prefix}Orthogonal sampling is more accurate than plain Monte Carlo in all evaluations.",
            names,
            ("orthogonal", "monte-carlo"),
            LOWER,
        ),
    ]


def about_networks(table: DataFrame) -> list[Finding]:
    """The paper's claims about its own methods for neural networks."""
    names = datasets_of(table)
    few = _of(names, LOW_DIMENSIONAL_DATASETS)
    return [
        *(
            finding(
                table,
                f"Networks: with few players, {one} converges faster than antithetic.",
                few,
                (one, "antithetic"),
                LOWER,
            )
            for one in ("herding", "sbq")
        ),
        *_orthogonal(table, "Networks: ", names),
        finding(table, "Networks: orthogonal sampling is preferable to Sobol'.", names, ("orthogonal", "sobol"), LOWER),
    ]


def _of(names: list[str], wanted: tuple[str, ...]) -> list[str]:
    return [name for name in wanted if name in names]


def _four_of_six(table: DataFrame) -> Finding:
    """Holds if it is certainly four; in part if at least two are, or more than four; undecided if it may be four."""
    claim = "Sobol' falls behind antithetic sampling on four of six data sets."
    if small := too_small(table):
        return Finding(claim, "not judged", small)
    compared = compare(table, datasets_of(table), "sobol", "antithetic", views_of(table))
    verdicts: dict[str, Verdict] = {}
    for view in compared.ratios:
        ratios = compared.in_view(view)
        behind = sum(HIGHER.agrees(ratio) for ratio in ratios)
        unclear = sum(not HIGHER.agrees(ratio) and not HIGHER.contradicts(ratio) for ratio in ratios)
        verdicts[view] = _exactly(4, behind, unclear)
    first, rule = next(iter(verdicts.values())), f"{HIGHER.words}; decided by the {next(iter(verdicts))}"
    return Finding(claim, first, "error of sobol / error of antithetic", compared.details(verdicts), rule)


def _exactly(count: int, sure: int, unclear: int) -> Verdict:
    if sure == count and not unclear:
        return "holds"
    if sure >= count / 2:
        return "holds in part"
    return "undecided" if sure + unclear >= count else "does not hold"


def about_candidates(table: DataFrame) -> list[Finding]:
    """5 and 10 candidates compared with 25, and 25 compared with 50."""
    names = datasets_of(table)
    enough = "25 candidates"
    return [
        *(
            finding(table, f"{few} candidates are too few.", names, (f"{few} candidates", enough), HIGHER)
            for few in (5, 10)
        ),
        finding(
            table,
            "There is little difference between 25 and 50 candidates.",
            names,
            (enough, "50 candidates"),
            SIMILAR,
        ),
    ]


def about_kernels(table: DataFrame) -> list[Finding]:
    """The Mallows kernel compared with the other kernels, Spearman's in both forms.

    The text defines Spearman's kernel on ranks. The authors' early repository computes it on orderings, which is
    another kernel, so the claim is judged for both.
    """
    names = datasets_of(table)
    few = _of(names, LOW_DIMENSIONAL_DATASETS)
    rest = [name for name in names if name not in LOW_DIMENSIONAL_DATASETS]
    lags = "Kendall's kernel lags behind on cal_housing and make_regression."
    effective = "Kendall's kernel is effective on the other four: herding with it has a lower error than Monte Carlo."
    worse = "Spearman's kernel ({}) is clearly outperformed by {}."
    forms = (("spearman", "on ranks, as the text has it"), (ON_ORDERINGS, "on orderings, as in the early repository"))
    return [
        *(
            finding(
                table,
                f"The Mallows kernel does at least as well as {other.title()}'s.",
                names,
                ("mallows", other),
                AT_LEAST_AS_WELL,
            )
            for other in ("kendall", "spearman")
        ),
        finding(table, lags, few, ("kendall", "mallows"), HIGHER),
        finding(table, effective, rest, ("kendall", "monte-carlo"), LOWER),
        *(
            finding(table, worse.format(words, whose), names, (form, other), HIGHER)
            for form, words in forms
            for other, whose in (("mallows", "the Mallows kernel"), ("kendall", "Kendall's"))
        ),
        _as_remark(
            finding(
                table,
                "Beside the paper: Spearman's kernel on orderings has the error of plain Monte Carlo.",
                names,
                (ON_ORDERINGS, "monte-carlo"),
                SIMILAR,
            )
        ),
    ]
