"""Columns that have other dtypes in X than in the background: numbers are converted without loss, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.marginal.mixing import is_sparse

EXACT_INTEGERS = 2**53  # up to which floats hold all integers


def common_dtype(rows: Any, background: Any) -> np.dtype[Any]:
    """Return the dtype of mixed rows of arrays or sparse matrices.

    It is an error if conversion to it would turn numbers into text, or lose digits of large integers.
    """
    mine, theirs = rows.dtype, background.dtype
    if (mine.kind in "US") != (theirs.kind in "US") and "O" not in (mine.kind, theirs.kind):
        raise TypeError(f"X is {mine} but the background is {theirs}; convert them to the same dtype")
    common = np.result_type(mine, theirs)
    if common.kind == "f":
        check_digits("X", rows.data if is_sparse(rows) else rows)
        check_digits("the background", background.data if is_sparse(background) else background)
    return common


def check_digits(where: str, numbers: NDArray[Any]) -> None:
    """Raise an error if numbers that are to become floats have integers that a float does not hold."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8:
        return
    large = numbers[(numbers > EXACT_INTEGERS) | (numbers < -EXACT_INTEGERS)]
    lost = next((number for number in large.tolist() if int(float(number)) != number), None)
    if lost is not None:
        raise TypeError(
            f"{where} has the integer {lost}, which would lose digits as a float; X and the background have different "
            "dtypes, of which one is float: convert them to the same dtype, or to text if the integers are identifiers"
        )


def check_was_integer(name: Any, numbers: NDArray[Any]) -> None:
    """Raise an error if floats stand for integers of the background but are too large to have kept all their digits."""
    large = numbers[np.abs(numbers) >= EXACT_INTEGERS] if numbers.dtype.kind == "f" else numbers[:0]
    if len(large):
        raise TypeError(
            f"column {name!r} is integer in the background, but X has the float {large[0]:.0f}, whose last digits may "
            "be lost; of a frame, frame.iloc[[0]] keeps them, and frame.iloc[0] does not"
        )


def pandas_like(background: Any, values: Any, index: list[Any] | None) -> Any:
    """Return values (rows, columns) as a pandas frame with the columns and, as far as they fit, its dtypes."""
    names = list(background.columns)
    frame = type(background)(values, columns=range(len(names)), index=index)
    columns = {j: _fitted(name, frame[j], background.dtypes.iloc[j]) for j, name in enumerate(names)}
    return type(background)(columns, index=frame.index).set_axis(background.columns, axis=1)


def _fitted(name: Any, column: Any, dtype: Any) -> Any:
    """Return a pandas column with a dtype; numbers that are no integers, where the dtype is integer, stay floats."""
    import pandas as pd

    if not (pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)):
        return _widened(column.infer_objects()).astype(dtype)
    column = column.infer_objects()
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    check_was_integer(name, column.to_numpy())
    try:
        whole = column.astype(dtype)
    except (TypeError, ValueError):
        if is_number:  # missing values, or numbers that are no integers
            return column
        raise
    there = column.notna()
    if (whole[there].astype(column.dtype) == column[there]).all():
        return whole
    if not is_number:  # text would become True
        raise ValueError(f"column {name!r} has values that are not {dtype}")
    return column


def _widened(column: Any) -> Any:
    """Return a pandas column in single precision if it has half precision, of which pandas makes no categories."""
    return column.astype(np.float32) if column.dtype == np.float16 else column


def polars_like(background: Any, values: Any) -> Any:
    """Return values (rows, columns) as a polars frame with the columns and, as far as they fit, its dtypes."""
    import polars as pl

    def fitted(name: str, dtype: Any, given: list[Any]) -> Any:
        is_whole = dtype.is_integer() or dtype == pl.Boolean
        if is_whole:
            check_was_integer(name, np.array([each for each in given if isinstance(each, float)]))
        try:
            series = pl.Series(name, given, dtype=dtype, strict=False)
        except (TypeError, pl.exceptions.PolarsError):
            return pl.Series(name, given)  # whose dtype is then compared with that of the background
        return pl.Series(name, given) if is_whole and series.to_list() != given else series

    columns = np.array(values, dtype=object).T.tolist()
    schema = zip(background.schema.items(), columns, strict=True)
    return type(background)([fitted(name, dtype, given) for (name, dtype), given in schema])


def align_pandas(rows: Any, background: Any) -> tuple[Any, Any]:
    """Check the dtypes of pandas frames with the same columns, and convert bool to numbers where the other has these.

    The columns of the frames that are returned are numbered, since their names may repeat.
    """
    import pandas as pd

    is_number, is_bool = pd.api.types.is_numeric_dtype, pd.api.types.is_bool_dtype
    names = list(rows.columns)
    rows, background = (frame.set_axis(range(len(names)), axis=1) for frame in (rows, background))
    for j, name in enumerate(names):
        mine, theirs = rows.dtypes[j], background.dtypes[j]
        if mine == theirs:
            continue
        if _fits(_widened(rows[j]), theirs):
            rows = rows.astype({j: _widened(rows[j]).dtype}).astype({j: theirs})
            continue
        if not (is_number(mine) and is_number(theirs)):
            raise TypeError(_differ(name, mine, theirs))
        if is_bool(mine):
            rows = rows.astype({j: theirs})
        elif is_bool(theirs):
            background = background.astype({j: mine})
        elif _becomes_float(rows[j], background[j]):
            check_digits(f"column {name!r} of X", rows[j].dropna().to_numpy())
            check_digits(f"column {name!r} of the background", background[j].dropna().to_numpy())
    return rows, background


def _fits(column: Any, dtype: Any) -> bool:
    """Return whether a pandas column of text or categories can be converted to the background's dtype unchanged."""
    import pandas as pd

    values = column.cat.categories if hasattr(column, "cat") else column.dropna()
    if not hasattr(dtype, "categories"):
        is_text = isinstance(dtype, pd.StringDtype) or pd.api.types.is_object_dtype(dtype)
        return is_text and not hasattr(column, "cat") and pd.api.types.infer_dtype(values) in ("string", "empty")
    same_order = getattr(column.dtype, "ordered", dtype.ordered) == dtype.ordered
    return same_order and not dtype.ordered and bool(values.isin(dtype.categories).all())


def _becomes_float(one: Any, other: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_float_dtype(pd.concat([one[:0], other[:0]]).dtype))


def check_polars(rows: Any, background: Any) -> None:
    """Check the dtypes of polars frames with the same columns: only numbers, and missing values, are converted."""
    import polars as pl

    for name in rows.columns:
        one, other = rows[name], background[name]
        if one.dtype == other.dtype or pl.Null in (one.dtype, other.dtype):
            continue
        numbers = all(s.dtype.is_numeric() or s.dtype == pl.Boolean for s in (one, other))
        if not numbers:
            raise TypeError(
                f"column {name!r} is {one.dtype} in X but {other.dtype} in the background; convert them to the same "
                f"dtype, as in X.cast({{{name!r}: background[{name!r}].dtype}})"
            )
        if pl.concat([one[:0].to_frame(), other[:0].to_frame()], how="vertical_relaxed")[name].dtype.is_float():
            check_digits(f"column {name!r} of X", one.drop_nulls().to_numpy())
            check_digits(f"column {name!r} of the background", other.drop_nulls().to_numpy())


def _differ(name: Any, mine: Any, theirs: Any) -> str:
    """Say how the dtype of a column of X differs from that of the background, and what to do."""
    if not (hasattr(mine, "categories") and hasattr(theirs, "categories")):
        return (
            f"column {name!r} is {mine} in X but {theirs} in the background; convert them to the same dtype, as in "
            f"X[{name!r}] = X[{name!r}].astype(background[{name!r}].dtype)"
        )
    levels, known = list(mine.categories), list(theirs.categories)
    extra, missing = [x for x in levels if x not in known], [x for x in known if x not in levels]
    how = f"only X has {extra}, only the background has {missing}" if extra or missing else "their order differs"
    return (
        f"column {name!r} is category in X and in the background, but with other categories: {how}; "
        f"use the same dtype, as in X[{name!r}] = X[{name!r}].astype(background[{name!r}].dtype)"
    )
