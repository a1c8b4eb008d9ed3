"""ResNet and MobileNetV2 in torch, with the names of layers that torchvision's weight files have.

torchvision itself is not needed; torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

INVERTED = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Blocks of MobileNetV2: factor of expansion, channels, repetitions, stride of the first."""


def _convolution(inputs: int, outputs: int, side: int, *, stride: int = 1, groups: int = 1) -> list[Any]:
    from torch import nn

    convolution = nn.Conv2d(inputs, outputs, side, stride, side // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


def _residual_block(inputs: int, width: int, stride: int, *, is_bottleneck: bool) -> Any:
    from torch import nn, relu

    outputs = 4 * width if is_bottleneck else width
    plan = (
        [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        if is_bottleneck
        else [(inputs, width, 3, stride), (width, width, 3, 1)]
    )

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for k, (a, b, side, step) in enumerate(plan, 1):
                convolution, norm = _convolution(a, b, side, stride=step)
                self.add_module(f"conv{k}", convolution)
                self.add_module(f"bn{k}", norm)
            changes = stride != 1 or inputs != outputs
            self.downsample = nn.Sequential(*_convolution(inputs, outputs, 1, stride=stride)) if changes else None

        def forward(self, x: Any) -> Any:
            y = x
            for k in range(1, len(plan) + 1):
                y = getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(y))
                y = relu(y) if k < len(plan) else y
            return relu(y + (x if self.downsample is None else self.downsample(x)))

    return Block()


def resnet(depths: tuple[int, ...], *, is_bottleneck: bool) -> Any:
    """Return a ResNet for 1,000 classes, without weights; the stride of a bottleneck is in its middle convolution."""
    from torch import nn, relu

    class ResNet(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = _convolution(3, 64, 7, stride=2)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            inputs = 64
            for number, (width, depth) in enumerate(zip((64, 128, 256, 512), depths, strict=True), 1):
                blocks = []
                for k in range(depth):
                    stride = 2 if k == 0 and number > 1 else 1
                    blocks.append(_residual_block(inputs, width, stride, is_bottleneck=is_bottleneck))
                    inputs = 4 * width if is_bottleneck else width
                self.add_module(f"layer{number}", nn.Sequential(*blocks))
            self.fc = nn.Linear(inputs, 1000)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(relu(self.bn1(self.conv1(x))))
            for number in range(1, 5):
                x = getattr(self, f"layer{number}")(x)
            return self.fc(x.mean((2, 3)))

    return ResNet()


def _inverted_block(inputs: int, outputs: int, stride: int, expansion: int) -> Any:
    from torch import nn

    hidden = inputs * expansion
    wide = [nn.Sequential(*_convolution(inputs, hidden, 1), nn.ReLU6())] if expansion != 1 else []
    deep = nn.Sequential(*_convolution(hidden, hidden, 3, stride=stride, groups=hidden), nn.ReLU6())

    class Inverted(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Sequential(*wide, deep, *_convolution(hidden, outputs, 1))

        def forward(self, x: Any) -> Any:
            return x + self.conv(x) if stride == 1 and inputs == outputs else self.conv(x)

    return Inverted()


def mobilenet_v2() -> Any:
    """Return a MobileNetV2 for 1,000 classes, without weights."""
    from torch import nn

    class MobileNetV2(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            layers, inputs = [nn.Sequential(*_convolution(3, 32, 3, stride=2), nn.ReLU6())], 32
            for expansion, outputs, count, stride in INVERTED:
                for k in range(count):
                    layers.append(_inverted_block(inputs, outputs, stride if k == 0 else 1, expansion))
                    inputs = outputs
            layers.append(nn.Sequential(*_convolution(inputs, 1280, 1), nn.ReLU6()))
            self.features = nn.Sequential(*layers)
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

        def forward(self, x: Any) -> Any:
            return self.classifier(self.features(x).mean((2, 3)))

    return MobileNetV2()


ARCHITECTURES: dict[str, Callable[[], Any]] = {
    "resnet50": partial(resnet, (3, 4, 6, 3), is_bottleneck=True),
    "resnet18": partial(resnet, (2, 2, 2, 2), is_bottleneck=False),
    "mobilenet_v2": mobilenet_v2,
}
"""Networks by name."""
