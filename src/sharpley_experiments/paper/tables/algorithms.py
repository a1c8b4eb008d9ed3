"""The algorithms under evaluation (the paper's Table 3), and whether this library's estimate what they should."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import sharpley
from sharpley.engine.methods import MethodName
from sharpley.games import UnanimitySum
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding

if TYPE_CHECKING:
    from pandas import DataFrame


class Printed(NamedTuple):
    """A row of the paper's Table 3."""

    name: str
    is_known: bool
    """Whether it had been proposed for Shapley values before."""
    section: str


PRINTED: dict[MethodName, Printed] = {
    "monte-carlo": Printed("Monte-Carlo", True, "2.3"),
    "antithetic": Printed("Monte-Carlo Antithetic", True, "2.4"),
    "owen": Printed("Owen", True, "2.5"),
    "owen-halved": Printed("Owen-Halved", True, "2.5"),
    "stratified": Printed("Stratified", True, "2.6"),
    "herding": Printed("Kernel herding", False, "3.1"),
    "sbq": Printed("SBQ", False, "3.2"),
    "orthogonal": Printed("Orthogonal Spherical Codes", False, "4.2"),
    "sobol": Printed("Sobol Sequences", False, "4.3"),
}
"""By the name of the method in this library."""

PLAYERS, EVALUATIONS, RUNS = 7, 120, 20
MAX_Z = 5.5  # Student's t with 19 degrees of freedom exceeds it once in 38,000 cases


def compute(context: Context) -> DataFrame:
    """Largest deviation of the mean over runs from the exact values of a game, in standard errors, for each method."""
    import pandas as pd

    game = UnanimitySum.random(PLAYERS, n_terms=20, max_order=4, rng=SEED)
    lines = []
    for method, printed in PRINTED.items():
        runs = [
            sharpley.shapley_values(
                game, PLAYERS, method=method, max_evals=_budget(method), rng=np.random.SeedSequence([SEED, run])
            )
            for run in range(RUNS)
        ]
        values = np.array([run.values for run in runs])
        error = np.maximum(values.std(axis=0, ddof=1) / RUNS**0.5, 1e-12)
        z = float(np.abs((values.mean(axis=0) - game.shapley_values()) / error).max())
        lines.append({"method": method, **printed._asdict(), "z": z, "rmse": float(_rmse(values, game))})
    return pd.DataFrame(lines)


def _budget(method: MethodName) -> int:
    return max(EVALUATIONS, sharpley.METHODS[method].least_budget(PLAYERS))


def _rmse(values: np.ndarray, game: UnanimitySum) -> np.floating:
    return np.sqrt(((values - game.shapley_values()) ** 2).mean())


def tabulate(table: DataFrame) -> DataFrame:
    """The paper's columns, with the library's name of each."""
    from pandas import DataFrame

    return DataFrame(
        {
            "algorithm": table["name"],
            "already proposed for Shapley values": table["is_known"].map({True: "yes", False: "no"}),
            "section of the paper": table["section"].astype(str),
            "method of this library": table["method"],
        }
    )


def findings(table: DataFrame) -> list[Finding]:
    """All nine estimate the Shapley values of a game whose values are known."""
    right = table["z"] < MAX_Z
    rows = tuple((row.method, f"{row.z:.1f}", f"{row.rmse:.3f}") for row in table.itertuples(index=False))
    return [
        Finding(
            "All nine algorithms estimate Shapley values.",
            "holds" if right.all() else "holds in part" if right.any() else "does not hold",
            f"{RUNS} runs of {EVALUATIONS} evaluations for a game of {PLAYERS} players: the largest deviation of the "
            f"mean from the exact values, in standard errors, is below {MAX_Z} for {right.sum()} of {len(table)}",
            Details(("method", "standard errors", "root mean squared error"), rows),
        )
    ]


ALGORITHMS = Exhibit(
    name="algorithms",
    title="Permutation sampling algorithms under evaluation",
    paper="Nine algorithms: five known before for Shapley values, and four that the paper proposes.",
    compute=compute,
    tabulate=tabulate,
    findings=findings,
    source="Table 3",
    rule=f"holds if every mean is within {MAX_Z} standard errors of the exact values, in part if some are",
)
