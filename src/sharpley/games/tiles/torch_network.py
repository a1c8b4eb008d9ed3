"""Modules of torch: masked on their own device, in inference mode, and in mixed precision where that is safe."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.tiles.masking import flat_segments, mask_arrays, runs
from sharpley.games.tiles.network import ELEMENTS_ON_GPU, ELEMENTS_ON_PROCESSOR, Masking, Network, Transform
from sharpley.games.tiles.pictures import Pictures

LARGEST_CHANGE = 0.01  # of the range of logits, that mixed precision may cause


def torch_network(module: Any, transform: Transform | None, precision: str) -> Network:
    """Return how to call a torch module on tensors (p, channels, height, width) on its device.

    "mixed" is mixed precision, unless it changes the logits of the first batch by more than ``LARGEST_CHANGE`` of
    their range; "auto" is that on a GPU, and full precision elsewhere.
    """
    weights = next(module.parameters(), None)
    device = "cpu" if weights is None else weights.device
    on_gpu = torch_type(device) == "cuda"
    caller = _Caller(module, transform, wants_mixed=precision == "mixed" or (precision == "auto" and on_gpu))
    elements = ELEMENTS_ON_GPU if on_gpu else ELEMENTS_ON_PROCESSOR
    return Network(caller, type(module).__name__, _masking_of(device), None, _channels_of(module), elements)


class _Caller:
    """Calls a module; the first call decides whether mixed precision is safe."""

    def __init__(self, module: Any, transform: Transform | None, *, wants_mixed: bool) -> None:
        self._module, self._transform, self._undecided = module, transform, wants_mixed
        self._mixed = False

    def __call__(self, batch: Any) -> Any:
        import torch

        was_training = getattr(self._module, "training", False)  # frozen modules do not say
        if was_training:
            self._module.eval()
        try:
            with torch.inference_mode():
                if self._undecided:
                    self._mixed, self._undecided = self._is_safe(batch), False
                return self._scores(batch, mixed=self._mixed)
        finally:
            if was_training:
                self._module.train()

    def _scores(self, batch: Any, *, mixed: bool) -> Any:
        import torch

        images = batch if self._transform is None else self._transform(batch)
        weights = next(self._module.parameters(), None)
        if weights is not None and weights.is_floating_point():
            images = images.to(weights.dtype)
        dtype = torch.float16 if batch.device.type == "cuda" else torch.bfloat16
        with torch.autocast(batch.device.type, dtype=dtype, enabled=mixed):
            scores = self._module(images)
        scores = getattr(scores, "logits", scores)  # of the models of Hugging Face
        return scores.double().cpu().numpy() if hasattr(scores, "double") else scores

    def _is_safe(self, batch: Any) -> bool:
        """Return whether mixed precision hardly changes the scores of a batch."""
        full, mixed = (self._scores(batch, mixed=mixed) for mixed in (False, True))
        is_finite = bool(np.isfinite(mixed).all())
        return is_finite and float(np.abs(full - mixed).max()) <= LARGEST_CHANGE * float(np.ptp(full))


def _channels_of(module: Any) -> int | None:
    """Return the number of channels of the first convolution; None if there is none."""
    first = next((each for each in module.modules() if hasattr(each, "kernel_size") and hasattr(each, "groups")), None)
    return None if first is None else int(getattr(first, "in_channels", 0)) or None


def _masking_of(device: Any) -> Callable[[Pictures], Masking]:
    """Return what makes the masking for a device; in main memory, numpy is twice as fast as torch."""
    return _in_memory if torch_type(device) == "cpu" else partial(mask_on, device)


def torch_type(device: Any) -> str:
    """Return the type of a device, such as "cuda"."""
    return str(getattr(device, "type", device))


def _in_memory(pictures: Pictures) -> Masking:
    mask = mask_arrays(pictures)

    def masked(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Any:
        import torch

        # Channels come last in memory, as the convolutions of torch prefer.
        return torch.from_numpy(mask(rows, coalitions, draws)).permute(0, 3, 1, 2)

    return masked


def mask_on(device: Any, pictures: Pictures) -> Masking:
    """Copy the images to a device once; afterwards, only coalitions are sent there."""
    import torch

    players = torch.as_tensor(flat_segments(pictures), device=device)
    images = torch.as_tensor(pictures.images.reshape(len(pictures.images), -1), device=device)
    shown = np.ascontiguousarray(pictures.absent).reshape(*pictures.absent.shape[:2], -1)
    absent = torch.as_tensor(shown, device=device)

    def mask(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Any:
        parts = []
        for part, row in runs(rows):
            kept = torch.as_tensor(coalitions[part], device=device)[:, players[row % len(players)]]
            of_row = absent[row % len(absent)]
            other = of_row[0] if len(of_row) == 1 else of_row[torch.as_tensor(draws[part], device=device)]
            parts.append(torch.where(kept, images[row], other))
        return torch.cat(parts).reshape(len(rows), *pictures.shape).permute(0, 3, 1, 2)

    return mask
