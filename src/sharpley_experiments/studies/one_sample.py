"""One sample is the method: accuracy of each named sampler beside its orderings used directly, and its error bars.

    python -m sharpley_experiments.studies.one_sample --data ../shared/data --out docs/results/one_sample.md

Every sampler is run by its name with 5 d, 10 d, 20 d and 50 d evaluations (+ 2 for ∅ and N), with one sample, and with
five replicates. *Directly* means ``sampler.random(n)``, with the largest n whose coalitions the budget pays for,
averaged by ``from_orderings`` with the sampler's weights. Smooth games are ten rows each of XGBoost models; rough games
are those of ``sharpley_experiments.battery`` with up to 20 players. The ratio of squared errors is the geometric mean
over games, with a 95% bootstrap interval over seeds; coverage is the share of 95% intervals that contain the exact
value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sharpley
from sharpley._support.typing import Floats, Orderings
from sharpley.coalitions.store import coalition_keys
from sharpley.estimators.walks import coalitions_between, orderings_within
from sharpley.games import Games
from sharpley_experiments.battery.games import battery
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.studies.common import (
    RESAMPLES,
    add_data_option,
    add_out_option,
    markdown_head,
    markdown_row,
    study_parser,
    tree_game,
    write_lines,
)

SAMPLERS = ("orthogonal", "sobol", "herding", "sbq", "design")
MULTIPLES = (5, 10, 20, 50)
SMOOTH, QUICK_SMOOTH = ("make_regression", "bank", "breast_cancer"), ("make_regression",)
MOST_PLAYERS = 20
NEARLY_ALL = 0.9  # of all coalitions: a budget that pays for more is left out
INSTANCE = 100
SEEDS, QUICK_SEEDS, QUICK_GAMES = 8, 2, 4
REPLICATES = 5
ROUNDING = 1e-9
ALMOST_NOTHING = 1e-20  # squared error, relative to the mean square of the values, that is due to rounding


class Problem(NamedTuple):
    """Games with their exact values."""

    name: str
    kind: str
    games: Games
    exact: Floats
    """(rows, d)."""
    varying: NDArray[np.bool_]
    """(rows, d) bool: players that can matter."""


class Runs(NamedTuple):
    """What was measured of one sampler on one problem with one budget, for each seed."""

    named: Floats
    """Squared errors by name, (seeds,)."""
    direct: Floats
    """Squared errors of the orderings used directly."""
    replicated: Floats
    """Squared errors with five replicates; NaN if the budget is too small for them."""
    coverage: float
    width: float
    """Mean variance that was reported, relative to the mean squared error."""


def problems(data: Path, smooth: Sequence[str], n_rough: int | None) -> list[Problem]:
    """Return smooth and rough problems."""
    found = []
    for name in smooth:
        game = tree_game(name, data)
        found.append(Problem(name, "smooth", game, game.shapley_values(), game.varying()))
    for rough in battery(INSTANCE)[:n_rough]:
        if rough.d <= MOST_PLAYERS:
            found.append(
                Problem(rough.name, "rough", rough.games, rough.exact[None], np.ones((1, rough.d), dtype=bool))
            )
    return found


def direct_sample(method: str, d: int, budget: int, seed: int) -> tuple[Orderings, Floats]:
    """Return the most orderings of a sampler within a budget, and their weights."""
    make = sharpley.SAMPLERS[method]
    # The engine draws the same seed for its samplers, so that the two samples differ only in what is done with them.
    same = np.random.default_rng(seed).integers(2**32, size=4, dtype=np.uint32)
    n = orderings_within(budget, d) + (0 if method == "design" else 2)
    while True:
        sampler = make(d, rng=np.random.default_rng(same))
        orderings = sampler.random(n)
        excess = len(set(coalition_keys(coalitions_between(orderings)))) + 2 - budget
        if excess <= 0:
            return orderings, sampler.weights(orderings)
        n -= max(1, excess // (d - 1))


def measured(problem: Problem, method: str, multiple: int, seeds: int) -> Runs | None:
    """Measure one sampler on one problem; None if the budget pays for nearly all coalitions."""
    d = problem.games.d
    budget = multiple * d + 2
    if budget > NEARLY_ALL * 2**d:
        return None
    copies = partial(sharpley.SAMPLERS[method], replicates=REPLICATES)
    errors: dict[str, list[float]] = {"named": [], "direct": [], "replicated": []}
    covered, variances = [], []
    for seed in range(seeds):
        named = estimated(problem.games, method, budget, seed)
        direct = sharpley.from_orderings(problem.games, *direct_sample(method, d, budget, seed)).values
        replicated = estimated(problem.games, copies, budget, seed).values
        for key, values in (("named", named.values), ("direct", direct), ("replicated", replicated)):
            errors[key].append(float(((values.reshape(problem.exact.shape) - problem.exact) ** 2).mean()))
        low, high = (limit.reshape(problem.exact.shape) for limit in named.interval(0.95))
        inside = (low - ROUNDING <= problem.exact) & (problem.exact <= high + ROUNDING)
        covered.append(inside[problem.varying].mean())
        variances.append(float((named.standard_errors**2).mean()))
    arrays = {key: np.array(values) for key, values in errors.items()}
    return Runs(**arrays, coverage=float(np.mean(covered)), width=float(np.mean(variances) / arrays["named"].mean()))


def ratio(runs: Sequence[Runs], above: str, below: str) -> Interval:
    """Return the geometric mean over problems of ratios of mean squared errors, with its bootstrap interval."""
    picks = np.random.default_rng(0).integers(len(runs[0].named), size=(RESAMPLES, len(runs[0].named)))
    logs = [np.log(getattr(run, above)[picks].mean(axis=1) / getattr(run, below)[picks].mean(axis=1)) for run in runs]
    value = np.exp(np.mean([np.log(getattr(run, above).mean() / getattr(run, below).mean()) for run in runs]))
    low, high = np.exp(np.quantile(np.mean(logs, axis=0), [0.025, 0.975]))
    return Interval(float(value), float(low), float(high))


def table(every: Sequence[Problem], samplers: Sequence[str], seeds: int) -> Iterator[str]:
    """Yield the lines of the table, and print them as they are measured."""
    scale = {problem.name: float((problem.exact**2).mean()) for problem in every}
    yield from markdown_head(
        [
            "sampler",
            "games",
            "evaluations",
            "named / direct",
            "five replicates / named",
            "coverage",
            "lowest",
            "variance",
        ],
        n_text=3,
    )
    for method in samplers:
        for kind in ("smooth", "rough"):
            for multiple in MULTIPLES:
                found = {
                    problem.name: run
                    for problem in every
                    if problem.kind == kind and (run := measured(problem, method, multiple, seeds)) is not None
                }
                # Games that a sampler integrates exactly have no ratio.
                runs = [
                    run
                    for name, run in found.items()
                    if min(run.named.mean(), run.direct.mean()) > ALMOST_NOTHING * scale[name]
                ]
                same, copies = ratio(runs, "named", "direct"), ratio(runs, "replicated", "named")
                worst = min(found, key=lambda name: found[name].coverage)
                line = markdown_row(
                    [
                        method,
                        kind,
                        f"{multiple} d",
                        f"{same.value:.2f} ({same.low:.2f} to {same.high:.2f})",
                        f"{copies.value:.2f} ({copies.low:.2f} to {copies.high:.2f})",
                        f"{np.mean([run.coverage for run in found.values()]):.3f}",
                        f"{found[worst].coverage:.2f} {worst}",
                        f"{np.exp(np.mean([np.log(run.width) for run in runs])):.2f}",
                    ]
                )
                print(line, flush=True)
                yield line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="few seeds and games")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"seeds of each cell (default: {SEEDS})")
    parser.add_argument("--sampler", action="append", choices=SAMPLERS, help="only this sampler; may be repeated")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    smooth, n_rough, seeds = (
        (QUICK_SMOOTH, QUICK_GAMES, QUICK_SEEDS) if options.quick else (SMOOTH, None, options.seeds)
    )
    lines = [
        f"Squared errors and coverage over {seeds} seeds. *Named / direct*: the method by its name, and its sampler",
        "used directly. *Lowest*: the game with the lowest coverage. *Variance*: the variance that error bars report,",
        "relative to the squared error.",
        "",
        *table(problems(options.data, smooth, n_rough), options.sampler or SAMPLERS, seeds),
    ]
    if options.out:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
