"""Dot product on the sphere and Kendall correlation, for fifteen players (the paper's Figure 6 and Theorem 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.permutations.kernels import Kendall
from sharpley.permutations.orderings import ranks_of
from sharpley.permutations.sphere import dot_product_bounds, nearest_orderings, permutohedron
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.style import BLUE, DARK, GREEN, GREY, ORANGE, new_figure
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from pandas import DataFrame

TITLE = "Kendall correlation and dot product on the sphere, d = 15"
D = 15
TOLERANCE = 1e-9  # at K = ±1 the two limits coincide, so rounding matters
N_BINS = 12  # of the angle
PRINTED_KENDALL = 1 - 2 ** (-2 / 3)  # the correlation that the paper gives for its example


def compute(context: Context) -> DataFrame:
    """Pairs of permutations: source, angle between the two points (if any), kendall, dot of the vertices.

    There are two sources. "angle": the permutations nearest to two random points at an angle that is uniform between 0
    and π, since independent points would nearly all be at right angles. "prefix": the identity and the identity with
    its first k players reversed, k = 1 .. d, the paper's example of a deviation from the usual relation.
    """
    from pandas import DataFrame, concat

    rng = np.random.default_rng(SEED)
    angle = rng.uniform(0, np.pi, context.preset.n_scatter)
    first, second = points_at_angles(rng, angle)
    kendall, dot = compare(nearest_orderings(first), nearest_orderings(second))
    drawn = DataFrame({"source": "angle", "angle": angle, "kendall": kendall, "dot": dot})
    kendall, dot = compare(np.tile(np.arange(D), (D, 1)), prefix_reversed(D))
    example = DataFrame({"source": "prefix", "angle": np.nan, "kendall": kendall, "dot": dot})
    return concat([drawn, example], ignore_index=True)


def points_at_angles(rng: np.random.Generator, angles: Floats) -> tuple[Floats, Floats]:
    """Draw pairs of points of 𝕊^{d−2} at the given angles, otherwise uniform: (n, d−1) each."""
    x, y = rng.standard_normal((2, len(angles), D - 1))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y -= (x * y).sum(axis=1, keepdims=True) * x
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return x, np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y


def compare(a: Orderings, b: Orderings) -> tuple[Floats, Floats]:
    """Kendall correlation and dot product of a_i and b_i, row by row: (n,) and (n,)."""
    # Relabelling the players so that a_i becomes the identity changes neither.
    relabelled = np.take_along_axis(ranks_of(a), b, axis=1)
    identity = np.arange(a.shape[1])[None]
    return Kendall().gram(identity, relabelled)[0], permutohedron(relabelled) @ permutohedron(identity)[0]


def prefix_reversed(d: int) -> Orderings:
    """The identity with its first k players reversed, for k = 1 .. d: (d, d)."""
    return np.array([np.r_[np.arange(k)[::-1], np.arange(k, d)] for k in range(1, d + 1)])


def counted_bounds(d: int) -> tuple[Floats, Floats, Floats]:
    """Limits from the proof of the theorem before d → ∞: kendall, lower, upper, for every number of inversions.

    Each inversion of two players {a, b} costs |a − b|, and no two players are inverted twice, so k inversions cost at
    most as much as the k most expensive ones and at least as much as the k cheapest ones. These limits hold for every
    permutation of d players, without an O(1/d) term.
    """
    costs = np.sort(np.concatenate([np.full(d - w, w) for w in range(1, d)]))
    scale = 12 / (d * (d * d - 1))
    least, most = (np.concatenate([[0], np.cumsum(c)]) for c in (costs, costs[::-1]))
    kendall = 1 - 2 * np.arange(len(least)) / len(costs)
    return kendall, 1 - scale * most, 1 - scale * least


def daniels_bounds(kendall: ArrayLike, d: int) -> tuple[Floats, Floats]:
    """Limits of Daniels (1950) on Spearman's correlation ρ, which is the dot product, for any d > 2.

    −1 ≤ (3d K − 2(d+1) ρ) / (d−2) ≤ 1. Some texts print d+2 instead of d, which K = ρ = 1 contradicts.
    """
    k = np.asarray(kendall, dtype=np.float64)
    middle, half = 3 * d / (2 * (d + 1)) * k, (d - 2) / (2 * (d + 1))
    return middle - half, middle + half


def inside(dot: Floats, limits: tuple[Floats, Floats]) -> NDArray[np.bool_]:
    """Whether each dot product is within its lower and upper limits."""
    lower, upper = limits
    return np.asarray((lower - TOLERANCE <= dot) & (dot <= upper + TOLERANCE))


def _share_inside(table: DataFrame) -> float:
    """Share of the pairs within the limits of Theorem 2 without its O(1/d) term."""
    return float(inside(table["dot"].to_numpy(), dot_product_bounds(table["kendall"].to_numpy())).mean())


def draw(table: DataFrame, note: str) -> Figure:
    """Draw every pair as a dot, and the limits of Theorem 2."""
    figure = new_figure(TITLE, note, size=(5.8, 5.7))
    ax = figure.subplots()
    k = np.linspace(-1, 1, 401)
    lower, upper = dot_product_bounds(k)
    ax.fill_between(k, lower, upper, color=BLUE, alpha=0.10, linewidth=0)
    ax.plot(k, lower, color=BLUE, linewidth=2, label="limits of Theorem 2")
    ax.plot(k, upper, color=BLUE, linewidth=2)
    for number, line in enumerate(daniels_bounds(k, D)):
        # Only where they are tighter than those of the theorem.
        tighter = np.where((lower < line) & (line < upper), line, np.nan)
        name = "" if number else "Daniels (1950)"
        ax.plot(k, tighter, color=GREEN, linewidth=1.6, linestyle="--", label=name)
    points = table[table["source"] == "angle"]
    ax.scatter(
        points["kendall"], points["dot"], s=5, color=DARK, alpha=0.35, linewidths=0, rasterized=True, label="pairs"
    )
    prefix = table[table["source"] == "prefix"]
    ax.plot(
        prefix["kendall"], prefix["dot"], color=ORANGE, marker="D", markersize=4, linewidth=1, label="first k reversed"
    )
    ax.axhline(0, color=GREY, linewidth=0.7, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.7, zorder=0)
    share = _share_inside(table)
    ax.text(0.97, 0.05, f"{share:.2%} of {len(table):,} pairs inside", transform=ax.transAxes, ha="right", fontsize=9)
    ax.set(xlabel="Kendall correlation K of two permutations", ylabel="dot product of their points on the sphere")
    ax.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03), aspect="equal")
    ax.legend(loc="upper left", frameon=False, fontsize=9, markerscale=2)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def findings(table: DataFrame) -> list[Finding]:
    """Judge the theorem, its consequence, and further statements of the text."""
    return [_theorem(table), _right_angles(table), _linear(table), _example(table), _best_possible(table)]


def _theorem(table: DataFrame) -> Finding:
    share = _share_inside(table)
    kendall, lower, upper = counted_bounds(D)
    limits = dot_product_bounds(kendall)
    always = inside(lower, limits).all() and inside(upper, limits).all()
    proof = "; by the counting argument of the proof, so are all pairs of permutations" if always else ""
    return Finding(
        "Theorem 2 bounds the dot product by the Kendall correlation, up to O(1/d) (d = 15).",
        "holds" if share == 1 else "does not hold",
        f"{share:.2%} of {len(table):,} pairs are within the limits without the O(1/d) term{proof}",
    )


def _right_angles(table: DataFrame) -> Finding:
    near = table[np.abs(table["dot"]) < 0.05]
    largest = near["kendall"].abs().max()
    return Finding(
        "Permutations with a dot product near 0 have |K_τ| ≤ 1/2 + o(1) (d = 15).",
        "holds" if largest <= 0.5 else "does not hold",
        f"largest |K_τ| {largest:.3f} among the {len(near):,} pairs with a dot product within ±0.05",
    )


def _linear(table: DataFrame) -> Finding:
    points = table[table["source"] == "angle"]
    expected = 1 - 2 * points["angle"] / np.pi
    residuals = (points["kendall"] - expected).to_numpy()
    bins = np.minimum((points["angle"] / np.pi * N_BINS).astype(int), N_BINS - 1)
    means = np.array([residuals[bins == i].mean() for i in range(N_BINS)])
    errors = np.array([residuals[bins == i].std() / np.sqrt((bins == i).sum()) for i in range(N_BINS)])
    spread = float(np.sqrt((residuals**2).mean()))
    # On average the relation is exact: a random hyperplane separates two points at angle θ with probability θ/π.
    return Finding(
        "K_τ of the nearest permutations falls linearly with the angle, aside from quantisation error (d = 15).",
        "holds in part" if (np.abs(means) < 4 * errors).all() else "does not hold",
        f"on average it is 1 − 2θ/π (largest deviation in {N_BINS} bins of θ: {np.abs(means).max():.4f}), but "
        f"individual pairs scatter around it with a standard deviation of {spread:.3f}, whereas the quantisation step "
        f"of K_τ is {4 / (D * (D - 1)):.3f}",
    )


def _example(table: DataFrame) -> Finding:
    prefix = table[table["source"] == "prefix"]
    nearest = prefix.loc[prefix["dot"].abs() == prefix["dot"].abs().min()].iloc[0]
    limit, large = 1 - 2 ** (1 / 3), 2_000
    k = round(large * 2 ** (-1 / 3))
    exact = 1 - 2 * k * (k - 1) / (large * (large - 1))
    return Finding(
        "Reversing the first d·2^(−1/3) players gives a dot product near 0 and K_τ ≈ 1 − 2^(−2/3) ≈ 0.37.",
        "holds" if abs(exact - PRINTED_KENDALL) < 0.01 else "does not hold",
        f"K_τ is {nearest['kendall']:.3f} at d = 15 (dot product {nearest['dot']:.3f}) and {exact:.3f} at "
        f"d = {large:,}. d²·2^(−5/3) inversions are a share of 2^(−2/3) of the pairs of players, so "
        f"K_τ → 1 − 2·2^(−2/3) = {limit:.3f}: the paper omits a factor of 2.",
    )


def _best_possible(table: DataFrame) -> Finding:
    satisfied = inside(table["dot"].to_numpy(), daniels_bounds(table["kendall"].to_numpy(), D)).mean()
    at_zero = (D - 2) / (3 * D)
    return Finding(
        "It is not known whether the limits of Theorem 2 are the best possible.",
        "remark",
        f"Daniels' inequality of 1950 is tighter around 0: at a dot product of 0 it gives |K_τ| ≤ {at_zero:.3f} for "
        f"d = 15 and 1/3 for large d, instead of 1/2. {satisfied:.2%} of the pairs satisfy it. The exact region of the "
        "two correlations is known for large d (Schreyer, Paulin and Trutschnig 2017), so the answer is no.",
    )


BOUNDS = Exhibit(
    name="kendall-bounds",
    title=TITLE,
    paper="The dot product of two points on the sphere is closely related to the Kendall correlation of their "
    "permutations; the limits are those of Theorem 2.",
    compute=compute,
    draw=draw,
    findings=findings,
    source="Figure 6",
    rule="holds if it is true of every pair; in part if it is true on average",
)
