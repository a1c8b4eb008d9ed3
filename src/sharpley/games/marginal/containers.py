"""Rows as people have them: one row, or a table of another type than the background's.

The background decides what the model receives. Rows that are given as an array are put into a frame with the
background's columns and dtypes, and a frame beside a background array becomes an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpley.games.marginal.dtypes import pandas_like, polars_like
from sharpley.games.marginal.mixing import is_from, is_sparse

UNREADABLE = (
    ("pyarrow", "Table", "convert it to what the model takes: {name}.to_pandas(), or polars.from_arrow({name})"),
    ("polars", "LazyFrame", "call {name}.collect()"),
    ("dask.dataframe", "DataFrame", "call {name}.compute()"),
    ("xgboost", "DMatrix", "pass the table that it was made of"),
    ("lightgbm", "Dataset", "pass the table that it was made of"),
    ("catboost", "Pool", "pass the table that it was made of"),
)
"""Tables that are not read, and what to call instead."""


def check_readable(name: str, data: Any) -> None:
    """Raise an error that says what to call if ``data`` is a table that is not read, or has masked values."""
    if np.ma.is_masked(data):
        raise TypeError(
            f"{name} has masked values, which models do not know; replace them by what the model takes for missing "
            f"values, as in {name}.filled(np.nan)"
        )
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        raise TypeError(f"{name} is a list of dicts, which is not read; call pandas.DataFrame({name})")
    if name == "background" and _is_list_of_texts(data):
        raise TypeError(
            "background is a list of texts, not a table of features; sharpley.adapters.shap.PermutationExplainer("
            "model, shap.maskers.Text()) explains texts by their words"
        )
    for module, kind, remedy in UNREADABLE:
        if is_from(module, data, kind):
            raise TypeError(f"{name} is a {module} {kind}, which is not read; {remedy.format(name=name)}")


def check_table(name: str, data: Any) -> None:
    """Raise an error unless data are rows and columns."""
    shape = tuple(data.shape) if hasattr(data, "shape") else np.shape(data)
    if len(shape) != 2:
        instead = f"; for one row, pass {name}[None]" if len(shape) == 1 else ""
        raise ValueError(f"{name} must have shape (rows, columns), got shape {shape}{instead}")


def _is_list_of_texts(data: Any) -> bool:
    is_list = isinstance(data, list | tuple | np.ndarray) or is_from("pandas", data, "Series")
    return is_list and len(data) > 0 and all(isinstance(value, str) for value in data)


def is_one_row(rows: Any) -> bool:
    """Return whether ``rows`` is a single row: a Series, a mapping, a 1-d array (sparse ones, too), or a list."""
    if is_from("pandas", rows, "Series") or isinstance(rows, Mapping):
        return True
    return bool(rows.ndim == 1) if is_sparse(rows) else not _is_frame(rows) and np.ndim(rows) == 1


def as_table(rows: Any, background: Any) -> Any:
    """Return rows as a table of the type of the background, with its columns; tables of that type are unchanged."""
    check_readable("X", rows)
    check_readable("background", background)
    if isinstance(rows, list | tuple) and not rows:
        raise ValueError("X must have at least one row, got none")
    if is_one_row(rows):
        rows = _one_row(rows, background)
    if is_from("pandas", background, "DataFrame"):
        return rows if is_from("pandas", rows, "DataFrame") else _pandas_like(background, rows)
    if is_from("polars", background, "DataFrame"):
        return rows if is_from("polars", rows, "DataFrame") else _polars_like(background, rows)
    if not _is_frame(rows):
        return rows
    if is_sparse(background):
        raise TypeError("X is a DataFrame, but the background is a sparse matrix; convert one to the type of the other")
    return rows.to_numpy()


def _is_frame(data: Any) -> bool:
    return is_from("pandas", data, "DataFrame") or is_from("polars", data, "DataFrame")


def _one_row(row: Any, background: Any) -> Any:
    """Return one row as a table of one row: an array, or a list of values if there is a frame to put them into."""
    if is_sparse(row):
        return type(background)(row.reshape(1, -1)) if is_sparse(background) else row.toarray()[None]
    names = getattr(row, "index", None) if is_from("pandas", row, "Series") else None
    values = list(row.values()) if isinstance(row, Mapping) else list(row)
    labels = list(row) if isinstance(row, Mapping) else None if names is None else list(names)
    if not _is_frame(background):
        return np.asarray(values)[None]
    if labels is not None:
        columns = list(background.columns)
        if set(labels) != set(columns) or len(labels) != len(columns):
            missing = [name for name in columns if name not in labels]
            extra = [name for name in labels if name not in columns]
            raise ValueError(f"X is one row with other columns than the background: missing {missing}, extra {extra}")
        values = [values[labels.index(name)] for name in columns]
    label = getattr(row, "name", None)
    return _frame_like(background, [values], None if label is None else [label])


def _pandas_like(background: Any, rows: Any) -> Any:
    if is_from("polars", rows, "DataFrame"):
        return rows.to_pandas()
    return _frame_like(background, rows.toarray() if is_sparse(rows) else np.asarray(rows))


def _polars_like(background: Any, rows: Any) -> Any:
    if is_from("pandas", rows, "DataFrame"):
        raise TypeError("X is a pandas DataFrame, but the background is a polars DataFrame; use polars.from_pandas(X)")
    return _frame_like(background, rows.toarray() if is_sparse(rows) else np.asarray(rows))


def _frame_like(background: Any, values: Any, index: list[Any] | None = None) -> Any:
    """Return values (rows, columns) as a frame with the columns and dtypes of the background."""
    width = len(values[0]) if len(values) else background.shape[1]
    if np.ndim(values[0] if len(values) else []) != 1 or width != background.shape[1]:
        raise ValueError(f"X has {width} columns, but the background has {background.shape[1]}")
    try:
        if is_from("polars", background, "DataFrame"):
            return polars_like(background, values)
        return pandas_like(background, values, index)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"X does not fit the columns of the background, {list(background.columns)}: {error}; "
            "pass a frame with the same columns and dtypes"
        ) from error


def column_names_of(rows: Any) -> list[str] | None:
    """Return the names of the columns of a frame, or of the values of a Series or mapping; None for what has none."""
    if is_from("pandas", rows, "Series"):
        return [str(name) for name in rows.index]
    return [str(name) for name in rows.columns] if _is_frame(rows) else None


def row_labels_of(rows: Any) -> list[Any] | None:
    """Return the index of a pandas frame; None for tables without one."""
    return list(rows.index) if is_from("pandas", rows, "DataFrame") else None
