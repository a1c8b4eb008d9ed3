"""Which classes the second half of the pairs comes from.

Coalitions of half of the players tell the process most about a smooth game. They tell little about games that it can
hardly predict, such as votes or steep networks, where its estimate is mostly that of the regression. There, with σ_k²
the mean squared error of the regression in class k, c_k = 2 sizes in it (1 if 2k = d) and m_k pairs, the variance of
the Shapley values is proportional to

    Σ_k c_k² σ_k² / (k (d−k) m_k),   which is least for   m_k ∝ c_k σ_k / √(k (d−k)).

Statisticians call this Neyman's allocation. In a vote, for instance, σ_k is large only for sizes near the quota.

The first half of the pairs tells both: which of the two errs less at pairs that are left out, and σ_k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.averaging import has_few_values
from sharpley.estimators.gp.fitting import Pilot
from sharpley.estimators.gp.posterior import Conditioner
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.regression import class_weights

PRIOR_ERRORS = 2.0  # pairs whose squared error is the mean of all, in addition to those seen around each size


def shares_of_classes(unit: PairData, pilot: Pilot, settings: GPSettings) -> Floats | None:
    """Return the shares of the classes 1 … ⌊d/2⌋ that suit the regression; None if the process predicts most games.

    Parameters
    ----------
    unit : PairData
        Normalised games.
    pilot : Pilot
        The fits to them.
    settings : GPSettings
    """
    hard = are_hard(unit, pilot, settings)
    if 2 * np.count_nonzero(hard) <= len(hard):
        return None
    squared = (pilot.linear.held_out_errors / class_weights(unit.sizes, unit.d)[:, None])[:, hard]
    return neyman_shares(unit, (squared / squared.mean(axis=0)).mean(axis=1), settings)


def are_hard(unit: PairData, pilot: Pilot, settings: GPSettings) -> NDArray[np.bool_]:
    """Return whether the process predicts games hardly better than the regression, at pairs that are left out, (g,).

    The hyperparameters have seen these pairs. That flatters the process on games with few distinct values, for which
    less is believed.
    """
    of_process = Conditioner(unit, pilot.linear, settings).suitability(pilot.scales).held_out_error
    of_regression = pilot.linear.held_out_errors.mean(axis=0)
    limits = np.where(has_few_values(unit.odd), settings.hard_error_share_of_few, settings.hard_error_share)
    return np.asarray(of_process > limits * of_regression)


def neyman_shares(unit: PairData, squared_errors: Floats, settings: GPSettings) -> Floats:
    """Return shares of classes in proportion to c_k σ_k / √(k (d−k)), for squared errors (n,) with a mean of 1.

    σ_k² is a mean over pairs of similar sizes.
    """
    d, n_classes = unit.d, unit.d // 2
    k = np.arange(1, n_classes + 1)
    near = np.exp(-0.5 * ((k[:, None] - k) / (settings.error_smoothing * d)) ** 2)
    total = near @ np.bincount(unit.sizes, weights=squared_errors, minlength=n_classes + 1)[1:]
    count = near @ np.bincount(unit.sizes, minlength=n_classes + 1)[1:]
    sigma = np.sqrt((total + PRIOR_ERRORS) / (count + PRIOR_ERRORS))
    return np.asarray(np.where(2 * k == d, 1.0, 2.0) * sigma / np.sqrt(k * (d - k)))
