"""``sharpley demo --image``: explain what a small network sees in handwritten digits, with error bars.

Tiles of 2 × 2 pixels are 16 players, few enough to enumerate all coalitions, so that the intervals can be checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from sharpley import ImageExplainer, plotting
from sharpley.games.tiles.digits import load_digits_network
from sharpley.plotting.axes import require_matplotlib

PAGE = "index.html"
IMAGES = 5
TILE = 2
MAX_EVALS = 400


def run(out: Path) -> None:
    """Explain some digits: print how good the error bars are, and write a page in ``out``."""
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.print("[bold cyan]•[/] Training a small network on handwritten digits")
    digits = load_digits_network()
    images = digits.images[:IMAGES]
    console.print(f"[bold cyan]•[/] Explaining {IMAGES} digits that it has not seen, {(8 // TILE) ** 2} tiles each")
    options: dict[str, Any] = {"tile": TILE, "class_names": digits.network.classes, "rng": 0}
    found = ImageExplainer(digits.network, **options).estimate(images, max_evals=MAX_EVALS, progress=False)
    exact = ImageExplainer(digits.network, method="exact", **options).estimate(images, max_evals=2**16, progress=False)
    lower, upper = found.estimate.interval()
    inside = np.mean((lower <= exact.values) & (exact.values <= upper))
    error = np.sqrt(np.mean((found.values - exact.values) ** 2))
    right = sum(a == b for a, b in zip(found.predicted, digits.labels[:IMAGES], strict=True))
    console.print(
        f"Read: {', '.join(found.predicted)}; {right} of {IMAGES} are right.\n"
        f"Method {found.estimate.method}, {MAX_EVALS} evaluations for each digit: error (root mean square) "
        f"{error:.2f}, values from {exact.values.min():.1f} to {exact.values.max():.1f}.\n"
        f"95% intervals that contain the exact value (of all 65,536 coalitions): {inside:.1%}."
    )
    page = plotting.image_page(found, out / PAGE, title="What a small network sees in handwritten digits")
    console.print(f"[bold green]Page:[/] {page.resolve().as_uri()}", soft_wrap=True)
