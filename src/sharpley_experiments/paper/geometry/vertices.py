"""Orderings as labels in tables and as points in space."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sharpley._support.typing import Floats, Orderings
from sharpley.permutations.orderings import as_orderings
from sharpley.permutations.sphere import hyperplane_basis, permutohedron


def labels_of(orderings: Orderings) -> list[str]:
    """Orderings as text, such as "2-0-1", which unlike "201" is still text when a table is read from CSV.

    Examples
    --------
    >>> labels_of(np.array([[2, 0, 1]]))
    ['2-0-1']
    """
    return ["-".join(map(str, row)) for row in orderings.tolist()]


def orderings_of(labels: Iterable[str]) -> Orderings:
    """Orderings with these labels, the inverse of ``labels_of``."""
    return as_orderings([[int(player) for player in label.split("-")] for label in labels])


def short(label: str) -> str:
    """Shorten a label for a figure: "2-0-1" becomes "201"."""
    return label.replace("-", "")


def vertices_of(orderings: Orderings) -> Floats:
    """Vertices of the permutohedron in coordinates of their hyperplane, as unit vectors: (n, d) -> (n, d−1)."""
    return np.asarray(permutohedron(orderings) @ hyperplane_basis(orderings.shape[1]).T)
