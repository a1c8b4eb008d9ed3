"""Errors, widths and coverage of intervals on models, compared with an earlier version of this project.

    python -m sharpley_experiments.studies.versions a8ee9ed --data ../shared/data --out docs/results/versions.md

Ten rows are explained with 100 background rows and the defaults of ``Explainer``, in both versions with the same
models, budgets and seeds. The earlier version is any commit of the project's Git repository, in which the command must
be started. Exact values are those of trees in closed form, and of networks by all coalitions. "error" and "width" are
ratios of this version to the earlier one, of mean squared errors and of mean widths of 95% intervals, over players that
can matter, with 95% bootstrap intervals over seeds.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley import MarginalGame
from sharpley._support.typing import Coalitions, Floats
from sharpley.games import TreeGame
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.common.models import make_task, margin, train_mlp, train_xgboost
from sharpley_experiments.common.quiet import estimated
from sharpley_experiments.studies import versions_run
from sharpley_experiments.studies.common import (
    DATA_SETS,
    add_data_option,
    add_out_option,
    bootstrap_ratio,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

MULTIPLES, LARGE_MULTIPLES = (5, 10, 20, 50), (5, 10, 20)
"""Budgets, as multiples of the number of players; the second are those of many players."""
LARGE_PLAYERS = 50
SEEDS, LARGE_SEEDS = 6, 3
MODELS = (*(f"xgboost-{name}" for name in DATA_SETS), "mlp-cal_housing", "mlp-make_regression")
QUICK_MODELS = ("xgboost-make_regression",)
ROUNDING = 1e-9  # by which an interval may miss a value
COLUMNS = ("model", "d", "evaluations", "seeds", "error", "width", "coverage before", "coverage now")


class Case(NamedTuple):
    """A model and what is explained of it; ``versions_run`` reads such tuples."""

    name: str
    model: Any
    background: Floats
    rows: Floats
    budgets: tuple[int, ...]
    n_seeds: int


class Truth(NamedTuple):
    """What the results for a case are compared with."""

    values: Floats
    varying: Coalitions


def make_case(name: str, data: Path, *, quick: bool) -> tuple[Case, Truth]:
    """Train a model, and compute the Shapley values of its rows."""
    kind, _, data_set = name.partition("-")
    dataset = load(data_set, data)
    task = make_task(dataset, train_xgboost(dataset) if kind == "xgboost" else train_mlp(dataset))
    large = task.d > LARGE_PLAYERS
    multiples = MULTIPLES[:2] if quick else LARGE_MULTIPLES if large else MULTIPLES
    budgets = tuple(m * task.d + 2 for m in multiples if m * task.d + 2 < 2**task.d)
    case = Case(name, task.model, task.background, task.rows, budgets, 2 if quick else LARGE_SEEDS if large else SEEDS)
    return case, _truth(kind, case)


def _truth(kind: str, case: Case) -> Truth:
    if kind == "xgboost":
        trees = TreeGame(case.model, case.background, case.rows)
        return Truth(trees.shapley_values(), trees.varying())
    games = MarginalGame(margin(case.model), case.background, case.rows)
    return Truth(estimated(games, "exact", 2**games.d, SEED, draws="shared").values, games.varying())


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Provide the source folder of a commit, for as long as the context lasts."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "earlier"
        _git("worktree", "add", "--detach", str(tree), commit)
        try:
            yield tree / "src"
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"git {' '.join(arguments)} failed: {done.stderr.strip()}")


def results_of(source: Path, cases: Sequence[Case]) -> dict[str, Floats]:
    """Return what the version in a source folder finds: values and both limits, by case, budget and seed."""
    with TemporaryDirectory() as folder:
        asked, found = Path(folder) / "cases.pickle", Path(folder) / "results.npz"
        asked.write_bytes(pickle.dumps([tuple(case) for case in cases]))
        environment = {"OMP_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": str(source)}
        # -P: the folder of the script, in which there is a module coverage, must not hide the libraries.
        subprocess.run([sys.executable, "-P", versions_run.__file__, asked, found], env=environment, check=True)
        with np.load(found) as arrays:
            return dict(arrays)


def line_of(
    case: Case, truth: Truth, budget: int, before: Mapping[str, Floats], now: Mapping[str, Floats]
) -> tuple[str, Interval, Interval]:
    """Return a line of the table, with the ratios of errors and of widths."""
    keys = [f"{case.name} {budget} {seed}" for seed in range(case.n_seeds)]
    facts = [np.array([_facts(version[key], truth) for key in keys]) for version in (before, now)]
    (old_errors, old_widths, old_covered), (errors, widths, covered) = (found.T for found in facts)
    error, width = bootstrap_ratio(errors, old_errors), bootstrap_ratio(widths, old_widths)
    cells = _cell(error), _cell(width), f"{old_covered.mean():.3f}", f"{covered.mean():.3f}"
    return markdown_row([case.name, case.rows.shape[1], f"{budget:,}", case.n_seeds, *cells]), error, width


def _facts(found: Floats, truth: Truth) -> tuple[float, float, float]:
    """Return the mean squared error, the mean width of intervals and their coverage."""
    values, lower, upper = (part[truth.varying] for part in found)
    exact = truth.values[truth.varying]
    covered = (lower - ROUNDING <= exact) & (exact <= upper + ROUNDING)
    return float(((values - exact) ** 2).mean()), float((upper - lower).mean()), float(covered.mean())


def _cell(ratio: Interval) -> str:
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _summary(commit: str, errors: Sequence[Interval], widths: Sequence[Interval]) -> str:
    """Say how many cells became less accurate, or wider by more than 15%, beyond the intervals of the ratios."""
    less_accurate = sum(ratio.low > 1.0 for ratio in errors)
    wider = sum(ratio.low > 1.15 for ratio in widths)
    return (
        f"Compared with {commit}, {less_accurate} of {len(errors)} cells are less accurate, and in {wider} intervals "
        f"are more than 15% wider. Geometric mean of the ratios: {_mean(errors):.2f} for errors, "
        f"{_mean(widths):.2f} for widths."
    )


def _mean(ratios: Sequence[Interval]) -> float:
    return float(np.exp(np.mean(np.log([ratio.value for ratio in ratios]))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one small model, two seeds")
    parser.add_argument("commit", help="the earlier version")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    parser.add_argument("--only", nargs="+", metavar="MODEL", help="models to explain (default: all)")
    options = parser.parse_args(arguments)
    lines, errors, widths = markdown_head(COLUMNS), [], []
    with checked_out(options.commit) as earlier:
        for name in options.only or (QUICK_MODELS if options.quick else MODELS):
            case, truth = make_case(name, options.data, quick=options.quick)
            before = results_of(earlier, [case])
            now = results_of(Path(sharpley.__file__).parents[1], [case])
            for budget in case.budgets:
                line, error, width = line_of(case, truth, budget, before, now)
                lines.append(line)
                errors.append(error)
                widths.append(width)
                print(line, flush=True)
    lines = [_summary(options.commit, errors, widths), "", *lines]
    print(lines[0])
    if options.out:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()
