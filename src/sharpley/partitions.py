"""Explaining frames one by one: the partitions of a Dask dataframe, or what Spark's ``mapInPandas`` hands out.

The result of a row does not depend on which rows are in its partition.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, final

import numpy as np

from sharpley.games.marginal.background import take_rows
from sharpley.presentation import row_table


@final
class ExplainFrame:
    """A function from frames of rows to frames of results, with one line for each row and output.

    It can be sent to other processes if the model can.

    Parameters
    ----------
    explainer : Explainer
        Explains the rows; its background must be a pandas frame.
    max_evals, max_predictions, tol
        As for ``Explainer.estimate``.

    Attributes
    ----------
    meta : DataFrame
        A result without rows, which has the columns and their types.

    Examples
    --------
    >>> import pandas as pd, sharpley
    >>> from sharpley.partitions import ExplainFrame
    >>> background = pd.DataFrame({"width": [1.0, 2.0], "height": [1.0, 3.0]})
    >>> explainer = sharpley.Explainer(lambda X: X["width"] * X["height"], background, rng=0)
    >>> ExplainFrame(explainer)(background)[["base_value", "value_width", "value_height"]]
       base_value  value_width  value_height
    0         3.5         -1.0          -1.5
    1         3.5          1.0           1.5

    Spark takes the same object: ``frame.mapInPandas(ExplainFrame(explainer).over, schema)``.
    """

    def __init__(
        self,
        explainer: Any,
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
    ) -> None:
        if not hasattr(explainer.background.rows, "iloc"):
            raise TypeError("the background must be a pandas DataFrame, so that partitions have the same columns")
        self._explainer = copy.copy(explainer)
        self._explainer.independent_rows = True
        self._budget = {"max_evals": max_evals, "max_predictions": max_predictions, "tol": tol}
        self.meta = self._explain(take_rows(explainer.background.rows, np.array([0]))).iloc[:0]

    def __call__(self, frame: Any) -> Any:
        """Return the results of a frame of rows, with its index; a row with k outputs has k lines."""
        if len(frame) == 0:
            return self.meta.set_axis(frame.index, axis=0)
        return self._explain(frame[list(self._explainer.background.rows.columns)])

    def over(self, frames: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of each of some frames."""
        return map(self, frames)

    def _explain(self, frame: Any) -> Any:
        found = self._explainer.estimate(frame, progress=False, **self._budget)
        shape = found.labelled().values.shape
        columns = row_table.columns({field.name: getattr(found, field.name) for field in fields(found)}, shape)
        return type(frame)(columns, index=frame.index.repeat(shape[2]))


def map_partitions(explain: ExplainFrame, frame: Any) -> Any:
    """Return a Dask dataframe of the results of another one's partitions, which are explained when it is computed."""
    from dask.delayed import delayed

    # One key of the graph, so that the model is sent once to every worker.
    once = delayed(explain, name=f"explain-{id(explain)}", traverse=False, pure=False)
    return frame.map_partitions(_explain_partition, once, meta=explain.meta)


def _explain_partition(frame: Any, explain: ExplainFrame) -> Any:
    return explain(frame)
