"""How often each permutation occurs among a thousand Sobol' permutations of four players (the paper's Figure 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import all_orderings
from sharpley.samplers import MonteCarlo, Sobol
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.style import BLUE, DARK, GREY, ORANGE, new_figure
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding
from sharpley_experiments.paper.geometry.vertices import labels_of, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from pandas import DataFrame

TITLE = "1000 Sobol' permutations of 4 players"
D, N = 4, 1000
SAMPLERS = {"Sobol'": Sobol, "random": MonteCarlo}


def compute(context: Context) -> DataFrame:
    """Count all 24 permutations in several scramblings and in random samples: sample, trial, ordering, count."""
    from pandas import DataFrame, concat

    everything = all_orderings(D)
    labels = labels_of(everything)
    parts = []
    for trial, seed in enumerate(np.random.SeedSequence(SEED).spawn(context.preset.n_scrambles)):
        for sample, sampler in SAMPLERS.items():
            counts = _counts(sampler(D, rng=seed).random(N))
            parts.append(DataFrame({"sample": sample, "trial": trial, "ordering": labels, "count": counts}))
    return concat(parts, ignore_index=True)


def _counts(orderings: Orderings) -> NDArray[np.int64]:
    """Number of occurrences of each of the 24 orderings, in lexicographic order."""
    places = D ** np.arange(D)[::-1]  # as numbers in base d, orderings have the same order as in the list
    index = np.searchsorted(all_orderings(D) @ places, orderings @ places)
    return np.bincount(index, minlength=24)


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the counts of the first scrambling, with a band that contains 95% of the counts of random samples."""
    from scipy.stats import binom

    first = table[table["trial"] == 0]
    sobol, random = (first[first["sample"] == sample] for sample in ("Sobol'", "random"))
    n, cells = int(sobol["count"].sum()), len(sobol)
    figure = new_figure(TITLE, note, size=(7.2, 4.2))
    ax = figure.subplots()
    where = np.arange(cells)
    low, high = binom.ppf([0.025, 0.975], n, 1 / cells)
    bars = ax.bar(where, sobol["count"], color=BLUE, width=0.75, label="Sobol'")
    (dots,) = ax.plot(where, random["count"], "D", color=ORANGE, markersize=5, markeredgecolor="white", label="random")
    band = ax.axhspan(
        low - 0.5, high + 0.5, color=ORANGE, alpha=0.15, linewidth=0, zorder=0, label="95% of random counts"
    )
    even = ax.axhline(n / cells, color=DARK, linewidth=1.2, linestyle="--", label=f"uniform: {n / cells:.1f}")
    ax.set_xticks(where, [short(label) for label in sobol["ordering"]], rotation=90, fontsize=8)
    ax.set(xlabel="permutation", ylabel="count", xlim=(-0.7, cells - 0.3))
    ax.set_ylim(0, 1.28 * max(high, random["count"].max(), sobol["count"].max()))
    ax.legend(handles=[bars, dots, band, even], loc="upper center", ncols=4, frameon=False, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="x", length=0, colors=DARK)
    ax.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.6)
    ax.set_axisbelow(True)
    return figure


def chi_squares(table: DataFrame, sample: str) -> Floats:
    """χ² of each trial for the hypothesis of equal probabilities, (trials,)."""
    counts = table[table["sample"] == sample].pivot(index="trial", columns="ordering", values="count").to_numpy()
    expected = counts.sum(axis=1, keepdims=True) / counts.shape[1]
    return np.asarray(((counts - expected) ** 2 / expected).sum(axis=1))


def findings(table: DataFrame) -> list[Finding]:
    """Compare χ² of Sobol' and of random samples."""
    sobol, random = chi_squares(table, "Sobol'"), chi_squares(table, "random")
    counts = table[table["sample"] == "Sobol'"]["count"]
    even = sobol.max() < random.min()
    return [
        Finding(
            "1000 Sobol' permutations of four players are clearly uniform.",
            "holds" if even else "does not hold",
            f"mean χ² {sobol.mean():.1f} (at most {sobol.max():.1f} in {len(sobol)} scramblings), far below the "
            f"{random.mean():.1f} of random samples (expected: 23, the degrees of freedom); counts are between "
            f"{counts.min()} and {counts.max()}, and equal counts would be {counts.mean():.1f}",
        )
    ]


HISTOGRAM = Exhibit(
    name="sobol-histogram",
    title=TITLE,
    paper="Counts of the 24 permutations of four players among 1000 Sobol' permutations are nearly equal.",
    compute=compute,
    draw=draw,
    findings=findings,
    source="Figure 8",
    rule="holds if every Sobol' sample has a smaller χ² than every random one",
)
