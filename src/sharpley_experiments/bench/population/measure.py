"""One cell: a way to explain a model with a budget and a seed. Its error, its intervals, its predictions, its time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from sharpley import Background
from sharpley._support.typing import Floats
from sharpley_experiments.bench.population.explainers import FEW_ROWS, FLOOR, Answer, explained, ways
from sharpley_experiments.bench.population.problems import Problem, problem
from sharpley_experiments.bench.population.references import Reference, reference, values_for
from sharpley_experiments.common.timed import Timed

PREDICTIONS_PER_EVAL = 100
"""Predictions in the budget for each evaluation of the other benchmark, whose games have 100 background rows."""
ROUNDING = 1e-6  # of the size of all values: an interval may miss a value by that much


def budget_of(multiple: int, d: int) -> int:
    """Number of predictions for each row."""
    return (multiple * d + 2) * PREDICTIONS_PER_EVAL


def measure(
    *, game: str, method: str, multiple: int, seed: int, data: str | None, folder: str, version: str = ""
) -> list[dict[str, Any]]:
    """Explain all rows with ``(multiple d + 2) · 100`` predictions for each; no rows if the method needs more."""
    chosen = problem(game, data)
    known = reference(chosen, Path(folder))
    population = len(chosen.numbers.population)
    if method == FLOOR:
        few = Background.sample(chosen.numbers.population, FEW_ROWS, rng=seed).rows
        return [_errors(chosen, known, Answer(values_for(chosen, few)))]
    way, budget = ways()[method], budget_of(multiple, chosen.d)
    if not way.can_spend(budget, chosen.d, population):
        return []
    table = chosen.table if way.takes_frames else chosen.numbers
    timed = Timed(table.predict)
    start = time.thread_time()  # processor time: other work on the machine does not count
    answer = explained(way, table._replace(predict=timed), budget, seed)
    seconds = time.thread_time() - start
    rows = len(answer.values)
    spent = {
        "predictions": timed.rows / rows,
        "seconds": seconds / rows,
        "own_seconds": (seconds - timed.thread_seconds) / rows,
    }
    return [_errors(chosen, known, answer) | spent]


def _errors(chosen: Problem, known: Reference, answer: Answer) -> dict[str, Any]:
    row = {
        "d": chosen.d,
        "population": len(chosen.numbers.population),
        "mse": float(((answer.values - known.values) ** 2).mean()),
        "size": float((known.values**2).mean()),
        "reference_variance": known.variance,
    }
    if answer.interval is not None:
        row["coverage"] = _coverage(answer.interval, known.values, chosen.varying)
    return row


def _coverage(interval: tuple[Floats, Floats], values: Floats, varying: Any) -> float:
    """Share of the players that may matter whose interval contains their value."""
    slack = ROUNDING * np.sqrt((values**2).mean())
    covers = (interval[0] - slack <= values) & (values <= interval[1] + slack)
    return float(covers[varying].mean())
