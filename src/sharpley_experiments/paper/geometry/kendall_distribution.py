"""How similar permutations from orthogonal and from random vectors are, for ten players (the paper's Figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats
from sharpley.permutations.kernels import Kendall
from sharpley.samplers import MonteCarlo, Orthogonal
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.style import BLUE, DARK, GREY, ORANGE, new_figure
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from pandas import DataFrame

    from sharpley.samplers import Sampler

TITLE = "Kendall correlation of pairs of permutations, d = 10"
D = 10
BLOCK = 2 * (D - 1)  # orderings
N_VALUES = D * (D - 1) // 2 + 1  # number of values that K can have
STEP = 2 / (N_VALUES - 1)  # between two of them; also the bandwidth of the density, since narrower ones show steps

MAX_EPSILON = 0.1  # our reading of "a small constant quantisation error"


def compute(context: Context) -> DataFrame:
    """Count pairs of orderings: sample ("orthogonal" or "random"), relation of the two vectors, kendall, pairs.

    Pairs are formed within blocks of 2(d−1) orderings in both samples. Equal orderings are omitted, as in the paper.
    """
    from pandas import DataFrame

    blocks = -(-context.preset.n_pairs // (BLOCK * (BLOCK - 1) // 2))
    rows = []
    for sample, sampler in (("orthogonal", Orthogonal(D, rng=SEED)), ("random", MonteCarlo(D, rng=SEED))):
        for relation, counts in _counts(sampler, blocks, sample).items():
            rows += [(sample, relation, 1 - STEP * i, n) for i, n in enumerate(counts.tolist()) if n and i]
    return DataFrame(rows, columns=["sample", "relation", "kendall", "pairs"])


def _counts(sampler: Sampler, blocks: int, sample: str) -> dict[str, NDArray[np.int64]]:
    """Numbers of pairs of orderings by number of discordant players, (46,), for each relation."""
    first, second = np.triu_indices(BLOCK, 1)
    # Orthogonal samples come in pairs of a vector and its negative: 0 and 1, 2 and 3, ...
    opposite = (first // 2 == second // 2) if sample == "orthogonal" else np.zeros(len(first), dtype=bool)
    groups = {sample: ~opposite, "opposite": opposite}
    counts = {name: np.zeros(N_VALUES, dtype=np.int64) for name, use in groups.items() if use.any()}
    for _ in range(blocks):
        values = Kendall().gram(sampler.random(BLOCK))[first, second]
        discordant = np.rint((1 - values) / STEP).astype(np.int64)
        for name in counts:
            counts[name] += np.bincount(discordant[groups[name]], minlength=N_VALUES)
    return counts


def density(table: DataFrame, at: Floats) -> Floats:
    """Gaussian kernel density of the correlations in a table at (n,) points."""
    values, weights = table["kendall"].to_numpy(), table["pairs"].to_numpy()
    bumps = np.exp(-0.5 * ((at[:, None] - values) / STEP) ** 2) / (STEP * np.sqrt(2 * np.pi))
    return np.asarray(bumps @ (weights / weights.sum()))


def draw(table: DataFrame, note: str) -> Figure:
    """Draw the densities of both samples, with the limits ±1/2 of the paper's Theorem 2 for orthogonal vectors."""
    figure = new_figure(TITLE, note)
    ax = figure.subplots()
    at = np.linspace(-1.2, 1.2, 601)
    for limit in (-0.5, 0.5):
        ax.axvline(limit, color=GREY, linewidth=0.9, linestyle="--")
    for sample, colour in (("random", ORANGE), ("orthogonal", BLUE)):
        part = table[table["sample"] == sample]
        heights = density(part, at)
        ax.fill_between(at, heights, color=colour, alpha=0.22, linewidth=0)
        ax.plot(at, heights, color=colour, linewidth=2, label=f"{sample} vectors")
        if sample == "orthogonal":
            share = part.loc[part["relation"] == "opposite", "pairs"].sum() / part["pairs"].sum()
            peak = float(density(part, np.array([-1.0]))[0])
            ax.annotate(
                f"a vector and its negative\n({share:.1%} of the pairs)",
                (-1, peak),
                (-0.9, peak + 0.6),
                ha="center",
                fontsize=8.5,
                color=DARK,
                arrowprops={"arrowstyle": "-", "color": GREY},
            )
    ax.text(0.515, ax.get_ylim()[1] * 0.93, "K = 1/2", fontsize=8.5, color=DARK, va="top")
    ax.text(-0.515, ax.get_ylim()[1] * 0.93, "K = −1/2", fontsize=8.5, color=DARK, va="top", ha="right")
    ax.set(xlabel="Kendall correlation K of two permutations", ylabel="density", xlim=(-1.27, 1.15), ylim=(0, None))
    ax.legend(loc="upper right", frameon=False, bbox_to_anchor=(1.0, 0.86))
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def _moments(part: DataFrame) -> tuple[float, float, float, float]:
    """Mean, standard deviation, minimum and maximum of the correlations."""
    values, weights = part["kendall"].to_numpy(), part["pairs"].to_numpy()
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weights))), values.min(), values.max()


def findings(table: DataFrame) -> list[Finding]:
    """Judge means, standard deviations and extremes."""
    by_relation = {str(name): part for name, part in table.groupby("relation")}
    orthogonal = by_relation["orthogonal"]
    mean, spread, low, high = _moments(orthogonal)
    _, random_spread, _, random_high = _moments(by_relation["random"])
    opposite = by_relation["opposite"]["kendall"].to_numpy()
    random = by_relation["random"]
    similar = random.loc[random["kendall"] > high + STEP / 2, "pairs"].sum() / random["pairs"].sum()
    reach = max(-low, high)
    beyond = orthogonal.loc[orthogonal["kendall"].abs() > 0.5, "pairs"].sum() / orthogonal["pairs"].sum()
    return [
        Finding(
            "Permutations from orthogonal vectors are tightly distributed around K_τ = 0 (d = 10).",
            "holds" if abs(mean) < 0.01 and spread < 0.5 * random_spread else "does not hold",
            f"standard deviation {spread:.3f} against {random_spread:.3f} for random vectors, so the variance is "
            f"{(random_spread / spread) ** 2:.1f} times smaller",
        ),
        Finding(
            "Orthogonal samples do not generate highly similar permutations (d = 10).",
            "holds" if high < random_high else "does not hold",
            f"largest K_τ {high:.3f} against {random_high:.3f}; {similar:.2%} of the random pairs are more similar",
        ),
        Finding(
            "|K_τ| ≤ 1/2 + ε between permutations from orthogonal vectors (d = 10).",
            "holds" if reach <= 0.5 + MAX_EPSILON else "does not hold",
            f"largest |K_τ| {reach:.3f} among {orthogonal['pairs'].sum():,} pairs, {beyond:.4%} of which exceed 1/2; "
            f"K_τ has steps of {STEP:.3f}",
        ),
        Finding(
            "Pairs of a vector and its antipode are at K_τ = −1 (d = 10).",
            "holds" if np.allclose(opposite, -1) else "does not hold",
            f"all {by_relation['opposite']['pairs'].sum():,} of them" if np.allclose(opposite, -1) else "not all",
        ),
    ]


DISTRIBUTION = Exhibit(
    name="kendall-distribution",
    title=TITLE,
    paper="Density of the Kendall correlation of distinct permutations from orthogonal and from random vectors: with "
    "orthogonal vectors, tight around 0, a peak at −1 for antipodes, and no highly similar pairs.",
    compute=compute,
    draw=draw,
    findings=findings,
    source="Figure 5",
    rule="tight is half the standard deviation of random vectors; the others hold if they are true of every pair, with "
    f"ε up to {MAX_EPSILON:g}",
)
