"""Results as ``shap.Explanation``, which shap's plots draw."""

from __future__ import annotations

from copy import copy
from inspect import signature
from typing import Any, final

import numpy as np
import shap

from sharpley.presentation.shown import columns_of, numbers_of, ordinals_of, printable
from sharpley.presentation.sizes import common_error

PARTS = tuple(signature(shap.Explanation.__init__).parameters)[1:]


@final
class Explanation(shap.Explanation):  # type: ignore[misc]
    """A ``shap.Explanation`` that also has ``n_predictions``, for each row; None for parts of an explanation.

    shap 0.51 cannot copy the explanation of a single row that has a name, or of a single named output if there is one
    axis left, and copies for every operation: ``explanation[0].abs`` and ``explanation.sum(1).argsort``, the order of
    rows for a heat map, were errors.

    ``explanation.abs.mean(0).error_std`` is the standard error of the means, and not the mean of the rows' errors: in
    means of |φ|, the errors of rows with opposite signs of φ cancel.
    """

    n_predictions: Any = None
    _estimate: Any = None  # what is explained
    _signed: Any = None  # the values before ``abs``

    def importance(self, **options: Any) -> Any:
        """Return the mean size of values over all rows; see ``ShapleyEstimate.importance``."""
        if self._estimate is None:
            raise ValueError("this is a part of an explanation; importance() needs the whole, or use estimate[rows]")
        return self._estimate.importance(**options)

    def _numpy_func(self, fname: str, **kwargs: Any) -> Explanation:
        """Apply a function of numpy, as shap does, with the standard errors of means over rows."""
        found: Explanation = super()._numpy_func(fname, **kwargs)
        if fname == "abs":
            found._signed = np.asarray(self.values)
        elif fname == "mean" and kwargs.get("axis") == 0 and self._has_errors_of_rows():
            errors = np.nan_to_num(np.asarray(self.error_std))
            values, is_absolute = self._signed if self._signed is not None else self.values, self._signed is not None
            common = common_error(np.asarray(values), errors, absolute=is_absolute)
            found._s.error_std = np.sqrt(common**2 + (errors**2).mean(axis=0) / len(errors))
        return found

    def _has_errors_of_rows(self) -> bool:
        return self.error_std is not None and np.ndim(self.values) > 1 and np.shape(self.error_std) == self.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the values; without this, scipy, and ``shap.plots.monitoring`` with it, makes objects of the rows."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def __copy__(self) -> Explanation:
        parts = {name: getattr(self, name) for name in PARTS}
        single = {name: part for name, part in parts.items() if isinstance(part, str)}
        copied = Explanation(**parts | dict.fromkeys(single))
        if "output_names" in single:  # the name of a row cannot be set
            copied.output_names = single["output_names"]
        copied.op_history = copy(self.op_history)
        return copied


def as_explanation(result: dict[str, Any], limits: tuple[Any, Any], data: Any = None, shown: Any = None) -> Explanation:
    """Return the fields of a result, with their confidence limits, as an explanation.

    ``data`` has numbers, by which plots colour points, and ``shown`` what is printed, each (rows, d) or (d,).
    """
    labels, outputs = result["row_labels"], result["output_names"]
    has_rows = np.ndim(result["n_evals"]) == 1
    several = np.ndim(result["values"]) == (3 if has_rows else 2)
    found = Explanation(
        values=result["values"],
        base_values=result["base_values"],
        data=data,
        display_data=shown,
        instance_names=[str(label) for label in labels] if has_rows and labels is not None else None,
        feature_names=result["names"],
        output_names=outputs if several or outputs is None else outputs[0],
        error_std=result["standard_errors"],
        lower_bounds=limits[0],
        upper_bounds=limits[1],
        compute_time=result["compute_time"],
    )
    found.n_predictions = result["n_predictions"]
    return found


def with_table(result: dict[str, Any], limits: tuple[Any, Any], table: Any) -> Explanation:
    """Return the fields of a result as an explanation with a table of the features' values, if there is one."""
    if table is None:
        return as_explanation(result, limits)
    has_rows = np.ndim(result["n_evals"]) == 1
    expected = np.shape(result["values"])[: 2 if has_rows else 1]
    rows = table.to_frame().T.infer_objects() if hasattr(table, "to_frame") and np.ndim(table) == 1 else table
    columns = columns_of(rows if has_rows or np.ndim(rows) == 2 else [rows])
    if columns.shape != (expected if has_rows else (1, *expected)):
        raise ValueError(
            f"data must have a value for each row and player, shape {expected}, got {np.shape(table)}; for players "
            "that are groups of columns, use explainer(X)"
        )
    numbers, shown = numbers_of(columns, ordinals_of(rows)), printable(columns)
    return as_explanation(result, limits, *((numbers, shown) if has_rows else (numbers[0], shown[0])))
