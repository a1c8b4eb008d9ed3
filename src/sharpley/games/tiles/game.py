"""Explaining images: each tile, or superpixel, is a player, and absent ones are black, blurred or of other images.

v(S) is the score of a class for the image whose tiles outside S are replaced. With background images, which tiles are
replaced by, v(S) is the mean over them, and each of them is a draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count
from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import Games
from sharpley.games.marginal.model import CallTime, note_rows
from sharpley.games.marginal.outputs import Output
from sharpley.games.tiles.baselines import Baseline, make_absent
from sharpley.games.tiles.calls import as_network
from sharpley.games.tiles.masking import flat_segments
from sharpley.games.tiles.memory import Batches
from sharpley.games.tiles.network import Transform, check_fits
from sharpley.games.tiles.outputs import (
    PREDICTED,
    RETURNS,
    SCALES,
    Returns,
    Scale,
    check_kind,
    class_positions,
    kind_of,
    on_scale,
)
from sharpley.games.tiles.pictures import Pictures, as_pixels
from sharpley.games.tiles.segments import Segmenter, Tile, make_segments, player_names
from sharpley.games.values import as_numbers


@final
class TileGame(Games):
    """The games of explaining a network's scores of images, whose players are tiles or superpixels.

    Parameters
    ----------
    model : callable, torch module, ONNX session or path of an ONNX file
        Maps a batch of images to scores, (n, k) for k classes. A function is called on float32 arrays (n, height,
        width, channels); a torch module on tensors (n, channels, height, width) on its device, in inference mode; an
        ONNX network in the order of channels that its input has.
    images : (n, height, width, channels) array, or one image
        Images with channels last, of values from 0 to 1, or from 0 to 255 as uint8, which are divided by 255. Grey
        images need no axis of channels.
    tile : int or (int, int), default 14
        Side of the tiles in pixels, or their height and width.
    segments : (height, width) or (n, height, width) int, or callable, optional
        Players instead of tiles: the number of each pixel's segment, or a function that returns it for an image, such
        as ``games.superpixels(100)``.
    baseline : {"black", "blur", "mean"}, image, background images, or callable, default "black"
        What is seen in place of absent tiles. Several background images are draws: v(S) is the mean over them.
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
    batch_size : int, optional
        Maximum number of images in one call of the model. If these do not fit into memory, it is halved.
    precision : {"auto", "full", "mixed"}, default "auto"
        Of a torch module. "mixed" is used only if it hardly changes the first scores; "auto" means mixed on a GPU.

    Attributes
    ----------
    pictures : Pictures
        The images, the player of each pixel and what is seen in place of absent players.
    classes : (n, m) int
        The classes that are explained for each image.
    predicted : (n,) int
        The class with the largest score for each image.
    model_time : CallTime
        How often the model was called in this process, and how long it took.

    Examples
    --------
    >>> brightness = lambda images: images.mean(axis=(1, 2))
    >>> game = TileGame(brightness, np.full((4, 4, 1), 0.5), tile=2)
    >>> game([[True, True, False, False]])
    array([0.25])
    """

    def __init__(
        self,
        model: Any,
        images: Any,
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
        batch_size: int | None = None,
        precision: str = "auto",
    ) -> None:
        check_choice("scale", scale, SCALES)
        if returns is not None:
            check_choice("returns", returns, RETURNS)
        pixels = as_pixels(images, value_range)
        absent = make_absent(pixels, baseline, value_range)
        self.pictures = Pictures(pixels, make_segments(pixels, tile, segments, pad=pad), absent)
        self._network = as_network(model, transform, precision)
        check_fits(self._network, self.pictures)
        self._mask = self._network.masking(self.pictures)
        self.model_time = CallTime()
        self.d = int(self.pictures.segments.max()) + 1
        self.n_rows, self.n_draws = len(pixels), absent.shape[1]
        self.player_names = player_names(self.pictures.segments, tile if segments is None else None)
        default = self._network.batch_size(self.pictures)
        self.draws_per_call = default if batch_size is None else check_count("batch_size", batch_size, minimum=1)
        self._batches = Batches(min(self.draws_per_call, self._network.batch or self.draws_per_call))
        self._n_scores: int | None = None  # of every image: as many as of the first
        self._of_images = self._raw(np.arange(self.n_rows), np.ones((self.n_rows, self.d), dtype=bool), None)
        self._scale = scale
        self._returns = kind_of(self._of_images) if returns is None else check_kind(self._of_images, returns)
        self.class_names = _checked_names(class_names or self._network.class_names, self._of_images.shape[1])
        self.classes = class_positions(output, self._of_images, self.class_names)
        self.predicted = self._of_images.argmax(axis=1)

    def varying(self) -> Coalitions:
        """Return which players can matter in which images, (n, d): those that differ from what replaces them."""
        seen = np.zeros((self.n_rows, self.d), dtype=bool)
        rows = np.arange(self.n_rows)
        for draw in range(self.n_draws):
            seen |= self.differing(rows, np.full(self.n_rows, draw))
        return seen

    def differing(self, rows: NDArray[np.int64], draws: NDArray[np.int64]) -> Coalitions:
        """Return which players differ from single background images, (p,) and (p,) -> (p, d)."""
        players, (images, _, absent) = flat_segments(self.pictures), self.pictures
        found = np.zeros((len(rows), self.d), dtype=bool)
        for at, (row, draw) in enumerate(zip(rows.tolist(), draws.tolist(), strict=True)):
            differs = (images[row] != absent[row % len(absent), draw]).reshape(-1)
            found[at, players[row % len(players)][differs]] = True
        return found

    def endpoints(self) -> Floats:
        """Return the values of ∅ and N for every image, (n, 2, m); those of N are known."""
        rows = np.arange(self.n_rows)
        empty = self._in_calls(rows, np.zeros((self.n_rows, self.d), dtype=bool))
        return np.stack([empty, self._scores(self._of_images, rows)], axis=1)

    @property
    def endpoint_draws(self) -> int:
        """Number of evaluations that the values of ∅ and N of one image cost."""
        return self.n_draws + 1

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        return self._scores(self._raw(rows, coalitions, draws), rows)

    def _scores(self, raw: Floats, rows: NDArray[np.int64]) -> Floats:
        return on_scale(raw, self.classes[rows], self._returns, self._scale)

    def _raw(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None) -> Floats:
        """Return all scores of masked images, (p, k), in batches that fit into memory."""
        first = np.zeros(len(rows), dtype=np.int64) if draws is None else draws

        def call(part: slice) -> Floats:
            batch = self._mask(rows[part], coalitions[part], first[part])
            n, name = part.stop - part.start, self._network.name
            with note_rows(name, n, lambda: f"images of shape {self.pictures.shape}"), self.model_time.measure():
                raw = self._network.call(batch)
            scores = as_numbers(_array(raw), n, name, "images")
            self._n_scores = self._n_scores or scores.shape[1]
            if scores.shape[1] != self._n_scores:
                counts = f"{self._n_scores} first and then {scores.shape[1]}"
                raise ValueError(f"{name} must return as many scores for every image, got {counts}")
            return scores

        return self._batches(len(rows), call)


def _array(raw: Any) -> Any:
    """Return what a function returned as an array, if it is a tensor of torch."""
    return raw.detach().cpu().numpy() if hasattr(raw, "detach") else raw


def _checked_names(names: Sequence[str] | None, k: int) -> list[str] | None:
    if names is not None and len(names) != k:
        raise ValueError(f"class_names must have one name for each of the {k} scores of the model, got {len(names)}")
    return None if names is None else [str(name) for name in names]
