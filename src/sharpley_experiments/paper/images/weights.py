"""Weight files of networks: torchvision's, and compressed ones whose weights are entries of codebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDERS = ("", "cnn")
"""Where weight files are, within a folder of data."""
UNTRACKED = ("num_batches_tracked",)
FOLDED = {"running_mean": 0.0, "running_var": 1.0}
"""What a file that lacks the statistics of normalisations has folded into their scales and offsets."""


def find_weights(name: str, folder: Path) -> Path | None:
    """Return the file of a network in a folder: NAME….onnx, .pth, .pt or .npz; None if there is none."""
    for place in FOLDERS:
        for suffix in (".onnx", ".pth", ".pt", ".npz"):
            found = sorted((folder / place).glob(f"{name}*{suffix}"))
            if found:
                return found[0]
    return None


def fill(module: Any, path: Path) -> Any:
    """Load a weight file into a network, in evaluation mode; weights of another architecture are an error."""
    import torch

    stored = _read(path)
    wanted = module.state_dict()
    filled = {key: _value(key, stored) for key in wanted if not key.endswith(UNTRACKED)}
    lacking = [key for key, value in filled.items() if value is None]
    used = {key for key in stored if key in filled or key.removesuffix(".codes").removesuffix(".codebook") != key}
    surplus = [key for key in stored if key not in used and not key.endswith(UNTRACKED)]
    unlike = [
        f"{key} has {value.size} weights instead of {wanted[key].numel()}"
        for key, value in filled.items()
        if value is not None and value.size != wanted[key].numel()
    ]
    problems = [*(f"it lacks {key}" for key in lacking), *(f"it has {key}" for key in surplus), *unlike]
    if problems:
        raise ValueError(
            f"{path} holds the weights of another architecture than {type(module).__name__}: {problems[0]}"
            + (f", and {len(problems) - 1} more differences" if len(problems) > 1 else "")
        )
    tensors = {
        key: torch.from_numpy(np.array(value, dtype=np.float32)).reshape(wanted[key].shape)
        for key, value in filled.items()
    }
    module.load_state_dict({**wanted, **tensors})
    return module.eval()


def _read(path: Path) -> dict[str, NDArray[Any]]:
    try:
        if path.suffix == ".npz":
            with np.load(path) as arrays:
                return {key: arrays[key] for key in arrays.files}
        import torch

        stored = torch.load(path, map_location="cpu", weights_only=True)  # a file of weights cannot run code
        return {key: value.numpy() for key, value in stored.items()}
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged file fails in a dozen ways
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read as a file of weights ({reason})") from error


def _value(key: str, stored: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
    """Return the weights of a layer: stored as they are, as codes of a codebook, or folded into others."""
    if key in stored:
        return stored[key]
    layer, _, kind = key.rpartition(".")
    if kind == "weight" and f"{layer}.codes" in stored and f"{layer}.codebook" in stored:
        codes = stored[f"{layer}.codes"].astype(np.int64).reshape(-1)
        return stored[f"{layer}.codebook"].astype(np.float32)[codes].reshape(-1)
    has_scale = f"{layer}.weight" in stored and f"{layer}.bias" in stored
    if kind in FOLDED and has_scale:
        return np.full(stored[f"{layer}.weight"].shape, FOLDED[kind], dtype=np.float32)
    return None
