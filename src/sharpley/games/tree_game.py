"""The game of explaining a tree ensemble, evaluated without calling ``predict``.

For a sum of trees and a set of background rows,

    v(S) = c + Σ_t w_t [A_t ⊆ S and B_t ∩ S = ∅],

where c is the constant that the model adds to its trees, A_t are the features that must come from the explained row for
a leaf to be reached, and B_t those that must come from the background row. Terms with equal (A, B) are merged over all
trees and background rows; w_t is the sum of leaf value × weight of the background row. With a = |A_t| and b = |B_t|,
the Shapley values have the closed form

    φ_i = Σ_{t: i ∈ A_t} w_t (a−1)! b! / (a+b)! − Σ_{t: i ∈ B_t} w_t a! (b−1)! / (a+b)!
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import Games
from sharpley.games.marginal.background import as_background
from sharpley.games.trees.closed_form import Codes, coded, players_on_paths, sums_of_leaves, tree_values
from sharpley.games.trees.forest import Forest
from sharpley.games.trees.readers import as_booster, read_forest
from sharpley.permutations.orderings import ranks_of

MAX_CHECKED_ROWS = 20  # of the background, whose predictions are compared with the sums of their leaves
MARGIN_TOLERANCE = 1e-4  # times the largest margin: XGBoost sums leaves in single precision
MAX_FEATURES = 2**15 - 1  # exclusive: terms store features as 16-bit integers, of which the largest marks no feature


class _Terms(NamedTuple):
    """The terms of one explained row; see ``_terms``."""

    features: NDArray[np.int16]
    """Features of A_t, then of B_t, (t, 2 · width)."""
    weights: Floats
    """Weight w_t of each term, (t,)."""


@final
class TreeGame(Games):
    """The games of explaining rows of data with an XGBoost model against a background.

    The games are those of ``MarginalGame`` with the model's margin (log-odds for classification). They are evaluated
    without calling ``predict``, and their exact Shapley values are available.

    Parameters
    ----------
    model : xgboost.Booster, XGBRegressor or XGBClassifier
        Boosted trees with one output.
    background : (b, d) float, or Background
        Background rows, optionally with weights.
    rows : (r, d) float
        Rows to explain, at least one. NaN is a missing value.

    Examples
    --------
    >>> from sharpley import Orthogonal
    >>> from xgboost import XGBRegressor
    >>> x = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = XGBRegressor(n_estimators=20).fit(x, x[:, 0] * x[:, 1] + x[:, 2])
    >>> game = TreeGame(model, x[:100], x[:10])
    >>> exact = game.shapley_values()
    >>> exact.shape
    (10, 4)

    The Shapley values are also the mean contributions of the players along random orderings:

    >>> estimate = game.contributions(Orthogonal(4, rng=0).random(600)).mean(axis=1)
    >>> bool(abs(estimate - exact).max() < 0.1)
    True
    """

    def __init__(self, model: Any, background: Any, rows: ArrayLike) -> None:
        self._forest = forest = _read(model)
        self.d = forest.n_features
        chosen = as_background(background)
        rows_at = _single_precision(rows, "rows", model, self.d)
        background_at = _single_precision(chosen.rows, "background", model, self.d)
        self._rows, self._background = coded(forest, rows_at), coded(forest, background_at)
        self._shares = chosen.weights_of(len(background_at))
        self.n_rows = len(rows_at)
        self.player_names = as_booster(model).feature_names
        self._varying = (rows_at[:, None] != background_at).any(axis=1)
        self._offset = _constant(model, forest, np.concatenate([rows_at, background_at[:MAX_CHECKED_ROWS]]))

    @cached_property
    def _terms(self) -> list[_Terms]:
        """The terms of every row, which only walks and single coalitions need."""
        (_, rows), (_, background) = next(self._rows.blocks()), next(self._background.blocks())
        return [_merged_terms(self._forest, np.ascontiguousarray(row), background, self._shares) for row in rows.T]

    def shapley_values(self) -> Floats:
        """Return the exact Shapley values of every row, (r, d)."""
        given = self._background, self._shares, self._rows, np.arange(self.d), self.d
        return np.ascontiguousarray(tree_values(self._forest, *given)[0][:, :, 0])

    def contributions(self, orderings: ArrayLike) -> Floats:
        """Return the marginal contributions of all players along orderings, int (n, d) -> float (r, n, d)."""
        from sharpley.games.trees._terms import walk_contributions

        ranks = np.ascontiguousarray(ranks_of(orderings))
        if ranks.shape[1] != self.d:
            raise ValueError(f"orderings must have {self.d} players, got {ranks.shape[1]}")
        return np.stack([walk_contributions(terms.features, terms.weights, ranks) for terms in self._terms])

    def varying(self) -> Coalitions:
        """Return which features of each row differ from those of some background row, bool (r, d)."""
        return self._varying

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        from sharpley.games.trees._terms import coalition_values

        values = np.empty(len(rows))
        for row in np.unique(rows):
            mine = rows == row
            values[mine] = coalition_values(*self._terms[int(row)], np.ascontiguousarray(coalitions[mine]))
        return np.asarray(self._offset + values)


def _read(model: Any) -> Forest:
    """Return the trees of an XGBoost model with one output."""
    if not hasattr(as_booster(model), "save_raw"):
        raise TypeError(f"model must be an XGBoost Booster, XGBRegressor or XGBClassifier, got {model!r}")
    forest = read_forest(model)
    if forest.n_outputs > 1:
        raise ValueError(
            f"only models with one output can be read, got {forest.n_outputs} outputs; use Explainer instead"
        )
    if forest.n_features >= MAX_FEATURES:
        raise ValueError(
            f"at most {MAX_FEATURES - 1:,} features can be read, got {forest.n_features}; use Explainer instead"
        )
    return forest


def _single_precision(data: Any, name: str, model: Any, d: int) -> Floats:
    """Return data, (n, d), as XGBoost compares them: in single precision, with NaN for missing values."""
    expected, given = as_booster(model).feature_names, getattr(data, "columns", None)
    if expected is not None and given is not None and list(given) != list(expected):
        raise ValueError(f"{name} must have the model's columns in its order, {list(expected)}, got {list(given)}")
    array = np.array(data, dtype=np.float32, order="C").astype(np.float64)
    if array.ndim != 2 or array.shape[1] != d or len(array) == 0:
        raise ValueError(f"{name} must have shape (n, {d}) with n ≥ 1, got {array.shape}")
    array[array == np.float32(getattr(model, "missing", np.nan))] = np.nan
    return array


def _merged_terms(forest: Forest, row: Codes, background: Codes, shares: Floats) -> _Terms:
    """Return the terms of one explained row, merged over all trees and background rows."""
    from sharpley.games.trees._terms import collect_terms

    width = max(1, int(players_on_paths(forest, np.arange(forest.n_features)).max(initial=0)))
    given = np.ascontiguousarray(forest.leaf_values[:, 0]), forest.features, row, background, shares, width
    parts = [collect_terms(tuple(forest.nodes), root, *given) for root in forest.roots]
    features, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, which = _group_equal(features)
    return _Terms(features[first], np.asarray(np.bincount(which, weights=weights), dtype=np.float64))


def _group_equal(rows: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the index of the first of each distinct row, and for every row the number of its distinct row.

    Rows are compared by hash values; a collision is detected and resolved by sorting the rows themselves.
    """
    keys = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64)
    hashes = (rows.astype(np.uint64) * keys).sum(axis=1)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][which], rows):  # a collision: two different rows have the same hash
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _constant(model: Any, forest: Forest, rows: Floats) -> float:
    """Return the constant that the model adds to its trees; if it varies between rows, the trees were misread."""
    import xgboost

    margins = as_booster(model).predict(xgboost.DMatrix(rows), output_margin=True, validate_features=False)
    differences = margins.astype(np.float64) - sums_of_leaves(forest, rows)[:, 0]
    if np.ptp(differences) > MARGIN_TOLERANCE * max(1.0, np.abs(margins).max()):
        raise ValueError(
            "the model's predictions are not a sum of its trees plus a constant: the difference varies by "
            f"{np.ptp(differences):.3g} between rows; use Explainer instead"
        )
    return float(differences.mean())
