"""Errors of the Gaussian process ("gp") with actively chosen coalitions, compared with its fixed mixture of sizes.

    python -m sharpley_experiments.studies.active --data ../shared/data --out docs/results/active.md

All runs start from the pairs that ``gp`` chooses for 5 d evaluations. The budget then doubles twice, to 10 d and 20 d,
and further pairs are chosen in one of these ways:

- fixed: as ``gp`` does without a tolerance, by quotas for each size and balance within it;
- active: hyperparameters are learnt from the values seen so far, by the pilot fit that all rows share; of 3,000
  candidates (random, spread evenly over sizes, all of a small size), the one whose value would lower the
  summed posterior variance of the Shapley values most is chosen, again and again;
- half: one half as in fixed, then the other as in active;
- unlearnt (with ``--unlearnt``, in a table of its own): as active, but with the same hyperparameters for every game.

The estimate, with its error bars, is always that of ``gp``. Models are XGBoost on six data sets, with 10 rows, 100
background rows and exact values in closed form; three classic games have closed forms too. Intervals are 95%
bootstrap intervals over seeds, which are the same for all choices. A run takes 15 minutes on one core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Coalitions, Floats
from sharpley_experiments.studies.active_choice import CHOICES, Pairs, Problem, classic_problems, data_problem
from sharpley_experiments.studies.common import (
    DATA_SETS,
    QUICK_DATA_SETS,
    add_data_option,
    add_out_option,
    bootstrap_ratio,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)
from sharpley_experiments.studies.gp_internals import estimate_with_error, evaluated_pairs, number_of_pairs

FIRST_BUDGET, BUDGETS = 5, (10, 20)
"""Evaluations for each player: at the start, and where errors are measured."""

INTRODUCTION = (
    "Errors are mean squared errors over mean φ²; ratios are of mean errors over seeds, with 95% bootstrap "
    "intervals. Coverage is that of 95% intervals. Middle sizes: the share of the pairs added after 5 d "
    "evaluations whose smaller member has more than 3d/8 players. Seconds to choose those pairs include learning "
    "the hyperparameters, but no evaluation."
)


class Outcome(NamedTuple):
    """What is measured of one run at one budget."""

    error: float
    """Mean squared error, divided by the mean of φ²."""
    coverage: float
    """Share of 95% intervals that cover the exact value."""
    seconds: float
    """Seconds to choose the pairs."""
    share_middle: float
    """Share of the added pairs whose smaller member has more than 3d/8 players."""


def measure(problem: Problem, choice: str, seed: int) -> list[Outcome]:
    """Run one choice with one seed, and return an outcome for each budget."""
    pairs, outcomes = Pairs(problem, seed), []
    pairs.extend_fixed(affordable_pairs(problem.d, FIRST_BUDGET))
    first = len(pairs.masks)
    seconds = 0.0
    for budget in BUDGETS:
        start = perf_counter()
        CHOICES[choice](pairs, affordable_pairs(problem.d, budget))
        seconds += perf_counter() - start
        assert len(np.unique(pairs.masks, axis=0)) == len(pairs.masks) == affordable_pairs(problem.d, budget)
        added = pairs.masks[first:].sum(axis=1)
        share_middle = float((added > 3 * problem.d / 8).mean())
        outcomes.append(Outcome(*error_and_coverage(problem, pairs.masks), seconds, share_middle))
    return outcomes


def affordable_pairs(d: int, per_player: int) -> int:
    """Return the number of pairs that ``per_player`` evaluations for each of d players pay for.

    Two evaluations are those of the empty and the full coalition.

    Examples
    --------
    >>> affordable_pairs(10, 5)
    24
    """
    return min((per_player * d - 2) // 2, number_of_pairs(d))


def error_and_coverage(problem: Problem, masks: Coalitions) -> tuple[float, float]:
    """Return the relative mean squared error of the estimate of ``gp``, and the coverage of its 95% intervals."""
    values, half_widths = estimate_with_error(evaluated_pairs(problem.game, masks))
    misses = values - problem.exact.T
    covered = np.abs(misses) <= half_widths + 1e-12
    return float((misses**2).mean() / (problem.exact**2).mean()), float(covered.mean())


def table_columns(others: Sequence[str]) -> list[str]:
    """Return the table's headings for choices that are compared with the fixed one."""
    return [
        "data set or game",
        "d",
        "seeds",
        "evaluations",
        "error, fixed",
        *(f"{choice} ÷ fixed" for choice in others),
        "coverage: fixed",
        *others,
        "middle sizes: fixed",
        others[0],
        "seconds to choose: fixed",
        others[0],
        "times",
    ]


def table_lines(problem: Problem, runs: Sequence[Floats]) -> Iterator[tuple[str, list[float]]]:
    """Yield a line of the table, and the ratios of errors in it, for each budget.

    Parameters
    ----------
    problem : Problem
    runs : sequence of (n_seeds, n_budgets, n_fields) float
        Outcomes of each choice; the first is the fixed one.
    """
    for i, budget in enumerate(BUDGETS):
        reference, *others = (outcomes[:, i] for outcomes in runs)
        ratios = [bootstrap_ratio(outcomes[:, 0], reference[:, 0]) for outcomes in others]
        mean = [Outcome(*outcomes.mean(axis=0)) for outcomes in (reference, *others)]
        cells = [
            problem.name,
            problem.d,
            problem.n_seeds,
            f"{budget} d",
            f"{mean[0].error:.1e}",
            *(f"{ratio.value:.2f} ({ratio.low:.2f}–{ratio.high:.2f})" for ratio in ratios),
            *(f"{outcome.coverage:.3f}" for outcome in mean),
            *(f"{outcome.share_middle:.0%}" for outcome in mean[:2]),
            *(f"{outcome.seconds:.3f}" for outcome in mean[:2]),
            f"{mean[1].seconds / mean[0].seconds:.0f}",
        ]
        yield markdown_row(cells), [ratio.value for ratio in ratios]


def summary(others: Sequence[str], ratios: Sequence[Sequence[float]]) -> Iterator[str]:
    """Yield a sentence on the ratios of each choice; ``ratios`` has a row for each line of the table."""
    for choice, values in zip(others, np.array(ratios).T, strict=True):
        yield (
            f"\nGeometric mean of {choice} ÷ fixed over the lines: {np.exp(np.log(values).mean()):.2f}; "
            f"lower in {(values < 1).sum()} of {len(values)}, from {values.min():.2f} to {values.max():.2f}."
        )


def run(problems: Iterable[Problem], others: Sequence[str], out: Path) -> None:
    """Compare choices with the fixed one on all problems, and write the table."""
    lines, ratios = [], []
    for problem in problems:
        runs = [
            np.array([measure(problem, choice, seed) for seed in range(problem.n_seeds)])
            for choice in ("fixed", *others)
        ]
        for line, found in table_lines(problem, runs):
            lines.append(line)
            ratios.append(found)
            print(line, flush=True)
    write_lines(out, [INTRODUCTION, "", *markdown_head(table_columns(others)), *lines, *summary(others, ratios)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="two seeds on generated data")
    add_data_option(parser)
    add_out_option(parser, Path("docs/results/active.md"), "Markdown file to write")
    parser.add_argument("--unlearnt", action="store_true", help="compare the choice with hyperparameters not learnt")
    options = parser.parse_args(arguments)
    n_seeds = 2 if options.quick else None
    names = QUICK_DATA_SETS if options.quick else DATA_SETS

    def problems() -> Iterator[Problem]:
        yield from classic_problems(n_seeds)
        for name in names:
            yield data_problem(name, options.data, n_seeds)

    run(problems(), ("unlearnt",) if options.unlearnt else ("active", "half"), options.out)


if __name__ == "__main__":
    main()
