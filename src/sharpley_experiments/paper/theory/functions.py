"""Means of other functions of an ordering than Shapley values (the paper's Section 5.4: "any bounded function").

Eight functions that people average or optimise over orderings of eight players, whose means over all 40,320 orderings
are known by enumeration. The discrepancy bounds the error of every function by its variation; which sample has the
smallest error is another question, and depends on the function. A reversal turns inversions around, so that pairs of
reverses cancel; a closed tour has the same length in both directions, so that the second ordering of a pair is wasted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sharpley import SAMPLERS, Mallows
from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import all_orderings, ranks_of
from sharpley.permutations.quadrature import discrepancy
from sharpley.samplers.greedy import GreedySampler
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import REVISION, SEED
from sharpley_experiments.common.intervals import Interval, ratio_interval
from sharpley_experiments.common.style import GREY, new_figure
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding
from sharpley_experiments.paper.rules import FEWEST_TRIALS, LOWER, judged

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TITLE = "Means of eight functions of an ordering, by method"
KERNEL = Mallows(4.0)
D, N = 8, 48
METHODS = ("monte-carlo", "antithetic", "orthogonal", "sobol", "herding", "sbq", "design")
OURS = "design"  # not in the paper
LEAST_SHOWN = 0.01  # in the figure: pairs of reverses have no error at all for inversions
TRIALS_OF_THE_TABLE = 8  # for each trial of the table of discrepancies


def _setting() -> np.random.Generator:
    """Return the random numbers that the functions' parameters are drawn from, the same every time."""
    return np.random.default_rng(SEED)


def inversions(orderings: Orderings) -> Floats:
    """Count the pairs of players that enter in the reverse order of their numbers."""
    later = np.triu(np.ones((D, D), dtype=bool), 1)
    return (orderings[:, :, None] > orderings[:, None, :])[:, later].sum(axis=1).astype(np.float64)


def kemeny_score(orderings: Orderings) -> Floats:
    """Add up the numbers of pairs on which an ordering disagrees with five given rankings."""
    votes = _setting().permuted(np.tile(np.arange(D), (5, 1)), axis=1)
    return np.sum([inversions(ranks[orderings]) for ranks in ranks_of(votes)], axis=0)


def total_tardiness(orderings: Orderings) -> Floats:
    """Add up by how much the jobs of one machine, done in this order, miss their due dates."""
    rng = _setting()
    durations = rng.integers(1, 10, size=D)
    due = rng.integers(durations.max(), durations.sum(), size=D)
    finished = durations[orderings].cumsum(axis=1)
    return np.maximum(0, finished - due[orderings]).sum(axis=1).astype(np.float64)


def longest_increasing_subsequence(orderings: Orderings) -> Floats:
    """Return the length of the longest increasing subsequence of an ordering."""
    ends = np.ones(orderings.shape, dtype=np.int64)  # the longest that ends at each step
    for k in range(1, D):
        before = np.where(orderings[:, :k] < orderings[:, k : k + 1], ends[:, :k], 0)
        ends[:, k] += before.max(axis=1)
    return ends.max(axis=1).astype(np.float64)


def quadratic_assignment(orderings: Orderings) -> Floats:
    """Add up the flows between facilities times the distances between the places that these are assigned to."""
    rng = _setting()
    flows, distances = rng.random((D, D)), _distances(rng)
    ranks = ranks_of(orderings)
    return np.asarray((flows * distances[ranks[:, :, None], ranks[:, None, :]]).sum(axis=(1, 2)))


def fixed_points(orderings: Orderings) -> Floats:
    """Count the players that enter at the step of their number."""
    return (orderings == np.arange(D)).sum(axis=1).astype(np.float64)


def tour_length(orderings: Orderings) -> Floats:
    """Return the length of the closed tour through eight places in this order."""
    distances = _distances(_setting())
    return np.asarray(distances[orderings, np.roll(orderings, -1, axis=1)].sum(axis=1))


def longest_step(orderings: Orderings) -> Floats:
    """Return the longest distance between consecutive places, on the way from the first to the last."""
    distances = _distances(_setting())
    return np.asarray(distances[orderings[:, :-1], orderings[:, 1:]].max(axis=1))


def _distances(rng: np.random.Generator) -> Floats:
    places = rng.random((D, 2))
    return np.asarray(np.linalg.norm(places[:, None] - places[None], axis=2))


FUNCTIONS: dict[str, Callable[[Orderings], Floats]] = {
    "inversions": inversions,
    "Kemeny score": kemeny_score,
    "total tardiness": total_tardiness,
    "longest increasing subsequence": longest_increasing_subsequence,
    "quadratic assignment": quadratic_assignment,
    "fixed points": fixed_points,
    "tour length": tour_length,
    "longest step": longest_step,
}


@lru_cache(maxsize=1)
def exact() -> dict[str, tuple[float, float]]:
    """Return mean and variance of each function over all orderings, by enumeration."""
    everything = all_orderings(D)
    values = {name: function(everything) for name, function in FUNCTIONS.items()}
    return {name: (float(of.mean()), float(of.var())) for name, of in values.items()}


def measure(*, method: str, trial: int, revision: int) -> Rows:
    """Discrepancy of one sample and its errors for all functions, in standard deviations of these.

    ``revision`` makes other cells of other code.
    """
    make = SAMPLERS[method]
    fresh = {"fresh": True} if issubclass(make, GreedySampler) else {}
    sampler = make(D, rng=np.random.SeedSequence([trial, *method.encode()]), **fresh)
    orderings = sampler.random(N)
    weights = sampler.weights(orderings)
    row = {"discrepancy": discrepancy(orderings, weights, kernel=KERNEL)}
    for name, function in FUNCTIONS.items():
        mean, variance = exact()[name]
        row[name] = (float(weights @ function(orderings)) - mean) / variance**0.5
    return [{name: float(f"{value:.5g}") for name, value in row.items()}]


def compute(context: Context) -> DataFrame:
    """One row for each method and trial, with a column for each function."""
    from pandas import DataFrame

    cells: list[Cell] = [
        {"method": method, "trial": trial, "revision": REVISION}
        for method in METHODS
        for trial in range(TRIALS_OF_THE_TABLE * context.preset.table_trials)
    ]
    folder = context.folder / "functions"
    rows = run_cells(measure, cells, folder, jobs=context.jobs, description="functions")
    return DataFrame(rows)[["method", "trial", "discrepancy", *FUNCTIONS]]


def ratios(table: DataFrame) -> dict[tuple[str, str], Interval]:
    """Mean squared error of each function and method, divided by that of Monte Carlo."""
    squares = {method: part[list(FUNCTIONS)] ** 2 for method, part in table.groupby("method")}
    return {
        (name, method): ratio_interval(squares[method][name].to_numpy(), squares[METHODS[0]][name].to_numpy())
        for name in FUNCTIONS
        for method in METHODS[1:]
    }


def tabulate(table: DataFrame) -> DataFrame:
    """Ratios to Monte Carlo, a row for each function; the last row has the discrepancies."""
    from pandas import DataFrame

    found = ratios(table)
    rows = [{"function": name, **{method: _shown(found[name, method]) for method in METHODS[1:]}} for name in FUNCTIONS]
    sizes = table.groupby("method")["discrepancy"].mean() ** 2
    last = {method: f"{sizes[method] / sizes[METHODS[0]]:.2f}" for method in METHODS[1:]}
    return DataFrame([*rows, {"function": "squared discrepancy", **last}])


def _shown(ratio: Interval) -> str:
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the ratios as dots with intervals, a row for each function."""
    from sharpley import METHODS as KNOWN

    found = ratios(table)
    figure = new_figure(TITLE, f"{note}: d = {D}, n = {N}", size=(8.4, 5.6))
    ax = figure.subplots()
    for k, method in enumerate(METHODS[1:]):
        at = np.arange(len(FUNCTIONS)) + (k - 2.5) / 8
        mine = [found[name, method] for name in FUNCTIONS]
        low, values, high = (
            np.maximum(ends, LEAST_SHOWN) for ends in np.transpose([(i.low, i.value, i.high) for i in mine])
        )
        ends = np.array([values - low, high - values])
        ax.errorbar(values, at, xerr=ends, fmt="o", markersize=4, color=KNOWN[method].colour, label=method, linewidth=1)
    ax.axvline(1, color=GREY, linewidth=1)
    ax.set(xscale="log", xlabel="mean squared error / that of Monte Carlo")
    ax.set_xticks([LEAST_SHOWN, 0.1, 1], [f"≤ {LEAST_SHOWN:g}", "0.1", "1"])
    ax.set_xlim(LEAST_SHOWN / 1.2, 3)
    ax.minorticks_off()
    ax.set_yticks(range(len(FUNCTIONS)), list(FUNCTIONS))
    ax.invert_yaxis()
    ax.grid(axis="x", color=GREY, alpha=0.2, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", frameon=False, fontsize=9)
    return figure


def findings(table: DataFrame) -> list[Finding]:
    """Whether lower discrepancies mean lower errors for all functions."""
    claim = (
        "Table 4's discrepancies say how to select samples for any bounded function of a permutation, not only for "
        "Shapley values."
    )
    trials = int(table["trial"].nunique())
    if trials < FEWEST_TRIALS * TRIALS_OF_THE_TABLE:
        return [Finding(claim, "not judged", f"not judged at this size: {trials} trials")]
    found = {key: ratio for key, ratio in ratios(table).items() if key[1] != OURS}
    rows = tuple((*key, _shown(ratio)) for key, ratio in found.items() if ratio.low > 1)
    lower = sum(LOWER.agrees(ratio) for ratio in found.values())
    return [
        Finding(
            claim,
            judged(list(found.values()), LOWER),
            "every method of the paper has a lower discrepancy than Monte Carlo. Its error is certainly lower in "
            f"{lower} of {len(found)} cases, and certainly higher in {len(rows)}: the discrepancy bounds the worst "
            "error, and does not rank samples for a given function",
            Details(("function", "method", "squared error / that of Monte Carlo"), rows) if rows else None,
        )
    ]


FUNCTIONS_OF_ORDERINGS = Exhibit(
    name="functions",
    title=TITLE,
    paper="Discrepancies apply beyond Shapley values: the table is a reference for selecting samples for any bounded "
    "function of a permutation.",
    compute=compute,
    draw=draw,
    tabulate=tabulate,
    findings=findings,
    source="Section 5.4",
    rule=f"{LOWER.words}; all functions and methods count",
)
