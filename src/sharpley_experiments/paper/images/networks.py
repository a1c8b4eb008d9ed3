"""The networks that are explained: ImageNet classifiers from files or from the network, and the embedded one of digits.

A weight file is looked for in the folder of data, then in the cache folder, then downloaded: those of torchvision from
download.pytorch.org, whose file names contain the first digits of their SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from sharpley._support import cache as _cache
from sharpley._support.checks import check_choice
from sharpley.games.tiles.digits import load_digits_network
from sharpley_experiments.common.downloads import DownloadError, Original, download
from sharpley_experiments.paper.images.architectures import ARCHITECTURES
from sharpley_experiments.paper.images.photographs import SIDE
from sharpley_experiments.paper.images.weights import fill, find_weights

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the colours of ImageNet
DIGITS = "digits"
FILES = {
    "resnet50": "resnet50-0676ba61.pth",
    "resnet18": "resnet18-f37072fd.pth",
    "mobilenet_v2": "mobilenet_v2-b0353104.pth",
}
CLASS_FILES = ("imagenet_synsets.txt", "imagenet_classes.txt")
URL = "https://download.pytorch.org/models"
N_CLASSES = 1000


class Classifier(NamedTuple):
    """A network with the names of its classes."""

    model: Any
    class_names: Sequence[str]
    transform: Callable[[Any], Any] | None
    source: str
    """The file that its weights are from."""


def load_classifier(name: str, data: str | None) -> Classifier:
    """Load a network by name, once in a process."""
    check_choice("network", name, (DIGITS, *ARCHITECTURES))
    return _load(name, data)


@lru_cache(maxsize=1)
def _load(name: str, data: str | None) -> Classifier:
    if name == DIGITS:
        network = load_digits_network().network
        return Classifier(network, network.classes, None, "trained on scikit-learn's digits")
    path = _weight_file(name, None if data is None else Path(data))
    names = _class_names(path.parent)
    if path.suffix == ".onnx":
        return Classifier(_session(path), names, None, path.name)
    return Classifier(_module(name, path), names, _normalised, path.name)


def _module(name: str, path: Path) -> Any:
    """Return a network of torch with the weights of a file."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"the network {name} needs torch: pip install 'sharpley[torch]'; the preset quick does without"
        ) from error
    # In this order of channels it takes half the time on a processor.
    return _folded(fill(ARCHITECTURES[name](), path)).to(memory_format=torch.channels_last)


def _session(path: Path) -> Any:
    """Open an ONNX file; one thread, since processes are what runs in parallel."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError as error:
        raise ImportError(f"{path} needs onnxruntime: pip install 'sharpley[onnx]'") from error
    options = SessionOptions()
    options.intra_op_num_threads = 1
    return InferenceSession(str(path), options)


def export_onnx(name: str, data: str, path: Path) -> None:
    """Write a network, its normalisation included, as an ONNX file: less than half the time on a processor.

    Needs torch and onnx. The file is found by ``load_classifier`` if it is called NAME.onnx.
    """
    import torch

    found = load_classifier(name, data)
    scale = torch.nn.Conv2d(3, 3, 1, groups=3)
    with torch.no_grad():
        scale.weight.copy_(1 / torch.tensor(DEVIATION).view(3, 1, 1, 1))
        scale.bias.copy_(-torch.tensor(MEAN) / torch.tensor(DEVIATION))
    whole = torch.nn.Sequential(scale, found.model).eval()
    images = torch.zeros(1, 3, SIDE, SIDE)
    axes = {"images": {0: "n"}}
    torch.onnx.export(whole, (images,), str(path), input_names=["images"], dynamic_axes=axes, dynamo=False)


def _normalised(images: Any) -> Any:
    """Subtract the mean colour of ImageNet and divide by its deviation, as the networks expect."""
    mean, deviation = (images.new_tensor(numbers).view(3, 1, 1) for numbers in (MEAN, DEVIATION))
    return (images - mean) / deviation


def _folded(model: Any) -> Any:
    """Fold each normalisation into the convolution before it: the same function in less time."""
    from torch import nn
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    for module in list(model.modules()):
        names = list(dict(module.named_children()))
        for first, second in pairwise(names):
            convolution, norm = getattr(module, first), getattr(module, second)
            if isinstance(convolution, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                setattr(module, first, fuse_conv_bn_eval(convolution, norm))
                setattr(module, second, nn.Identity())
    return model


def _weight_file(name: str, data: Path | None) -> Path:
    kept = _cache.data_folder()
    for folder in (data, kept):
        found = None if folder is None else find_weights(name, folder)
        if found is not None:
            return found
    original = Original(f"{URL}/{FILES[name]}", (FILES[name],), ())
    if data is not None:
        raise FileNotFoundError(
            f"no weights of {name} in {data}: expected {name}.pth, {FILES[name]} or {name}.npz, there or in its folder "
            f"cnn; {original.advice}"
        )
    if kept is None:
        raise DownloadError(f"cannot keep {FILES[name]}, since {_cache.VARIABLE} is empty; {original.advice}")
    kept.mkdir(parents=True, exist_ok=True)
    path = download(original, kept)
    _check_digest(path, original)
    return path


def _check_digest(path: Path, original: Original) -> None:
    """Remove a downloaded file, and raise an error, if its SHA-256 does not begin as its name says."""
    stated = re.fullmatch(r".*-([0-9a-f]{8})\.pth", path.name)
    if stated and hashlib.sha256(path.read_bytes()).hexdigest()[:8] != stated[1]:
        path.unlink()
        raise DownloadError(f"what {original.url} sent is damaged; try again, or {original.advice}")


def _class_names(folder: Path) -> list[str]:
    """Return the names in a file of classes beside the weights, without the numbers of synsets; or just numbers."""
    for name in CLASS_FILES:
        if (folder / name).is_file():
            lines = (folder / name).read_text(encoding="utf-8").splitlines()
            names = [re.sub(r"^n\d{8}\s+", "", line.strip().strip("'")) for line in lines if line.strip()]
            if len(names) != N_CLASSES:
                raise ValueError(f"{folder / name} must have {N_CLASSES} lines, one for each class, got {len(names)}")
            return names
    return [f"class {number}" for number in range(N_CLASSES)]
