"""Explain what a network sees in images: tiles and superpixels as players, error bars, plots and a page."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sharpley
from sharpley.games.tiles.digits import load_digits_network

# A small network for handwritten digits, trained in seconds. Yours may be any function from arrays (n, height, width,
# channels) to scores, a torch module, or the path of an ONNX file.
digits = load_digits_network()
explainer = sharpley.ImageExplainer(digits.network, tile=2, class_names=digits.network.classes, rng=0)

# Why does it read these digits as it does? Values are log-odds; they add up to those of the predicted class.
found = explainer.estimate(digits.images[:4])
print(f"read {found.predicted}, written {digits.labels[:4]}")
strongest = np.abs(found.values[0]).argmax()
value, error = found.values[0, strongest], found.standard_errors[0, strongest]
print(f"the strongest tile of the first one: {found.estimate.names[strongest]}, {value:+.2f} ± {error:.2f}")

# Another class: what speaks for and against a 3?
against = sharpley.ImageExplainer(digits.network, tile=2, class_names=digits.network.classes, output="3", rng=0)
total = against.estimate(digits.images[:1]).values.sum()
print(f"all tiles together change the log-odds of a 3 by {total:+.2f}")

# Absent tiles may be taken from other images instead of being black, and any map of integers may be the players.
rows = np.repeat(np.arange(8)[:, None], 8, axis=1)
lines = sharpley.ImageExplainer(digits.network, segments=rows, baseline=digits.images[100:120], rng=0)
print(f"the eight lines of pixels: {lines.estimate(digits.images[:1]).values[0].round(1)}")

# A page to look at: images, heat maps, overlays, and standard errors.
with TemporaryDirectory() as folder:
    page = sharpley.plotting.image_page(found, Path(folder) / "digits.html", title="Handwritten digits")
    print(f"a page of {page.stat().st_size / 1000:.0f} kB")
