"""Slow but obvious implementations of what the package computes fast."""

from itertools import combinations, pairwise, permutations
from math import comb

import numpy as np

from sharpley.estimators.gp.kernel import fixed_parts, sinh_and_cosh


def discordant_pairs(first, second):
    """Count the pairs of players that two orderings rank differently, one at a time."""
    position = (
        [list(first).index(p) for p in range(len(first))],
        [list(second).index(p) for p in range(len(first))],
    )
    return sum(
        (position[0][i] < position[0][j]) != (position[1][i] < position[1][j])
        for i, j in combinations(range(len(first)), 2)
    )


def kernel_value(name, first, second, scale=4.0):
    d = len(first)
    n_dis, n_pairs = discordant_pairs(first, second), d * (d - 1) // 2
    if name == "mallows":
        return np.exp(-scale * n_dis / n_pairs) if n_pairs else 1.0
    if name == "kendall":
        return (n_pairs - 2 * n_dis) / n_pairs if n_pairs else 0.0
    if name == "hamming":
        return sum(p == q for p, q in zip(first, second, strict=True)) / d
    if name == "adjacency":
        neighbours = [{frozenset(pair) for pair in pairwise(x)} for x in (list(first), list(second))]
        return len(neighbours[0] & neighbours[1]) / (d - 1) if d > 1 else 0.0
    return sum((list(first).index(p) + 1) * (list(second).index(p) + 1) for p in range(d))


def gram(name, a, b, scale=4.0):
    return np.array([[kernel_value(name, x, y, scale) for y in b] for x in a])


def discrepancy(name, orderings, weights, scale=4.0):
    """√Err(ξ) by enumeration of all permutations, term by term as in the paper's derivation (Equation 8)."""
    everything = list(permutations(range(orderings.shape[1])))
    uniform = np.full(len(everything), 1 / len(everything))
    squared = (
        uniform @ gram(name, everything, everything, scale) @ uniform
        - 2 * uniform @ gram(name, everything, orderings, scale) @ weights
        + weights @ gram(name, orderings, orderings, scale) @ weights
    )
    return np.sqrt(max(0.0, squared))


def herd(candidates, name):
    """Herding from given candidates (steps, c, d), with the sums of kernel values recomputed at each step."""
    chosen = []
    for options in candidates:
        sums = [sum(kernel_value(name, option, other) for other in chosen) for option in options]
        chosen.append(options[int(np.argmin(np.round(sums, 12)))])
    return np.array(chosen)


def sequential_bayesian_quadrature(candidates, name):
    """SBQ from given candidates (steps, c, d), with 1ᵀK⁻¹1 of every enlarged set recomputed by a linear solve."""
    chosen = []
    for options in candidates:
        gains = []
        for option in options:
            enlarged = np.array([*chosen, option])
            k = gram(name, enlarged, enlarged)
            gains.append(np.linalg.solve(k, np.ones(len(k))).sum())
        chosen.append(options[int(np.argmax(np.round(gains, 9)))])
    return np.array(chosen)


def relabelled_to_identity(orderings):
    """The same set with the players relabelled so that the first ordering is 0, 1, 2, …"""
    return np.argsort(orderings[0])[orderings]


def sweep(orderings, values):
    """Sweeps of improving adjacent transpositions, with every sum recomputed.

    ``values`` are the kernel values for each number of discordant pairs.
    """
    orderings = [list(ordering) for ordering in orderings]

    def sum_to_others(i, ordering):
        others = orderings[:i] + orderings[i + 1 :]
        return sum(values[discordant_pairs(ordering, other)] for other in others)

    moved_in_sweep = True
    while moved_in_sweep:
        moved_in_sweep = False
        for i in range(len(orderings)):
            moved = True
            while moved:
                moved = False
                for k in range(len(orderings[i]) - 1):
                    swapped = orderings[i].copy()
                    swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
                    if sum_to_others(i, swapped) < sum_to_others(i, orderings[i]):
                        orderings[i] = swapped
                        moved = moved_in_sweep = True
    return np.array(orderings)


def shapley_functional(coalitions):
    """The matrix that maps the values of all coalitions, in the given order, to Shapley values, (d, 2^d)."""
    d = coalitions.shape[1]
    matrix = np.zeros((d, len(coalitions)))
    for column, members in enumerate(coalitions):
        for player in range(d):
            others = members.sum() - members[player]
            weight = 1.0 / (d * comb(d - 1, others))
            matrix[player, column] = weight if members[player] else -weight
    return matrix


def dense_gram(z, t, scales, tau2):
    """The Gram matrix (n, m) of "gp" between coalitions (n, d) and (m, d), with a linear part of variance τ²."""
    sinh, _ = sinh_and_cosh(z, t, scales.players)
    fixed = fixed_parts(z, t)
    return (
        scales.interactions * sinh
        + tau2 * fixed.linear
        + scales.sizes * fixed.sizes
        + scales.linear_by_size * fixed.linear_by_size
    )
