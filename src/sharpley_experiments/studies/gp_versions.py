"""Method "gp" of two versions of this project, on the same games with the same seeds.

    export OMP_NUM_THREADS=1
    PYTHONPATH=EARLIER/src python -P src/sharpley_experiments/studies/gp_versions.py measure before.jsonl
    PYTHONPATH=src python -P src/sharpley_experiments/studies/gp_versions.py measure now.jsonl
    PYTHONPATH=src python -m sharpley_experiments.studies.gp_versions compare before.jsonl now.jsonl

The file is run by its path, so that the version on the path is measured. A line of a file is one run: its relative
squared error, the coverage of its 95% intervals and its own processor time. Lines that a file already has are not
measured again; tables of games are kept beside it. Suites are "models" (XGBoost, networks, support vectors, forests and
neighbours with 8 to 30 players), "large" (90 and 107 players), "rough" (the battery of rough games), "rows" (many rows
in a call) and "holes" (games on which error bars once broke).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import TreeGame
from sharpley_experiments.battery.games import battery

DATA_FOLDER = Path("../shared/data")
RESAMPLES = 2000
TINY = 1e-10  # relative squared errors below this one are due to rounding
ROUNDING = 1e-9


class Case(NamedTuple):
    """Games, and the budgets, numbers of rows and seeds with which they are run."""

    suite: str
    name: str
    multiples: tuple[int, ...]
    rows: int
    seeds: int


TABULATED = ("xgboost-cal_housing", "xgboost-make_regression", "mlp-cal_housing", "svr", "forest", "neighbours")
CASES = (
    *(Case("models", name, (2, 3, 5, 10, 20, 50), 3, 4) for name in TABULATED),
    *(Case("models", name, (2, 3, 5, 10, 20, 50), 3, 2) for name in ("xgboost-bank", "mlp-bank")),
    Case("models", "xgboost-breast_cancer", (2, 3, 5, 10, 20, 50), 2, 2),
    *(Case("large", name, (2, 5, 10, 20), 1, 2) for name in ("xgboost-year", "xgboost-adult")),
    *(Case("rough", str(i), (3, 5, 10, 20, 50), 1, 4) for i in range(33)),
    Case("rows", "xgboost-cal_housing", (12,), 200, 2),
    Case("rows", "xgboost-bank", (20,), 200, 1),
    *(Case("holes", name, (2, 3, 4, 5, 7, 10, 20), 1, 4) for name in ("valuation-100",)),
    *(
        Case("holes", name, (2, 3, 5, 10, 20), 1, 6)
        for name in ("quadratic-12", "spikes-12", "svr-40", "svc-digits", "exp-20")
    ),
)


class Solved(NamedTuple):
    """Games with their Shapley values, (rows, d)."""

    games: Any
    exact: Any


class Table(sharpley.Games):
    """Games all of whose values are known, (rows, 2^d) in the order of ``all_coalitions``."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.n_rows, self.d = len(values), int(np.log2(values.shape[1]))
        self.codes = 1 << np.arange(self.d)

    def _draws(self, rows: Any, coalitions: Any, draws: Any) -> Any:
        return self.values[rows, coalitions @ self.codes]


@lru_cache(maxsize=2)
def _of_model(name: str, rows: int, data: Path, folder: Path) -> Solved:
    from sharpley_experiments.common.datasets import load
    from sharpley_experiments.common.models import make_task, margin, train_mlp, train_xgboost

    if "-" not in name:
        return _tabulated(partial(_diabetes, name), folder / f"{name}-{rows}.npz")
    kept = folder / f"{name}-{rows}.npz"
    if kept.exists():
        return _tabulated(None, kept)
    kind, _, data_set = name.partition("-")
    dataset = load(data_set, data)
    task = make_task(dataset, train_xgboost(dataset) if kind == "xgboost" else train_mlp(dataset), rows=rows, seed=0)
    if kind == "xgboost":
        trees = TreeGame(task.model, task.background, task.rows)
        if trees.d > 16 or rows > 3:
            return Solved(trees, trees.shapley_values())
        return _tabulated(lambda: trees, kept)
    return _tabulated(lambda: sharpley.MarginalGame(margin(task.model), task.background, task.rows), kept)


def _diabetes(name: str, rows: int = 3) -> Any:
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    models = {"svr": SVR(C=50.0), "forest": RandomForestRegressor(random_state=0), "neighbours": KNeighborsRegressor()}
    X, y = load_diabetes(return_X_y=True)  # noqa: N806
    order = np.random.default_rng(3).permutation(len(X))
    model = make_pipeline(StandardScaler(), models[name]).fit(X, y)
    return sharpley.MarginalGame(model.predict, X[order[-100:]], X[order[:rows]])


def _tabulated(make: Callable[[], Any] | None, kept: Path) -> Solved:
    """Return games all of whose values are kept in a file, which is written once."""
    if make is not None and not kept.exists():
        games = make()
        values = np.atleast_2d(games(all_coalitions(games.d)))
        table = Table(values)
        found = sharpley.estimate(table, method="exact", max_evals=2**games.d, progress=False)
        np.savez(kept, values=values, exact=found.values)
    with np.load(kept) as arrays:
        return Solved(Table(arrays["values"]), arrays["exact"])


def _hole(name: str, seed: int) -> Solved:
    rng = np.random.default_rng([7, seed])
    if name == "valuation-100":
        return _valuation(100, 5, rng)
    if name == "svr-40":
        return _svr(40, rng)
    if name == "svc-digits":
        return _digits(rng)
    d = int(name.rpartition("-")[2])
    if name.startswith("quadratic"):
        x, b = rng.normal(size=d), rng.normal(size=(30, d))
        q = rng.normal(size=(d, d)) / d
        return _callable(lambda rows: np.exp(np.einsum("ni,ij,nj->n", rows, q, rows)), x, b)
    if name.startswith("spikes"):
        spikes = (rng.random(2**d) < 0.01) * rng.normal(size=2**d) * 10.0
        slopes = rng.normal(size=d)
        table = Table((spikes + all_coalitions(d) @ slopes)[None])
        return Solved(table, sharpley.estimate(table, method="exact", max_evals=2**d, progress=False).values)
    x, b = rng.normal(size=d), rng.normal(size=(100, d))  # exp(Σx): a product of factors, for each background row
    phi = np.zeros(d)
    nodes, weights = np.polynomial.legendre.leggauss(d // 2 + 1)
    q = (nodes[:, None] + 1.0) / 2.0
    for row in b:
        top, bottom = np.exp(x), np.exp(row)
        factors = bottom + q * (top - bottom)
        phi += (top - bottom) * ((weights / 2.0) @ (factors.prod(axis=1, keepdims=True) / factors)) / len(b)
    return Solved(sharpley.MarginalGame(lambda rows: np.exp(rows.sum(axis=1)), b, x[None]), phi[None])


def _callable(predict: Any, x: Any, b: Any) -> Solved:
    games = sharpley.MarginalGame(predict, b, x[None])
    table = Table(np.atleast_2d(games(all_coalitions(games.d))))
    return Solved(table, sharpley.estimate(table, method="exact", max_evals=2**games.d, progress=False).values)


def _valuation(n: int, k: int, rng: np.random.Generator) -> Solved:
    """Return the value of n points to nearest neighbours, with one test point, in closed form (Jia et al., 2019)."""
    phi, orders, rights = np.zeros(n), [], []
    for _ in range(10):
        order, right = rng.permutation(n), (rng.random(n) < 0.6).astype(float)
        at = right[order]
        s = np.zeros(n)
        s[-1] = at[-1] / n
        for i in range(n - 2, -1, -1):
            s[i] = s[i + 1] + (at[i] - at[i + 1]) / k * min(k, i + 1) / (i + 1)
        phi[order] += s / 10
        orders.append(order)
        rights.append(at)

    def value(coalitions: Any) -> Any:
        total = np.zeros(len(coalitions))
        for order, at in zip(orders, rights, strict=True):
            present = coalitions[:, order]
            total += (present & (present.cumsum(axis=1) <= k)) @ at / k
        return total / 10

    return Solved(sharpley.games.CallableGame(value, n), phi[None])


def _reference(games: Any) -> Any:
    return sharpley.estimate(
        games, method="antithetic", draws="shared", max_evals=1500 * games.d, rng=99, progress=False
    ).values


@lru_cache(maxsize=1)
def _svr(d: int, rng: Any) -> Solved:
    from sklearn.svm import SVR

    X = np.random.default_rng(0).normal(size=(400, d))  # noqa: N806
    y = X[:, :8].sum(axis=1) + np.sin(2 * X[:, 8]) * X[:, 9]
    games = sharpley.MarginalGame(SVR().fit(X, y).predict, X[-30:], X[:1])
    return Solved(games, _reference(games))


@lru_cache(maxsize=1)
def _digits(rng: Any) -> Solved:
    from sklearn.datasets import load_digits
    from sklearn.svm import SVC

    X, y = load_digits(return_X_y=True)  # noqa: N806
    model = SVC().fit(X / 16.0, y == 3)
    games = sharpley.MarginalGame(model.decision_function, X[-30:] / 16.0, X[3:4] / 16.0)
    return Solved(games, _reference(games))


_SLOW: dict[str, Solved] = {}


def solved(case: Case, seed: int, data: Path, folder: Path) -> Solved:
    """Return the games of a case; rough games are others for each seed."""
    if case.suite == "rough":
        game = battery(100 + seed // 2)[int(case.name)]
        return Solved(game.games, game.exact[None])
    if case.suite == "holes":
        key = case.name if case.name.startswith("sv") else f"{case.name} {seed // 2}"
        if key not in _SLOW:
            _SLOW[key] = _hole(case.name, seed // 2)
        return _SLOW[key]
    return _of_model(case.name, case.rows, data, folder)


def run(
    case: Case, multiple: int, seed: int, method: Any, data: Path = DATA_FOLDER, folder: Path = Path()
) -> dict[str, Any] | None:
    """Return the error, coverage and time of one run; None if nearly all coalitions fit the budget."""
    known = solved(case, seed, data, folder)
    d = known.games.d
    budget = multiple * d + 2
    if budget >= 0.9 * 2**d:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = process_time()
        found = sharpley.estimate(
            known.games, method=method, draws="shared", max_evals=budget, rng=seed, progress=False
        )
        seconds = process_time() - began
    exact, margin = known.exact, ROUNDING * np.abs(known.exact).max()
    lower, upper = found.interval(0.95)
    covered = (lower - margin <= exact) & (exact <= upper + margin)
    matters = np.asarray(known.games.varying())
    return {
        "suite": case.suite,
        "name": case.name,
        "multiple": multiple,
        "seed": seed,
        "d": d,
        "error": float(((found.values - exact) ** 2).sum() / max((exact**2).sum(), 1e-300)),
        "coverage": float(covered[matters].mean()),
        "width": float((upper - lower)[matters].mean() / max(np.abs(exact).max(), 1e-300)),
        "seconds": seconds,
    }


def measure(path: Path, options: argparse.Namespace) -> None:
    """Measure all cases that the file does not have."""
    done = {_key(line) for line in _lines(path)}
    for case in CASES:
        if (options.suites and case.suite not in options.suites) or (options.only and case.name not in options.only):
            continue
        for multiple in options.multiples or case.multiples:
            for seed in range(min(case.seeds, options.seeds)):
                if multiple not in case.multiples or (case.suite, case.name, multiple, seed) in done:
                    continue
                found = run(case, multiple, seed, options.method, options.data, path.parent)
                if found is not None:
                    with path.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(found) + "\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _key(line: dict[str, Any]) -> tuple[str, str, int, int]:
    return line["suite"], line["name"], line["multiple"], line["seed"]


def compare(before: Path, now: Path, suites: Sequence[str] | None) -> Iterator[str]:
    """Yield a line for each cell, and the geometric mean of the ratios for each suite and budget."""
    old, new = ({_key(line): line for line in _lines(path)} for path in (before, now))
    cells: dict[tuple[str, str, int], list[Any]] = {}
    for key in old.keys() & new.keys():
        if not suites or key[0] in suites:
            cells.setdefault(key[:3], []).append((old[key], new[key]))
    means: dict[tuple[str, int], list[float]] = {}
    for (suite, name, multiple), both in sorted(cells.items()):
        a, b = (np.array([side["error"] for side in sides]) + TINY for sides in zip(*both, strict=True))
        picks = np.random.default_rng(0).integers(len(a), size=(RESAMPLES, len(a)))
        low, high = np.quantile(b[picks].mean(axis=1) / a[picks].mean(axis=1), [0.025, 0.975])
        (c, e), (s, t) = (
            [np.mean([side[what] for side in sides]) for sides in zip(*both, strict=True)]
            for what in ("coverage", "seconds")
        )
        ratio = b.mean() / a.mean()
        means.setdefault((suite, multiple), []).append(float(np.log(ratio)))
        flag = " WORSE" if low > 1.1 else " better" if high < 0.9 else ""
        flag += " COVERAGE" if e < min(c, 0.9) else ""
        label = battery(100)[int(name)].name if suite == "rough" else name
        yield (
            f"{suite:7s}{label:32s}{multiple:3d} {a.mean():9.2e} {b.mean():9.2e} {ratio:8.3f} [{low:6.2f},{high:6.2f}]"
            f"  {c:.2f} {e:.2f}  {s:6.2f} {t:6.2f}{flag}"
        )
    for (suite, multiple), logs in sorted(means.items()):
        yield f"{suite} {multiple} d: geometric mean {np.exp(np.mean(logs)):.3f} of {len(logs)} cells"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["measure", "compare"])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--suites", nargs="+")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--multiples", nargs="+", type=int)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--method", default="gp")
    options = parser.parse_args(arguments)
    if options.verb == "measure":
        measure(options.files[0], options)
    else:
        before, now = options.files
        print("\n".join(compare(before, now, options.suites)))


if __name__ == "__main__":
    main()
