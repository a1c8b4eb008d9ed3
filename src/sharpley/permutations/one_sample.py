"""The error of a mean over one sample of points that depend on each other, judged by kernel models.

A design, a herded or a Sobol' sequence is a single sample: nothing in it is independent, so no spread between parts
tells its error. But the values along the sample tell how smooth the function is, and the kernel of a smooth function
tells how much of its error the sample cancels. For a function y with prior covariance s²K, given y at the points x_i of
the sample, the mean μ over all points has the posterior of Bayesian quadrature, with mean m and variance s²V. The
estimate ŷ = Σ w_i y_i therefore has the expected squared error

    E[(μ − ŷ)² | y] = (m − ŷ)² + s²V.

s² is estimated from the sample, with the constant part of y as an unknown (REML), which leaves n − 1 degrees of
freedom, or fewer where points are repeated. The smoothness is not known. So a few kernels are candidates, from a very
smooth one to independent values: Mallows kernels of two scales with several shares of noise, a kernel of functions that
reversal does not change, and rough functions with and without that symmetry. Each candidate has a likelihood, and the
expected squared errors are averaged with the posterior probabilities of the candidates. Prior probabilities are learnt
from all functions that are averaged together, such as the contributions of all players, by expectation maximisation.

The study ``sharpley_experiments.studies.one_sample`` measures how often the resulting intervals cover.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats, Orderings, Ranks
from sharpley.permutations.kernels import Mallows
from sharpley.permutations.orderings import discordant_pairs

MOST_POINTS = 256  # whose Gram matrix is factorised; beyond these, the gain over independent points is extrapolated
SCALES = (1.0, 4.0)  # of smooth kernels
NOISE_SHARES = (0.003, 0.03, 0.2, 0.6)  # of their variance
EVEN_SCALE, EVEN_NOISE = 4.0, 0.1  # of the kernel of functions that reversal does not change
EVEN_CORRELATIONS = (0.0, 0.9, 1.0)  # of rough functions at a point and at its reverse
JITTER = 1e-9  # on the diagonal of Gram matrices, since points may be repeated
LEAST_PIVOT = 1e-6  # of a Gram matrix: below this, a value repeats what others say
LEAST_SUM_OF_SQUARES = 1e-12  # of a function of variance 1, after the candidate has explained it
EM_ITERATIONS = 10


class Candidates(NamedTuple):
    """Candidate kernels between the n points of a sample, T of them."""

    grams: Floats
    """Kernel values, (T, n, n), 1 on the diagonal up to rounding."""
    to_all: Floats
    """Mean of each kernel between a point and all points, (T, n)."""
    of_all: Floats
    """Mean of each kernel between all points, (T,)."""


class Judgement(NamedTuple):
    """How well each candidate explains functions, and the squared errors that it expects."""

    log_likelihoods: Floats
    """(T, g) for g functions."""
    squared_errors: Floats
    """Expected squared errors of the weighted means, (T, g)."""
    degrees_of_freedom: Floats
    """Degrees of freedom behind these, (T, g): one less than the number of values that do not repeat others."""


def one_sample_errors(
    values: Floats, weights: Floats, candidates_of: Sequence[Callable[[int], Candidates]]
) -> tuple[Floats, Floats]:
    """Return the expected squared errors of weighted means over one sample, and their degrees of freedom.

    Parameters
    ----------
    values : (n, g, p) float
        Values of p functions, such as the contributions of p players, for each of g games.
    weights : (n,) float
        Weights of the points, which sum to 1.
    candidates_of : sequence of p callables
        Return the candidate kernels of each function between the first m points. A sequence of length 1 serves all.

    Returns
    -------
    squared_errors : (g, p) float
        NaN if n = 1.
    degrees_of_freedom : (g, p) float

    Notes
    -----
    For more than 256 points, the first 256 decide by which factor the expected squared error is below the error of
    independent points, and the factor is used for all points.
    """
    n, g, p = values.shape
    if n < 2:
        return np.full((g, p), np.nan), np.zeros((g, p))
    m = min(n, MOST_POINTS)
    known, share = values[:m], weights[:m] / weights[:m].sum()
    if len(candidates_of) == 1:
        found = judge(known.reshape(m, g * p), share, candidates_of[0](m))
        judged = [Judgement(*(part.reshape(-1, g, p)[:, :, i] for part in found)) for i in range(p)]
    else:
        judged = [judge(known[:, :, i], share, make(m)) for i, make in enumerate(candidates_of)]
    likelihoods, errors, freedoms = (np.stack(parts, axis=2) for parts in zip(*judged, strict=True))  # (T, g, p)
    probabilities = posteriors(likelihoods, np.ptp(known, axis=0) > 0.0)
    averaged, freedom = (probabilities * errors).sum(axis=0), (probabilities * freedoms).sum(axis=0)
    if m == n:
        return averaged, freedom
    of_first, of_all = known.var(axis=0, ddof=1) / m, values.var(axis=0, ddof=1) / n
    factors = np.where(of_first > 0, averaged / np.where(of_first > 0, of_first, 1.0), 1.0)
    return factors * of_all, freedom


def judge(values: Floats, weights: Floats, candidates: Candidates) -> Judgement:
    """Judge g functions with values (n, g) by each of the candidate kernels.

    Functions are judged one by one, so that a result does not depend, to the last bit, on the others.
    """
    from scipy.linalg import cholesky, solve_triangular

    n, g = values.shape
    columns = np.ascontiguousarray(values.T)
    variances = columns.var(axis=1, ddof=1)
    unit = (columns - columns[:, :1]) / np.sqrt(np.where(variances > 0, variances, 1.0))[:, None]
    estimates = np.array([weights @ each for each in unit])
    log_likelihoods, squared_errors, freedoms = [], [], []
    for gram, to_all, of_all in zip(*candidates, strict=True):
        factor = cholesky(gram + JITTER * np.eye(n), lower=True, check_finite=False)
        inverse = solve_triangular(factor, np.eye(n), lower=True, check_finite=False)
        one, mean = inverse.sum(axis=1), inverse @ to_all
        precision = one @ one
        rest = np.array([inverse @ each for each in unit])
        constants = np.array([one @ each for each in rest]) / precision
        rest = rest - np.outer(constants, one)
        sums = np.maximum((rest**2).sum(axis=1), LEAST_SUM_OF_SQUARES)
        # A value that must repeat another speaks for or against the candidate, but not of the variance.
        is_new = np.diagonal(factor) ** 2 > LEAST_PIVOT
        freedoms.append(max(1, int(is_new.sum()) - 1))
        log_det = 2.0 * np.log(np.diagonal(factor)).sum() + np.log(precision)
        log_likelihoods.append(-0.5 * (log_det + (n - 1) * np.log(sums)))
        means = constants + np.array([mean @ each for each in rest])
        variance = max(0.0, of_all - mean @ mean + (1.0 - one @ mean) ** 2 / precision)
        unit_variances = np.ascontiguousarray(rest[:, is_new] ** 2).sum(axis=1) / freedoms[-1]
        squared_errors.append(((means - estimates) ** 2 + unit_variances * variance) * variances)
    return Judgement(np.array(log_likelihoods), np.array(squared_errors), np.repeat(np.array(freedoms)[:, None], g, 1))


def posteriors(log_likelihoods: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Return the posterior probabilities of the candidates for each function.

    Parameters
    ----------
    log_likelihoods : (T, g, p) float
    varies : (g, p) bool
        Whether a function varies. The prior probabilities of each game are learnt from its functions that do.

    Returns
    -------
    (T, g, p) float
    """
    likelihoods = np.exp(log_likelihoods - log_likelihoods.max(axis=0))
    n_candidates, g, _ = likelihoods.shape
    prior = np.full((n_candidates, g, 1), 1.0 / n_candidates)
    for _ in range(EM_ITERATIONS):
        found = prior * likelihoods
        found /= found.sum(axis=0)
        counts = (found * varies).sum(axis=2, keepdims=True)
        prior = (1.0 + counts) / (n_candidates + varies.sum(axis=1)[:, None])
    found = prior * likelihoods
    return np.asarray(found / found.sum(axis=0))


def ordering_candidates(orderings: Orderings, m: int) -> Candidates:
    """Return candidate kernels between the first m of some orderings, for any function of an ordering."""
    first = orderings[:m]
    d = first.shape[1]
    n_dis, n_pairs = discordant_pairs(first), comb(d, 2)

    def mallows(scale: float) -> tuple[Floats, float]:
        return np.exp(-scale * n_dis / max(1, n_pairs)), Mallows(scale).mean(d)

    equal, reverse, share = (n_dis == 0) * 1.0, (n_dis == n_pairs) * 1.0, 1.0 / factorial(d)
    found = []
    for scale in SCALES:
        smooth, mean = mallows(scale)
        found += [((1 - a) * smooth + a * equal, (1 - a) * mean + a * share) for a in NOISE_SHARES]
    smooth, mean = mallows(EVEN_SCALE)
    most = 1.0 + np.exp(-EVEN_SCALE)
    even, mean = (smooth + np.exp(-EVEN_SCALE) / smooth) / most, 2.0 * mean / most
    found.append(((1 - EVEN_NOISE) * even + EVEN_NOISE * equal, (1 - EVEN_NOISE) * mean + EVEN_NOISE * share))
    found += [(equal + b * reverse, (1 + b) * share) for b in EVEN_CORRELATIONS]
    found.append((np.eye(len(first)), 0.0))
    means = np.array([mean for _, mean in found])
    return Candidates(np.array([gram for gram, _ in found]), np.repeat(means[:, None], len(first), axis=1), means)


def predecessor_candidates(ranks: Ranks, player: int, m: int) -> Candidates:
    """Return candidate kernels between the sets of players that enter before a player, for its contributions.

    Parameters
    ----------
    ranks : (n, d) int
        Ranks of the players in each ordering.
    player : int
    m : int
        Number of orderings, the first ones, between which the kernels are computed.
    """
    before = (ranks[:m] < ranks[:m, [player]]).astype(np.float64)
    sizes = ranks[:m, player]
    differing = np.rint(sizes[:, None] + sizes - 2.0 * before @ before.T).astype(np.int64)
    tables, means = _tables_of_sets(ranks.shape[1] - 1)
    grams = np.concatenate([tables[:, differing], np.eye(len(sizes))[None]])
    to_all = np.concatenate([means[:, sizes], np.zeros((1, len(sizes)))])
    return Candidates(grams, to_all, np.append(means.mean(axis=1), 0.0))


@lru_cache(maxsize=8)
def _tables_of_sets(n_others: int) -> tuple[Floats, Floats]:
    """Return kernels of sets of players that enter before a given one, of ``n_others`` players.

    A smooth kernel is r^h, for h players that are in one of two sets but not in both. Its mean over the set before a
    player in a random ordering is ∫ (q + (1 − q) r)^s (q r + 1 − q)^(n − s) dq for a set of size s.

    Returns
    -------
    tables : (T, n_others + 1) float
        Kernel values by h.
    means : (T, n_others + 1) float
        Mean kernel values by s.
    """
    h = np.arange(n_others + 1)
    equal, reverse = (h == 0) * 1.0, (h == n_others) * 1.0
    share = np.array([1.0 / ((n_others + 1) * comb(n_others, size)) for size in range(n_others + 1)])
    nodes, weights = np.polynomial.legendre.leggauss(n_others // 2 + 1)
    q = (nodes + 1.0) / 2.0

    def smooth(scale: float) -> tuple[Floats, Floats]:
        r = np.exp(-scale / max(1, n_others))
        inside, outside = q + (1.0 - q) * r, q * r + 1.0 - q
        return r**h, (inside ** h[:, None] * outside ** (n_others - h[:, None])) @ (weights / 2.0)

    found = []
    for scale in SCALES:
        table, mean = smooth(scale)
        found += [((1 - a) * table + a * equal, (1 - a) * mean + a * share) for a in NOISE_SHARES]
    table, mean = smooth(EVEN_SCALE)
    most = 1.0 + table[-1]
    even = (table + table[::-1]) / most, (mean + mean[::-1]) / most
    found.append(
        tuple((1 - EVEN_NOISE) * part + EVEN_NOISE * rough for part, rough in zip(even, (equal, share), strict=True))
    )
    found += [(equal + b * reverse, (1 + b) * share) for b in EVEN_CORRELATIONS]
    return np.array([table for table, _ in found]), np.array([mean for _, mean in found])
