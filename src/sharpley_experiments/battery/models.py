"""Models on backgrounds, each with its exact Shapley values over all background rows.

They are made to break what is estimated from some of the rows: tails are heavy, few rows matter, predictions are labels
or saturated, columns are equal or constant, scales are extreme. Some models are simple, linear or multilinear, and
should cost next to nothing.

Every model is a sum of terms, each a function of few columns. The Shapley values of a term are found by enumeration of
the coalitions of its columns over all background rows, and added up. All parameters are random, by instance, so that
settings that were chosen on one instance can be judged on another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import factorial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sharpley._support.typing import Floats
from sharpley.coalitions.enumeration import all_coalitions

ROWS = 4  # explained
CELLS_AT_ONCE = 2**22  # composite rows × columns that are evaluated together

Function: TypeAlias = Callable[[Floats], Any]


class Term(NamedTuple):
    """A function of some columns."""

    columns: Sequence[int]
    function: Function


class StressModel(NamedTuple):
    """A model with a background and rows to explain."""

    name: str
    kind: str
    """The kind of difficulty, by which tables are summarised."""
    background: Floats
    """(n, d)."""
    rows: Floats
    """(r, d)."""
    terms: tuple[Term, ...]

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.background.shape[1])

    def predict(self, X: Floats) -> Floats:  # noqa: N803
        """Return the predictions for rows, (m,)."""
        return np.asarray(sum(np.asarray(t.function(X[:, list(t.columns)]), dtype=np.float64) for t in self.terms))

    @property
    def varying(self) -> Any:
        """Columns that differ from some background row, for each row, (r, d) bool."""
        return (self.rows[:, None] != self.background).any(axis=1)

    def exact(self) -> Floats:
        """Return the Shapley values over all background rows, (r, d)."""
        found = np.zeros(self.rows.shape)
        for columns, function in self.terms:
            mine = list(columns)
            for row, values in zip(self.rows, found, strict=True):
                values[mine] += enumerated(function, self.background[:, mine], row[mine])
        return found


def enumerated(function: Function, background: Floats, row: Floats) -> Floats:
    """Return the Shapley values (m,) of a function of m columns at a row, from all coalitions and background rows."""
    n, m = background.shape
    coalitions = all_coalitions(m)
    at_once = max(1, CELLS_AT_ONCE // (n * m))
    parts = []
    for start in range(0, len(coalitions), at_once):
        mixed = np.where(coalitions[start : start + at_once, None], row, background)
        outputs = np.asarray(function(mixed.reshape(-1, m)), dtype=np.float64)
        parts.append(outputs.reshape(-1, n).mean(axis=1))
    values, sizes = np.concatenate(parts), coalitions.sum(axis=1)
    joins = np.array([factorial(max(s - 1, 0)) * factorial(m - s) / factorial(m) for s in range(m + 1)])[sizes]
    stays = np.array([factorial(s) * factorial(max(m - s - 1, 0)) / factorial(m) for s in range(m + 1)])[sizes]
    return np.asarray(np.where(coalitions, joins[:, None], -stays[:, None]).T @ values)


def _model(name: str, kind: str, data: Floats, terms: Sequence[Term]) -> StressModel:
    """Take the rows to explain from the end of the data."""
    data, rows = data[:-ROWS], data[-ROWS:]
    return StressModel(f"{name}, d={data.shape[1]}, {len(data)} rows", kind, data, rows, tuple(terms))


def _times(weight: float, function: Function) -> Function:
    """Return a multiple of a function."""
    return lambda x: weight * function(x)


def _linear(weights: Floats, columns: Sequence[int] | None = None) -> list[Term]:
    """One term for each column, which is enumerated in no time."""
    places = range(len(weights)) if columns is None else columns
    return [Term([j], _times(w, lambda x: x[:, 0])) for j, w in zip(places, weights, strict=True)]


def _normal(rng: np.random.Generator, n: int, d: int, correlation: float = 0.3) -> Floats:
    """Normal columns with a common factor, and rows to explain."""
    common = rng.normal(size=(n + ROWS, 1))
    return np.asarray(np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(n + ROWS, d)))


def _tails(rng: np.random.Generator) -> list[StressModel]:
    weights = rng.normal(size=10)
    exponent = weights * 1.2 / np.sqrt((weights**2).sum())
    few, many = rng.uniform(0.5, 2, size=8), rng.uniform(0.5, 2, size=40)
    student = rng.standard_t(1.2, size=(2000 + ROWS, 8))
    lognormal = np.exp(rng.normal(size=(2000 + ROWS, 40)))
    own = rng.normal(size=8)
    steep = np.clip(np.append(2.5 * own / np.abs(own).max(), 0.0), -3, 3)
    return [
        _model(
            "exp(w·x)",
            "tails",
            _normal(rng, 2000, 10),
            [Term(range(10), lambda x: np.exp(1.5 * x @ exponent))],
        ),
        _model(
            "steep exp(w·x)",
            "tails",
            _normal(rng, 500, 9, 0.0),
            [Term(range(9), lambda x: np.exp(x @ steep))],
        ),
        _model(
            "sum of exp(1.5 x)",
            "tails",
            lognormal,
            [Term([j], _times(w, lambda x: x[:, 0] ** 1.5)) for j, w in enumerate(many)],
        ),
        _model(
            "products of lognormals",
            "tails",
            lognormal[:, :8],
            [Term([i, (i + 1) % 8, (i + 3) % 8], _times(w, lambda x: x.prod(axis=1))) for i, w in enumerate(few)],
        ),
        _model("linear in t(1.2)", "tails", student, _linear(own)),
        _model(
            "t(1.2), smooth and products",
            "tails",
            student,
            [
                *(Term([j], _times(w, lambda x: np.abs(x[:, 0]))) for j, w in enumerate(own)),
                Term([0, 1], lambda x: 0.2 * x[:, 0] * x[:, 1]),
                Term([2, 3, 4], lambda x: np.sqrt(np.abs(x.prod(axis=1)))),
            ],
        ),
        _model(
            "log of sums of lognormals",
            "smooth",
            lognormal[:500, :8],
            [Term(range(8), lambda x: np.log(0.1 + x @ few))],
        ),
    ]


def _rare(rng: np.random.Generator) -> list[StressModel]:
    slopes, wide = rng.normal(size=8), rng.normal(size=20)
    flags = rng.random((3000 + ROWS, 20)) < 0.005
    sparse = np.where(flags, rng.exponential(10.0, size=flags.shape), 0.0)
    sparse[-ROWS:, 0] = [0.0, 4.0, 0.0, 12.0]
    sparse[:, 10:] = rng.normal(size=(3000 + ROWS, 10))
    return [
        _model(
            "1e4 [x0 > 2.3] (1 + x1) + linear",
            "rare",
            _normal(rng, 2000, 8, 0.0),
            [Term([0, 1], lambda x: 1e4 * (x[:, 0] > 2.3) * (1 + x[:, 1])), *_linear(slopes)],
        ),
        _model(
            "100 [x0 > 2.5][x1 > 1] + smooth",
            "rare",
            _normal(rng, 5000, 10),
            [
                Term([0, 1], lambda x: 100.0 * (x[:, 0] > 2.5) * (x[:, 1] > 1)),
                Term([2, 3, 4], lambda x: np.tanh(x[:, 0] * x[:, 1] + x[:, 2])),
                *_linear(slopes, range(2, 10)),
            ],
        ),
        _model(
            "sparse columns",
            "rare",
            sparse,
            [
                *_linear(wide),
                Term([0, 10, 11], lambda x: x[:, 0] * np.maximum(x[:, 1], x[:, 2])),
                Term([1, 2, 12], lambda x: x[:, 0] * x[:, 1] + x[:, 1] * np.abs(x[:, 2])),
            ],
        ),
    ]


def _steps(rng: np.random.Generator) -> list[StressModel]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    weights = rng.normal(size=(2, 9))
    cancer = load_breast_cancer()
    shuffled = rng.permutation(len(cancer.data))
    cells = cancer.data[shuffled]
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(cells, cancer.target[shuffled])
    columns = np.unique(tree.tree_.feature[tree.tree_.feature >= 0]).tolist()
    data = _normal(rng, 1000, 12)
    target = data[:, 0] * data[:, 1] + np.sin(2 * data[:, 2]) + data[:, 3] * (data[:, 4] > 0)
    shallow = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(data, target)
    few = np.unique(shallow.tree_.feature[shallow.tree_.feature >= 0]).tolist()
    return [
        _model(
            "two rules of three columns",
            "rules",
            rng.normal(size=(2000 + ROWS, 10)),
            [Term(c, lambda x: (x.sum(axis=1) > 3) * 1.0) for c in ([0, 1, 2], [3, 4, 5])],
        ),
        _model(
            "label of a curved classifier",
            "labels",
            _normal(rng, 1000, 9),
            [Term(range(9), lambda x: (x @ weights[0] + (x[:, 0] * x[:, 1]) * np.tanh(x @ weights[1]) > 1.5) * 1.0)],
        ),
        _model(
            "three classes as numbers",
            "labels",
            rng.normal(size=(300 + ROWS, 8)),
            [Term(range(8), lambda x: np.digitize(x @ weights[0, :8], [-1.0, 2.5]) * 1.0)],
        ),
        _model(
            "tree of depth 4, breast_cancer",
            "trees",
            cells,
            [Term(columns, _of_columns(lambda x: tree.predict_proba(x)[:, 1], columns, 30))],
        ),
        _model("tree of 6 leaves", "trees", data, [Term(few, _of_columns(shallow.predict, few, 12))]),
        _model(
            "[x0 = 3] among whole numbers",
            "rules",
            rng.integers(6, size=(800 + ROWS, 15)).astype(np.float64),
            [
                Term([0, 1], lambda x: ((x[:, 0] == 3) & (x[:, 1] < 2)) * 1.0),
                Term([2, 3, 4], lambda x: (x.sum(axis=1) > 12) * 2.0),
            ],
        ),
    ]


def _of_columns(predict: Function, columns: Any, d: int) -> Function:
    """Return a model of d columns as a function of those that it uses."""

    def function(X: Floats) -> Floats:  # noqa: N803
        whole = np.zeros((len(X), d))
        whole[:, columns] = X
        return np.asarray(predict(whole))

    return function


def _saturated(rng: np.random.Generator) -> list[StressModel]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    data = rng.normal(size=(800 + ROWS, 6))
    classes = np.digitize(data[:, 0] + data[:, 1] * data[:, 2], [-0.7, 0.7])
    boosted = HistGradientBoostingClassifier(random_state=0, max_iter=150).fit(data, classes)
    weights = rng.normal(size=8)
    return [
        _model(
            "softmax of boosting, class 1",
            "saturated",
            data,
            [Term(range(6), lambda x: boosted.predict_proba(x)[:, 1])],
        ),
        _model(
            "steep logistic",
            "saturated",
            rng.normal(size=(2000 + ROWS, 8)),
            [Term(range(8), lambda x: 1 / (1 + np.exp(-np.clip(12 * x @ weights - 20, -500, 500))))],
        ),
    ]


def _simple(rng: np.random.Generator) -> list[StressModel]:
    few, many, order = rng.normal(size=8), rng.normal(size=60), rng.normal(size=(12, 2))
    positive = rng.uniform(0.5, 1.5, size=(2000 + ROWS, 5))
    data = _normal(rng, 2000, 20)
    return [
        _model("linear", "linear", _normal(rng, 2003, 8), _linear(few)),
        _model("linear, skewed columns", "linear", np.exp(_normal(rng, 1000, 60)), _linear(many)),
        _model(
            "products of two columns",
            "multilinear",
            _normal(rng, 2000, 10),
            [
                *_linear(rng.normal(size=10)),
                *(Term([i, (i + 1) % 10], lambda x: x[:, 0] * x[:, 1]) for i in range(0, 10, 2)),
            ],
        ),
        _model(
            "product of five columns",
            "multilinear",
            positive,
            [Term(range(5), lambda x: x.prod(axis=1))],
        ),
        _model(
            "product of five columns among ten",
            "multilinear",
            _normal(rng, 1000, 10),
            [Term(range(5), lambda x: (1 + x).prod(axis=1)), *_linear(rng.normal(size=10))],
        ),
        _model(
            "formula of order 3 and 4",
            "multilinear",
            data,
            [
                *(Term([i, i + 1, i + 7], _times(w, lambda x: x.prod(axis=1))) for i, w in enumerate(order[:, 0])),
                *(
                    Term([i, i + 3, i + 5, i + 8], _times(w, lambda x: x.prod(axis=1)))
                    for i, w in enumerate(order[:4, 1])
                ),
            ],
        ),
    ]


def _odd_columns(rng: np.random.Generator) -> list[StressModel]:
    base = _normal(rng, 1500, 5)
    doubled = np.concatenate([base, base[:, :3], np.zeros((len(base), 2))], axis=1)
    doubled[:, 8] = 7.0
    weights = rng.normal(size=10)
    hidden, out = rng.normal(size=(8, 16)), rng.normal(size=16)

    def network(X: Floats) -> Floats:  # noqa: N803
        return np.asarray(np.tanh(X @ hidden * 0.5) @ out)

    data = _normal(rng, 2000, 8)
    scaled = data * 10.0 ** np.array([9, -9, 6, -6, 3, -3, 0, 0])
    back = 10.0 ** -np.array([9.0, -9, 6, -6, 3, -3, 0, 0])
    smooth = Term(range(8), network)
    return [
        _model(
            "equal and constant columns",
            "odd columns",
            doubled,
            [Term(range(9), lambda x: np.sin(x[:, :8] @ weights[:8]) + x[:, 0] * x[:, 5])],
        ),
        _model("columns at scales of 1e±9", "scales", scaled, [Term(range(8), lambda x: network(x * back))]),
        _model("predictions at 1e-9", "scales", data, [Term(range(8), lambda x: 1e-9 * network(x))]),
        _model("predictions at 1e9", "scales", data, [Term(range(8), lambda x: 1e9 * (5 + network(x)))]),
        _model("network", "smooth", data, [smooth]),
        _model("network", "smooth", _normal(rng, 50, 8), [smooth]),
        _model("network", "smooth", _normal(rng, 200, 8), [smooth]),
        _model(
            "sines and products",
            "smooth",
            _normal(rng, 5000, 30),
            [
                *(Term([j, j + 1], _times(w, lambda x: np.sin(x[:, 0]) * x[:, 1])) for j, w in enumerate(weights)),
                *(Term([j], lambda x: np.abs(x[:, 0])) for j in range(12, 30)),
            ],
        ),
    ]


@cache
def stress_models(instance: int) -> tuple[StressModel, ...]:
    """Return all models with the random parameters of an instance."""
    families = (_tails, _rare, _steps, _saturated, _simple, _odd_columns)
    rngs = np.random.default_rng([2026, instance]).spawn(len(families))
    return tuple(model for make, rng in zip(families, rngs, strict=True) for model in make(rng))
