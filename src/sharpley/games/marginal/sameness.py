"""Which values of a feature count as the same: those that no model can tell apart.

A feature that has the same value in a row and in a background row is left out of that game, so values that are merely
equal must not count as the same: a model may respond to the sign of 0.0 and −0.0, or to the type of True, 1 and 1.0.
Counting the same value as two different ones, on the other hand, costs evaluations but is not wrong.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAME_IF_EQUAL = (str, int, bool)


def differ(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where two arrays of the same dtype differ: numbers are compared bit by bit."""
    if one.dtype.kind in "biuf" and one.dtype.itemsize <= 8:
        return np.asarray(bits(one) != bits(other))
    if one.dtype.kind == "O":
        return np.asarray(~np.frompyfunc(_are_same, 2, 1)(one, other).astype(bool))
    return np.asarray(~((one == other) | ((one != one) & (other != other))))


def bits(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the bits of numbers of up to 8 bytes as unsigned integers."""
    return np.ascontiguousarray(numbers).view(f"u{numbers.dtype.itemsize}")


def codes_of_objects(values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
    """Number values of any types in the order of their first appearance; the same values have the same number."""
    from pandas import factorize
    from pandas.api.types import infer_dtype

    if isinstance(values, np.ndarray) and infer_dtype(values, skipna=False) == "string":
        return np.asarray(factorize(values)[0])  # thirty times as fast
    numbers: dict[Hashable, int] = {}
    return np.fromiter((numbers.setdefault(_key(v), len(numbers)) for v in values), dtype=np.int64, count=len(values))


def codes_of_floats(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return codes of floats by their bits, and −1 for missing values."""
    _, codes = np.unique(bits(values), return_inverse=True)
    return np.where(missing, -1, codes)


def _are_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    return bool(one == other) if type(one) in SAME_IF_EQUAL else _key(one) == _key(other)


def _key(value: Any) -> Hashable:
    """Return what is equal for the same values; that of a value without a hash, such as a list, has its content."""
    kind = type(value)
    if kind in SAME_IF_EQUAL:
        return kind, value
    if isinstance(value, Number):  # the text of a number has its sign and all digits, and NaN is equal to itself
        return kind, repr(value)
    if isinstance(value, list | tuple):
        return kind, tuple(_key(each) for each in value)
    if isinstance(value, dict):
        return kind, tuple((_key(name), _key(each)) for name, each in value.items())
    if isinstance(value, set | frozenset):
        return kind, frozenset(_key(each) for each in value)
    if isinstance(value, np.ndarray):
        content = tuple(_key(each) for each in value.flat) if value.dtype.kind == "O" else value.tobytes()
        return kind, value.dtype.str, value.shape, content
    try:
        hash(value)
    except TypeError:
        return kind, id(value)
    return kind, value
