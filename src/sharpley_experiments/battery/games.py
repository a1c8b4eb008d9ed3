"""Rough games, each with its Shapley values.

A smooth interpolation errs on each of them in a way of its own: steps and vetoes have few decisive coalitions, parities
look like noise, rare interactions are seen by few coalitions or by none, and products have a few huge values.
Every family has random parameters, so that what was tuned on one instance can be judged on another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import Airport, CallableGame, Glove, UnanimitySum
from sharpley_experiments.battery.sums import SumGame

MAX_ENUMERATED = 14  # players of a game whose values are all looked up


class RoughGame(NamedTuple):
    """A game with its Shapley values."""

    name: str
    games: CallableGame
    exact: Floats
    """(d,)."""

    @property
    def d(self) -> int:
        """Number of players."""
        return self.games.d


def parity(k: int, d: int) -> RoughGame:
    """Whether an odd number of the first k players is present; the others do not matter."""
    exact = np.where(np.arange(d) < k, (k % 2) / k, 0.0)
    game = CallableGame(lambda coalitions: coalitions[:, :k].sum(axis=1) % 2.0, d)
    return RoughGame(f"parity of {k} among {d}", game, exact)


def step(d: int, share: float, rng: np.random.Generator) -> RoughGame:
    """Whether a weighted sum of both signs exceeds a threshold, which a share of the coalitions does."""
    weights = np.rint(20.0 * rng.normal(size=d)).astype(np.int64)
    sums = rng.integers(2, size=(100_000, d)) @ weights
    limit = float(np.quantile(sums, 1.0 - share))
    return _of_sums(f"step of {d}, {share:.0%}", weights, lambda total: (total > limit) * 1.0)


def voting(d: int, rng: np.random.Generator) -> RoughGame:
    """Majority of random votes."""
    votes = rng.integers(1, 20, size=d)
    return _of_sums(f"voting of {d}", votes, lambda total: (2 * total > votes.sum()) * 1.0)


def big_voters(d: int) -> RoughGame:
    """Two large parties, which need each other or nearly all the others."""
    votes = np.array([30, 20, 5, 5, 4, 4, 3, 3, 2, 2] + [1] * (d - 10))
    return _of_sums(f"two big voters of {d}", votes, lambda total: (total >= 48) * 1.0)


def vetoes(d: int, n_vetoes: int) -> RoughGame:
    """A majority of the others, and all players with a veto."""
    others = d - n_vetoes
    votes = np.array([d] * n_vetoes + [1] * others)
    quota = d * n_vetoes + others // 2 + 1
    return _of_sums(f"majority of {d} with {n_vetoes} vetoes", votes, lambda total: (total >= quota) * 1.0)


def bankruptcy(d: int, share: float, rng: np.random.Generator) -> RoughGame:
    """What remains of an estate, a share of all claims, after the claims of the others."""
    claims = rng.integers(1, 100, size=d)
    estate = share * claims.sum()
    return _of_sums(
        f"bankruptcy of {d}, {share:.0%}", claims, lambda total: np.maximum(0.0, estate - (claims.sum() - total))
    )


def product(d: int, spread: float, rng: np.random.Generator) -> RoughGame:
    """The product of the members' factors, which are log-normal."""
    factors = np.exp(spread * rng.normal(size=d))
    nodes, weights = np.polynomial.legendre.leggauss(d // 2 + 1)
    shares = (nodes[:, None] + 1.0) / 2.0
    terms = 1.0 + shares * (factors - 1.0)
    exact = (factors - 1.0) * ((weights / 2.0) @ (terms.prod(axis=1, keepdims=True) / terms))
    game = CallableGame(lambda coalitions: np.where(coalitions, factors, 1.0).prod(axis=1), d)
    return RoughGame(f"product of {d}", game, exact)


def rare(d: int, order: int, rng: np.random.Generator) -> RoughGame:
    """A linear game with one large interaction of many players."""
    together = np.isin(np.arange(d), rng.choice(d, size=order, replace=False))
    game = UnanimitySum(np.concatenate([np.eye(d, dtype=bool), together[None]]), np.append(rng.normal(size=d), 10.0))
    return RoughGame(f"interaction of {order} among {d}", CallableGame(game, d), game.shapley_values())


def glove(left: int, right: int) -> RoughGame:
    """Pairs of gloves."""
    game = Glove(left, right)
    return RoughGame(f"gloves {left} + {right}", CallableGame(game, game.d), game.shapley_values())


def airport(d: int, rng: np.random.Generator) -> RoughGame:
    """The largest of heavy-tailed costs."""
    game = Airport(tuple(np.exp(2.0 * rng.normal(size=d)).tolist()))
    return RoughGame(f"airport of {d}", CallableGame(game, d), game.shapley_values())


def unanimity(d: int, rng: np.random.Generator) -> RoughGame:
    """A sum of many interactions of all orders."""
    game = UnanimitySum.random(d, n_terms=5 * d, max_order=d // 2, rng=rng)
    return RoughGame(f"unanimity of {d}", CallableGame(game, d), game.shapley_values())


def spanning_tree(d: int, rng: np.random.Generator) -> RoughGame:
    """The cost of connecting the members, points in the plane, to a source."""
    points = np.concatenate([[[0.5, 0.5]], rng.random((d, 2))])
    distances = np.linalg.norm(points[:, None] - points, axis=2)

    def cost(coalitions: Coalitions) -> Floats:
        outside = coalitions.copy()
        nearest = np.where(coalitions, distances[0, 1:], np.inf)
        total = np.zeros(len(coalitions))
        for _ in range(d):  # Prim's algorithm, for all coalitions at once
            at = np.where(outside, nearest, np.inf).argmin(axis=1)
            joins = outside[np.arange(len(outside)), at]
            total += np.where(joins, nearest[np.arange(len(outside)), at], 0.0)
            outside[np.arange(len(outside)), at] = False
            nearest = np.where(joins[:, None], np.minimum(nearest, distances[at + 1, 1:]), nearest)
        return total

    return _enumerated(f"spanning tree of {d}", d, cost)


def network(d: int, steepness: float, rng: np.random.Generator) -> RoughGame:
    """A random neural network with steep units."""
    hidden, out = rng.normal(size=(d, 20)) * steepness / np.sqrt(d), rng.normal(size=20)
    shift = rng.normal(size=20) * steepness / 2.0

    def predict(coalitions: Coalitions) -> Floats:
        return np.asarray(np.tanh((coalitions - 0.5) @ hidden + shift) @ out)

    return _enumerated(f"network of {d}, steepness {steepness:g}", d, predict)


def hard_label(d: int, n_draws: int, rng: np.random.Generator) -> RoughGame:
    """The label of a nonlinear classifier, a mean over few background rows: few distinct values."""
    row, background = rng.normal(size=d), rng.normal(size=(n_draws, d))
    linear, first, second = rng.normal(size=(3, d))

    def label(X: Floats) -> Floats:  # noqa: N803
        return np.asarray((X @ linear + (X @ first) * np.tanh(X @ second) > 1.0) * 1.0)

    def predict(coalitions: Coalitions) -> Floats:
        mixed = np.where(coalitions[:, None], row, background)
        return label(mixed.reshape(-1, d)).reshape(len(coalitions), n_draws).mean(axis=1)

    return _enumerated(f"hard label of {d}, {n_draws} draws", d, predict)


def random_table(d: int, rng: np.random.Generator) -> RoughGame:
    """Independent random values of all coalitions."""
    values = rng.normal(size=2**d)
    return _enumerated(f"random table of {d}", d, lambda coalitions: values[_codes(coalitions)])


def neighbours(d: int, k: int, rng: np.random.Generator) -> RoughGame:
    """Value of training points to a nearest-neighbour classifier: the share of right labels among the k nearest."""
    order, right = rng.permutation(d), rng.random(d) < 0.5
    worth = right[order] / k

    def accuracy(coalitions: Coalitions) -> Floats:
        present = coalitions[:, order]
        return np.asarray((present * (present.cumsum(axis=1) <= k)) @ worth)

    return _enumerated(f"{k} neighbours of {d}", d, accuracy)


def ensemble(d: int, rng: np.random.Generator) -> RoughGame:
    """Accuracy of the majority vote of the members, classifiers of different quality, on 100 cases."""
    right = rng.random((100, d)) < rng.uniform(0.4, 0.9, size=d)

    def accuracy(coalitions: Coalitions) -> Floats:
        votes = coalitions @ np.where(right, 1.0, -1.0).T
        return np.asarray(((votes > 0) + 0.5 * (votes == 0)).mean(axis=1))

    return _enumerated(f"ensemble of {d}", d, accuracy)


def odd(d: int, rng: np.random.Generator) -> RoughGame:
    """Linear effects and interactions of three players in ±1 coding: the even part is 0."""
    slopes = rng.normal(size=d)
    triples = [rng.choice(d, size=3, replace=False) for _ in range(d)]

    def value(coalitions: Coalitions) -> Floats:
        signs = np.where(coalitions, 1.0, -1.0)
        return np.asarray(signs @ slopes + sum(signs[:, triple].prod(axis=1) for triple in triples))

    return _enumerated(f"odd game of {d}", d, value)


@lru_cache(maxsize=8)
def battery(instance: int) -> tuple[RoughGame, ...]:
    """Return all games with the random parameters of an instance."""
    rng = np.random.default_rng([2024, instance])
    return (
        parity(3, 12),
        parity(5, 12),
        parity(3, 30),
        step(12, 0.01, rng),
        step(12, 0.1, rng),
        step(12, 0.5, rng),
        step(30, 0.1, rng),
        voting(12, rng),
        voting(30, rng),
        voting(60, rng),
        big_voters(12),
        vetoes(12, 2),
        vetoes(30, 2),
        bankruptcy(12, 0.2, rng),
        bankruptcy(30, 0.5, rng),
        product(9, 0.7, rng),
        product(20, 0.5, rng),
        rare(12, 8, rng),
        rare(30, 5, rng),
        rare(60, 3, rng),
        glove(4, 8),
        airport(20, rng),
        unanimity(12, rng),
        unanimity(40, rng),
        spanning_tree(10, rng),
        network(10, 4.0, rng),
        network(14, 10.0, rng),
        hard_label(12, 1, rng),
        hard_label(12, 10, rng),
        random_table(10, rng),
        neighbours(13, 3, rng),
        ensemble(11, rng),
        odd(12, rng),
    )


def _of_sums(name: str, weights: Any, function: Callable[[Floats], Any]) -> RoughGame:
    game = SumGame(tuple(weights.tolist()), function)
    return RoughGame(name, CallableGame(game, game.d), game.shapley_values())


def _enumerated(name: str, d: int, function: Callable[[Coalitions], Floats]) -> RoughGame:
    """A game of few players: all values are computed once, and looked up after that."""
    if d > MAX_ENUMERATED:
        raise ValueError(f"{d} players are too many to evaluate all coalitions; at most {MAX_ENUMERATED}")
    coalitions = all_coalitions(d)
    table = np.empty(2**d)
    table[_codes(coalitions)] = function(coalitions)
    game = CallableGame(lambda some: table[_codes(some)], d)
    exact = sharpley.shapley_values(game, method="exact", max_evals=2**d).values
    return RoughGame(name, game, exact)


def _codes(coalitions: Coalitions) -> Any:
    return coalitions @ (1 << np.arange(coalitions.shape[1]))
