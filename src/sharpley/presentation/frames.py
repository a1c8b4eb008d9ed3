"""Results as pandas frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpley.presentation.labelled import Labelled

QUANTITIES = ("value", "standard_error", "lower", "upper")


def long_frame(result: Labelled) -> Any:
    """Return one line for each row, output and player: value, standard error, confidence limits, base value."""
    import pandas as pd

    n, d, k = result.values.shape
    columns: dict[str, Any] = {}
    if result.has_rows:
        columns["row"] = pd.Index(result.rows, tupleize_cols=False).repeat(k * d)
    if result.has_outputs:
        columns["output"] = np.tile(np.repeat(result.outputs, d), n)
    columns["feature"] = np.tile(np.asarray(result.players, dtype=object), n * k)
    for name, array in zip(QUANTITIES, _arrays(result), strict=True):
        columns[name] = np.moveaxis(array, 2, 1).reshape(-1)
    columns["base_value"] = np.repeat(result.base_values.reshape(-1), d)
    return pd.DataFrame(columns)


def wide_frame(result: Labelled) -> Any:
    """Return one line for each row and output, with columns (quantity, feature), and the base value."""
    import pandas as pd

    n, d, k = result.values.shape
    tables = [np.moveaxis(array, 2, 1).reshape(n * k, d) for array in _arrays(result)]
    columns = pd.MultiIndex.from_product([QUANTITIES, result.players], names=["quantity", "feature"])
    frame = pd.DataFrame(np.concatenate(tables, axis=1), columns=columns, index=_wide_index(result))
    frame["base_value", ""] = result.base_values.reshape(-1)
    return frame


def _arrays(result: Labelled) -> tuple[Any, ...]:
    return result.values, result.standard_errors, result.lower, result.upper


def _wide_index(result: Labelled) -> Any:
    import pandas as pd

    rows = pd.Index(result.rows, name="row", tupleize_cols=False)  # a row with several labels has a tuple of them
    return (
        rows if not result.has_outputs else pd.MultiIndex.from_product([rows, result.outputs], names=["row", "output"])
    )
