"""The libraries as their users call them, each with a number of predictions that it may spend on a row.

Every line of the benchmark is a way to explain rows. Those with 100 or 1,000 background rows draw these at random from
the population, others for every seed; k-means summarises the population by centres with weights. shap's KernelExplainer
is called without its default regularisation, which would keep 10 features only. The number of coalitions is the budget
divided by the number of background rows; shap's PermutationExplainer nevertheless spends more at the smallest budgets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley.games.marginal.known import REPEATED_ROWS
from sharpley_experiments.bench.population.problems import Table
from sharpley_experiments.common.quiet import without_time_warnings

OURS = "sharpley"
OURS_ON_FEW = "sharpley, 100 rows"
FLOOR = "exact, 100 rows"
FEW_ROWS = 100


class Answer(NamedTuple):
    """Shapley values (rows, d), and the ends of their 95% intervals if the library has them."""

    values: Floats
    interval: tuple[Floats, Floats] | None = None


class Way(NamedTuple):
    """A way to explain rows."""

    explain: Callable[[Table, int, int], Answer]
    """(table, predictions for each row, seed) -> answer."""
    background: int | None
    """Number of background rows, of which each costs a prediction for every coalition; None if that is not so."""
    takes_frames: bool = False
    """Whether the data may be a frame."""

    def can_spend(self, predictions: int, d: int, population: int) -> bool:
        """Whether so many predictions for a row pay for at least one ordering and its reverse."""
        return self.background is None or predictions // min(self.background, population) >= 2 * d + 1


def _ours(table: Table, predictions: int, seed: int, *, background: int | None) -> Answer:
    """Explain by sharpley; the predictions for the background itself, made once for all rows, are paid for too."""
    chosen = table.population if background is None else _drawn(table, background, seed)
    explainer = sharpley.Explainer(table.predict, chosen, rng=seed)
    once = -(-(len(chosen) + REPEATED_ROWS) // len(table.rows))
    with without_time_warnings():
        found = explainer.estimate(table.rows, max_predictions=predictions - once, progress=False)
    return Answer(found.values, found.interval(0.95))


def _shap_permutation(table: Table, predictions: int, seed: int, *, background: int) -> Answer:
    import shap

    chosen = _drawn(table, background, seed)
    masker = shap.maskers.Independent(chosen, max_samples=len(chosen))
    explainer = shap.PermutationExplainer(table.predict, masker, seed=seed)
    return Answer(np.asarray(explainer(table.rows, max_evals=predictions // len(chosen), silent=True).values))


def _shap_kernel(table: Table, predictions: int, seed: int, *, background: int, kmeans: bool = False) -> Answer:
    import shap

    chosen = shap.kmeans(table.population, background) if kmeans else _drawn(table, background, seed)
    np.random.seed(seed)  # noqa: NPY002 (the explainer uses numpy's global state)
    explainer = shap.KernelExplainer(table.predict, chosen)
    n_samples = predictions // min(background, len(table.population)) - 2
    return Answer(np.asarray(explainer.shap_values(table.rows, nsamples=n_samples, l1_reg=False, silent=True)))


def _shapiq_tabular(table: Table, predictions: int, seed: int, *, background: int) -> Answer:
    import shapiq

    explainer = shapiq.TabularExplainer(
        table.predict, table.population, index="SV", max_order=1, sample_size=background, random_state=seed
    )
    # The values of ∅ are computed once more for every row.
    budget = predictions // min(background, len(table.population)) - 1
    found = [explainer.explain(row, budget=budget).get_n_order_values(1) for row in table.rows]
    return Answer(np.array(found, dtype=np.float64))


def _drawn(table: Table, count: int, seed: int) -> Any:
    return sharpley.Background.sample(table.population, count, rng=seed).rows


def _way(explain: Callable[..., Answer], background: int, **options: Any) -> Way:
    return Way(partial(explain, background=background, **options), background)


SHAP = {
    "shap Permutation, 100 rows": _way(_shap_permutation, 100),
    "shap Permutation, 1000 rows": _way(_shap_permutation, 1000),
    "shap Kernel, 100 rows": _way(_shap_kernel, 100),
    "shap Kernel, 1000 rows": _way(_shap_kernel, 1000),
    "shap Kernel, k-means 10": _way(_shap_kernel, 10, kmeans=True),
    "shap Kernel, k-means 100": _way(_shap_kernel, 100, kmeans=True),
}
SHAPIQ = {"shapiq Tabular, 100 rows": _way(_shapiq_tabular, 100)}


def ways() -> dict[str, Way]:
    """Return all ways to explain that the installed libraries provide, by their names in tables."""
    ours = {
        OURS: Way(partial(_ours, background=None), None, takes_frames=True),
        OURS_ON_FEW: Way(partial(_ours, background=FEW_ROWS), FEW_ROWS, takes_frames=True),
    }
    return ours | SHAP | (SHAPIQ if find_spec("shapiq") is not None else {})


def explained(way: Way, table: Table, predictions: int, seed: int) -> Answer:
    """Explain all rows, without the warnings of the libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return way.explain(table, predictions, seed)
