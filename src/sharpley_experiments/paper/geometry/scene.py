"""Interactive figures of the sphere as HTML fragments that can be rotated; the page adds plotly.js itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.style import DARK

if TYPE_CHECKING:
    from collections.abc import Sequence

LIGHTING = {
    "ambient": 0.92,
    "diffuse": 0.1,
    "specular": 0.0,
}  # nearly flat: the dots matter, not the ball
VIEWER = np.array([0.78, 0.51, 0.36])


def require_plotly() -> Any:
    """Return ``plotly.graph_objects``; if plotly is missing, the error says what to install."""
    try:
        return import_module("plotly.graph_objects")
    except ImportError as error:
        raise ImportError("interactive figures need plotly: pip install 'sharpley[experiments]'") from error


def fragment(name: str, traces: Sequence[Any], distance: float = 1.5) -> str:
    """Return a ``<div>`` with its script, without plotly.js; the same traces give the same text."""
    x, y, z = (distance * VIEWER).tolist()
    hidden = {"visible": False}
    figure = require_plotly().Figure(list(traces))
    figure.update_layout(
        scene={"xaxis": hidden, "yaxis": hidden, "zaxis": hidden, "aspectmode": "data"},
        scene_camera={"eye": {"x": x, "y": y, "z": z}},
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"x": 0.01, "y": 0.99, "bgcolor": "rgba(255,255,255,0.7)"},
        font={"color": DARK},
        height=560,
        template="none",
    )
    # A fixed name instead of the random one of plotly, so that the pages of two runs can be compared.
    text: str = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=f"sharpley-{name}", config={"displaylogo": False}
    )
    return text


def ball(radius: float = 0.985) -> Any:
    """An opaque sphere slightly smaller than the unit sphere, which hides everything behind it."""
    polar, around = np.meshgrid(np.linspace(0, np.pi, 31), np.linspace(0, 2 * np.pi, 61))
    points = radius * np.array([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)])
    return require_plotly().Surface(
        x=points[0],
        y=points[1],
        z=points[2],
        colorscale=[[0, "#f2f2f2"], [1, "#f2f2f2"]],
        showscale=False,
        hoverinfo="skip",
        lighting=LIGHTING,
    )


def lines(pieces: Sequence[Floats], colour: str, name: str, width: float = 5) -> Any:
    """Several lines with one entry in the legend; each piece is (n, 3)."""
    gap = np.full((1, 3), np.nan)  # between two lines
    points = np.concatenate([part for piece in pieces for part in (piece, gap)])
    return require_plotly().Scatter3d(
        x=points[:, 0],
        y=points[:, 1],
        z=points[:, 2],
        mode="lines",
        line={"color": colour, "width": width},
        name=name,
        hoverinfo="skip",
    )


def dots(points: Floats, colour: str, name: str, labels: Sequence[str] | None = None, size: float = 5) -> Any:
    """Points, optionally with labels above them."""
    return require_plotly().Scatter3d(
        x=points[:, 0],
        y=points[:, 1],
        z=points[:, 2],
        mode="markers" if labels is None else "markers+text",
        text=None if labels is None else list(labels),
        textposition="top center",
        textfont={"size": 12},
        hoverinfo="skip",
        marker={"color": colour, "size": size},
        name=name,
    )


def texts(points: Floats, labels: Sequence[str]) -> Any:
    """Labels without points. They must lie above the surface of a ball, or it hides parts of them."""
    return require_plotly().Scatter3d(
        x=points[:, 0],
        y=points[:, 1],
        z=points[:, 2],
        mode="text",
        text=list(labels),
        textposition="middle center",
        textfont={"size": 14, "color": DARK},
        hoverinfo="skip",
        showlegend=False,
    )


def patches(cells: Sequence[tuple[Floats, Floats]], colour: str, name: str, rings: int = 5) -> Any:
    """Patches of the sphere with one entry in the legend, each given by a point inside and its closed border (m, 3)."""
    points, triangles, offset = [], [], 0
    for site, border in cells:
        share = np.linspace(0, 1, rings + 1)[:, None, None]
        grid = (1 - share) * site + share * border  # rings from the site to the border, to be projected to the sphere
        points.append((grid / np.linalg.norm(grid, axis=2, keepdims=True)).reshape(-1, 3))
        index = offset + np.arange(grid.shape[0] * len(border)).reshape(grid.shape[:2])
        inner, outer = (
            index[:-1, :-1].ravel(),
            index[1:, :-1].ravel(),
        )  # the border is closed: its last point is its first
        triangles += [np.stack([inner, outer, outer + 1], axis=1), np.stack([inner, outer + 1, inner + 1], axis=1)]
        offset += index.size
    x, y, z = np.concatenate(points).T.astype(np.float32)  # halves the size of the page
    i, j, k = np.concatenate(triangles).T.astype(np.int32)
    return require_plotly().Mesh3d(
        x=x, y=y, z=z, i=i, j=j, k=k, color=colour, name=name, hoverinfo="skip", showlegend=True, lighting=LIGHTING
    )
