"""How claims are judged: the one place for its limits. The page and the documentation print ``RULES``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.paper.constants import MAX_MARGINALS
from sharpley_experiments.paper.exhibits import Verdict

NEGLIGIBLE_GAIN = 0.1
"""A gain that is certainly smaller contradicts the claim that there is one."""
MARGIN = 1.25
"""Two errors are similar if their ratio is between 1/MARGIN and MARGIN; one does at least as well below MARGIN."""
FEWEST_TRIALS = 5
"""Trials of each method, over all experiments, below which nothing is judged."""


class Judge(NamedTuple):
    """Decides from the interval of a ratio whether it agrees with a claim, or contradicts it."""

    agrees: Callable[[Interval], bool]
    contradicts: Callable[[Interval], bool]
    words: str
    """The rule: where the interval of a ratio agrees, and where it contradicts."""


LOWER = Judge(
    lambda ratio: ratio.high < 1.0,
    lambda ratio: ratio.low > 1.0 - NEGLIGIBLE_GAIN,
    f"an interval below 1 agrees, above {1 - NEGLIGIBLE_GAIN:g} contradicts",
)
"""The first error is lower."""

HIGHER = Judge(
    lambda ratio: ratio.low > 1.0,
    lambda ratio: ratio.high < 1.0 + NEGLIGIBLE_GAIN,
    f"an interval above 1 agrees, below {1 + NEGLIGIBLE_GAIN:g} contradicts",
)
"""The first error is higher."""

SIMILAR = Judge(
    lambda ratio: ratio.low >= 1.0 / MARGIN and ratio.high <= MARGIN,
    lambda ratio: ratio.high < 1.0 / MARGIN or ratio.low > MARGIN,
    f"an interval within {1 / MARGIN:g} to {MARGIN:g} agrees, outside contradicts",
)
"""The errors are similar."""


def at_most(margin: float) -> Judge:
    """The first error is at most ``margin`` times the other."""
    return Judge(
        lambda ratio: ratio.high <= margin,
        lambda ratio: ratio.low > margin,
        f"an interval below {margin:g} agrees, above contradicts",
    )


AT_LEAST_AS_WELL = at_most(MARGIN)


def verdict(agree: int, against: int, undecided: int) -> Verdict:
    """Verdict on a claim from the numbers of comparisons that agree with it, contradict it, or are undecided.

    >>> verdict(6, 0, 0), verdict(3, 0, 3), verdict(2, 0, 4), verdict(2, 2, 2), verdict(1, 2, 3)
    ('holds', 'holds in part', 'undecided', 'holds in part', 'does not hold')
    """
    if against:
        return "holds in part" if agree >= against else "does not hold"
    if agree < undecided or not agree:
        return "undecided"
    return "holds in part" if undecided else "holds"


def judged(ratios: Sequence[Interval], judge: Judge) -> Verdict:
    """Verdict of a judge on several comparisons."""
    good = sum(judge.agrees(ratio) for ratio in ratios)
    bad = sum(judge.contradicts(ratio) and not judge.agrees(ratio) for ratio in ratios)
    return verdict(good, bad, len(ratios) - good - bad)


RULES = (
    "A comparison is a ratio of mean squared errors with its 95% interval. It agrees with a claim of a lower error if "
    "the interval lies below 1, contradicts it if the interval lies above "
    f"{1 - NEGLIGIBLE_GAIN:g} (a gain that is certainly below {NEGLIGIBLE_GAIN:.0%}), and is undecided otherwise.",
    f"Errors are similar if the interval lies between {1 / MARGIN:g} and {MARGIN:g}, and not if it lies outside; a "
    f"method does at least as well as another if the interval lies below {MARGIN:g}, and not if it lies above.",
    "A claim about several comparisons holds if all agree. If some contradict it, it holds in part if at least as many "
    "agree, and does not hold otherwise. If none contradicts it, it holds in part if at least as many agree as are "
    "undecided, and is undecided otherwise.",
    "“On four of six data sets” holds if exactly four certainly agree and none is undecided, in part if at least two "
    "agree; otherwise it is undecided if it could still be four, and does not hold if not. “No λ is best throughout” "
    "holds if every λ has a higher error than the best one on some data set, does not hold if the same λ is best on "
    "all, and is undecided otherwise; half of the trials chooses the best λ of a data set, the other half compares.",
    "Discrepancies are compared by the 95% interval of the difference of their means (Welch): it agrees, contradicts, "
    "or includes 0 and is undecided.",
    f"Nothing is judged from fewer than {FEWEST_TRIALS} trials of each method, or from runs of another size than the "
    "claim is about: such claims are “not judged”. A “remark” is a statement of the paper that measurements cannot "
    "confirm or refute.",
    f"Claims about figures are judged in the range that these show, up to {MAX_MARGINALS:,} marginal evaluations, "
    "n·d for n orderings of d players. Who wins or loses is read off the right-hand end: the larger half of the n in "
    "that range decides every such claim alike, and the smaller half decides a claim about few samples. Further "
    "columns show the largest n alone, all n in the range, all n as far as the authors' early code goes, which counts "
    "n(d + 1)/2, and the n beyond; they do not count for the verdict.",
    "A ratio is pooled over the n of a column (a geometric mean), then averaged over experiments. An experiment is a "
    "model, the rows to explain and a background; the interval (Student's t over experiments, on the logarithmic "
    "scale) covers the choice of all three, and the trials.",
    "A rate is a claim about all large n, which no run decides alone. O(1/n) for herding is proved; the measurement "
    "agrees if the exponent of n is certainly within 0.1 of −1 or certainly still steepening towards it, and "
    "contradicts it if it certainly flattens before. A time O(n³) is an upper bound, and a smaller exponent agrees.",
)
"""The rules in words, with the numbers that the code uses."""
