"""The paper's claims about images, judged from the measured errors and times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sharpley_experiments.common.intervals import Interval, ratio_interval
from sharpley_experiments.paper.evaluation.compare import above_one, below_one, hardly_below_one, shown
from sharpley_experiments.paper.exhibits import Finding, verdict
from sharpley_experiments.paper.images.errors import errors_of, images_of
from sharpley_experiments.paper.images.networks import DIGITS

if TYPE_CHECKING:
    from pandas import DataFrame

FEWEST_TRIALS = 5
TILES, ORDERINGS = 256, 100  # of the paper


def about_errors(table: DataFrame) -> list[Finding]:
    """The claims about the figure of images."""
    proposed = ("herding", "orthogonal", "sbq")
    return [
        _lowest(table, "sobol"),
        *(
            _judged(table, one, "monte-carlo", below_one, above_one, f"Images: {one} beats plain Monte Carlo.")
            for one in proposed
        ),
        *(
            _judged(
                table, one, "antithetic", hardly_below_one, below_one,
                f"Images: {one} is not significantly better than antithetic sampling.",
            )
            for one in proposed
        ),
    ]  # fmt: skip


def not_judged(table: DataFrame, claim: str) -> Finding | None:
    """No verdict from fewer than five trials, or from digits and a tiny network in place of photographs."""
    trials = table["trial"].nunique()
    if table["network"].iloc[0] == DIGITS:
        return Finding(claim, "undecided", "not judged: digits and a tiny network stand in for photographs")
    return None if trials >= FEWEST_TRIALS else Finding(claim, "undecided", f"not judged at this size: {trials} trials")


def at_size(table: DataFrame, found: Finding) -> Finding:
    """Return a finding if the run was as large as the paper's; otherwise its evidence alone, without a verdict."""
    d, n = (int(table[column].iloc[0]) for column in ("d", "n"))
    if (d, n) == (TILES, ORDERINGS):
        return found
    smaller = f"not judged at this size, {d} tiles and {n} orderings instead of {TILES} and {ORDERINGS}"
    return Finding(found.claim, "undecided", f"{smaller}: {found.evidence}")


def _lowest(table: DataFrame, one: str) -> Finding:
    """An image agrees if the method is significantly better than the next best, and contradicts if another is."""
    claim = f"Images: {one} has the lowest error estimate on all images."
    if (missing := not_judged(table, claim)) is not None:
        return missing
    agree = against = 0
    evidence = []
    for image in images_of(table):
        means = table[table["image"] == image].groupby("series")["mse"].mean()
        rival = str(means.drop(one).idxmin())
        ratio = ratio_interval(errors_of(table, image, one), errors_of(table, image, rival))
        agree, against = agree + below_one(ratio), against + above_one(ratio)
        evidence.append(f"{image} {shown(ratio)} of {rival}, the {'next best' if ratio.value < 1 else 'lowest'}")
    count = len(evidence)
    judged = verdict(agree, against, count - agree - against)
    return at_size(table, Finding(claim, judged, "; ".join(evidence)))


def _judged(
    table: DataFrame,
    one: str,
    other: str,
    holds: Callable[[Interval], bool],
    fails: Callable[[Interval], bool],
    claim: str,
) -> Finding:
    if (missing := not_judged(table, claim)) is not None:
        return missing
    ratios = {i: ratio_interval(errors_of(table, i, one), errors_of(table, i, other)) for i in images_of(table)}
    good = sum(holds(ratio) for ratio in ratios.values())
    bad = sum(fails(ratio) and not holds(ratio) for ratio in ratios.values())
    evidence = f"{one} / {other}: " + "; ".join(f"{image} {shown(ratio)}" for image, ratio in ratios.items())
    return at_size(table, Finding(claim, verdict(good, bad, len(ratios) - good - bad), evidence))
