"""Explanations of images for shap's plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley.image_result import ImageEstimate

if TYPE_CHECKING:
    import shap


def to_image_explanation(found: ImageEstimate) -> shap.Explanation:
    """Convert the explanation of images to a ``shap.Explanation``, which ``shap.plots.image`` accepts.

    Returns
    -------
    shap.Explanation
        ``values`` (n, height, width, channels, m) for m classes, ``data`` the images, ``output_names`` (n, m) the
        explained classes. Each player's value is shared evenly among its pixels and channels.
    """
    import shap

    estimate = found.estimate
    several = estimate.values.ndim == 3
    lower, upper = estimate.interval()

    def shared(values: np.ndarray) -> np.ndarray:
        maps = found.shared_among_pixels(values)
        return maps if several else maps[..., None]

    names = [estimate.output_names] * len(found) if several else [[label] for label in found.explained]
    explanation = shap.Explanation(
        values=shared(estimate.values),
        base_values=np.asarray(estimate.base_values).reshape(len(found), -1),
        data=found.images,
        output_names=np.array(names),
        error_std=shared(estimate.standard_errors),
        lower_bounds=shared(lower),
        upper_bounds=shared(upper),
        compute_time=estimate.compute_time,
    )
    explanation.n_predictions = estimate.n_predictions
    return explanation
