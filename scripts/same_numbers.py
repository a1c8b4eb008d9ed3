"""Hashes of the numbers that every method gives, to show that a refactoring changed no bit.

    python scripts/same_numbers.py > before.txt                      # this source tree
    python scripts/same_numbers.py --src OTHER/src > after.txt       # another one, such as a worktree of a branch
    diff before.txt after.txt

Each line has a case and the hash of its values, standard errors, base values, counts and degrees of freedom. The hashes
depend on the machine's linear algebra, so compare two trees on the same machine, with one thread.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Case = tuple[str, Callable[[], Any]]


def digest(*arrays: Any) -> str:
    """Return the hash of arrays."""
    raw = b"".join(np.ascontiguousarray(np.asarray(a, dtype=float).reshape(-1)).tobytes() for a in arrays)
    return hashlib.sha256(raw).hexdigest()[:16]


def of_estimate(found: Any) -> str:
    """Return the hash of a result."""
    counts = found.n_evals, found.n_predictions
    return digest(found.values, found.standard_errors, found.base_values, found.degrees_of_freedom, *counts)


def table() -> np.ndarray:
    """Return rows with numbers and categories."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(500, 11))
    x[:, 3] = rng.integers(0, 3, 500)
    x[:, 4] = rng.integers(0, 2, 500)
    return x


def one(x: np.ndarray) -> np.ndarray:
    """A model with one output."""
    return np.tanh(x[:, 0] * x[:, 1]) + x[:, 2] * x[:, 3] * x[:, 4] + np.abs(x[:, 5:]).sum(axis=1) ** 1.5


def two(x: np.ndarray) -> np.ndarray:
    """A model with two outputs."""
    return np.stack([one(x), x[:, 6] * (x[:, 7] > 0) * x[:, 8]], axis=1)


def games() -> Iterator[Case]:
    """Yield cases of functions of coalitions."""
    import sharpley
    from sharpley.games import Airport, UnanimitySum, WeightedVoting

    named = {
        "airport": Airport(tuple(np.arange(1.0, 14.0))),
        "voting": WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30),
        "interactions": UnanimitySum.random(17, n_terms=60, max_order=6, rng=3),
        "wide": UnanimitySum.random(60, n_terms=300, max_order=3, rng=4),
    }
    for name, game in named.items():
        for method, record in sharpley.METHODS.items():
            for budget in _budgets(name, method, game.d):
                if budget >= record.least_budget(game.d):
                    run = partial(sharpley.shapley_values, game, game.d, max_evals=budget, rng=0, method=method)
                    yield f"{name}, {method}, {budget}", run
        if name != "wide":
            for method in ("antithetic", "design", "sobol", "owen", "stratified", "regression", "gp"):
                run = partial(sharpley.shapley_values, game, game.d, tol=0.05, max_evals=4000, rng=2, method=method)
                yield f"{name}, {method}, tol", run
    big = UnanimitySum.random(14, n_terms=90, max_order=7, rng=1)
    yield "many pairs, gp", partial(sharpley.shapley_values, big, 14, method="gp", max_evals=8000, rng=0)


def _budgets(game: str, method: str, d: int) -> list[int]:
    """Return the budgets to try; none where a method would take too long."""
    if (game == "wide" and method in ("stratified", "sbq", "herding")) or (method == "exact" and d > 13):
        return []
    return {"exact": [2**d], "stratified": [5 * d**2]}.get(method, [5 * d + 2, 40 * d + 2])


def explainers() -> Iterator[Case]:
    """Yield cases of models, with shared and with own draws."""
    import sharpley

    x = table()
    for method in sharpley.METHODS:
        if method == "exact":
            continue
        options = {"max_evals": 700 if method == "stratified" else 222, "progress": False}
        for name, model in (("one", one), ("two", two)):
            explainer = sharpley.Explainer(model, x[:30], rng=7, method=method, draws="shared")
            yield f"shared, {name}, {method}", partial(explainer.estimate, x[400:404], **options)
        groups = {"a": [0, 1], "b": [3, 4]}
        explainer = sharpley.Explainer(one, x[:30], rng=7, groups=groups, method=method)
        yield f"groups, {method}", partial(explainer.estimate, x[400:403], max_evals=400)
    discrete = np.random.default_rng(0).integers(0, 2, size=(50, 9)).astype(float)
    for method in ("auto", "antithetic", "gp"):
        for n in (2, 40):
            explainer = sharpley.Explainer(lambda t: t.sum(axis=1) ** 2 * t[:, 0], discrete[:n], rng=3, method=method)
            yield f"patterns, {n}, {method}", partial(explainer.estimate, discrete[10:30], max_evals=150)
        explainer = sharpley.Explainer(two, x[:30], rng=7, method=method)
        yield f"tol, {method}", partial(explainer.estimate, x[400:410], tol=0.02, max_evals=900)
    many = sharpley.Explainer(one, x[:10], rng=7, method="gp")
    yield "many rows, gp", partial(many.estimate, x[400:460], max_evals=222)


def own_draws() -> Iterator[Case]:
    """Yield cases of models whose background rows are visited one by one."""
    import sharpley

    x = table()
    groups = {"a": [0, 1], "b": [3, 4]}
    for method, record in sharpley.METHODS.items():
        if not record.can_own_draws:
            continue
        for name, model in (("one", one), ("two", two)):
            explainer = sharpley.Explainer(model, x[:300], rng=7, method=method, draws="own")
            yield f"own, {name}, {method}", partial(explainer.estimate, x[400:404], max_predictions=3000)
            if method not in ("herding", "sbq"):  # whose sequences take minutes to grow
                yield f"own, {name}, {method}, tol", partial(explainer.estimate, x[400:406], tol=0.05)
        explainer = sharpley.Explainer(one, x[:300], rng=7, groups=groups, method=method, draws="own")
        yield f"own, groups, {method}", partial(explainer.estimate, x[400:403], max_predictions=3000)
        if record.is_unbiased:
            explainer = sharpley.Explainer(one, x[:300], rng=7, method=method, draws="own", unbiased=True)
            yield f"own, unbiased, {method}", partial(explainer.estimate, x[400:403], max_predictions=3000)
    regression = sharpley.Explainer(two, x[:60], rng=7, method="regression", draws="own")
    yield "own, regression", partial(regression.estimate, x[400:404], max_predictions=6000)
    surrogate = sharpley.Explainer(one, x[:300], rng=7, draws="own")
    yield "own, surrogate", partial(surrogate.estimate, x[400:402], max_predictions=4000, surrogate="auto")
    weighted = sharpley.Background(x[:300], weights=np.arange(1, 301.0))
    yield "own, weighted", partial(sharpley.Explainer(one, weighted, rng=3).estimate, x[400:403], max_predictions=3000)


def samples() -> Iterator[tuple[str, str]]:
    """Yield hashes of samples, means and discrepancies."""
    import sharpley
    from sharpley.games import UnanimitySum

    for name, make in sharpley.SAMPLERS.items():
        yield f"sample, {name}", digest(make(9, rng=4).random(50))
        mean, error = sharpley.permutation_mean(lambda o: o[:, 0] * o[:, 1], 9, n=60, method=name, rng=4)
        yield f"mean, {name}", digest(mean, error)
    orderings = sharpley.Antithetic(17, rng=0).random(30)
    game = UnanimitySum.random(17, n_terms=60, max_order=6, rng=3)
    yield "from_orderings", of_estimate(sharpley.from_orderings(game, orderings, groups=np.arange(30) // 2))
    yield "discrepancy", digest(sharpley.discrepancy(orderings), sharpley.quadrature_weights(orderings))


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--match", default="", help="regular expression: cases to run (default: all)")
    options = parser.parse_args()
    sys.path.insert(0, str(options.src.resolve()))
    warnings.simplefilter("ignore")
    for name, run in (*games(), *explainers(), *own_draws()):
        if not re.search(options.match, name):
            continue
        try:
            print(name, of_estimate(run()), sep=": ", flush=True)
        except ValueError as error:
            print(name, error, sep=": ", flush=True)
    for name, found in samples():
        print(name, found, sep=": ", flush=True)


if __name__ == "__main__":
    main()
