"""A page to look at several explained images: a single HTML file, which works without a network."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from sharpley.image_result import ImageEstimate
from sharpley.plotting.axes import require_matplotlib
from sharpley.plotting.images import error_map, heat_map, overlay, picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

DPI = 110


def image_page(found: ImageEstimate, path: str | Path, *, title: str = "Explained images") -> Path:
    """Write a page that shows each image, its heat map, both over each other, and the standard errors.

    Parameters
    ----------
    found : ImageEstimate
        Explained images.
    path : str or Path
        HTML file to write.
    title : str, default "Explained images"
        Title of the page.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np, sharpley
    >>> found = sharpley.ImageExplainer(lambda x: x.sum(axis=(1, 2)), tile=2).estimate(np.ones((4, 4, 3)))
    >>> with TemporaryDirectory() as folder:
    ...     sharpley.plotting.image_page(found, f"{folder}/page.html").name
    'page.html'
    """
    template = Template(files("sharpley.plotting").joinpath("image_page.html").read_text(encoding="utf-8"))
    sections = "\n".join(_section(found, row) for row in range(len(found)))
    estimate, d = found.estimate, found.values.shape[1]
    about = (
        f"{len(found)} images, {d} players each, method {estimate.method}. Red speaks for the class and blue against "
        "it; base value and values add up to the score."
    )
    out = Path(path)
    out.write_text(template.substitute(title=escape(title), about=escape(about), sections=sections), encoding="utf-8")
    return out


def _section(found: ImageEstimate, row: int) -> str:
    one = found.estimate[row]
    total = float(one.values.sum(axis=0).reshape(-1)[0])
    base = float(one.base_values.reshape(-1)[0])
    facts = (
        f"predicted {found.predicted[row]}; base value {base:.2f}, values {total:+.2f}, score {base + total:.2f}; "
        f"{one.n_predictions:,} evaluations; largest standard error {float(one.standard_errors.max()):.2g}"
    )
    label = escape(found.explained[row])
    return (
        f"<section><h2>{label}</h2><p>{escape(facts)}</p>"
        f'<img alt="{label}: image, values, overlay and standard errors" src="{_drawn(found, row)}"></section>'
    )


def _drawn(found: ImageEstimate, row: int) -> str:
    """Return the four panels of an image as a data URI."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 2.9), layout="constrained")
    panels: list[Callable[..., Axes]] = [picture, heat_map, overlay, error_map]
    for ax, draw in zip(figure.subplots(1, 4), panels, strict=True):
        draw(found, row, ax=ax).title.set_fontsize(10)
    stream = BytesIO()
    figure.savefig(stream, dpi=DPI, metadata={"Software": None})
    return f"data:image/png;base64,{b64encode(stream.getvalue()).decode()}"
