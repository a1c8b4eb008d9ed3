"""How fast the discrepancy of herding falls with n (the paper's Section 3.1: O(1/n)).

The rate needs the argmax over all orderings. The paper, like this library, takes the best of 25 random ones; with five
or six players all of them can be tried, which shows what the approximation costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley import KernelHerding, Mallows, MonteCarlo
from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import all_orderings
from sharpley.permutations.quadrature import discrepancy
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import REVISION
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.common.style import BLUE, GREY, ORANGE, PURPLE, log_numbers, new_figure
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding, Verdict
from sharpley_experiments.paper.rules import FEWEST_TRIALS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "Rate of herding: discrepancy against the number of orderings"
KERNEL = Mallows(4.0)
EVERY, SOME, RANDOM = "best of all orderings", "best of 25 orderings", "random orderings"
LINES = [(5, EVERY), (6, EVERY), *((d, line) for d in (5, 10, 20) for line in (SOME, RANDOM))]
SIZES = tuple(2**k for k in range(4, 12))
COLOURS = {5: BLUE, 6: PURPLE, 10: ORANGE, 20: "#009E73"}
STATED, TOLERANCE = -1.0, 0.1


def greedy_orderings(d: int, n: int, rng: np.random.Generator) -> Orderings:
    """Herd with the exact argmax: the first ordering is random, each next one has the smallest sum of kernel values."""
    candidates = all_orderings(d)
    gram = KERNEL.gram(candidates)
    chosen = [int(rng.integers(len(candidates)))]
    sums = gram[chosen[0]] + 1e-9 * rng.random(len(candidates))  # ties are broken at random
    while len(chosen) < n:
        chosen.append(int(sums.argmin()))
        sums += gram[chosen[-1]]
    return candidates[chosen]


def measure(*, d: int, line: str, trial: int, largest: int, revision: int) -> Rows:
    """Discrepancies of the beginnings of one sequence; ``revision`` makes other cells of other code."""
    if line == EVERY:
        orderings = greedy_orderings(d, largest, np.random.default_rng([d, trial]))
    else:
        seed = np.random.SeedSequence([d, trial, len(line)])
        sampler = KernelHerding(d, kernel=KERNEL, fresh=True, rng=seed) if line == SOME else MonteCarlo(d, rng=seed)
        orderings = sampler.random(largest)
    return [{"n": n, "discrepancy": discrepancy(orderings[:n], kernel=KERNEL)} for n in SIZES if n <= largest]


def compute(context: Context) -> DataFrame:
    """One row for each trial and number of orderings."""
    from pandas import DataFrame

    cells: list[Cell] = [
        {"d": d, "line": line, "trial": trial, "largest": SIZES[-1], "revision": REVISION}
        for d, line in LINES
        for trial in range(min(10, context.preset.table_trials))
    ]
    folder = context.folder / "herding-rate"
    return DataFrame(run_cells(measure, cells, folder, jobs=context.jobs, description="rate of herding"))[
        ["d", "line", "trial", "n", "discrepancy"]
    ]


def slopes(table: DataFrame) -> dict[tuple[int, str], Interval]:
    """Exponents of n over the upper half of the numbers of orderings: means over trials, with 95% intervals."""
    from scipy.stats import t

    found = {}
    for (d, line), part in table.groupby(["d", "line"], sort=False):
        wide = np.log(part.pivot(index="trial", columns="n", values="discrepancy"))
        upper = wide.iloc[:, wide.shape[1] // 2 :]
        x = np.log(upper.columns.to_numpy(dtype=np.float64))
        x = x - x.mean()
        each: Floats = (upper.to_numpy() @ x) / (x @ x)
        half = t.ppf(0.975, len(each) - 1) * each.std(ddof=1) / len(each) ** 0.5
        found[int(d), str(line)] = Interval(float(each.mean()), float(each.mean() - half), float(each.mean() + half))
    return found


def draw(table: DataFrame, note: str) -> Figure:
    """Draw mean discrepancies on logarithmic axes, with lines of the two rates."""
    figure = new_figure(TITLE, note, size=(7.4, 5.0))
    ax = figure.subplots()
    styles = {EVERY: "-", SOME: "--", RANDOM: ":"}
    for (d, line), slope in slopes(table).items():
        means = table[(table["d"] == d) & (table["line"] == line)].groupby("n")["discrepancy"].mean()
        label = f"d = {d}, {line}: {slope.value:.2f}"
        ax.plot(means.index, means, styles[line], marker="o", markersize=3, color=COLOURS[d], label=label)
    ax.set(yscale="log", xlabel="orderings n", ylabel="discrepancy")
    log_numbers(ax)
    ax.grid(color=GREY, alpha=0.2, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(title="exponent of n", fontsize=8, title_fontsize=8, frameon=False, loc="lower left")
    return figure


def findings(table: DataFrame) -> list[Finding]:
    """The stated rate, with the approximate argmax of the experiments and with an exact one."""
    found = slopes(table)
    trials = int(table["trial"].nunique())

    def about(line: str, claim: str) -> Finding:
        mine = {d: slope for (d, other), slope in found.items() if other == line}
        rows = tuple((str(d), f"{s.value:.2f} ({s.low:.2f} to {s.high:.2f})") for d, s in mine.items())
        if trials < FEWEST_TRIALS:
            return Finding(claim, "not judged", f"not judged at this size: {trials} trials")
        return Finding(claim, _verdict(list(mine.values())), _evidence(found), Details(("d", "exponent of n"), rows))

    return [
        about(SOME, "Kernel herding converges at the rate O(1/n) with the best of 25 random orderings at each step."),
        about(EVERY, "Kernel herding converges at the rate O(1/n) with the exact argmax."),
    ]


def _evidence(found: dict[tuple[int, str], Interval]) -> str:
    random = [slope.value for (_, line), slope in found.items() if line == RANDOM]
    return (
        f"exponents of the discrepancy for n from {SIZES[len(SIZES) // 2]} to {SIZES[-1]}; that of random orderings is "
        f"{min(random):.2f} to {max(random):.2f}, and O(1/n) means {STATED:.0f} ± {TOLERANCE}"
    )


def _verdict(found: list[Interval]) -> Verdict:
    agree = sum(slope.low >= STATED - TOLERANCE and slope.high <= STATED + TOLERANCE for slope in found)
    against = sum(slope.low > STATED + TOLERANCE or slope.high < STATED - TOLERANCE for slope in found)
    if agree == len(found):
        return "holds"
    if against:
        return "holds in part" if agree >= against else "does not hold"
    return "undecided"


RATE = Exhibit(
    name="herding-rate",
    title=TITLE,
    paper="With the universal Mallows kernel, kernel herding converges at the rate O(1/n), even if the argmax is not "
    "exact; Monte Carlo converges at O(1/√n).",
    compute=compute,
    draw=draw,
    findings=findings,
    source="Section 3.1",
)
