"""The game of explaining a tree ensemble, without a single call of ``predict``.

For a sum of trees and a background set,

    v(S) = Σ_t w_t [A_t ⊆ S and B_t ∩ S = ∅],

where A_t are the features that must come from the explained row for a leaf to be reached and B_t those that
must come from the background. Equal (A, B) are merged over all trees and background rows, and w_t sums leaf
value × share of the background. With a = |A| and b = |B|, the Shapley values are known in closed form:

    φ_i = Σ_{t: i ∈ A} w_t (a−1)! b! / (a+b)! − Σ_{t: i ∈ B} w_t a! (b−1)! / (a+b)!
"""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import Games
from sharpley.games.marginal.background import as_background
from sharpley.games.trees.forest import Forest, as_booster, read_forest
from sharpley.permutations.orderings import ranks_of

CHECKED = 20  # background rows whose predictions are compared with the sums of their leaves
TOLERANCE = 1e-4  # of the largest margin: XGBoost adds up leaves in single precision


class _Terms(NamedTuple):
    """The terms of one explained row; see ``_terms``."""

    features: NDArray[np.int16]
    weights: Floats


@final
class TreeGame(Games):
    """The games of explaining an XGBoost model at rows against a background, evaluated term by term.

    The same games as those of ``MarginalGame`` with the model's margin (log-odds for classes), without calls of
    ``predict``, and with exact Shapley values.

    Parameters
    ----------
    model : xgboost.Booster, XGBRegressor or XGBClassifier
        Boosted trees with one output and numerical splits.
    background : (b, d) float, or Background
    rows : (r, d) float
        Rows to explain. NaN is a missing value.

    Examples
    --------
    ::

        game = TreeGame(XGBRegressor().fit(X, y), X[:100], X[:10])
        game.shapley_values()                       # exact, (10, d)
        game.contributions(orderings).mean(axis=1)  # estimated from orderings, (10, d)
    """

    def __init__(self, model: Any, background: Any, rows: ArrayLike) -> None:
        forest = read_forest(model)
        self.d = forest.n_features
        chosen = as_background(background)
        rows_at, background_at = _single(rows, "rows", model, self.d), _single(chosen.rows, "background", model, self.d)
        shares = chosen.weights_of(len(background_at))
        self.n_rows = len(rows_at)
        self.player_names = as_booster(model).feature_names
        self._varying = (rows_at[:, None] != background_at).any(axis=1)
        self._terms = [_merged_terms(forest, row, background_at, shares) for row in rows_at]
        self._offset = _constant(model, forest, np.concatenate([rows_at, background_at[:CHECKED]]))

    def shapley_values(self) -> Floats:
        """Exact Shapley values of every row, (r, d)."""
        return np.stack([_closed_form(terms, self.d) for terms in self._terms])

    def contributions(self, orderings: ArrayLike) -> Floats:
        """Contributions of all players along the walks of orderings (n, d): (r, n, d)."""
        from sharpley.games.trees._terms import walk_contributions

        ranks = np.ascontiguousarray(ranks_of(orderings))
        if ranks.shape[1] != self.d:
            raise ValueError(f"orderings must have {self.d} players, got {ranks.shape[1]}")
        return np.stack([walk_contributions(terms.features, terms.weights, ranks) for terms in self._terms])

    def varying(self) -> Coalitions:
        """Which features differ from some background row's, (r, d)."""
        return self._varying

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        from sharpley.games.trees._terms import coalition_values

        values = np.empty(len(rows))
        for row in np.unique(rows):
            mine = rows == row
            values[mine] = coalition_values(*self._terms[int(row)], np.ascontiguousarray(coalitions[mine]))
        return np.asarray(self._offset + values)


def _single(table: Any, name: str, model: Any, d: int) -> NDArray[np.float32]:
    """A table as XGBoost compares it: in single precision, with NaN for what is missing."""
    expected, given = as_booster(model).feature_names, getattr(table, "columns", None)
    if expected is not None and given is not None and list(given) != list(expected):
        raise ValueError(f"{name} must have the model's columns in its order, {list(expected)}, got {list(given)}")
    array = np.array(table, dtype=np.float32, order="C")
    if array.ndim != 2 or array.shape[1] != d or len(array) == 0:
        raise ValueError(f"{name} must have shape (n, {d}) with n ≥ 1, got {array.shape}")
    array[array == np.float32(getattr(model, "missing", np.nan))] = np.nan
    return array


def _merged_terms(forest: Forest, row: NDArray[np.float32], background: NDArray[np.float32], shares: Floats) -> _Terms:
    from sharpley.games.trees._terms import collect_terms

    width = max(_depth(tree.left, tree.right) for tree in forest.trees)
    parts = [collect_terms(tuple(tree), row, background, shares, max(1, width)) for tree in forest.trees]
    features, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, which = _group_equal(features)
    return _Terms(features[first], np.asarray(np.bincount(which, weights=weights), dtype=np.float64))


def _depth(left: NDArray[np.int32], right: NDArray[np.int32]) -> int:
    """Splits on the longest path from the root; children have larger numbers than their parents."""
    depth = np.zeros(len(left), dtype=np.int64)
    for node in np.flatnonzero(left >= 0):
        depth[left[node]] = depth[right[node]] = depth[node] + 1
    return int(depth.max())


def _group_equal(rows: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First index of each distinct row, and which of them every row is; by hash values, which are checked."""
    keys = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64)
    hashes = (rows.astype(np.uint64) * keys).sum(axis=1)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][which], rows):  # two different rows with one hash
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _closed_form(terms: _Terms, d: int) -> Floats:
    from sharpley.games.trees._terms import NONE

    width = terms.features.shape[1] // 2
    present = terms.features != NONE
    a, b = present[:, :width].sum(axis=1), present[:, width:].sum(axis=1)
    factorials = np.array([factorial(k) for k in range(2 * width + 1)], dtype=np.float64)
    of_row = terms.weights * factorials[np.maximum(a - 1, 0)] * factorials[b] / factorials[a + b]
    of_background = -terms.weights * factorials[a] * factorials[np.maximum(b - 1, 0)] / factorials[a + b]
    shares = np.where(np.arange(2 * width) < width, of_row[:, None], of_background[:, None])
    return np.asarray(np.bincount(terms.features[present], weights=shares[present], minlength=d), dtype=np.float64)


def _sum_of_leaves(forest: Forest, row: NDArray[np.float32]) -> float:
    total = 0.0
    for tree in forest.trees:
        node = 0
        while tree.left[node] >= 0:
            value = row[tree.feature[node]]
            left = tree.missing_left[node] if np.isnan(value) else value < tree.threshold[node]
            node = int(tree.left[node] if left else tree.right[node])
        total += tree.value[node]
    return total


def _constant(model: Any, forest: Forest, rows: NDArray[np.float32]) -> float:
    """What the model adds to its trees; not the same for all rows means that its trees were misread."""
    import xgboost

    margins = as_booster(model).predict(xgboost.DMatrix(rows), output_margin=True, validate_features=False)
    differences = margins.astype(np.float64) - np.array([_sum_of_leaves(forest, row) for row in rows])
    if np.ptp(differences) > TOLERANCE * max(1.0, np.abs(margins).max()):
        raise ValueError("the model's predictions are not a sum of its trees plus a constant; explain it by Explainer")
    return float(differences.mean())
