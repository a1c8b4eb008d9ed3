"""Explain what an image classifier sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sharpley._support.typing import RNG, ArrayLike
from sharpley.engine.methods import Method, as_method
from sharpley.engine.options import Draws, Limits, check_options, documented
from sharpley.estimation import estimate
from sharpley.games.marginal.outputs import Output
from sharpley.games.tiles.baselines import Baseline
from sharpley.games.tiles.game import TileGame
from sharpley.games.tiles.network import Transform
from sharpley.games.tiles.outputs import PREDICTED, Returns, Scale, short_name
from sharpley.games.tiles.segments import Segmenter, Tile
from sharpley.image_result import ImageEstimate

if TYPE_CHECKING:
    import shap


class ImageExplainer:
    """Explain the scores that a network gives to images, by Shapley values of tiles or superpixels, with error bars.

    Parameters
    ----------
    model : callable, torch module, ONNX session or path of an ONNX file
        Maps a batch of images to scores, (n, k) for k classes. A function is called on float32 arrays (n, height,
        width, channels); a torch module on tensors (n, channels, height, width) on its device, in inference mode; an
        ONNX network in the order of channels that its input has.
    tile : int or (int, int), default 14
        Side of the tiles in pixels, or their height and width: 14 makes 256 players of 224 × 224 pixels.
    segments : (height, width) or (n, height, width) int, or callable, optional
        Players instead of tiles: the number of each pixel's segment, or a function that returns it for an image, such
        as ``sharpley.games.superpixels(100)``.
    baseline : {"black", "blur", "mean"}, image, background images, or callable, default "black"
        What is seen in place of absent tiles. Several background images are draws: what is explained is the mean over
        them.
    pad : bool, default False
        Whether the last tiles may reach beyond the image. Otherwise, tiles must divide it.
    output : int, str, list of these, or "predicted", default "predicted"
        The class to explain, by position or name; by default, for each image the one with the largest score.
    scale : {"log-odds", "logits", "probabilities"}, default "log-odds"
        Scale of the scores. Log-odds are those of the softmax.
    returns : {"logits", "probabilities"}, optional
        What the model returns. By default probabilities, if its scores of the images are positive and add up to 1.
    class_names : sequence of str, optional
        Names of all classes.
    transform : callable, optional
        What batches pass through before the model, such as a normalisation; on tensors for a torch module.
    value_range : (float, float), optional
        Smallest and largest value of images that do not have values from 0 to 1.
    method : str or factory, default "auto"
        A name in ``sharpley.METHODS``, or a class of samplers or estimators; see ``sharpley.estimate``.
    draws : {"auto", "shared", "own"}, default "auto"
        With background images, whether every coalition is evaluated for all of them ("shared"), or each ordering has a
        background image of its own ("own").
    rng : int, Generator, SeedSequence or None
        Source of randomness. With an int, every call makes the same random choices.
    unbiased : bool, default False
        Whether to use only methods whose mean over all random choices is the Shapley value; see ``estimate``.
    batch_size : int, optional
        Maximum number of images in one call of the model. If these do not fit into memory, it is halved, with a
        ``BatchHalvedWarning``. Results do not depend on it, apart from rounding in the network.
    precision : {"auto", "full", "mixed"}, default "auto"
        Of a torch module. "mixed" is used only if it hardly changes the first scores; "auto" means mixed on a GPU.

    Examples
    --------
    >>> import numpy as np
    >>> bright_and_dark = lambda images: np.stack([images.sum(axis=(1, 2, 3)), 1 - images.sum(axis=(1, 2, 3))], axis=1)
    >>> explainer = ImageExplainer(bright_and_dark, tile=2, class_names=["bright", "dark"], scale="logits")
    >>> found = explainer.estimate(np.ones((4, 4)))
    >>> found.explained, found.values
    (['bright'], array([[4., 4., 4., 4.]]))
    """

    def __init__(
        self,
        model: Any,
        *,
        tile: Tile = 14,
        segments: ArrayLike | Segmenter | None = None,
        baseline: Baseline = "black",
        pad: bool = False,
        output: Output = PREDICTED,
        scale: Scale = "log-odds",
        returns: Returns | None = None,
        class_names: Sequence[str] | None = None,
        transform: Transform | None = None,
        value_range: tuple[float, float] | None = None,
        method: Method = "auto",
        draws: Draws = "auto",
        rng: RNG = None,
        unbiased: bool = False,
        batch_size: int | None = None,
        precision: str = "auto",
    ) -> None:
        as_method(method)  # an error now, if there is no such method
        self.model = model
        self.method, self.draws, self.rng, self.unbiased = method, draws, rng, unbiased
        self._options: dict[str, Any] = {
            "tile": tile,
            "segments": segments,
            "baseline": baseline,
            "pad": pad,
            "output": output,
            "scale": scale,
            "returns": returns,
            "class_names": class_names,
            "transform": transform,
            "value_range": value_range,
            "batch_size": batch_size,
            "precision": precision,
        }

    @documented(Limits)
    def __call__(self, images: Any, **limits: Unpack[Limits]) -> shap.Explanation:
        """Explain images, and return a ``shap.Explanation`` that ``shap.plots.image`` accepts.

        Parameters
        ----------
        images : (n, height, width, channels) array, or one image
            Images with channels last, of values from 0 to 1, or from 0 to 255 as uint8.
        {options}

        Returns
        -------
        shap.Explanation
            ``values`` (n, height, width, channels, classes): the value of each player is shared evenly among its
            pixels, so that they add up. ``error_std`` has standard errors, shared in the same way.
        """
        from sharpley.adapters.shap.images import to_image_explanation

        return to_image_explanation(self.estimate(images, **limits))

    @documented(Limits)
    def estimate(self, images: Any, **limits: Unpack[Limits]) -> ImageEstimate:
        """Explain images, and return values of the players with their standard errors.

        Parameters
        ----------
        images : (n, height, width, channels) array, or one image
            Images with channels last, of values from 0 to 1, or from 0 to 255 as uint8.
        {options}

        Returns
        -------
        ImageEstimate
            With an axis of images, even for a single one.
        """
        check_options(limits, Limits, "ImageExplainer.estimate")
        start = perf_counter()
        games = self.games(images)
        found = estimate(games, method=self.method, draws=self.draws, rng=self.rng, unbiased=self.unbiased, **limits)
        several = games.classes.shape[1] > 1
        names = [_label(games, at) for at in games.classes[0]] if several else None
        explained = [", ".join(_label(games, at) for at in row) for row in games.classes]
        labels = [f"{number}: {label}" for number, label in enumerate(explained)]
        seconds = perf_counter() - start
        return ImageEstimate(
            replace(found, row_labels=labels, output_names=names, compute_time=seconds),
            games.pictures.images,
            np.broadcast_to(games.pictures.segments, games.pictures.images.shape[:3]),
            [_label(games, at) for at in games.predicted],
            explained,
        )

    def games(self, images: Any) -> TileGame:
        """Return the games of images, for ``sharpley.estimate``; the network is called once on the images."""
        return TileGame(self.model, images, **self._options)

    def __repr__(self) -> str:
        players = f"tile={self._options['tile']}" if self._options["segments"] is None else "segments"
        return f"ImageExplainer({type(self.model).__name__}, {players}, method={as_method(self.method).name!r})"


def _label(games: TileGame, position: int) -> str:
    return f"class {position}" if games.class_names is None else short_name(games.class_names[position])
