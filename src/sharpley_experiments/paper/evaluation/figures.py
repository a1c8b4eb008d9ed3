"""The seven figures of the evaluation as exhibits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.cells import Cell, Rows, run_cells
from sharpley_experiments.common.constants import MANY_PLAYERS, PLAYERS, revision_of
from sharpley_experiments.common.datasets import number_of_rows
from sharpley_experiments.common.lookup import MAX_PLAYERS_IN_TABLE
from sharpley_experiments.common.versions import with_version
from sharpley_experiments.paper.constants import CANDIDATES, HERDED_ORDERINGS, SCALES
from sharpley_experiments.paper.evaluation import claims
from sharpley_experiments.paper.evaluation.draw import draw_curves, draw_scales, means_table
from sharpley_experiments.paper.evaluation.games import NETWORK, TREES
from sharpley_experiments.paper.evaluation.measure import measure
from sharpley_experiments.paper.evaluation.series import (
    ALIASES,
    BEYOND_THE_PAPER,
    BIASED_METHODS,
    scaled,
    with_candidates,
)
from sharpley_experiments.paper.exhibits import Context, Exhibit

if TYPE_CHECKING:
    from pandas import DataFrame

EXISTING_SERIES = ("monte-carlo", "antithetic", "owen", "owen-halved", "stratified")
PROPOSED_SERIES = ("antithetic", "orthogonal", "sobol", "herding", "sbq")
KERNEL_SERIES = ("mallows", "kendall", "spearman")
TRAINED_BY = {TREES: "xgboost", NETWORK: "scikit-learn"}


def compute(context: Context, *, kind: str, series: tuple[str, ...], only: int = 0) -> DataFrame:
    """Return the errors of all trials as a tidy table."""
    import pandas as pd

    measured = {ALIASES.get(line, line): line for line in series}
    cells = [cell for dataset in PLAYERS for line in measured for cell in _cells(context, kind, dataset, line, only)]
    where = {
        "data": None if context.data is None else str(context.data.resolve()),
        "folder": str(context.folder.resolve()),
    }
    description = f"{kind} {'λ' if only else ''}"
    rows = run_cells(measure, cells, context.folder, jobs=context.jobs, description=description, context=where)
    table = pd.DataFrame(_errors([{**row, "series": measured[row["series"]]} for row in rows]))
    return table[["dataset", "data_rows", "d", "series", "n", "marginal_evals", "trial", "reference", "mse"]]


def _cells(context: Context, kind: str, dataset: str, series: str, only: int) -> list[Cell]:
    preset, d = context.preset, PLAYERS[dataset]
    costly = kind == NETWORK and d > MAX_PLAYERS_IN_TABLE  # every evaluation calls the network
    largest = preset.n_network if costly else preset.n_many_players if d > MANY_PLAYERS else preset.n_few_players
    settings: dict[str, Any] = {
        "kind": kind,
        "dataset": dataset,
        "series": series,
        "largest": min(only, largest) if only else largest,
        "only_largest": int(bool(only)),
        "rows": preset.n_rows,
        "background": preset.n_background,
        "n_train": preset.n_train,
        "data_rows": number_of_rows(dataset, context.data),
        "made_with": f"{revision_of(series)}, {with_version(TRAINED_BY[kind])}",
    }
    return [{**settings, "trial": trial} for trial in range(preset.n_network_trials if costly else preset.n_trials)]


def _errors(rows: Rows) -> Rows:
    """Errors against the exact values where these are known, and for networks also against means over trials."""
    out = [{**row, "d": PLAYERS[row["dataset"]], "reference": "exact"} for row in rows if "mse" in row]
    lines: dict[str, dict[tuple[str, int], Rows]] = {}
    for row in rows:
        if "estimate" in row:
            lines.setdefault(row["dataset"], {}).setdefault((row["series"], row["n"]), []).append(row)
    for of_dataset in lines.values():
        common = _common_mean(of_dataset)
        for (series, _), trials in of_dataset.items():
            out += _against_the_mean(trials, common if series in BIASED_METHODS else None)
    return out


def _common_mean(lines: dict[tuple[str, int], Rows]) -> Floats:
    """Mean over the trials of all unbiased methods, each at its largest number of orderings."""
    largest = {
        series: max(n for other, n in lines if other == series) for series, _ in lines if series not in BIASED_METHODS
    }
    return np.mean([row["estimate"] for key in largest.items() for row in lines[key]], axis=0)


def _against_the_mean(trials: Rows, common: Floats | None) -> Rows:
    """Errors as in the paper where no exact values are known: against the mean of the method's own trials.

    The factor T/(T−1) corrects for the mean being over the same T trials. These errors would hide a bias, so methods
    that may have one are compared with ``common``, the mean of those that have none.
    """
    estimates = np.array([row["estimate"] for row in trials])
    if common is None:
        squares = ((estimates - estimates.mean(axis=0)) ** 2).mean(axis=1) * len(trials) / (len(trials) - 1)
    else:
        squares = ((estimates - common) ** 2).mean(axis=1)
    d = PLAYERS[trials[0]["dataset"]]
    return [
        {**row, "d": d, "reference": "mean of trials", "mse": float(mse)}
        for row, mse in zip(trials, squares, strict=True)
    ]


def _curves(name: str, title: str, paper: str, kind: str, series: tuple[str, ...], findings: Any) -> Exhibit:
    return Exhibit(
        name,
        title,
        paper,
        partial(compute, kind=kind, series=series),
        draw=partial(draw_curves, title=title, series=series),
        tabulate=partial(means_table, series=series),
        findings=findings,
    )


def _scales(name: str, title: str, paper: str, kind: str) -> Exhibit:
    series = tuple(scaled(scale) for scale in SCALES)
    return Exhibit(
        name,
        title,
        paper,
        partial(compute, kind=kind, series=series, only=HERDED_ORDERINGS),
        draw=partial(draw_scales, title=title),
        tabulate=partial(means_table, series=series),
        findings=partial(claims.about_scales, kind="Trees" if kind == TREES else "Networks"),
    )


CURVES: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (
        _curves(
            "existing-gbdt",
            "Existing algorithms, boosted trees",
            "Among the existing algorithms, antithetic sampling has the lowest error on all six data sets.",
            TREES,
            EXISTING_SERIES,
            claims.about_existing,
        ),
        _curves(
            "proposed-gbdt",
            "Proposed algorithms, boosted trees",
            "Herding and SBQ do well with few players and fall behind antithetic sampling on adult and year; "
            "orthogonal sampling overtakes antithetic sampling everywhere as n grows; Sobol' sampling falls behind "
            "antithetic sampling on four of the six data sets.",
            TREES,
            (*PROPOSED_SERIES, *BEYOND_THE_PAPER),
            claims.about_proposed,
        ),
        _curves(
            "proposed-mlp",
            "Proposed algorithms, neural networks",
            "Similar to trees: herding and SBQ converge quickly with few players, orthogonal sampling beats antithetic "
            "sampling throughout, and differences are smaller on adult.",
            NETWORK,
            (*PROPOSED_SERIES, *BEYOND_THE_PAPER),
            claims.about_networks,
        ),
        _scales(
            "lambda-gbdt",
            "Scale of the Mallows kernel, boosted trees",
            "Error of 100 herded orderings for several λ: no value is best throughout, and λ = 4 is a compromise.",
            TREES,
        ),
        _scales(
            "lambda-mlp",
            "Scale of the Mallows kernel, neural networks",
            "As for trees: no λ is best throughout.",
            NETWORK,
        ),
        _curves(
            "argmax-samples",
            "Candidates of herding, boosted trees",
            "5 to 10 candidates are too few; there is little difference between 25 and 50.",
            TREES,
            tuple(with_candidates(count) for count in CANDIDATES),
            claims.about_candidates,
        ),
        _curves(
            "kernels",
            "Kernels of herding, boosted trees",
            "The Mallows kernel is best, or within the interval of the best, on all six data sets; Kendall's lags "
            "behind on make_regression and cal_housing; Spearman's is clearly worse than both.",
            TREES,
            KERNEL_SERIES,
            claims.about_kernels,
        ),
    )
}
