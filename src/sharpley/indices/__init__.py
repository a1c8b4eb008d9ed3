"""Indices, such as Shapley values: the quantities that are estimated, by the names that ``index=`` accepts."""

from __future__ import annotations

from sharpley._support.checks import check_choice
from sharpley.indices.base import Index
from sharpley.indices.shapley import ShapleyValues

SHAPLEY = ShapleyValues()

INDICES: dict[str, Index] = {SHAPLEY.name: SHAPLEY}
"""Every index by its ``index=`` name."""


def index_by_name(index: str | Index) -> Index:
    """Return the index with a given name, or the given index; for an unknown name, the error lists the known ones."""
    return index if isinstance(index, Index) else INDICES[check_choice("index", index, INDICES)]


__all__ = ["INDICES", "SHAPLEY", "Index", "ShapleyValues", "index_by_name"]
