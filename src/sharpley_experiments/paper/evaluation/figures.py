"""The figures of the evaluation as exhibits: seven of the paper, and two beside them with methods of this library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sharpley_experiments.paper.constants import CANDIDATES, HERDED_ORDERINGS, SCALES
from sharpley_experiments.paper.evaluation import claims
from sharpley_experiments.paper.evaluation.draw import draw_curves, draw_scales, means_table
from sharpley_experiments.paper.evaluation.errors import errors
from sharpley_experiments.paper.evaluation.models import NETWORK, RAW_NETWORK, TREES
from sharpley_experiments.paper.evaluation.scale_claims import about_scales
from sharpley_experiments.paper.evaluation.series import (
    BEYOND_THE_PAPER,
    ON_ORDERINGS,
    WITHOUT_ORDERINGS,
    by_code,
    scaled,
    with_candidates,
)
from sharpley_experiments.paper.exhibits import Exhibit

EXISTING_SERIES = ("monte-carlo", "antithetic", *WITHOUT_ORDERINGS)
PROPOSED_SERIES = ("antithetic", "orthogonal", "sobol", "herding", "sbq")
OUR_SERIES = ("antithetic", "orthogonal", *BEYOND_THE_PAPER)
KERNEL_SERIES = ("mallows", "kendall", "spearman", ON_ORDERINGS)
HOW_NETWORKS_ARE_MADE = (
    "The paper does not say how their inputs were prepared: here are networks with standardised inputs (and targets), "
    "which decide, and with raw numbers. Where the exact values are not known, errors are those against the mean of a "
    "method's own trials, as in the paper."
)


def _curves(
    name: str,
    source: str,
    title: str,
    paper: str,
    series: Sequence[str],
    *,
    kinds: Sequence[str] = (TREES,),
    also: Sequence[str] = (),
    findings: Any = None,
) -> Exhibit:
    """Errors against marginal evaluations; ``also`` are methods that are measured for claims, but not drawn."""
    measured = dict.fromkeys([*series, *(by_code(line) for line in series), *also])
    is_ours = not source
    return Exhibit(
        name,
        title,
        paper,
        partial(errors, kinds=kinds, series=tuple(measured), as_far_as_ours=is_ours),
        draw=partial(draw_curves, title=title, series=series),
        tabulate=partial(means_table, series=series),
        source=source,
        **({} if findings is None else {"findings": findings}),
    )


def _scales(name: str, source: str, title: str, paper: str, kind: str) -> Exhibit:
    series = tuple(scaled(scale) for scale in SCALES)
    return Exhibit(
        name,
        title,
        paper,
        partial(errors, kinds=(kind,), series=series, only=HERDED_ORDERINGS),
        draw=partial(draw_scales, title=title),
        tabulate=partial(means_table, series=series),
        findings=partial(about_scales, kind="Trees" if kind == TREES else "Networks"),
        source=source,
    )


CURVES: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (
        _curves(
            "existing-gbdt",
            "Figure 9",
            "Existing algorithms, boosted trees",
            "Among the existing algorithms, antithetic sampling has the lowest error on all six data sets. The text "
            "and the authors' early code count differently what a marginal evaluation costs, so Owen's methods and "
            "stratified sampling are shown both ways. The paper's stratified sampling is Castro's.",
            EXISTING_SERIES,
            findings=claims.about_existing,
        ),
        _curves(
            "proposed-gbdt",
            "Figure 10",
            "Proposed algorithms, boosted trees",
            "Herding and SBQ do well with few players and fall behind antithetic sampling on adult and year; "
            "orthogonal sampling overtakes antithetic sampling everywhere as n grows; Sobol' sampling falls behind "
            "antithetic sampling on four of the six data sets.",
            PROPOSED_SERIES,
            also=("monte-carlo",),
            findings=claims.about_proposed,
        ),
        _curves(
            "proposed-mlp",
            "Figure 11",
            "Proposed algorithms, neural networks",
            "Similar to trees: herding and SBQ converge quickly with few players, orthogonal sampling beats antithetic "
            f"sampling throughout, and differences are smaller on adult. {HOW_NETWORKS_ARE_MADE}",
            PROPOSED_SERIES,
            kinds=(NETWORK, RAW_NETWORK),
            also=("monte-carlo",),
            findings=claims.about_networks,
        ),
        _scales(
            "lambda-gbdt",
            "Figure 13",
            "Scale of the Mallows kernel, boosted trees",
            "Error of 100 herded orderings for several λ: no value is best throughout, and λ = 4 is a compromise.",
            TREES,
        ),
        _scales(
            "lambda-mlp",
            "Figure 14",
            "Scale of the Mallows kernel, neural networks",
            "As for trees: no λ is best throughout. Here with standardised inputs alone, and 100 orderings on all data "
            "sets.",
            NETWORK,
        ),
        _curves(
            "argmax-samples",
            "Figure 16",
            "Candidates of herding, boosted trees",
            "5 to 10 candidates are too few; there is little difference between 25 and 50.",
            tuple(with_candidates(count) for count in CANDIDATES),
            findings=claims.about_candidates,
        ),
        _curves(
            "kernels",
            "Figure 17",
            "Kernels of herding, boosted trees",
            "The Mallows kernel is best, or within the interval of the best, on all six data sets; Kendall's lags "
            "behind on make_regression and cal_housing; Spearman's is clearly worse than both. The text defines "
            "Spearman's kernel on ranks; the authors' early repository computes it on orderings. Both are shown.",
            KERNEL_SERIES,
            also=("monte-carlo",),
            findings=claims.about_kernels,
        ),
        _curves(
            "ours-gbdt",
            "",
            "Beyond the paper: methods of this library, boosted trees",
            "It has no such figure: permutation designs, regression and gp are methods of this library. Antithetic and "
            "orthogonal sampling are shown for comparison.",
            OUR_SERIES,
        ),
        _curves(
            "ours-mlp",
            "",
            "Beyond the paper: methods of this library, neural networks",
            "It has no such figure. As for trees; networks with standardised inputs. Methods that may be biased are "
            "compared with the mean of all others where the exact values are not known.",
            OUR_SERIES,
            kinds=(NETWORK,),
        ),
    )
}
