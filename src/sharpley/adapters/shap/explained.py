"""shap's Explanation, of which parts and sums can be made where a single row or output has a name."""

from __future__ import annotations

from copy import copy
from inspect import signature
from typing import Any, final

import numpy as np
import shap

PARTS = tuple(signature(shap.Explanation.__init__).parameters)[1:]


@final
class Explanation(shap.Explanation):  # type: ignore[misc]
    """A ``shap.Explanation`` that also has ``n_predictions``, for each row; None for parts of an explanation.

    shap 0.51 cannot copy the explanation of a single row that has a name, or of a single named output if there is one
    axis left, and copies for every operation: ``explanation[0].abs`` and ``explanation.sum(1).argsort``, the order of
    rows for a heat map, were errors.
    """

    n_predictions: Any = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the values: numpy and scipy, and with them ``shap.plots.monitoring``, would make objects of the rows."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def __copy__(self) -> Explanation:
        parts = {name: getattr(self, name) for name in PARTS}
        single = {name: part for name, part in parts.items() if isinstance(part, str)}
        copied = Explanation(**parts | dict.fromkeys(single))
        if "output_names" in single:  # the name of a row cannot be set
            copied.output_names = single["output_names"]
        copied.op_history = copy(self.op_history)
        return copied
