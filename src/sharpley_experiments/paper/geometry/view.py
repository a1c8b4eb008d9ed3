"""Views of the unit sphere: an orthographic camera, and functions that draw what it sees.

The 3-D axes of matplotlib draw whole objects one over the other; here, every point has a depth of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.style import DARK, GREY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

RASTER = 900  # number of pixels across the sphere
BACK_OPACITY = 0.28  # of everything behind the horizon
LIGHT = (-0.4, 0.5, 0.77)  # direction of the lamp: right, up, towards the viewer


class Camera:
    """Rotates points so that the third axis points towards the viewer.

    Parameters
    ----------
    azimuth, elevation : float
        Position of the viewer, in degrees.
    """

    def __init__(self, azimuth: float, elevation: float) -> None:
        a, e = np.deg2rad([azimuth, elevation])
        self.rotation = np.array(
            [
                [-np.sin(a), np.cos(a), 0.0],
                [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)],
                [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)],
            ]
        )

    def see(self, points: Floats) -> Floats:
        """Coordinates of points as (right, up, towards the viewer), (n, 3) -> (n, 3)."""
        return np.asarray(points @ self.rotation.T)

    def surface(self) -> Floats:
        """Points of the visible half of the sphere on a square raster, (p, p, 3); outside the disc, depth is 0."""
        return np.asarray(_raster() @ self.rotation)


CAMERA = Camera(azimuth=22, elevation=15)
"""In this view the 24 permutations of four players, both front and back, are well separated."""
HORIZON = -0.36
"""``CAMERA`` sees the midpoints of the hidden edges of that polytope behind this depth, all others in front of it."""


def _raster() -> Floats:
    side = np.linspace(-1, 1, RASTER)
    x, y = np.meshgrid(side, side)
    depth = np.sqrt(np.clip(1 - x**2 - y**2, 0, None))
    return np.stack([x, y, depth], axis=-1)


def arc(start: Floats, end: Floats, n: int = 24) -> Floats:
    """Points on the shorter arc of the great circle between two unit vectors, (n, 3)."""
    t = np.linspace(0, 1, n)[:, None]
    angle = np.arccos(np.clip(start @ end, -1, 1))
    return np.asarray((np.sin((1 - t) * angle) * start + np.sin(t * angle) * end) / np.sin(angle))


def prepare(ax: Axes) -> None:
    """Prepare axes for a sphere: equal scales, no frame, room for labels."""
    ax.set_aspect("equal")
    ax.set_xlim(-1.14, 1.14)
    ax.set_ylim(-1.14, 1.14)
    ax.axis("off")


def draw_ball(ax: Axes, colours: Floats | None = None) -> None:
    """Draw the sphere, lit from the upper left; ``colours`` (p, p, 3) are those of the points of ``Camera.surface``."""
    from matplotlib.patches import Circle

    light = 0.84 + 0.16 * np.clip(_raster() @ LIGHT, 0, 1)
    painted = np.full((RASTER, RASTER, 3), 0.99) if colours is None else colours
    image = ax.imshow(painted * light[..., None], extent=(-1, 1, -1, 1), origin="lower", zorder=0)
    edge = Circle((0, 0), 1, fill=False, edgecolor=GREY, linewidth=0.8, zorder=1)
    ax.add_patch(edge)
    image.set_clip_path(edge)  # the raster is a square


def draw_line(
    ax: Axes, seen: Floats, colour: str, width: float = 1.6, *, back: float = BACK_OPACITY, horizon: float = 0.0
) -> None:
    """Draw a line through points in camera coordinates; segments behind the horizon are faint and below all others."""
    middles = (seen[1:, 2] + seen[:-1, 2]) / 2
    for is_front in (False, True):
        use = (middles > horizon) == is_front
        if not use.any() or (not is_front and back == 0):
            continue
        x, y = (np.where(use, seen[:-1, axis], np.nan) for axis in (0, 1))
        ends_x, ends_y = (np.where(use, seen[1:, axis], np.nan) for axis in (0, 1))
        gaps = np.full(len(x), np.nan)
        ax.plot(
            np.stack([x, ends_x, gaps], axis=1).ravel(),
            np.stack([y, ends_y, gaps], axis=1).ravel(),
            color=colour,
            linewidth=width if is_front else 0.8 * width,
            alpha=1.0 if is_front else back,
            zorder=4 if is_front else 2,
            solid_capstyle="round",
        )


def draw_points(
    ax: Axes,
    seen: Floats,
    colour: str,
    size: float = 22,
    *,
    back: float = BACK_OPACITY,
    horizon: float = 0.0,
    label: str = "",
) -> None:
    """Draw dots, which are faint behind the horizon."""
    front = seen[:, 2] > horizon
    x, y = seen[:, 0], seen[:, 1]
    ax.scatter(x[~front], y[~front], s=0.7 * size, color=colour, alpha=back, linewidths=0, zorder=3)
    ax.scatter(x[front], y[front], s=size, color=colour, linewidths=0, zorder=5, label=label)


def draw_labels(
    ax: Axes, seen: Floats, labels: Sequence[str], *, size: float = 8.5, outward: float = 0.07, horizon: float = 0.0
) -> None:
    """Draw labels next to points, further from the centre; labels of points behind the horizon are faint."""
    for (x, y, depth), label in zip(seen, labels, strict=True):
        length = max(np.hypot(x, y), 1e-9)
        place = (x + 1.6 * outward * x / length, y + outward * y / length)  # text is wider than it is high
        ax.text(
            *place,
            label,
            fontsize=size if depth > horizon else 0.85 * size,
            color=DARK if depth > horizon else GREY,
            ha="center",
            va="center",
            zorder=7 if depth > horizon else 3,
            bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        )
