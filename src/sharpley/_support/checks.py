"""Checks of arguments where users call the package: each error names the value that was given and the remedy."""

from __future__ import annotations

import operator
import sys
from collections.abc import Collection
from typing import Any

import numpy as np

from sharpley._support.typing import ArrayLike, Floats


def check_count(name: str, value: Any, *, minimum: int) -> int:
    """Return ``value`` as an int; raise an error unless it is a whole number, such as 1e3, of at least ``minimum``."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    try:
        count = int(value) if whole else operator.index(value)
    except TypeError:
        remedy = "; omit it for the default" if isinstance(value, str) and value == "auto" else ""
        raise TypeError(f"{name} must be an integer, got {value!r}{remedy}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {count}")
    return count


def check_choice(name: str, value: str, choices: Collection[str]) -> str:
    """Return ``value``; raise an error that lists ``choices`` unless it is one of them."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"unknown {name} {value!r}; choose one of {known}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` as a bool; raise an error unless it is one, since any text would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def stacklevel_outside() -> int:
    """Return the ``stacklevel`` with which a warning of the caller points at the first line outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("sharpley."):
        frame, level = frame.f_back, level + 1
    return level


def check_weights(weights: ArrayLike, n: int) -> Floats:
    """Return ``weights`` as float (n,); raise an error unless there is one finite weight for each of n orderings."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one for each ordering, got {array.shape}")
    if not np.isfinite(array).all():
        first = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"weights must be finite, but weights[{first}] is {array[first]}")
    return array
