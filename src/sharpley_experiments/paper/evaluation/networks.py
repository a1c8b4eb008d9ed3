"""Networks with one hidden layer, reduced to their weights, and their games.

Along an ordering one column changes at a time, and with it the inputs of the hidden units by a multiple of one row of
the weights. A step therefore costs as many operations as there are hidden units, not that many for each column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.estimators.walks import contributions_along


class HiddenLayer(NamedTuple):
    """A network x ↦ bias + max(0, x · weights + biases) · out_weights, with the scaling of its inputs and outputs."""

    weights: Floats
    """(d, h)."""
    biases: Floats
    """(h,)."""
    out_weights: Floats
    """(h,)."""
    out_bias: float

    def __call__(self, rows: ArrayLike) -> Floats:
        """Prediction of a regression, or log-odds of class 1, for each row."""
        hidden = np.maximum(np.asarray(rows, dtype=np.float64) @ self.weights + self.biases, 0.0)
        return np.asarray(hidden @ self.out_weights + self.out_bias)


def hidden_layer(model: Any) -> HiddenLayer:
    """Reduce a network of scikit-learn to its weights; standardisation of inputs and targets becomes a part of them."""
    shift, scale = 0.0, 1.0
    if hasattr(model, "regressor_"):
        (shift,), (scale,) = model.transformer_.mean_, model.transformer_.scale_
        model = model.regressor_
    means: Any = 0.0
    scales: Any = 1.0
    if hasattr(model, "steps"):
        means, scales = model[0].mean_, model[0].scale_
        model = model[-1]
    (weights, out_weights), (biases, out_bias) = model.coefs_, model.intercepts_
    weights = weights / np.broadcast_to(scales, len(weights))[:, None]
    biases = biases - np.broadcast_to(means, len(weights)) @ weights
    return HiddenLayer(weights, biases, scale * out_weights[:, 0], float(scale * out_bias[0] + shift))


def values_along(network: HiddenLayer, rows: Floats, background: Floats, toggles: Orderings) -> Floats:
    """Values of the coalitions along walks from ∅, each a mean over the background, (rows, walks, steps + 1).

    ``toggles`` (walks, steps) are the players that enter, or leave if they are present.
    """
    from sharpley_experiments.paper.evaluation._hidden_layer import walk_values

    values = np.zeros((len(rows), len(toggles), toggles.shape[1] + 1))
    rows, background = (np.ascontiguousarray(array, dtype=np.float64) for array in (rows, background))
    walk_values(rows, background, network.weights, network.biases, network.out_weights, toggles, values)
    return values / len(background) + network.out_bias


def network_contributions(network: HiddenLayer, rows: Floats, background: Floats, orderings: Orderings) -> Floats:
    """Contributions of players along each ordering, (rows, n, d)."""
    return contributions_along(values_along(network, rows, background, orderings), orderings)


def all_network_values(network: HiddenLayer, rows: Floats, background: Floats) -> Floats:
    """Values of all coalitions in the order of ``TableGames``, along one walk in which each is visited once."""
    d = rows.shape[1]
    numbers = np.arange(2**d)
    gray = numbers ^ (numbers >> 1)  # neighbours differ in one bit
    bits = np.log2(gray[1:] ^ gray[:-1]).round().astype(np.int64)
    table = np.empty((len(rows), 2**d))
    table[:, gray] = values_along(network, rows, background, d - 1 - bits[None])[:, 0]
    return table
