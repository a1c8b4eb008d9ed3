"""A small network for handwritten digits, trained in about a second: for demonstrations and tests, without torch.

Its convolution has the 3 × 3 patches as filters that k-means finds in the training images (Coates, Lee and Ng 2011);
rectified and pooled, they are the features of a softmax regression.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import ArrayLike, Floats
from sharpley.games.tiles.pictures import Pixels

FILTERS, PATCH, POOL = 48, 3, 3
TRAINED_ON = 1400  # of 1,797 images; the others were not seen in training
PATCHES = 10_000


class Digits(NamedTuple):
    """The network, and images of 8 × 8 pixels that it was not trained on."""

    network: DigitsNetwork
    images: Pixels
    """(397, 8, 8, 1), values from 0 to 1."""
    labels: list[str]
    """The digits that were written."""


class DigitsNetwork:
    """A convolution of 48 filters, rectified, pooled, and a softmax regression; called on images (n, 8, 8, 1).

    Attributes
    ----------
    classes : list of str
        Names of the scores that it returns, which are logits.
    """

    classes = tuple("0123456789")

    def __init__(self, filters: Floats, weights: Floats, intercepts: Floats) -> None:
        self._filters, self._weights, self._intercepts = filters, weights, intercepts

    def __call__(self, images: ArrayLike) -> Floats:
        """Return the logits of images, (n, 8, 8, 1) -> (n, 10)."""
        return features(np.asarray(images)[..., 0], self._filters) @ self._weights.T + self._intercepts


def features(images: Floats, filters: Floats) -> Floats:
    """Return the pooled features of grey images: (n, 8, 8) and (f, 9) -> (n, 9 f)."""
    patches = _patches(images)
    active = np.maximum(patches @ filters.T, 0.0)  # (n, 8, 8, f)
    bounds = np.linspace(0, images.shape[1], POOL + 1).astype(int)[:-1]
    pooled = np.add.reduceat(np.add.reduceat(active, bounds, axis=1), bounds, axis=2)
    return pooled.reshape(len(images), -1)


def _patches(images: Floats) -> Floats:
    """Return the 3 × 3 patch around every pixel, (n, 8, 8) -> (n, 8, 8, 9); beyond the border it is black."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (PATCH, PATCH), axis=(1, 2))
    return windows.reshape(*images.shape, PATCH * PATCH)


@lru_cache(maxsize=1)
def load_digits_network() -> Digits:
    """Train the network on scikit-learn's digits, once in a process; the same network every time."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    data = load_digits()
    images = (data.images / 16.0).astype(np.float32)
    shuffled = np.random.default_rng(0).permutation(len(images))
    seen, unseen = shuffled[:TRAINED_ON], shuffled[TRAINED_ON:]
    patches = _patches(images[seen]).reshape(-1, PATCH * PATCH)
    sample = patches[np.random.default_rng(0).choice(len(patches), PATCHES, replace=False)]
    centred = sample - sample.mean(axis=1, keepdims=True)
    found = KMeans(FILTERS, n_init=1, random_state=0).fit(centred).cluster_centers_
    filters = found / np.linalg.norm(found, axis=1, keepdims=True)
    regression = LogisticRegression(C=0.3, max_iter=2000).fit(features(images[seen], filters), data.target[seen])
    network = DigitsNetwork(filters, regression.coef_, regression.intercept_)
    return Digits(network, images[unseen][..., None], [str(label) for label in data.target[unseen]])
