"""Checks of the values that games and models return."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import ArrayLike, Coalitions, Floats


def checked_values(raw: ArrayLike, coalitions: Coalitions) -> Floats:
    """Check the values that a game returned for coalitions (m, d), and return them as (m, k) float."""
    values = as_numbers(raw, len(coalitions), "the game", "coalitions")
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(f"the game must return finite values, got {values[first]} for {describe(coalitions[first])}")
    return values


def as_numbers(raw: Any, n: int, function: str, inputs: str) -> Floats:
    """Check that a function returned one number, or k numbers, for each of n inputs; return a copy, (n, k) float.

    ``function`` and ``inputs`` name the function and its inputs in error messages.
    """
    if np.ma.is_masked(raw):
        raise ValueError(f"{function} must return finite numbers, but returned masked values; let it fill them")
    output = np.asarray(raw)
    if output.ndim not in (1, 2) or len(output) != n or output.size == 0 < n:
        raise ValueError(f"{function} must return shape ({n},) or ({n}, k) for {n} {inputs}, got {output.shape}")
    if output.dtype.kind not in "biufO":
        raise TypeError(f"{function} must return real numbers, got dtype {output.dtype}")
    try:
        return np.array(output, dtype=np.float64).reshape(n, -1)
    except (TypeError, ValueError):
        raise TypeError(f"{function} must return real numbers, got {output.reshape(-1)[0]!r}") from None


def describe(coalition: NDArray[np.bool_]) -> str:
    """Describe a coalition by its members, for an error message.

    Examples
    --------
    >>> describe(np.array([True, False, True]))
    'the coalition of players [0, 2]'
    """
    members = np.flatnonzero(coalition).tolist()
    if len(members) > 12:
        return f"the coalition of {len(members)} players {str(members[:12])[:-1]}, …]"
    return f"the coalition of players {members}"
