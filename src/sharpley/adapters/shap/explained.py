"""shap's Explanation, of which parts and sums can be made where a single row or output has a name."""

from __future__ import annotations

from copy import copy
from inspect import signature
from typing import Any, final

import numpy as np
import shap

from sharpley.result.importance import Importance, common_error, importance_of_values

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
    _signed: Any = None  # the values before ``abs``

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

    def importance(self, *, absolute: bool = True, by: Any = None) -> Importance:
        """Return mean |φ| over rows, without its upward bias; the same as ``ShapleyEstimate.importance``."""
        if np.ndim(self.values) < 2 or not self._has_errors_of_rows():
            raise ValueError("importance is a mean over several rows with standard errors")
        values = np.asarray(self.values)
        names = [str(name) for name in (self.feature_names or [])] or [f"Feature {j}" for j in range(values.shape[1])]
        outputs = [str(name) for name in self.output_names] if values.ndim == 3 and self.output_names else None
        errors = np.nan_to_num(np.asarray(self.error_std))
        return importance_of_values(values, errors, names, absolute=absolute, by=by, shared=True, output_names=outputs)

    def __copy__(self) -> Explanation:
        parts = {name: getattr(self, name) for name in PARTS}
        single = {name: part for name, part in parts.items() if isinstance(part, str)}
        copied = Explanation(**parts | dict.fromkeys(single))
        if "output_names" in single:  # the name of a row cannot be set
            copied.output_names = single["output_names"]
        copied.op_history = copy(self.op_history)
        return copied
