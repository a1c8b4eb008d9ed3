"""What a sample leaves open because it was not seen.

A player whose contributions were all equal has a sample variance of 0, and may yet contribute something else in the
next sample: with probability 1 / (n + 2) after n samples, by the rule of succession. With p the probability of another
contribution, and a² its mean square, the mean of n samples has a variance of p a² / n.

If the player can only matter in some of the samples, m of n were seen (informative ones), and p is the share of such
samples times 1 / (m + 2). A player that was seen to deviate u times is known from these u, so that the variance
decreases with (u + 1)². It is positive whenever something was sampled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

ROUNDING = 1e-12  # deviations below this multiple of the largest contribution are due to rounding


def unseen_variance(change: Any, n: Any, *, informative: Any = None, deviating: Any = 0) -> Floats:
    """Return the variance of a mean of n samples that contributions of another kind, which were not seen, leave open.

    Parameters
    ----------
    change : float or array
        Mean square a² of what may not have been seen.
    n : int or array
        Number of samples.
    informative : int or array, optional
        Number of samples in which the player can matter; all by default.
    deviating : int or array, default 0
        Number of samples in which the player was seen to deviate.

    Examples
    --------
    Eight equal contributions, where another one would differ by 2:

    >>> float(unseen_variance(2.0**2, 8))
    0.05
    """
    m = np.asarray(n if informative is None else informative, dtype=np.float64)
    share = np.maximum(m, 1.0) / n
    return np.asarray(np.asarray(change) * share / ((m + 2.0) * n * (np.asarray(deviating) + 1.0) ** 2))


def typical_change(squares: Floats, deviates: NDArray[np.bool_], otherwise: Floats) -> Floats:
    """Return the mean square of the deviations that all players were seen to have, (r, 1, k).

    Parameters
    ----------
    squares : (n, r, d, k) float
        Squared deviations of the contributions in n samples.
    deviates : (n, r, d, k) bool
        Which of them are more than rounding.
    otherwise : (r, 1, k) float
        What is returned where no player deviates.
    """
    # One axis after the other: summed at once, the order would depend on the number of rows.
    times = deviates.sum(axis=0).sum(axis=1)[:, None]
    total = (squares * deviates).sum(axis=0).sum(axis=1)[:, None]
    return np.where(times > 0, total / np.maximum(times, 1), otherwise)


def unseen_variances(contributions: Floats) -> Floats:
    """Return the least variance of the means of contributions (n, r, d, k) in n samples, (r, d, k).

    What may not have been seen is estimated by the deviations of all players from their usual contributions or, if no
    player deviates, by the largest contribution, with a weight of 1/n. The usual contribution of a player is the
    median, the lower one of two: a small voter usually contributes nothing.

    Examples
    --------
    The first player deviates in half of the samples, the second in none:

    >>> seen = np.zeros((8, 1, 2, 1))
    >>> seen[::2, 0, 0] = 2.0
    >>> unseen_variances(seen)[0, :, 0]
    array([0.002, 0.05 ])
    """
    n = len(contributions)
    largest = np.abs(contributions).max(axis=(0, 2), keepdims=True)[0]
    usual = np.partition(contributions, (n - 1) // 2, axis=0)[(n - 1) // 2]
    squares = (contributions - usual) ** 2
    deviates = squares > (ROUNDING * largest) ** 2
    change = typical_change(squares, deviates, largest**2 / n)
    return unseen_variance(change, n, deviating=deviates.sum(axis=0))
