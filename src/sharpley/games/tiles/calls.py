"""How models are called on images: functions of arrays, modules of torch, and networks in ONNX."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sharpley._support.checks import check_choice
from sharpley.games.marginal.calls import find_call
from sharpley.games.marginal.mixing import is_from
from sharpley.games.tiles.masking import mask_arrays
from sharpley.games.tiles.network import PRECISIONS, Network, Transform


def as_network(model: Any, transform: Transform | None = None, precision: str = "auto") -> Network:
    """Return how to call a model: a torch module, an ONNX session or the path of its file, or any function."""
    check_choice("precision", precision, PRECISIONS)
    if is_from("torch.nn", model, "Module"):
        from sharpley.games.tiles.torch_network import torch_network

        return torch_network(model, transform, precision)
    if is_from("onnxruntime", model, "InferenceSession") or isinstance(model, str | Path):
        from sharpley.games.tiles.onnx_network import onnx_network

        return onnx_network(model, transform)
    found = find_call(model)
    call = found.function if transform is None else partial(_after, found.function, transform)
    return Network(call, found.name, mask_arrays, found.output_names)


def _after(function: Callable[[Any], Any], transform: Transform, batch: Any) -> Any:
    return function(transform(batch))
