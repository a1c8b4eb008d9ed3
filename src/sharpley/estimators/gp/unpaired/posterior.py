"""The posterior of whole games and of their Shapley values, given values at coalitions.

With K the Gram matrix plus noise, y the values, A the Shapley values of the kernel's columns and P their prior
covariance, φ = A K⁻¹ y and Cov φ = P − A K⁻¹ A'.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.estimators.gp.cholesky import Factor
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.unpaired.kernel import (
    WholeScales,
    is_inner,
    prior_covariance,
    shapley_of_whole_kernel,
    whole_kernel,
)


class WholePosterior(NamedTuple):
    """The posterior of games, each of which is a column, with the same hyperparameters."""

    values: Floats
    """Posterior means of the Shapley values, (d, g)."""
    variances: Floats
    """Posterior variances of the Shapley values, (d,)."""
    log_evidence: Floats
    """Log evidence of the hyperparameters, up to a constant, (g,)."""


def factorise(signs: Floats, scales: WholeScales, constant: float) -> Factor:
    """Return the Cholesky factor of K for coalitions (n, d)."""
    gram = whole_kernel(signs, signs, scales, constant)
    gram[np.diag_indices(len(signs))] += scales.noise * is_inner(signs) + JITTER
    return Factor.of(gram)


def condition(signs: Floats, values: Floats, scales: WholeScales, constant: float) -> WholePosterior:
    """Condition games with values (n, g) at coalitions (n, d), of which the first two are ∅ and N.

    The Shapley values add up to v(N) − v(∅) but for the jitter of K, and what is missing is divided equally.
    """
    d = signs.shape[1]
    factor = factorise(signs, scales, constant)
    columns = np.concatenate([shapley_of_whole_kernel(signs, scales).T, values], axis=1)
    shapley, white = np.split(factor.whiten(columns), [d], axis=1)
    phi = shapley.T @ white
    covariance = np.diagonal(prior_covariance(scales)) - (shapley**2).sum(axis=0)
    evidence = -0.5 * (white**2).sum(axis=0) - np.log(np.diagonal(factor.lower)).sum()
    missing = values[1] - values[0] - phi.sum(axis=0)
    return WholePosterior(phi + missing / d, np.maximum(covariance, 0.0), evidence)
