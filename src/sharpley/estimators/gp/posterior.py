"""The posterior of games and of their index, and how far it can be trusted.

With K the Gram matrix plus noise, y the values, A the index of the kernel's columns and P its prior covariance, the
posterior of the index is φ = A K⁻¹ y with covariance P − A K⁻¹ A', of which only the diagonal is needed. Independent
blocks of values add up.

**Errors.** Coalitions are chosen in stages. The value of every new coalition is predicted with the hyperparameters that
it was chosen by, from all values before it. These errors are honest: neither the prediction nor the hyperparameters had
seen the value. With L the Cholesky factor of K for all coalitions up to and including the stage, the error of the j-th
is L_jj (L⁻¹y)_j. A regression on n values with such errors has an index of variance (4/n) · mean squared error. The
process is more accurate, by a factor that depends little on the game unless this has few distinct values. The larger of
that share and of the posterior's variance is added to a third of the smaller one.

The next coalition may be of a kind that was not seen, by the rule of succession with probability 1/(n + 2), and jump by
the mean distance of distinct values. So a variance is at least 4/(n (n + 2)) times the square of that distance, which
matters only for games with a few distinct values, such as votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import mean_steps, n_distinct
from sharpley.estimators.gp.kernel import JITTER, Parity, Scales, index_of_kernel, kernel, prior_variances
from sharpley.estimators.gp.learning import Values
from sharpley.estimators.gp.settings import GPSettings
from sharpley.indices import Measure

MAX_PREDICTED_AT_ONCE = 1000  # coalitions; it bounds memory
SMALLER_SHARE = 1 / 3  # of the smaller of two variances that is added to the larger one
LEAST_DEGREES = 2.0  # of freedom: with fewer, intervals would be too wide to be of use
UNFORESEEN_SHARE = 1.5  # factor of the posterior's variance as long as nothing was foreseen
UNFORESEEN_DEGREES = 4.0  # its degrees of freedom
FEW_VALUES = 0.9  # distinct values for each coalition, below which a game has few of them


class Posterior(NamedTuple):
    """The posterior of games, each of which is a column, with the same hyperparameters."""

    values: Floats
    """Posterior means of the index, (d, g)."""
    variances: Floats
    """Posterior variances of the index, (d,)."""
    log_evidence: Floats
    """Log evidence of the hyperparameters, up to a constant, (g,)."""
    blocks: Sequence[Values]
    """The values that the process was conditioned on."""
    alphas: Sequence[Floats]
    """K⁻¹y of each block, (n, g)."""
    scales: Scales
    """Hyperparameters."""

    def predict(self, signs: Floats, parity: Parity = Parity.WHOLE) -> Floats:
        """Return the posterior means of the values at coalitions (m, d), or of their odd or even parts: (m, g)."""
        wanted = [
            (block, alpha)
            for block, alpha in zip(self.blocks, self.alphas, strict=True)
            if parity in (Parity.WHOLE, block.parity)
        ]
        starts = range(0, len(signs), MAX_PREDICTED_AT_ONCE)
        return np.concatenate(
            [
                sum(
                    kernel(signs[start : start + MAX_PREDICTED_AT_ONCE], block.signs, self.scales, block.parity) @ alpha
                    for block, alpha in wanted
                )
                for start in starts
            ]
        )


def factorise(block: Values, scales: Scales) -> Floats:
    """Return the Cholesky factor L of K, in column-major order as LAPACK expects it."""
    from scipy.linalg import cholesky

    gram = kernel(block.signs, block.signs, scales, block.parity)
    gram[np.diag_indices(len(gram))] += scales.noise * block.noise + JITTER
    # The transpose of a symmetric matrix in row-major order is the same matrix in column-major order.
    return np.asarray(cholesky(gram.T, lower=True, overwrite_a=True, check_finite=False))


def whiten(factor: Floats, columns: Floats, *, transposed: bool = False) -> Floats:
    """Return L⁻¹X, or L'⁻¹X."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor, columns, lower=True, trans=int(transposed), check_finite=False))


def condition(blocks: Sequence[Values], scales: Scales, measure: Measure) -> Posterior:
    """Condition games on their values; blocks that tell nothing about the index may be omitted, see ``telling``."""
    d, n_games = blocks[0].signs.shape[1], blocks[0].values.shape[1]
    phi, variances = np.zeros((d, n_games)), prior_variances(scales, measure)
    squares, determinant, n, alphas = np.zeros(n_games), 0.0, 0, []
    for block in blocks:
        factor = factorise(block, scales)
        of_index = index_of_kernel(block.signs, scales, block.parity, measure).T
        index, white = np.split(whiten(factor, np.concatenate([of_index, block.values], axis=1)), [d], axis=1)
        phi += index.T @ white
        variances -= (index**2).sum(axis=0)
        squares += (white**2).sum(axis=0)
        determinant += float(np.log(np.diagonal(factor)).sum())
        n += len(block.values)
        alphas.append(whiten(factor, white, transposed=True))
    # The overall variance of each game is chosen to maximise the evidence.
    evidence = -0.5 * n * np.log(np.maximum(squares, np.finfo(float).tiny)) - determinant
    return Posterior(phi, np.maximum(variances, 0.0), evidence, blocks, alphas, scales)


def telling(blocks: Sequence[Values], scales: Scales, measure: Measure) -> list[Values]:
    """Return the blocks that tell something about the index: not the even one, if the measure is symmetric about ½."""
    return [
        block
        for block in blocks
        if block.parity is not Parity.EVEN or index_of_kernel(block.signs[:2], scales, Parity.EVEN, measure).any()
    ]


class Stage(NamedTuple):
    """Values that were chosen together."""

    start: int
    """Number of values known before."""
    stop: int
    """Number of values known afterwards."""
    scales: Scales
    """Hyperparameters by which they were chosen."""


def foreseen_errors(block: Values, stages: Sequence[Stage]) -> Floats:
    """Return the squared errors (m, g) at all values that were foreseen before they were evaluated.

    Early errors count as much as late ones: a game with rare spikes shows them early or late, by chance.
    """
    errors = [np.empty((0, block.values.shape[1]))]
    for stage in stages:
        known = block.at(slice(stage.stop))
        factor = factorise(known, stage.scales)
        white = whiten(factor, known.values)
        new = slice(stage.start, stage.stop)
        errors.append((np.diagonal(factor)[new, None] * white[new]) ** 2)
    return np.concatenate(errors)


def has_few_values(values: Floats, share: float = FEW_VALUES) -> Floats:
    """Return whether games with values (n, g) have few distinct ones, (g,)."""
    return np.asarray(n_distinct(values) < share * len(values))


def participation(squares: Floats) -> Floats:
    """Return the number of entries that share the sum of each column, (Σx)² / Σx², (g,); all of them if it is 0."""
    sums = (squares**2).sum(axis=0)
    return np.where(sums > 0, squares.sum(axis=0) ** 2 / np.where(sums > 0, sums, 1.0), len(squares))


def judged(values: Floats, posterior_variances: Floats, errors: Floats, settings: GPSettings) -> tuple[Floats, Floats]:
    """Return the variances (d, g) of the index of games, and their degrees of freedom (g,).

    Parameters
    ----------
    values : (n, g) float
        Values of the games.
    posterior_variances : (d, g) float
    errors : (m, g) float
        Squared errors at foreseen coalitions.
    settings : GPSettings
    """
    n = len(values)
    few = has_few_values(values)
    unseen = 4.0 * mean_steps(values) ** 2 / (n * (n + 2.0))
    if len(errors) == 0:
        return np.maximum(UNFORESEEN_SHARE * posterior_variances, unseen), np.full(values.shape[1], UNFORESEEN_DEGREES)
    share = np.where(few, settings.foreseen_share_of_few, settings.foreseen_share)
    by_errors = np.broadcast_to(share * 4.0 / n * errors.mean(axis=0), posterior_variances.shape)
    larger, smaller = np.maximum(posterior_variances, by_errors), np.minimum(posterior_variances, by_errors)
    variances = np.maximum(larger + SMALLER_SHARE * smaller, unseen)
    return variances, np.maximum(participation(errors), LEAST_DEGREES)
