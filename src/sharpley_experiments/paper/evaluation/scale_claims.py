"""The paper's claims about the scale λ of the Mallows kernel, judged from the measured errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley_experiments.paper.constants import SCALES
from sharpley_experiments.paper.evaluation.compare import (
    View,
    chosen_reference,
    compare,
    datasets_of,
    named,
    shown,
    too_small,
)
from sharpley_experiments.paper.evaluation.series import scaled
from sharpley_experiments.paper.exhibits import Details, Finding, Verdict
from sharpley_experiments.paper.rules import HIGHER, at_most, judged

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_ERROR_OVER_BEST = 1.5  # error of λ = 4 divided by that of the best λ
HERDED = View("100 orderings", lambda n, d: True)


def about_scales(table: DataFrame, kind: str) -> list[Finding]:
    """Whether one λ is best throughout, and how much larger the error of λ = 4 is than that of the best.

    One half of the trials selects the best λ of a data set, and the other half compares it with the others: if the same
    trials did both, the λ that was luckiest in them would be called the best.
    """
    claims = (
        f"{kind}: no λ is best throughout.",
        f"{kind}: λ = 4 has at most {MAX_ERROR_OVER_BEST} times the error of the best λ.",
    )
    if small := too_small(table):
        return [Finding(claim, "not judged", small) for claim in claims]
    is_even = (table["trial"] + table["experiment"]) % 2 == 0
    selecting, judging = table[is_even], table[~is_even]
    series, names = [scaled(scale) for scale in SCALES], datasets_of(table)
    best = {name: _best(selecting, name) for name in names}
    ratios = {
        line: [compare(judging, [name], line, best[name], (HERDED,)).deciding[0] for name in names] for line in series
    }
    ruled_out = {line: any(HIGHER.agrees(ratio) for ratio in ratios[line]) for line in series}
    is_one = len(set(best.values())) == 1
    spread: Verdict = "does not hold" if is_one else "holds" if all(ruled_out.values()) else "undecided"
    still = ", ".join(line for line in series if not ruled_out[line]) or "none"
    rows = [
        (named(table, name), best[name], shown(ratio)) for name, ratio in zip(names, ratios[scaled(4)], strict=True)
    ]
    details = Details(("data set", "best λ", "error of λ = 4 / error of the best"), tuple(rows))
    within = judged(ratios[scaled(4)], at_most(MAX_ERROR_OVER_BEST))
    return [
        Finding(
            claims[0],
            spread,
            f"not clearly worse anywhere than the best: {still}",
            details,
            "holds if every λ is certainly worse than the best one on some data set, not if one λ is best on all",
        ),
        Finding(
            claims[1],
            within,
            "the best λ was chosen from the other half of the trials",
            details,
            at_most(MAX_ERROR_OVER_BEST).words,
        ),
    ]


def _best(table: DataFrame, dataset: str) -> str:
    """Series with the lowest geometric mean over experiments of the mean error."""
    mine = chosen_reference(table)
    means = mine[mine["dataset"] == dataset].groupby(["series", "experiment"])["mse"].mean()
    return str(np.log(means).groupby("series").mean().idxmin())
