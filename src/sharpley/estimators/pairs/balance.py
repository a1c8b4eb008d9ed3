"""Weights of pairs with which the regression is unbiased.

Given the pairs, the regression is linear in the odd values y of a game: φ̂ = M y, plus a multiple of δ. The choice of
pairs treats all players alike, so that relabelling the players gives pairs that are as probable as the chosen ones. The
mean of φ̂ over all relabellings is then linear in the game and treats all players alike, too. Since the columns of M sum
to 0, such a functional is determined by one number h_k for each class k,

    E φ̂_i = Σ_k (h_k / d) · (mean of v_odd over coalitions of size k with i − mean over those without i) + const · δ,

where h_k = ½ Σ z·M_z, over the chosen pairs z of the class, is their leverage. It is the Shapley value if and only if
h_k = c_k in every class, which is 2, or 1 if 2k = d. With the weights w = c_k / (k (d−k) m_k), that holds for all
pairs, but for a sample only nearly. So the weights of each class are multiplied by c_k / h_k, again and again, until it
holds (raking). A few steps suffice, and the variance hardly changes.

A class of m_k pairs has a leverage of at most m_k − 1 beside its size effect. So at least four pairs of every class are
needed (two in the middle class, which has no size effect), or all of them; with fewer, weights are left as they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

MAX_STEPS = 100
TOLERANCE = 1e-10  # relative deviation of the leverage of a class from what it should be


def balanced_weights(weights: Floats, linear: Floats, size_effects: Floats, sizes: NDArray[np.int64], d: int) -> Floats:
    """Return weights of pairs (n,) with which the regression is unbiased, or the same if there are too few pairs.

    Parameters
    ----------
    weights : (n,) float
        Weights that are the same within each class.
    linear : (n, d − 1) float
        The pairs in coordinates in which coefficients sum to 0.
    size_effects : (n, classes) float
        Indicators of the classes that have a size effect.
    sizes : (n,) int
        Classes of the pairs.
    d : int
        Number of players.
    """
    wanted = np.where(2 * np.arange(d // 2 + 1) == d, 1.0, 2.0)
    counts = np.bincount(sizes, minlength=len(wanted))
    if (counts[1:] == 0).any():
        return weights
    design = np.concatenate([linear, size_effects], axis=1)
    raked = weights
    for _ in range(MAX_STEPS):
        leverages = np.bincount(sizes, weights=_linear_leverages(design, raked, d - 1), minlength=len(wanted))
        ratios = wanted[1:] / np.maximum(leverages[1:], np.finfo(np.float64).tiny)
        if np.abs(ratios - 1.0).max() < TOLERANCE:
            return np.asarray(raked)
        raked = raked * ratios[sizes - 1]
        raked = raked / raked.mean()
    return weights


def _linear_leverages(design: Floats, weights: Floats, n_linear: int) -> Floats:
    """Return the part of the leverage of each pair that its linear terms have, (n,)."""
    inverse = np.linalg.pinv((design * weights[:, None]).T @ design, hermitian=True)
    return np.asarray(weights * ((design @ inverse[:, :n_linear]) * design[:, :n_linear]).sum(axis=1))
