"""Shapley values for all background rows of a population, which every library's are compared with.

Exact for XGBoost, whose trees have a closed form, and for up to 10 players, by all coalitions. Otherwise they are those
of a long run without bias that visits every background row many times; its standard errors are known, and reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sharpley import MarginalGame
from sharpley._support.typing import Floats
from sharpley.games import TreeGame
from sharpley_experiments.bench.population.problems import Problem
from sharpley_experiments.common.constants import SEED
from sharpley_experiments.common.lookup import digest_of, write_arrays
from sharpley_experiments.common.quiet import estimated

ENUMERATED_PLAYERS = 10
REFERENCE_PAIRS = 60_000  # antithetic pairs of orderings for each row in a long run
FLOOR_EVALS = 100  # for each player, where coalitions are too many to evaluate all of them


class Reference(NamedTuple):
    """Shapley values of every row, and how precise they are."""

    values: Floats
    """(rows, d)."""
    variance: float
    """Mean squared standard error; 0 if the values are exact."""


def reference(problem: Problem, folder: Path, pairs: int = REFERENCE_PAIRS) -> Reference:
    """Return the Shapley values for the whole population; they are computed once, and kept in the folder."""
    numbers = problem.numbers
    kept = folder / f"{problem.name}-{digest_of(problem.fast, numbers.population, numbers.rows)}.npz"
    if not kept.exists():
        found = _computed(problem, pairs)
        write_arrays(kept, values=found.values, variance=found.variance)
    with np.load(kept) as arrays:
        return Reference(arrays["values"], float(arrays["variance"]))


def _computed(problem: Problem, pairs: int) -> Reference:
    numbers, d = problem.numbers, problem.d
    if problem.trees is not None or d <= ENUMERATED_PLAYERS:
        return Reference(values_for(problem, numbers.population), 0.0)
    games = MarginalGame(problem.fast, numbers.population, numbers.rows)
    budget = 2 * d * pairs
    found = estimated(games, "antithetic", None, SEED, draws="own", max_predictions=budget, unbiased=True)
    return Reference(found.values, float((found.standard_errors**2).mean()))


def values_for(problem: Problem, background: Any) -> Floats:
    """Return the Shapley values (rows, d) for a few background rows, given as numbers.

    They are exact, or nearly so where there are too many coalitions: those of "gp" with 100 evaluations per player.
    """
    rows, d = problem.numbers.rows, problem.d
    if problem.trees is not None:
        return TreeGame(problem.trees, background, rows).shapley_values()
    games = MarginalGame(problem.fast, background, rows)
    if d <= ENUMERATED_PLAYERS:
        return estimated(games, "exact", 2**d, SEED, draws="shared").values
    return estimated(games, "gp", FLOOR_EVALS * d + 2, SEED, draws="shared").values
