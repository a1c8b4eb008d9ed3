"""Explains models with whatever version of sharpley is on the path: a script of its own, which imports nothing else.

    python versions_run.py CASES.pickle RESULTS.npz

It is started by ``versions``, and uses only what all versions have.
"""

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from sharpley import Explainer


def predictor(model: Any) -> Callable[[Any], Any]:
    """Return a function of rows: margins of XGBoost, predictions of others."""
    if hasattr(model, "get_booster"):
        return lambda rows: model.predict(rows, output_margin=True).astype(np.float64)
    return lambda rows: np.asarray(model.predict(rows), dtype=np.float64)


def main() -> None:
    """Explain all cases with all budgets and seeds, and write values and confidence limits."""
    cases_file, results_file = sys.argv[1:]
    with open(cases_file, "rb") as file:
        cases = pickle.load(file)
    arrays: dict[str, Any] = {}
    for name, model, background, rows, budgets, n_seeds in cases:
        predict = predictor(model)
        for budget in budgets:
            for seed in range(n_seeds):
                found = Explainer(predict, background, rng=seed).estimate(rows, max_evals=budget, progress=False)
                arrays[f"{name} {budget} {seed}"] = np.stack([found.values, *found.interval(0.95)])
    np.savez(results_file, **arrays)


if __name__ == "__main__":
    main()
