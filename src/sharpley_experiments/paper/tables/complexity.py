"""How the time of each method grows with the number of orderings (the paper's Table 1).

Times are processor times of a single process, whatever ``jobs`` is, so other work on the machine does not count.
It still affects caches and clock rates, so each time is measured several times, with other measurements in between,
and medians are compared.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharpley import METHODS
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import REVISION
from sharpley_experiments.common.style import GREY, log_numbers, new_figure
from sharpley_experiments.paper.constants import TIMED_FROM, TIMED_PLAYERS
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding, Verdict
from sharpley_experiments.paper.tables.discrepancy import MARKERS, timed_sample, warm
from sharpley_experiments.paper.tables.printed import EXPONENTS, discrepancies

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "Processor time to draw n orderings"
TOLERANCE = 0.2
"""Tolerance of an exponent: clock rates, caches and lower-order terms rule out a closer agreement."""
MAX_INTERVAL_WIDTH = 4 * TOLERANCE
"""A wider interval of an exponent leaves the claim undecided."""
MIN_TIMED_SECONDS = 0.03
"""Samples are drawn repeatedly until this time has passed."""

# According to a profile: at d = 10, the linear parts of herding fall from 30% of its time at n = 1024 to 6% at 8192; at
# d = 50, the kernel values of quadrature fall from 59% at n = 512 to 30% at 2048, and its solves rise from 20% to 50%.
WHY_LESS = {
    "herding": "Blocks of 32 steps save overhead, not comparisons: every candidate is compared with all chosen "
    "orderings, which is quadratic; drawing and packing candidates, which is linear, still matters at these n.",
    "sbq": "A block of 8 steps is one triangular solve, and the solves still add up to O(n³); the kernel values of "
    "candidates, which are quadratic, still matter at these n.",
}


class Slope(NamedTuple):
    """Exponent of n, its 95% interval, and the exponent of the last doubling alone."""

    value: float
    low: float
    high: float
    last: float


def fit(table: DataFrame) -> Slope:
    """Fit a line to the logarithms of median times, over the upper half of the numbers of orderings.

    The interval is from the spread of the repetitions: it accounts for noise in the times, not for curvature. If
    ``last`` is above the value, the exponent is still growing.
    """
    from scipy.stats import t

    numbers = np.sort(table["n"].unique())
    upper = numbers[len(numbers) // 2 :] if len(numbers) > 2 else numbers
    times = [np.log(table.loc[table["n"] == n, "seconds"].to_numpy()) for n in upper]
    x, y = np.log(upper), np.array([np.median(part) for part in times])
    x = x - x.mean()
    value = float(x @ y / (x @ x))
    freedom = sum(len(part) - 1 for part in times)
    variance = sum(((part - part.mean()) ** 2).sum() for part in times) / freedom
    # The variance of a median of normal errors is about π/2 times that of a mean.
    error = np.sqrt(np.pi / 2 * variance / min(len(part) for part in times) / (x @ x))
    half = float(t.ppf(0.975, freedom) * error)
    return Slope(value, value - half, value + half, float((y[-1] - y[-2]) / (x[-1] - x[-2])))


def measure_cell(method: str, d: int, n: int, repetition: int) -> Rows:
    """Time of a sample, as a row; short ones are drawn several times, since the resolution of the clock is limited."""
    warm(method)
    samples, start = 0, time.process_time()
    while not samples or time.process_time() - start < MIN_TIMED_SECONDS:
        timed_sample(d, n, method, repetition)
        samples += 1
    return [{"seconds": (time.process_time() - start) / samples}]


def cells(n_doublings: int, n_repetitions: int) -> list[Cell]:
    """All measurements; repetitions are far apart, so that a busy minute does not affect all of them.

    Methods that are not linear have a third of the repetitions: their times are longer, and less noisy.
    """
    return [
        {"method": method, "d": d, "n": smallest * 2**k, "repetition": repetition}
        for repetition in range(n_repetitions)
        for d in TIMED_PLAYERS
        for method, smallest in TIMED_FROM.items()
        for k in range(n_doublings + 1)
        if EXPONENTS[method] == 1 or repetition < max(2, n_repetitions // 3)
    ]


def compute(context: Context) -> DataFrame:
    """One row for each measurement: method, d, n, repetition, seconds (processor time)."""
    from pandas import DataFrame

    wanted = cells(context.preset.n_doublings, context.preset.n_repetitions)
    return DataFrame(
        run_cells(measure_cell, wanted, context.folder / f"complexity-revision-{REVISION}", description="Times")
    )


def slopes(table: DataFrame) -> dict[tuple[str, int], Slope]:
    """Fitted exponents by method and d."""
    groups = table.groupby(["method", "d"], sort=False)
    found = {(str(method), int(d)): fit(part) for (method, d), part in groups}
    return {(method, d): found[method, d] for method in EXPONENTS for d in TIMED_PLAYERS if (method, d) in found}


def slope_in_print(method: str, d: int) -> float | None:
    """Exponent between the two largest n of the paper's own times; None if these are too short to tell."""
    times = {n: cell.seconds for (at, n, name), cell in discrepancies().items() if at == d and name == method}
    if len(times) < 2:
        return None
    (a, first), (b, second) = sorted(times.items())[-2:]
    return None if min(first, second) < 0.005 else float(np.log(second / first) / np.log(b / a))


def tabulate(table: DataFrame) -> DataFrame:
    """Exponents next to those of the paper."""
    from pandas import DataFrame

    rows = []
    for (method, d), slope in slopes(table).items():
        part = table[(table["method"] == method) & (table["d"] == d)]
        largest, theirs = part["n"].max(), slope_in_print(method, d)
        rows.append(
            {
                "method": method,
                "d": str(d),
                "largest n": f"{largest:,}",
                "its seconds": f"{part.loc[part['n'] == largest, 'seconds'].median():.3g}",
                "exponent": f"{slope.value:.2f}",
                "95% interval": f"{slope.low:.2f} to {slope.high:.2f}",
                "last doubling": f"{slope.last:.2f}",
                "paper": _order(EXPONENTS[method]),
                "from the paper's seconds": "–" if theirs is None else f"{theirs:.2f}",
            }
        )
    return DataFrame(rows)


def _order(exponent: int) -> str:
    return "O(n)" if exponent == 1 else f"O(n{'²' if exponent == 2 else '³'})"


def draw(table: DataFrame, note: str) -> Figure:
    """Draw median times against n, a panel for each d, with the fitted lines over the upper half of the n."""
    found = slopes(table)
    dimensions = sorted({d for _, d in found})
    figure = new_figure(TITLE, note, size=(4.2 * len(dimensions) + 0.4, 4.8))
    axes = figure.subplots(1, len(dimensions), squeeze=False, sharey=True)[0]
    for (method, d), slope in found.items():
        ax, colour = axes[dimensions.index(d)], METHODS[method].colour
        part = table[(table["method"] == method) & (table["d"] == d)]
        medians = part.groupby("n")["seconds"].median()
        ax.plot(medians.index, medians, MARKERS.get(method, "X"), color=colour, markersize=5)
        upper = medians.iloc[len(medians) // 2 :]
        x = np.log(upper.index.to_numpy())
        fitted = np.exp(np.log(upper).mean() + slope.value * (x - x.mean()))
        ax.plot(upper.index, fitted, color=colour, linewidth=1.8, label=f"{method}: {slope.value:.2f}")
    for ax, d in zip(axes, dimensions, strict=True):
        ax.set(title=f"d = {d}", xlabel="orderings n", yscale="log")
        log_numbers(ax)
        ax.legend(title="exponent of n", frameon=False, fontsize=8.5, title_fontsize=8.5, loc="upper left")
        ax.set_ylim(None, 60 * table["seconds"].max())
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color=GREY, alpha=0.2, linewidth=0.6)
    axes[0].set_ylabel("seconds")
    return figure


def findings(table: DataFrame) -> list[Finding]:
    """One finding for each method, over all d."""
    found = slopes(table)
    return [
        _finding(method, {d: slope for (name, d), slope in found.items() if name == method}) for method in EXPONENTS
    ]


def _finding(method: str, found: dict[int, Slope]) -> Finding:
    stated = EXPONENTS[method]
    verdict = _verdict(list(found.values()), stated)
    rows = [
        (str(d), f"{slope.value:.2f} ({slope.low:.2f} to {slope.high:.2f})", f"{slope.last:.2f}")
        for d, slope in found.items()
    ]
    is_met = all(_met(slope, stated) for slope in found.values())
    words = {"undecided": "too noisy to tell", "does not hold": "above the stated order"}
    within = (
        f"within {TOLERANCE:g} of the stated order" if is_met else "below the stated order, which is an upper bound"
    )
    evidence = words.get(verdict, within)
    if min(slope.value for slope in found.values()) < stated - TOLERANCE / 2 and method in WHY_LESS:
        evidence += f". {WHY_LESS[method]}"
    details = Details(("d", "exponent of n", "last doubling"), tuple(rows))
    return Finding(f"{method}: time {_order(stated)} in the number of orderings.", verdict, evidence, details)


def _verdict(found: list[Slope], stated: int) -> Verdict:
    """O(·) is an upper bound: an exponent below the stated one agrees with it."""
    if any(slope.low > stated + TOLERANCE for slope in found):
        return "does not hold"
    if max(slope.high - slope.low for slope in found) > MAX_INTERVAL_WIDTH:
        return "undecided"
    return "holds"


def _met(slope: Slope, stated: int) -> bool:
    """Return whether the fit has the stated exponent, or approaches it from below."""
    return min(abs(slope.value - stated), abs(max(slope.value, slope.last) - stated)) <= TOLERANCE


COMPLEXITY = Exhibit(
    name="complexity",
    title=TITLE,
    paper="Herding takes O(n²), sequential Bayesian quadrature O(n³), orthogonal and Sobol' samples O(n) time; the "
    "text calls Monte Carlo and antithetic sampling linear too.",
    compute=compute,
    draw=draw,
    tabulate=tabulate,
    findings=findings,
    source="Table 1",
    rule="an exponent that is certainly more than "
    f"{TOLERANCE:g} above the stated one contradicts; O(·) is an upper bound, so smaller ones agree",
)
