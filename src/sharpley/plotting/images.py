"""Plots of explained images: heat maps of values and of their standard errors, beside or over the images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.image_result import ImageEstimate
from sharpley.plotting.axes import new_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIGNED = "RdBu_r"  # red for, blue against the class, white for 0
OF_ERRORS = "magma"
INCHES = 2.3  # of each panel of a figure with several
MOST_OPAQUE = 0.75


def picture(found: ImageEstimate, row: int = 0, *, ax: Axes | None = None) -> Axes:
    """Draw an image, with the label that the network predicts for it.

    Parameters
    ----------
    found : ImageEstimate
        Explained images.
    row : int, default 0
        Position of the image.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, sharpley
    >>> found = sharpley.ImageExplainer(lambda x: x.sum(axis=(1, 2)), tile=2).estimate(np.ones((4, 4, 3)))
    >>> sharpley.plotting.picture(found).get_title()
    'class 0'
    """
    ax = _bare(new_axes(ax))
    ax.imshow(shown(found.images[row]), cmap="gray", vmin=0.0, vmax=1.0)
    ax.set_title(found.predicted[row])
    return ax


def heat_map(
    found: ImageEstimate, row: int = 0, *, output: int = 0, cmap: str = SIGNED, ax: Axes | None = None
) -> Axes:
    """Draw the Shapley value of the player that each pixel belongs to.

    Parameters
    ----------
    found : ImageEstimate
        Explained images.
    row : int, default 0
        Position of the image.
    output : int, default 0
        Position of the class, if several were explained.
    cmap : str, default "RdBu_r"
        Colours of matplotlib. The middle is 0.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes
    """
    ax, values = _bare(new_axes(ax)), _map(found.heat_maps, row, output)
    largest = _largest(values)
    _with_bar(ax, ax.imshow(values, cmap=cmap, vmin=-largest, vmax=largest))
    ax.set_title(f"values, {found.explained[row]}")
    return ax


def overlay(found: ImageEstimate, row: int = 0, *, output: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the values over the image in grey: red for the class, blue against it, the more opaque the larger.

    Parameters
    ----------
    found, row, output, ax
        As for ``heat_map``.

    Returns
    -------
    Axes
    """
    ax, values = _bare(new_axes(ax)), _map(found.heat_maps, row, output)
    largest = _largest(values)
    grey = shown(found.images[row])
    ax.imshow(grey if grey.ndim == 2 else grey.mean(axis=-1), cmap="gray", vmin=0.0, vmax=1.0)
    opacity = MOST_OPAQUE * np.clip(np.abs(values) / largest, 0.0, 1.0)
    _with_bar(ax, ax.imshow(values, cmap=SIGNED, vmin=-largest, vmax=largest, alpha=opacity))
    ax.set_title(f"overlay, {found.explained[row]}")
    return ax


def error_map(found: ImageEstimate, row: int = 0, *, output: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the standard error of the value of the player that each pixel belongs to.

    Parameters
    ----------
    found, row, output, ax
        As for ``heat_map``.

    Returns
    -------
    Axes
    """
    ax, errors = _bare(new_axes(ax)), _map(found.error_maps, row, output)
    _with_bar(ax, ax.imshow(errors, cmap=OF_ERRORS, vmin=0.0))
    ax.set_title("standard errors")
    return ax


def three_columns(
    found: ImageEstimate, errors: Sequence[Mapping[str, float]], *, label: str = "mean squared error"
) -> NDArray[Any]:
    """Draw the figure of the paper: for each image its picture and label, its heat map, and the error of each method.

    Parameters
    ----------
    found : ImageEstimate
        Explained images.
    errors : sequence of n mappings of str to float
        For each image, the error of each method.
    label : str, default "mean squared error"
        What the errors are.

    Returns
    -------
    (n, 3) array of Axes
        Of a new figure, which notebooks display; ``plotting.save`` writes it to a file.
    """
    if len(errors) != len(found):
        raise ValueError(f"errors must have one mapping for each of {len(found)} images, got {len(errors)}")
    figure = new_figure((3.6 * INCHES, INCHES * len(found) + 0.2))
    axes = figure.subplots(len(found), 3, squeeze=False, width_ratios=(1, 1.15, 1.3))
    for row, (first, second, third) in enumerate(axes):
        picture(found, row, ax=first)
        heat_map(found, row, ax=second).set_title("")
        error_bars(errors[row], ax=third)
        if row == len(found) - 1:
            third.set_xlabel(label, fontsize=8)
    return axes


def error_bars(errors: Mapping[str, float], *, ax: Axes | None = None) -> Axes:
    """Draw the error of each method as a bar, in the colours of the methods; the lowest is marked.

    Parameters
    ----------
    errors : mapping of str to float
        Error of each method.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes
    """
    from sharpley.engine.methods import METHODS

    ax, names = new_axes(ax), list(errors)
    colours = [METHODS[name].colour if name in METHODS else "C0" for name in names]
    ax.barh(names, [errors[name] for name in names], color=colours)
    best = min(names, key=lambda name: errors[name])
    for text in ax.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() == best else "normal")
    ax.invert_yaxis()
    ax.tick_params(labelsize=7)
    ax.xaxis.get_offset_text().set_fontsize(7)
    ax.ticklabel_format(axis="x", style="sci", scilimits=(-2, 3))
    ax.locator_params(axis="x", nbins=4)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def shown(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return an image as matplotlib draws it: values from 0 to 1, and grey images without an axis of channels."""
    low, high = min(0.0, float(image.min())), max(1.0, float(image.max()))
    scaled = ((image - low) / (high - low)).astype(np.float32)
    return scaled[..., 0] if scaled.shape[-1] == 1 else scaled


def _bare(ax: Axes) -> Axes:
    ax.set_xticks([])
    ax.set_yticks([])
    return ax


def _map(maps: Floats, row: int, output: int) -> Floats:
    return np.asarray(maps[row] if maps.ndim == 3 else maps[row, ..., output])


def _largest(values: Floats) -> float:
    return float(np.abs(values).max()) or 1.0


def _with_bar(ax: Axes, image: Any) -> None:
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.85, pad=0.02)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
