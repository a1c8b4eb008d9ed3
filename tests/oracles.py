"""Slow but obvious implementations of what the package computes fast."""

from itertools import chain, combinations, permutations
from math import comb, factorial

import numpy as np


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


def subsets(players, least=0, most=None):
    """All subsets of a collection with ``least`` to ``most`` members, as tuples."""
    players = list(players)
    sizes = range(least, (len(players) if most is None else most) + 1)
    return list(chain.from_iterable(combinations(players, size) for size in sizes))


def discrete_derivative(game, label, members):
    """Σ_{L⊆label} (−1)^{|label|−|L|} v(members ∪ L); ``game`` maps frozensets to numbers."""
    return sum(
        (-1) ** (len(label) - len(inner)) * game(frozenset(members) | frozenset(inner)) for inner in subsets(label)
    )


def cardinal_index(game, d, label, weight):
    """Σ_T weight(|T|) ∂_label v(T) over all coalitions T of the other players."""
    others = [player for player in range(d) if player not in label]
    return sum(weight(len(t)) * discrete_derivative(game, label, t) for t in subsets(others))


def shapley_interaction(game, d, label):
    """SII by Grabisch and Roubens' definition."""
    s = len(label)
    return cardinal_index(game, d, label, lambda t: factorial(t) * factorial(d - s - t) / factorial(d - s + 1))


def banzhaf_interaction(game, d, label):
    """BII: the mean of the derivative over all coalitions of the others."""
    return cardinal_index(game, d, label, lambda t: 0.5 ** (d - len(label)))


def taylor_interaction(game, d, label, order):
    """STII: the mean over all orderings; a set of ``order`` players interacts given all players before its first."""
    if len(label) < order:
        return discrete_derivative(game, label, ())
    orderings = list(permutations(range(d)))
    before = [ordering[: min(ordering.index(player) for player in label)] for ordering in orderings]
    return sum(discrete_derivative(game, label, members) for members in before) / len(orderings)


def n_shapley(game, d, order):
    """k-SII by the recursion of its definition over orders; the difference goes to subsets by Bernoulli numbers."""
    found = {(player,): shapley_interaction(game, d, (player,)) for player in range(d)}
    for size in range(2, order + 1):
        for label in combinations(range(d), size):
            found[label] = shapley_interaction(game, d, label)
            for inner in subsets(label, 1, size - 1):
                found[inner] += {1: -1 / 2, 2: 1 / 6}[size - len(inner)] * found[label]
    return found


def faithful_interactions(game, d, order, weights):
    """The best approximation of a game by interactions of up to ``order`` players, by weighted least squares.

    ``weights[s]`` is the weight of coalitions of s players; infinite ones are constraints.
    """
    labels, coalitions = subsets(range(d), 0, order), subsets(range(d))
    inside = np.array([[set(label) <= set(members) for label in labels] for members in coalitions], dtype=float)
    values = np.array([game(frozenset(members)) for members in coalitions])
    w = np.array([weights[len(members)] for members in coalitions])
    fixed = np.isinf(w)
    gram = inside[~fixed].T @ (w[~fixed, None] * inside[~fixed])
    system = np.block([[gram, inside[fixed].T], [inside[fixed], np.zeros((fixed.sum(), fixed.sum()))]])
    right = np.concatenate([inside[~fixed].T @ (w[~fixed] * values[~fixed]), values[fixed]])
    solution = np.linalg.lstsq(system, right, rcond=None)[0]
    return dict(zip(labels, solution[: len(labels)], strict=True))


def interactions(game, d, name, order):
    """Every component of an interaction index, by its definition: a dict from labels to numbers."""
    labels = subsets(range(d), 1, order)
    if name == "k-SII":
        return n_shapley(game, d, order)
    if name in ("FSII", "FBII"):
        ends = [np.inf if s in (0, d) else 1 / (comb(d, s) * s * (d - s)) for s in range(d + 1)]
        found = faithful_interactions(game, d, order, ends if name == "FSII" else [1.0] * (d + 1))
        return {label: found[label] for label in labels}
    definition = {
        "SII": shapley_interaction,
        "BII": banzhaf_interaction,
        "STII": lambda *arguments: taylor_interaction(*arguments, order),
    }[name]
    return {label: definition(game, d, label) for label in labels}


def leaf_of(tree, row):
    """The leaf that a row reaches, one split after the other."""
    node = 0
    while tree.left[node] >= 0:
        value = row[tree.feature[node]]
        if np.isnan(value):
            goes_left = tree.missing_left[node]
        elif node in tree.categories:
            goes_left = value in tree.categories[node]
        else:
            goes_left = value < tree.threshold[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return node


def forest_output(trees, row, k):
    """The sum of the leaf values of all trees, (k,)."""
    total = np.zeros(k)
    for tree in trees:
        value = np.atleast_1d(tree.value[leaf_of(tree, row)])
        total[slice(None) if tree.output < 0 else [tree.output]] += value
    return total


def forest_index(trees, background, weights, rows, players, d, k, probability_weights):
    """An index of all rows by its definition: every coalition, every background row, every tree, (rows, d, k).

    ``probability_weights[s]`` is the weight of a contribution to a coalition of s players.
    """
    values = np.zeros((len(rows), d, k))
    for r, row in enumerate(rows):
        v = np.zeros((2**d, k))
        for coalition in range(2**d):
            is_in = np.array([coalition >> player & 1 for player in players], dtype=bool)
            for b, weight in zip(background, weights, strict=True):
                v[coalition] += weight * forest_output(trees, np.where(is_in, row, b), k)
        for player in range(d):
            for coalition in range(2**d):
                if not coalition >> player & 1:
                    gain = v[coalition | 1 << player] - v[coalition]
                    values[r, player] += probability_weights[coalition.bit_count()] * gain
    return values


def game_kernel(z, t, scales, parity):
    """The kernel of "gp" between two coalitions (±1, (d,)), written out; parity is "whole", "odd" or "even"."""
    d, both = len(z), float(np.sum(scales.players * z * t))
    total = float(np.sum(scales.players))
    size_z, size_t = int((z > 0).sum()), int((t > 0).sum())
    inner = 0 < size_z < d
    u, w = abs(2 * size_z - d) / d, abs(2 * size_t - d) / d

    def g(x):
        return np.exp(-(x**2) / (2 * 0.25**2))

    slope = float(z @ t) / d
    odd = scales.linear * slope + scales.odd * np.exp(-total) * np.sinh(both)
    odd += scales.linear_by_size * slope * (g(u - w) - g(u - 1) * g(w - 1))
    odd += scales.sizes * inner * ((size_z == size_t) - (size_z == d - size_t)) / 2
    even = 1e4 + scales.even * np.exp(-total) * np.cosh(both)
    even += scales.sizes * inner * ((size_z == size_t) + (size_z == d - size_t)) / 2
    return {"whole": odd + even, "odd": odd, "even": even}[parity]


def game_gram(z, t, scales, parity="whole"):
    return np.array([[game_kernel(a, b, scales, parity) for b in t] for a in z])


def index_functional(coalitions, nodes, weights):
    """The matrix (d, m) from the values of all coalitions to an index of single players, given by a measure over q."""
    d = coalitions.shape[1]
    found = np.zeros((d, len(coalitions)))
    for m, coalition in enumerate(coalitions):
        for i in range(d):
            others = coalition.sum() - coalition[i]
            share = np.sum(weights * nodes**others * (1 - nodes) ** (d - 1 - others))
            found[i, m] = share if coalition[i] else -share
    return found
