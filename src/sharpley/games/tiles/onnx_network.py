"""Networks in ONNX files, run by onnxruntime."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley.games.marginal.calls import ONNX_TYPES
from sharpley.games.tiles.masking import mask_arrays
from sharpley.games.tiles.memory import is_out_of_memory
from sharpley.games.tiles.network import Network, Transform
from sharpley.games.tiles.pictures import CHANNELS


def onnx_network(model: Any, transform: Transform | None) -> Network:
    """Return how to call an ONNX session, or the file of one; its input says in which order the channels come."""
    session = _opened(model) if isinstance(model, str | Path) else model
    source = session.get_inputs()[0]
    target = session.get_outputs()[0].name
    shape = list(source.shape)
    if len(shape) != 4:
        raise ValueError(f"the network must have an input of images with 4 axes, but {source.name!r} has shape {shape}")
    first = shape[1] in CHANNELS or shape[3] not in CHANNELS
    kind = ONNX_TYPES.get(source.type, np.float32)
    fixed = shape[0] if isinstance(shape[0], int) else None

    def call(batch: Any) -> Any:
        images: NDArray[Any] = np.ascontiguousarray(batch if transform is None else transform(batch), dtype=kind)
        missing = 0 if fixed is None else fixed - len(images)
        if missing:  # the batch has a fixed size
            images = np.concatenate([images, np.repeat(images[:1], missing, axis=0)])
        return session.run([target], {source.name: images})[0][: len(batch)]

    channels, *size = (shape[1], shape[2], shape[3]) if first else (shape[3], shape[1], shape[2])
    known = (size[0], size[1]) if all(isinstance(side, int) for side in size) else None
    return Network(
        call,
        "the ONNX network",
        partial(mask_arrays, channels_first=first),
        channels=channels if isinstance(channels, int) else None,
        batch=fixed,
        size=known,
    )


def _opened(path: str | Path) -> Any:
    if not Path(path).is_file():
        raise FileNotFoundError(f"no ONNX file {str(path)!r}")
    try:
        from onnxruntime import InferenceSession
    except ImportError as error:
        raise ImportError("ONNX files need onnxruntime: pip install 'sharpley[onnx]'") from error
    try:
        return InferenceSession(str(path))
    except Exception as error:  # of classes of onnxruntime's own, which have no common name
        if is_out_of_memory(error):
            raise
        raise ValueError(f"{str(path)!r} cannot be read as an ONNX file ({error})") from error
