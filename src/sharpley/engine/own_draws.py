"""Runs of methods that ask for single draws."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions, Floats
from sharpley.engine.evaluation import evaluate_draws, units_of
from sharpley.engine.facts import can_own_coalitions
from sharpley.engine.making import make_estimator_of_draw, make_source, orderings_per_step
from sharpley.engine.progress import Progress
from sharpley.engine.results import Results
from sharpley.engine.settings import Plan, Settings
from sharpley.engine.timing import Stopwatch
from sharpley.estimators.draws.base import Asked, DrawsEstimator, DrawsTask, Look
from sharpley.estimators.draws.coalitions import OwnCoalitions
from sharpley.estimators.draws.orderings import OwnOrderings
from sharpley.games.base import Games


def run_own_draws(
    games: Games,
    rows: NDArray[np.int64],
    varying: Coalitions,
    ends: Floats,
    plan: Plan,
    settings: Settings,
    results: Results,
    progress: Progress,
    stopwatch: Stopwatch,
) -> None:
    """Estimate the values of rows from single draws, and write them into ``results``."""
    facts = games.draw_facts()
    # What is derived from facts is kept for further rows, so that the unit must not depend on rows.
    units = units_of(np.concatenate(ends) if facts is None else facts.empty)

    def evaluate(asking: NDArray[np.int64], asked: Asked) -> Floats:
        with stopwatch.model_calls():
            return evaluate_draws(games, asking, asked, n_jobs=settings.n_jobs, advance=progress.advance) / units

    def judge(look: Look) -> NDArray[np.bool_]:
        done = results.write_done(look, units)
        progress.advance(int((plan.budget - look.spent[done]).sum()))
        return done

    task = DrawsTask(
        games,
        varying,
        ends / units,
        None if facts is None else facts._replace(empty=facts.empty / units),
        plan.budget,
        plan.endpoint_cost,
        settings.may_stop,
        settings.seed,
        evaluate,
        judge,
    )
    _estimator(task, plan, settings).run(rows)


def _estimator(task: DrawsTask, plan: Plan, settings: Settings) -> DrawsEstimator:
    """Return the estimator: each draw has coalitions of its own, or each ordering a draw of its own."""
    if can_own_coalitions(plan.method):
        return OwnCoalitions(task, partial(make_estimator_of_draw, plan.method))
    return OwnOrderings(
        task,
        partial(make_source, plan.method, task.games.d),
        orderings_per_step=orderings_per_step(plan.method, task.games.d),
        use_controls=not settings.unbiased,
        surrogate=settings.surrogate,
    )
