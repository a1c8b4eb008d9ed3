"""The results of an estimation, and loading them from files."""

from __future__ import annotations

from pathlib import Path

from sharpley.result.base import Estimate
from sharpley.result.interactions import InteractionEstimate
from sharpley.result.values import ShapleyEstimate


def load(path: str | Path) -> ShapleyEstimate | InteractionEstimate:
    """Load an estimate that its method ``save`` or ``sharpley explain`` wrote.

    Parameters
    ----------
    path : str or Path
        A Parquet file, or the folder that ``sharpley explain`` wrote to. The ids of rows become their labels.

    Returns
    -------
    ShapleyEstimate or InteractionEstimate
    """
    from sharpley.presentation import parquet, row_table

    folder = Path(path)
    fields = row_table.read(folder) if folder.is_dir() else parquet.read(path)
    return InteractionEstimate(**fields) if "labels" in fields else ShapleyEstimate(**fields)


__all__ = ["Estimate", "InteractionEstimate", "ShapleyEstimate", "load"]
