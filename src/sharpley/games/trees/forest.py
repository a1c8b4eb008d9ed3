"""Trees as plain arrays, and rows as codes on which every split of a forest is a question about an interval.

Libraries compare values in single or double precision, with < or ≤, send missing values left or right, and split
categories by sets. All of this is settled once for a table, when it is coded: the code of a value is 0 if it is missing
and otherwise 1 + the number of thresholds of its column that are not above it. A split on a threshold then asks
whether the code lies in an interval. A split on categories has a column of its own, with codes 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats

LEAF = -1
MAX_SHORT_CODE = 2**16 - 1


class Tree(NamedTuple):
    """One tree. All arrays have one entry for each node, (n_nodes,); node 0 is the root."""

    left: NDArray[np.int32]
    """Left child, for rows whose value is below the threshold or in the set of categories; ``LEAF`` in leaves."""
    right: NDArray[np.int32]
    """Right child, for the other rows; ``LEAF`` in leaves."""
    feature: NDArray[np.int32]
    """Feature on which the node splits."""
    threshold: Floats
    """Threshold of the split."""
    missing_left: NDArray[np.bool_]
    """Whether rows whose value is missing go to the left child."""
    value: Floats
    """Values that a leaf adds to the outputs, (n_nodes,) or (n_nodes, k); meaningless in other nodes."""
    categories: dict[int, NDArray[np.int64]] = {}  # noqa: RUF012 (never changed)
    """For the nodes that split categories, the numbers of those that go to the left."""
    output: int = -1
    """The output that the leaves add to; −1 if they have a value for each output."""


class Nodes(NamedTuple):
    """All nodes of a forest, (n_nodes,) int32; children are numbered within the forest."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    column: NDArray[np.int32]
    """Column of codes on which the node splits."""
    low: NDArray[np.int32]
    """Rows go left whose code minus ``low``, as an unsigned number, is at most ``span``."""
    span: NDArray[np.int32]


class _Column(NamedTuple):
    """How a column of codes is made from a feature."""

    feature: int
    thresholds: Floats
    """Distinct thresholds in increasing order."""
    categories: NDArray[np.int64] | None
    """The categories with code 1, instead of thresholds."""
    missing_is_one: bool


@dataclass(frozen=True)
class Forest:
    """An ensemble of trees whose leaf values are summed.

    Parameters
    ----------
    trees : list of Tree
    n_features : int
        Number of features of the model.
    constant : (k,) float
        What is added to the sums of leaves.
    is_single : bool
        Whether the model compares values in single precision.
    """

    trees: list[Tree]
    n_features: int
    constant: Floats = field(default_factory=lambda: np.zeros(1))
    is_single: bool = False

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.constant)

    def select(self, outputs: NDArray[np.int64]) -> Forest:
        """Return the forest of some of the outputs."""
        trees = []
        for tree in self.trees:
            if tree.output < 0:
                trees.append(tree._replace(value=tree.value.reshape(len(tree.left), -1)[:, outputs]))
            trees += [tree._replace(output=int(place)) for place in np.flatnonzero(outputs == tree.output)]
        return Forest(trees, self.n_features, self.constant[outputs], self.is_single)

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """The first node of each tree."""
        sizes = [len(tree.left) for tree in self.trees]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.empty(0, np.int64)

    @cached_property
    def leaf_values(self) -> Floats:
        """Values of all nodes, (n_nodes, k); only those of leaves have a meaning."""
        values = np.zeros((sum(len(tree.left) for tree in self.trees), self.n_outputs))
        for root, tree in zip(self.roots, self.trees, strict=True):
            mine = values[root : root + len(tree.left)]
            mine[:, slice(None) if tree.output < 0 else [tree.output]] = tree.value.reshape(len(mine), -1)
        return values

    @cached_property
    def _coding(self) -> tuple[Nodes, list[_Column]]:
        """The nodes and the columns that they ask for: one for each feature, and one for each split of categories."""
        left, right, feature, threshold, missing_left = (self._joined(position) for position in range(5))
        start = np.repeat(self.roots, np.diff([*self.roots, len(left)]))
        left, right = (np.where(child >= 0, child + start, LEAF).astype(np.int32) for child in (left, right))
        column, high = feature.astype(np.int32), np.zeros(len(left), np.int32)
        low = np.where(missing_left, 0, 1).astype(np.int32)
        sets = {
            int(root) + node: np.unique(kinds)
            for root, tree in zip(self.roots, self.trees, strict=True)
            for node, kinds in tree.categories.items()
        }
        by_threshold = left >= 0
        by_threshold[list(sets)] = False
        columns = []
        for j in range(self.n_features):
            mine = np.flatnonzero(by_threshold & (feature == j))
            thresholds, which = np.unique(threshold[mine], return_inverse=True)
            columns.append(_Column(j, thresholds, None, False))
            high[mine] = which + 1
        known: dict[tuple[int, bool, bytes], int] = {}
        for node, kinds in sets.items():
            key = (int(feature[node]), bool(missing_left[node]), kinds.tobytes())
            if key not in known:
                known[key] = len(columns)
                columns.append(_Column(key[0], np.empty(0), kinds, key[1]))
            column[node], low[node], high[node] = known[key], 1, 1
        column[left < 0] = 0
        return Nodes(left, right, column, low, high - low), columns

    def _joined(self, position: int) -> NDArray[Any]:
        """Return an array of all trees, one after the other."""
        return np.concatenate([tree[position] for tree in self.trees] or [np.empty(0, np.int32)])

    @property
    def nodes(self) -> Nodes:
        """All nodes."""
        return self._coding[0]

    @property
    def features(self) -> NDArray[np.int64]:
        """The feature of each column of codes."""
        return np.array([column.feature for column in self._coding[1]], dtype=np.int64)

    def codes(self, table: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
        """Return the codes of a table (n, n_features) of numbers, (columns, n)."""
        columns = self._coding[1]
        most = max((len(column.thresholds) for column in columns), default=0) + 1
        codes = np.empty((len(columns), len(table)), np.uint16 if most <= MAX_SHORT_CODE else np.uint32)
        for code, column in zip(codes, columns, strict=True):
            values = np.ascontiguousarray(table[:, column.feature], np.float32 if self.is_single else np.float64)
            code[:] = _code(values.astype(np.float64, copy=False), column)
        return codes


def _code(values: Floats, column: _Column) -> NDArray[np.int64]:
    missing = np.isnan(values)
    if column.categories is None:
        # NaN is above all numbers in the order of searchsorted.
        return np.where(missing, 0, 1 + np.searchsorted(column.thresholds, values, side="right"))
    return np.where(missing, column.missing_is_one, np.isin(values, column.categories)).astype(np.int64)
