"""How fast the discrepancy of herding falls with n (the paper's Section 3.1: O(1/n), although the argmax is not exact).

**It is O(1/n), even for the best of two random orderings.** Let φ(σ) = K(σ, ·), μ its mean, and w_t = Σ_{s ≤ t}
(μ − φ(σ_s)), so that the discrepancy of the first t orderings is ‖w_t‖/t. Herding chooses the candidate with the
largest ⟨w_t, φ − μ⟩. All ‖φ(σ) − μ‖² are the same number R² = 1 − E[K], hence

    E[‖w_{t+1}‖² | w_t] = ‖w_t‖² − 2 E[max over m candidates of ⟨w_t, φ − μ⟩] + R² ≤ ‖w_t‖² − 2c‖w_t‖ + R²,

where c is the smallest mean of that maximum over unit vectors w in the span of all φ(σ) − μ, which w_t never leaves.
For m = 2 the mean of the maximum of two independent X = ⟨w, φ − μ⟩ is E|X₁ − X₂|/2, and |X₁ − X₂| ≤ 2R gives
E|X₁ − X₂|/2 ≥ E(X₁ − X₂)²/(4R) = Var(X)/(2R). The variance of X is at least ℓ, the smallest positive eigenvalue of
the centred Gram matrix divided by d!, so c ≥ ℓ/(2R) > 0, and more candidates only raise the maximum. Steps have the
length R and drift inwards wherever ‖w_t‖ > R²/(2c), so E‖w_t‖ is bounded for all t (Hajek 1982), and its average over
t is at most R²/(2c) ≤ R³/ℓ. The discrepancy is ‖w_t‖/t = O(1/t).

The constant grows quickly with d, which is why the rate is not visible at ten players: the exponent of n between
n and 2n, its slope, starts near −1/2 and steepens towards −1. With five to seven players all orderings fit into a
table, and n can be large enough to see that.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sharpley import KernelHerding, Mallows
from sharpley._support.typing import Floats
from sharpley.permutations.orderings import all_orderings
from sharpley.permutations.quadrature import discrepancy
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import REVISION
from sharpley_experiments.common.intervals import Interval, mean_of
from sharpley_experiments.common.style import BLUE, GREY, ORANGE, PURPLE, log_numbers, new_figure
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding
from sharpley_experiments.paper.rules import FEWEST_TRIALS, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "Rate of herding: discrepancy against the number of orderings"
KERNEL = Mallows(4.0)
ALL = 0  # candidates: every ordering
TABULATED, OTHERS = (5, 6, 7), (10, 20)
LINES = [*((d, m) for m in (2, 25, ALL) for d in TABULATED), *((d, 25) for d in OTHERS)]
SIZES = tuple(2**k for k in range(4, 16))
MOST_WITHOUT_TABLE = 2**11
COLOURS = {5: BLUE, 6: PURPLE, 7: ORANGE, 10: "#009E73", 20: "#444444"}
STYLES = {2: ":", 25: "--", ALL: "-"}
STATED, TOLERANCE = -1.0, 0.1
ENDS = 4  # doublings: the last ones, and those before


def candidates_in_words(candidates: int) -> str:
    """Name the argmax: "best of 25", or "best of all"."""
    return f"best of {candidates or 'all'}"


@lru_cache(maxsize=1)  # cells come sorted by d
def centred_gram(d: int) -> Floats:
    """Return ⟨φ(σ) − μ, φ(σ') − μ⟩ for all orderings of d players, (d!, d!)."""
    return KERNEL.gram(all_orderings(d)) - KERNEL.mean(d)


def herded_from_table(d: int, candidates: int, sizes: tuple[int, ...], rng: np.random.Generator) -> list[float]:
    """Return the discrepancies of the beginnings of a herded sequence, with kernel values from a table.

    As in ``KernelHerding``, each step keeps the candidate, of fresh uniform ones, whose kernel values to all chosen
    orderings have the smallest sum; ``ALL`` candidates make the argmax exact, with ties broken at random.
    """
    gram = centred_gram(d)
    counts, found = np.zeros(len(gram)), []
    sums = 1e-9 * rng.random(len(gram))
    for step in range(sizes[-1]):
        if candidates == ALL:
            chosen = int(sums.argmin())
        else:
            drawn = rng.integers(len(gram), size=candidates)
            chosen = int(drawn[sums[drawn].argmin()])
        counts[chosen] += 1
        sums += gram[chosen]
        if step + 1 in sizes:
            found.append(max(0.0, float(counts @ gram @ counts)) ** 0.5 / (step + 1))
    return found


def measure(*, d: int, candidates: int, trial: int, revision: int) -> Rows:
    """Discrepancies of the beginnings of one sequence; ``revision`` makes other cells of other code."""
    seed = np.random.SeedSequence([d, trial, candidates])
    sizes = tuple(n for n in SIZES if d in TABULATED or n <= MOST_WITHOUT_TABLE)
    if d in TABULATED:
        values = herded_from_table(d, candidates, sizes, np.random.default_rng(seed))
    else:
        sampler = KernelHerding(d, kernel=KERNEL, n_candidates=candidates, fresh=True, rng=seed)
        orderings = sampler.random(sizes[-1])
        values = [discrepancy(orderings[:n], kernel=KERNEL) for n in sizes]
    return [{"n": n, "discrepancy": value} for n, value in zip(sizes, values, strict=True)]


def compute(context: Context) -> DataFrame:
    """One row for each trial and number of orderings."""
    from pandas import DataFrame

    cells: list[Cell] = [
        {"d": d, "candidates": candidates, "trial": trial, "revision": REVISION}
        for d, candidates in sorted(LINES)
        for trial in range(min(10, context.preset.table_trials))
    ]
    folder = context.folder / "herding-rate"
    return DataFrame(run_cells(measure, cells, folder, jobs=context.jobs, description="rate of herding"))[
        ["d", "candidates", "trial", "n", "discrepancy"]
    ]


def _logarithms(table: DataFrame, d: int, candidates: int) -> DataFrame:
    """Logarithms to base 2 of the discrepancies of a line, a row for each trial and a column for each n."""
    part = table[(table["d"] == d) & (table["candidates"] == candidates)]
    return np.log2(part.pivot(index="trial", columns="n", values="discrepancy"))


def lines_of(table: DataFrame) -> list[tuple[int, int]]:
    """Lines of a table, in the order in which they are shown."""
    there = set(zip(table["d"], table["candidates"], strict=True))
    return [line for line in LINES if line in there]


def slopes(table: DataFrame, d: int, candidates: int) -> DataFrame:
    """Exponents of n between n and 2n, a row for each trial and a column for each 2n."""
    return _logarithms(table, d, candidates).diff(axis=1).iloc[:, 1:]


def late_slope(table: DataFrame, d: int, candidates: int) -> Interval:
    """Exponent of n over the last doublings: the mean over trials, with its 95% interval."""
    return mean_of(slopes(table, d, candidates).iloc[:, -ENDS:].mean(axis=1).to_numpy())


def steepening(table: DataFrame, d: int, candidates: int) -> Interval:
    """Exponent over the last doublings minus that over the doublings before: below 0 if the slope still steepens."""
    found = slopes(table, d, candidates)
    change = found.iloc[:, -ENDS:].mean(axis=1) - found.iloc[:, -2 * ENDS : -ENDS].mean(axis=1)
    return mean_of(change.to_numpy())


def draw(table: DataFrame, note: str) -> Figure:
    """Draw mean discrepancies on logarithmic axes, and beside them the slope of every doubling."""
    figure = new_figure(TITLE, note, size=(9.6, 5.0))
    left, right = figure.subplots(1, 2)
    for d, candidates in lines_of(table):
        logs = _logarithms(table, d, candidates)
        look = {"color": COLOURS[d], "linestyle": STYLES[candidates], "marker": "o", "markersize": 3}
        label = f"d = {d}, {candidates_in_words(candidates)}"
        left.plot(logs.columns, 2 ** logs.mean(), label=label, **look)
        each = slopes(table, d, candidates)
        right.plot(each.columns, each.mean(), **look)
    for rate, words in ((-0.5, "random orderings: −1/2"), (-1.0, "O(1/n): −1")):
        right.axhline(rate, color=GREY, linewidth=1)
        right.text(SIZES[1], rate + (0.012 if rate > STATED else -0.05), words, fontsize=8, color="#555555")
    left.set(yscale="log", xlabel="orderings n", ylabel="discrepancy")
    right.set(xlabel="orderings n", ylabel="exponent of n from n/2 to n", ylim=(-1.25, -0.4))
    for ax in (left, right):
        _polish(ax)
    left.legend(fontsize=7.5, frameon=False, loc="lower left")
    return figure


def _polish(ax: Axes) -> None:
    log_numbers(ax)
    ax.grid(color=GREY, alpha=0.2, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def findings(table: DataFrame) -> list[Finding]:
    """The stated rate with the approximate argmax of the paper, with the coarsest one, and with an exact one."""
    claims = {
        25: "Kernel herding converges at the rate O(1/n) although the argmax is the best of 25 random orderings.",
        2: "Kernel herding converges at the rate O(1/n) although the argmax is the best of 2: it need not be exact.",
        ALL: "Kernel herding converges at the rate O(1/n) with the exact argmax.",
    }
    trials = int(table["trial"].nunique())
    if trials < FEWEST_TRIALS:
        return [Finding(claim, "not judged", f"not judged at this size: {trials} trials") for claim in claims.values()]
    return [_judged(table, candidates, claim) for candidates, claim in claims.items()]


def _judged(table: DataFrame, candidates: int, claim: str) -> Finding:
    """Judge a line for every d of few players; those of many are shown as far as they go."""
    lines = [d for d, other in lines_of(table) if other == candidates]
    late, change = ({d: f(table, d, candidates) for d in lines} for f in (late_slope, steepening))
    few = [d for d in lines if d in TABULATED]
    reached = {d for d in few if late[d].high <= STATED + TOLERANCE}
    agree = {d for d in few if d in reached or change[d].high < 0}
    against = {d for d in few if d not in agree and late[d].low > STATED + TOLERANCE and change[d].low > 0}
    rows = tuple((str(d), _shown(late[d]), _shown(change[d])) for d in lines)
    last, before = (f"exponent of n, last {ENDS} doublings", f"minus that of the {ENDS} doublings before")
    steps = f"n up to {SIZES[-1]:,}" + (f", {MOST_WITHOUT_TABLE:,} from d = {OTHERS[0]} on" if len(lines) > 3 else "")
    return Finding(
        claim,
        verdict(len(agree), len(against), len(few) - len(agree) - len(against)),
        "proved for every d (see the documentation), for all large n; the measurement of d = "
        f"{', '.join(map(str, few))} decides here, with {steps}",
        Details(("d", last, before), rows),
    )


def _shown(interval: Interval) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


RATE = Exhibit(
    name="herding-rate",
    title=TITLE,
    paper="With the universal Mallows kernel, kernel herding converges at the rate O(1/n), even if the argmax is not "
    "exact; Monte Carlo converges at O(1/√n).",
    compute=compute,
    draw=draw,
    findings=findings,
    source="Section 3.1",
    rule="an exponent of n that is certainly below "
    f"{STATED + TOLERANCE:g}, or certainly still steepening, agrees; one that certainly flattens above contradicts",
)
