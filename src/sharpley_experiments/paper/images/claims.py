"""The paper's claims about images, judged from the measured errors and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley_experiments.common.intervals import Interval, ratio_interval
from sharpley_experiments.paper.evaluation.compare import shown
from sharpley_experiments.paper.exhibits import Details, Finding
from sharpley_experiments.paper.images.errors import errors_of, images_of
from sharpley_experiments.paper.images.networks import DIGITS
from sharpley_experiments.paper.rules import FEWEST_TRIALS, LOWER, Judge, judged

if TYPE_CHECKING:
    from pandas import DataFrame

TILES, ORDERINGS = 256, 100  # of the paper
JUDGED_BY = (
    "--preset images judges it: three minutes of one core for each method, trial and photograph, four hours in all"
)
NOT_LOWER = Judge(LOWER.contradicts, LOWER.agrees, f"the other way round: {LOWER.words}")


def about_errors(table: DataFrame) -> list[Finding]:
    """The claims about the figure of images."""
    proposed = ("herding", "orthogonal", "sbq")
    return [
        _lowest(table, "sobol"),
        *(_compared(table, one, "monte-carlo", LOWER, f"Images: {one} beats plain Monte Carlo.") for one in proposed),
        *(
            _compared(
                table,
                one,
                "antithetic",
                NOT_LOWER,
                f"Images: {one} is not significantly better than antithetic sampling.",
            )
            for one in proposed
        ),
    ]


def at_size(table: DataFrame, found: Finding) -> Finding:
    """Return a finding if the run was as large as the paper's; otherwise its numbers alone, without a verdict.

    Nothing is judged from few trials, from smaller images, or from digits and a tiny network in place of photographs.
    """
    d, n = int(table["d"].iloc[0]), int(table["n"].iloc[0])
    trials = int(table.groupby(["image", "series"])["trial"].nunique().min())
    if table["network"].iloc[0] == DIGITS:
        why = "digits and a tiny network stand in for photographs"
    elif trials < FEWEST_TRIALS:
        why = f"{trials} trials"
    elif (d, n) != (TILES, ORDERINGS):
        why = f"{d} tiles and {n} orderings instead of {TILES} and {ORDERINGS}"
    else:
        return found
    return found._replace(
        verdict="not judged", evidence=f"not judged at this size, {why}; {JUDGED_BY}; {found.evidence}"
    )


def _lowest(table: DataFrame, one: str) -> Finding:
    """An image agrees if the method is significantly better than the next best, and contradicts if another is."""
    ratios: dict[str, Interval] = {}
    rivals = []
    for image in images_of(table):
        means = table[table["image"] == image].groupby("series")["mse"].mean()
        rivals.append(str(means.drop(one).idxmin()))
        ratios[image] = ratio_interval(errors_of(table, image, one), errors_of(table, image, rivals[-1]))
    rows = [(image, rival, shown(ratios[image])) for image, rival in zip(ratios, rivals, strict=True)]
    return at_size(
        table,
        Finding(
            f"Images: {one} has the lowest error estimate on all images.",
            judged(list(ratios.values()), LOWER),
            f"error of {one} / error of the best other method",
            Details(("image", "best other method", "ratio"), tuple(rows)),
            LOWER.words,
        ),
    )


def _compared(table: DataFrame, one: str, other: str, judge: Judge, claim: str) -> Finding:
    ratios = {i: ratio_interval(errors_of(table, i, one), errors_of(table, i, other)) for i in images_of(table)}
    details = Details(("image", "ratio"), tuple((image, shown(ratio)) for image, ratio in ratios.items()))
    found = judged(list(ratios.values()), judge)
    return at_size(table, Finding(claim, found, f"error of {one} / error of {other}", details, judge.words))
