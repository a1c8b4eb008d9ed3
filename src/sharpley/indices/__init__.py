"""Indices, such as Shapley values: the quantities that are estimated, by the names that ``index=`` accepts.

| name | measure for the largest sets | measures for smaller sets |
|---|---|---|
| shapley | uniform | |
| banzhaf | point at ½ | |
| beta(a, b) | beta distribution with parameters b and a | |
| SII | uniform | uniform |
| k-SII | uniform | those of SII, less shares of the larger sets: all add up to v(N) − v(∅) |
| STII | order · (1−q)^(order−1) | point at 0: v({i}) − v(∅) for single players |
| FSII | beta distribution with parameters (order, order) | best approximation, weighted as in Shapley values |
| BII | point at ½ | point at ½ |
| FBII | point at ½ | those of BII, less shares of the larger sets: the best approximation, equally weighted |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from sharpley._support.checks import check_choice, check_count
from sharpley.indices.base import Index, Label, Measure, component_noun
from sharpley.indices.measures import UNIFORM, Beta, Point, PolynomialDensity, SizeWeights

MIDDLE = Point(0.5)
BERNOULLI = (1.0, -0.5, 1.0 / 6.0)  # numbers of Bernoulli, which distribute SII over smaller sets
MOST_PLAYERS_IN_A_SET = 3
BETA = re.compile(r"beta\(\s*([^\s,]+)\s*,\s*([^\s,)]+)\s*\)")

SHAPLEY = Index("shapley", (UNIFORM,))


def beta_values(a: float, b: float) -> Index:
    """Return beta-Shapley values, of which ``beta(1, 1)`` are Shapley values.

    With a > b, contributions to small coalitions weigh more; ``beta(16, 1)`` is the usual choice for the value of data.

    References
    ----------
    Kwon and Zou (2022). Beta Shapley: a unified and noise-reduced data valuation framework for machine learning.
    AISTATS.
    """
    return Index(f"beta({a:g}, {b:g})", (Beta(float(b), float(a)),))


def probabilistic_values(weights: Sequence[float], *, name: str = "probabilistic") -> Index:
    """Return the index in which a player enters after 0 … d−1 others with given probabilities.

    Examples
    --------
    What a player adds to the empty coalition:

    >>> import sharpley
    >>> alone = probabilistic_values([1.0, 0.0, 0.0], name="alone")
    >>> sharpley.estimate(sharpley.games.Airport((1.0, 2.0, 4.0)), index=alone).values
    array([[1., 2., 4.]])
    """
    return Index(name, (SizeWeights(weights),))


def faithful_shapley(order: int) -> Index:
    """Return FSII: the game of at most this order that is nearest to a game with the weights of Shapley values.

    The measure for sets of s players has the density of Beta(s, s) times the polynomial of degree order − s that leaves
    interactions of up to ``order`` players at the sets that they belong to.
    """
    return Index("FSII", tuple(_faithful_measure(size, order) for size in range(1, order + 1)))


def _faithful_measure(size: int, order: int) -> Measure:
    """Return the measure with ∫ dμ = 1 and ∫ q^j dμ = 0 for j = 1 … order − size."""
    if size == order:
        return Beta(float(size), float(size))
    basis = [
        Polynomial((0.0, 1.0)) ** (size - 1 + j) * Polynomial((1.0, -1.0)) ** (size - 1)
        for j in range(order - size + 1)
    ]
    moments = [[float((part * Polynomial((0.0, 1.0)) ** j).integ()(1.0)) for part in basis] for j in range(len(basis))]
    factors = np.round(np.linalg.solve(np.array(moments), np.eye(len(basis))[0]))
    return PolynomialDensity(tuple(sum(f * part for f, part in zip(factors, basis, strict=True)).coef.tolist()))


INDICES: dict[str, Index | Callable[[int], Index]] = {
    "shapley": SHAPLEY,
    "banzhaf": Index("banzhaf", (MIDDLE,)),
    "SII": lambda order: Index("SII", (UNIFORM,) * order),
    "k-SII": lambda order: Index("k-SII", (UNIFORM,) * order, BERNOULLI[:order]),
    "STII": lambda order: Index("STII", (Point(0.0),) * (order - 1) + (Beta(1.0, float(order)),)),
    "FSII": faithful_shapley,
    "BII": lambda order: Index("BII", (MIDDLE,) * order),
    "FBII": lambda order: Index("FBII", (MIDDLE,) * order, (1.0, -0.5, 0.25)[:order]),
}
"""Every index by its ``index=`` name: an index, or a function of its order; "beta(a, b)" is known besides."""


def index_by_name(index: str | Index, order: int | None = None) -> Index:
    """Return the index with a given name, or the given index; for an unknown name, the error lists the known ones.

    Parameters
    ----------
    index : str or Index
        An index, a name in ``INDICES``, or "beta(a, b)" with two numbers.
    order : int, optional
        Number of players in the largest sets: 1 for values, and 2, 3 (or 1) for interactions. By default 1 or 2.

    Examples
    --------
    >>> index_by_name("beta(4, 1)").measure
    Beta(a=1.0, b=4.0)
    >>> index_by_name("k-SII").order
    2
    """
    if order is not None:
        order = check_count("order", order, minimum=1)
    found: Any = index if isinstance(index, Index) else _named(index)
    if not isinstance(found, Index):
        if order is not None and order > MOST_PLAYERS_IN_A_SET:
            raise ValueError(f"order must be at most {MOST_PLAYERS_IN_A_SET}, got {order}")
        found = found(2 if order is None else order)
    if order is not None and found.order != order:
        interactions = [name for name, each in INDICES.items() if not isinstance(each, Index)]
        raise ValueError(
            f"index {found.name!r} has order {found.order}, got order={order}; interactions have order 2 or 3: "
            f"{interactions}"
        )
    return found


def _named(name: str) -> Index | Callable[[int], Index]:
    parameters = BETA.fullmatch(name) if isinstance(name, str) else None
    if parameters is None:
        return INDICES[check_choice("index", name, [*INDICES, "beta(a, b)"])]
    try:
        a, b = (float(number) for number in parameters.groups())
    except ValueError:
        raise ValueError(f"index 'beta(a, b)' needs two positive numbers, as in 'beta(4, 1)', got {name!r}") from None
    return beta_values(a, b)


__all__ = [
    "INDICES",
    "SHAPLEY",
    "UNIFORM",
    "Beta",
    "Index",
    "Label",
    "Measure",
    "Point",
    "PolynomialDensity",
    "SizeWeights",
    "beta_values",
    "component_noun",
    "index_by_name",
    "probabilistic_values",
]
