"""Degrees of freedom behind an estimated variance."""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Floats


def effective_freedom(parts: Floats, axis: int) -> Floats:
    """Return the degrees of freedom of a variance that is a sum of n independent parts.

    By Satterthwaite, a variance estimate V has 2 V² / Var V degrees of freedom, and the variance of a sum of parts is
    estimated from their spread. n squares of normal errors have about n. If few of the parts make up most of the sum,
    as with heavy tails or rare events, there are about twice as many as these few, however many samples there were.

    Examples
    --------
    >>> float(effective_freedom(np.ones(11), axis=0))
    10.0
    >>> float(effective_freedom(np.array([0.0] * 99 + [1.0]), axis=0).round(1))
    2.0
    """
    n = parts.shape[axis]
    total = parts.sum(axis=axis, keepdims=True)
    shares = parts / np.where(total > 0, total, 1.0)
    spread = (shares**2).sum(axis=axis) - 1.0 / n
    most = max(1.0, n - 1.0)
    return np.asarray(np.clip(2.0 / np.maximum(spread, 2.0 / most), 1.0, most))
