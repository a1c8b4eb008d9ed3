"""When a row meets its tolerance.

A single look at an estimate may be lucky: on rough games, a small sample can show so little of what matters that its
error bar is far too small. So a row is finished only if two consecutive looks agree. At both, the error bars must be
small enough, and the estimate must not have moved by more than such errors allow. The evaluations made between the two
looks had no say in the first one, so that they put it to the test.

A row all of whose values are 0 so far, such as that of a classifier whose label never changed, needs more looks: there
is no range yet that an error bar could be compared with. What n evaluations without a change leave open must then be
below the tolerance, in units of what a change may be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments, half_widths
from sharpley.engine.blind import blind_errors, is_exact

LEVEL = 0.95  # of the intervals that error bars are compared by
QUANTILE = 1.96  # half the width of such an interval for a standard error of 1 that is known exactly
LOOKS_WITHOUT_CHANGE = 5  # that must agree if no player has changed anything
MAX_MOVE = 2.0  # by which values may move between two looks, in units of the tolerance


def meets(
    moments: Moments,
    before: Moments | None,
    tol: float,
    *,
    n_looks: int,
    n_evals: NDArray[np.int64] | int,
    all_components: bool = True,
) -> NDArray[np.bool_]:
    """Return whether each row meets a tolerance, (r,).

    Parameters
    ----------
    moments : Moments
        The estimate, of shape (r, components, k).
    before : Moments or None
        That of the look before, for the same rows; None at the first look, at which only exact values are sufficient.
    tol : float
        Maximum standard error, in units of the range of a row's values. For few degrees of freedom, a standard error
        counts as that with the same 95% interval for many.
    n_looks : int
        Number of looks, this one included.
    n_evals : int or (r,) int
        Number of evaluated coalitions.
    all_components : bool, default True
        Whether the moments are those of all components; if not, the others are 0, which the range includes.
    """
    exact = is_exact(moments).all(axis=(1, 2))
    if before is None:
        return np.asarray(exact)
    limits = tol * _ranges(moments.values, all_components=all_components)
    sure_of_nothing = (blind_errors(n_evals) <= tol).reshape(-1, 1) & (n_looks >= LOOKS_WITHOUT_CHANGE)
    enough = (limits > 0) | sure_of_nothing
    small = enough & _is_small(moments, limits) & _is_small(before, limits)
    moved = np.abs(moments.values - before.values).max(axis=1)
    return np.asarray(exact | (small & (moved <= MAX_MOVE * limits)).all(axis=1))


def _is_small(moments: Moments, limits: Floats) -> NDArray[np.bool_]:
    return half_widths(moments, LEVEL).max(axis=1) <= QUANTILE * limits


def _ranges(values: Floats, *, all_components: bool) -> Floats:
    """Return the range of the values (r, components, k) of each row and output, (r, k)."""
    highest, lowest = values.max(axis=1), values.min(axis=1)
    if not all_components:
        highest, lowest = np.maximum(highest, 0.0), np.minimum(lowest, 0.0)
    return np.asarray(highest - lowest)
