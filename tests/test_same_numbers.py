"""The same numbers before and after the rebuilding of the house, bit for bit; this test goes when it has served.

``python tests/test_same_numbers.py`` writes the hashes. They depend on the machine's linear algebra: one thread.
"""

import hashlib
import json
import warnings
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pytest

import sharpley
from sharpley import SAMPLERS
from sharpley.games import Airport, MarginalGame, TreeGame, UnanimitySum, WeightedVoting

STORED = Path(__file__).with_name("same_numbers.json")
METHODS = (*SAMPLERS, "owen", "owen-halved", "stratified", "regression", "gp", "gp-unbiased", "auto", "exact")
GAMES = {
    "airport": Airport(tuple(np.arange(1.0, 14.0))),
    "voting": WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30),
    "interactions": UnanimitySum.random(17, n_terms=60, max_order=6, rng=3),
    "wide": UnanimitySum.random(60, n_terms=300, max_order=3, rng=4),
}


def digest(*arrays):
    raw = b"".join(np.ascontiguousarray(np.asarray(a, dtype=float).reshape(-1)).tobytes() for a in arrays)
    return hashlib.sha256(raw).hexdigest()[:16]


def of_estimate(found):
    return digest(found.values, found.standard_errors, found.base_values, found.n_evals, found.degrees_of_freedom)


def asked(method):
    return {"method": "gp", "unbiased": True} if method == "gp-unbiased" else {"method": method}


@lru_cache
def tables():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 11))
    x[:, 3] = rng.integers(0, 3, 200)
    x[:, 4] = rng.integers(0, 2, 200)
    return x


def one(x):
    return np.tanh(x[:, 0] * x[:, 1]) + x[:, 2] * x[:, 3] * x[:, 4] + np.abs(x[:, 5:]).sum(axis=1) ** 1.5


def two(x):
    return np.stack([one(x), x[:, 6] * (x[:, 7] > 0) * x[:, 8]], axis=1)


def games_of_rows(games, **options):
    if hasattr(sharpley, "estimate"):
        return sharpley.estimate(games, **options)
    from sharpley.engine.rows import estimate_rows
    from sharpley.engine.settings import make_settings

    settings = make_settings(options["method"], options["max_evals"], None, options["rng"])
    return estimate_rows(games, settings)


@lru_cache
def trees():
    import xgboost

    x = tables()
    model = xgboost.XGBRegressor(n_estimators=30, max_depth=4, n_jobs=1).fit(x, one(x))
    return TreeGame(model, x[:40], x[100:106])


def cases():
    found = {}
    for name, game in GAMES.items():
        for method in METHODS:
            if (method == "exact" and game.d > 13) or (name == "wide" and method in ("stratified", "sbq", "herding")):
                continue
            for seed in (0, 1):
                budget = 2**game.d if method == "exact" else 40 * game.d + 2
                if method == "stratified":
                    budget = max(budget, 5 * game.d**2)
                found[f"{name} {method} {seed}"] = partial(
                    sharpley.shapley_values, game, game.d, max_evals=budget, rng=seed, **asked(method)
                )
        if name != "wide":
            for method in ("antithetic", "design", "sobol", "owen", "stratified", "regression", "gp"):
                found[f"{name} {method} tol"] = partial(
                    sharpley.shapley_values, game, game.d, tol=0.05, max_evals=4000, rng=2, method=method
                )
    x = tables()
    for method in METHODS:
        if method == "exact":
            continue
        budget = 700 if method == "stratified" else 222
        for kind, model in (("one", one), ("two", two)):
            found[f"explainer {kind} {method}"] = partial(
                sharpley.Explainer(model, x[:30], rng=7, **asked(method)).estimate, x[100:104], max_evals=budget
            )
        found[f"explainer groups {method}"] = partial(
            sharpley.Explainer(one, x[:30], rng=7, groups={"a": [0, 1], "b": [3, 4]}, **asked(method)).estimate,
            x[100:103],
            max_evals=400,
        )
    discrete = np.random.default_rng(0).integers(0, 2, size=(50, 9)).astype(float)
    for method in ("auto", "antithetic", "gp"):
        found[f"explainer patterns {method}"] = partial(
            sharpley.Explainer(lambda t: (t.sum(axis=1) ** 2) * t[:, 0], discrete[:2], rng=3, method=method).estimate,
            discrete[10:30],
            max_evals=150,
        )
        found[f"explainer tol {method}"] = partial(
            sharpley.Explainer(two, x[:30], rng=7, method=method).estimate, x[100:110], tol=0.02, max_evals=900
        )
        found[f"trees {method}"] = partial(games_of_rows, trees(), method=method, max_evals=242, rng=1)
        found[f"marginal {method}"] = partial(
            games_of_rows, MarginalGame(two, x[:30], x[100:103]), method=method, max_evals=242, rng=1
        )
    found["many rows gp"] = partial(
        sharpley.Explainer(one, x[:10], rng=7, method="gp").estimate, x[100:160], max_evals=222
    )
    big = UnanimitySum.random(14, n_terms=90, max_order=7, rng=1)
    found["beyond the process"] = partial(sharpley.shapley_values, big, 14, method="gp", max_evals=8000, rng=0)
    return found


def others():
    found = {}
    for name, make in SAMPLERS.items():
        found[f"sample {name}"] = digest(make(9, rng=4).random(50))
        mean = sharpley.permutation_mean(lambda o: o[:, 0] * o[:, 1], 9, n=60, method=name, rng=4)
        found[f"mean {name}"] = digest(*mean)
    orderings = sharpley.Antithetic(17, rng=0).random(30)
    game = GAMES["interactions"]
    found["from_orderings"] = digest(sharpley.from_orderings(game, orderings, groups=np.arange(30) // 2).values)
    found["contributions"] = digest(trees().contributions(sharpley.MonteCarlo(11, rng=0).random(20)))
    found["exact trees"] = digest(trees().shapley_values())
    found["discrepancy"] = digest(sharpley.discrepancy(orderings), sharpley.quadrature_weights(orderings))
    return found


@pytest.mark.slow
def test_numbers_are_those_of_before():
    stored = json.loads(STORED.read_text())
    found = everything()
    assert found.keys() == stored.keys()
    assert [name for name in stored if stored[name] != found[name]] == []


def everything():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: of_estimate(run()) for name, run in cases().items()} | others()


if __name__ == "__main__":
    STORED.write_text(json.dumps(everything(), indent=1))
    print(len(json.loads(STORED.read_text())), "hashes")
