"""Correlations within orthogonal blocks (the paper's Section 4.2: "strongly negatively correlated").

With variance σ² of a player's contribution g along a random ordering, the mean over a block of k = 2(d−1) orderings has
the variance σ²/k · (1 + (k−1)ρ), where ρ is the mean correlation of two orderings of a block. A pair of an ordering and
its reverse has a correlation of its own; the others are at right angles on the sphere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley import Orthogonal
from sharpley._support.typing import Floats
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import MANY_PLAYERS, PLAYERS, revision_of
from sharpley_experiments.common.datasets import number_of_rows
from sharpley_experiments.common.intervals import Interval, geometric_mean_interval, mean_of
from sharpley_experiments.common.versions import with_version
from sharpley_experiments.paper.evaluation.compare import named
from sharpley_experiments.paper.evaluation.games import curve_games
from sharpley_experiments.paper.evaluation.models import KINDS, NETWORK, TRAINED_BY, TREES
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding
from sharpley_experiments.paper.rules import FEWEST_TRIALS, LOWER, judged, verdict

if TYPE_CHECKING:
    from pandas import DataFrame

STRONG = -0.1
"""A correlation that is certainly above is not strong."""


def correlations(contributions: Floats) -> dict[str, float]:
    """Variance of block means relative to independent orderings, and correlations of pairs.

    Parameters
    ----------
    contributions : (rows, blocks, k, d) float
        Along the orderings of whole blocks, each ordering followed by its reverse. Players that never contribute are
        left out by the sums over rows and players.
    """
    blocks, k = contributions.shape[1:3]
    deviations = contributions - contributions.mean(axis=(1, 2), keepdims=True)
    of_means = float((deviations.mean(axis=2) ** 2).sum(axis=1).sum()) / (blocks - 1)
    of_grand_mean = of_means / blocks  # what deviations from the mean of the same blocks lack
    variance = float((deviations**2).mean(axis=(1, 2)).sum()) + of_grand_mean
    pairs = float((deviations[:, :, 0::2] * deviations[:, :, 1::2]).mean(axis=(1, 2)).sum()) + of_grand_mean
    factor, antithetic = k * of_means / variance, pairs / variance
    return {"factor": factor, "antithetic": antithetic, "others": (factor - 1 - antithetic) / (k - 2)}


def measure(
    *,
    kind: str,
    dataset: str,
    experiment: int,
    blocks: int,
    rows: int,
    background: int,
    n_train: int,
    data: str | None,
    folder: str,
    data_rows: int = 0,
    made_with: str = "",
) -> Rows:
    """Correlations in one experiment. The last two do nothing but make other cells of other data and models."""
    games = curve_games(kind, dataset, experiment, rows, background, n_train, data, folder)
    k = 2 * (games.d - 1)
    orderings = Orthogonal(games.d, rng=experiment).random(k * blocks)
    contributions = games.contributions(orderings)
    return [{"d": games.d, "k": k, **correlations(contributions.reshape(len(contributions), blocks, k, games.d))}]


def compute(context: Context) -> DataFrame:
    """One row for each kind of model, data set and experiment."""
    from pandas import DataFrame

    preset = context.preset
    cells: list[Cell] = [
        {
            "kind": kind,
            "dataset": dataset,
            "experiment": experiment,
            "blocks": preset.n_blocks if d <= MANY_PLAYERS else max(2, preset.n_blocks // 4),
            "rows": preset.n_rows,
            "background": preset.n_background,
            "n_train": preset.n_train,
            "data_rows": number_of_rows(dataset, context.data),
            "made_with": f"{revision_of('orthogonal')}, {with_version(TRAINED_BY[kind])}",
        }
        for kind in (TREES, NETWORK)
        for dataset, d in PLAYERS.items()
        for experiment in range(preset.n_experiments if kind == TREES else preset.n_network_experiments)
    ]
    where = {
        "data": None if context.data is None else str(context.data.resolve()),
        "folder": str(context.folder.resolve()),
    }
    found = run_cells(measure, cells, context.folder / "blocks", jobs=context.jobs, description="blocks", context=where)
    columns = ["kind", "dataset", "data_rows", "d", "k", "experiment", "blocks", "factor", "antithetic", "others"]
    return DataFrame(found)[columns]


def _groups(table: DataFrame) -> list[tuple[str, str, DataFrame]]:
    return [
        (KINDS[str(kind)], named(part, str(name)), part)
        for (kind, name), part in table.groupby(["kind", "dataset"], sort=False)
    ]


def _shown(interval: Interval, digits: int = 2) -> str:
    return f"{interval.value:.{digits}f} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"


def findings(table: DataFrame) -> list[Finding]:
    """Whether blocks have a smaller variance than independent orderings, and which pairs make it so."""
    claims = (
        "Orderings of an orthogonal block are negatively correlated: a block has a lower variance than independent "
        "orderings.",
        "The orderings of an orthogonal block are strongly negatively correlated, reverses and those at right angles.",
    )
    experiments = int(table.groupby(["kind", "dataset"])["experiment"].nunique().min())
    if experiments < FEWEST_TRIALS:
        return [Finding(claim, "not judged", f"not judged at this size: {experiments} experiments") for claim in claims]
    groups = _groups(table)
    factors = [geometric_mean_interval(np.log(part["factor"].to_numpy())) for *_, part in groups]
    antithetic, others = (
        [mean_of(part[column].to_numpy()) for *_, part in groups] for column in ("antithetic", "others")
    )
    rows = tuple(
        (kind, name, *cells)
        for (kind, name, _), *cells in zip(
            groups, map(_shown, factors), map(_shown, antithetic), (_shown(one, 4) for one in others), strict=True
        )
    )
    ratio = "variance / that of independent orderings"
    head = ("model", "data set", ratio, "correlation with the reverse", "at right angles")
    strong, weak = (
        (sum(one.high < STRONG for one in kind), sum(one.low > STRONG for one in kind)) for kind in (antithetic, others)
    )
    agree, against = (first + second for first, second in zip(strong, weak, strict=True))
    right = [one.value for one in others]
    return [
        Finding(claims[0], judged(factors, LOWER), "means over experiments", Details(head, rows), LOWER.words),
        Finding(
            claims[1],
            verdict(agree, against, 2 * len(others) - agree - against),
            f"{strong[0]} of {len(others)} correlations with the reverse are strong, "
            f"and {weak[0]} of {len(others)} at right angles ({max(right):.4f} to {min(right):.4f}, "
            f"{sum(one.high < 0 for one in others)} certainly negative), which matter only because they are many",
            rule=f"a correlation whose interval lies below {STRONG:g} agrees, above contradicts",
        ),
    ]


def tabulate(table: DataFrame) -> DataFrame:
    """Means over experiments."""
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "model": kind,
                "data set": name,
                "orderings in a block": int(part["k"].iloc[0]),
                "variance / that of independent orderings": f"{np.exp(np.log(part['factor']).mean()):.3f}",
                "correlation with the reverse": f"{part['antithetic'].mean():.3f}",
                "correlation at right angles": f"{part['others'].mean():.4f}",
            }
            for kind, name, part in _groups(table)
        ]
    )


BLOCKS = Exhibit(
    "orthogonal-blocks",
    "Correlations within orthogonal blocks",
    "Orthogonal samples on the sphere are strongly negatively correlated in the evaluation, which lowers the variance.",
    compute,
    tabulate=tabulate,
    findings=findings,
    source="Section 4.2",
)
