"""Means of sizes |φ| over rows: without their upward bias, and with their errors."""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Floats


def sizes_without_bias(values: Floats, errors: Floats) -> Floats:
    """Return |φ| without the upward bias of the sizes of noisy values.

    The mean of |φ̂| over many rows overstates that of |φ| by about the variance σ² of φ̂ times the density of φ at 0.
    With noise of twice the variance, the bias is twice as large (Richardson): 2 |φ̂| − E|φ̂ + σ Z|, Z standard normal,
    has none to first order. φ̂ + σ Z is distributed as an estimate from half of the sample.

    Parameters
    ----------
    values, errors : (rows, d, …) float
        Estimates, and their standard errors.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(2, 100_000))
    >>> truth = noise[0]
    >>> raw = np.abs(truth + 0.5 * noise[1])
    >>> round(float(raw.mean() / np.abs(truth).mean()), 2)
    1.12
    >>> round(float(sizes_without_bias(truth + 0.5 * noise[1], np.full(100_000, 0.5)).mean() / np.abs(truth).mean()), 2)
    1.01
    """
    from scipy.special import erf

    safe = np.where(errors > 0, errors, 1.0)
    ratio = values / safe
    twice = safe * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * ratio**2) + values * erf(ratio / np.sqrt(2.0))
    return np.asarray(np.where(errors > 0, 2.0 * np.abs(values) - twice, np.abs(values)))


def common_error(values: Floats, errors: Floats, *, absolute: bool) -> Floats:
    """Return the standard error of a mean over rows (n, d, …) -> (d, …), if all their errors are one error in common.

    Rows that are explained together share orderings and background rows, and their errors are then nearly the same,
    apart from their sizes. An error of φ is one of |φ| times the sign of φ: in a mean of |φ|, errors of rows with
    opposite signs cancel. The sign of a value near 0 is not known, and counts by its mean.
    """
    from scipy.special import erf

    if not absolute:
        return np.asarray(errors.mean(axis=0))
    signs = erf(values / np.where(errors > 0, np.sqrt(2.0) * errors, 1.0))
    return np.asarray(np.abs((signs * errors).mean(axis=0)))
