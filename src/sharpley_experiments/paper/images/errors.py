"""Errors that are estimated from the spread over trials, since exact values are not known."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.cells import Cell, Rows, run_cells, stored_rows
from sharpley_experiments.common.constants import revision_of
from sharpley_experiments.paper.evaluation.series import BIASED_METHODS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.images.measure import image_game, measure
from sharpley_experiments.paper.images.networks import load_classifier
from sharpley_experiments.paper.images.photographs import Photograph, load_photographs
from sharpley_experiments.paper.images.presets import IMAGE_PRESETS, ImagePreset

if TYPE_CHECKING:
    from pandas import DataFrame

THUMBNAIL = 112  # pixels
FEWEST_SHOWN = 2  # trials: the spread of one is not known
COLUMNS = [
    "image", "label", "probability", "network", "d", "n", "series", "trial", "reference", "mse", "heat_map", "thumbnail"
]  # fmt: skip


def measured(
    context: Context, series: Sequence[str], aliases: dict[str, str] | None = None, n_images: int | None = None
) -> DataFrame:
    """Measure all trials of some methods on the images of a preset; the table also has pictures and heat maps.

    ``aliases`` are the names under which series were measured that are called otherwise here. ``n_images`` limits the
    number of images. Cells are measured image by image and trial by trial, so that an unfinished run can be shown.
    """
    import pandas as pd

    size, aliases = IMAGE_PRESETS[context.preset.name], aliases or {}
    data = None if context.data is None else str(context.data.resolve())
    source = load_classifier(size.network, data).source
    photographs = load_photographs(size.photographs, size.n_images, data)[:n_images]
    names = {aliases.get(line, line): line for line in series}
    cells = [
        _cell(size, image, photograph.name, line, trial, f"{revision_of(line)}, {source}")
        for image, photograph in enumerate(photographs)
        for trial in range(size.n_trials)
        for line in names
    ]
    done = stored_rows(cells, context.folder) if context.is_stored_only else _all_rows(cells, context, data)
    rows = [{**row, "series": names[row["series"]]} for row in done]
    found: Rows = []
    for image, photograph in enumerate(photographs):
        mine = _finished_trials([row for row in rows if row["image"] == image])
        if mine or not context.is_stored_only:
            found += _with_pictures(_with_errors(mine), photograph, _facts(size, image, data))
    if not found:
        raise ValueError(
            f"{len(rows)} of {len(cells)} cells are in {context.folder}, which makes fewer than {FEWEST_SHOWN} trials "
            "of all methods on every image; leave out --stored to compute the others"
        )
    return pd.DataFrame(found)[COLUMNS]


def _all_rows(cells: list[Cell], context: Context, data: str | None) -> Rows:
    return run_cells(measure, cells, context.folder, jobs=context.jobs, description="images", context={"data": data})


def _cell(size: ImagePreset, image: int, photograph: str, series: str, trial: int, made_with: str) -> Cell:
    return {
        "network": size.network,
        "photographs": size.photographs,
        "count": size.n_images,
        "image": image,
        "photograph": photograph,
        "tile": size.tile,
        "n": size.n_orderings,
        "series": series,
        "made_with": made_with,
        "trial": trial,
    }


def _finished_trials(rows: Rows) -> Rows:
    """Return the trials of an image that every method has, by method; none if they are too few to have a spread.

    A method that does not apply, such as gp where it would take too long, has no rows in any trial.
    """
    series = _names(rows)
    trials = [{row["trial"] for row in rows if row["series"] == line} for line in series]
    common = set.intersection(*trials) if trials else set()
    if len(common) < FEWEST_SHOWN:
        return []
    return [row for line in series for row in rows if row["series"] == line and row["trial"] in common]


def _facts(size: ImagePreset, image: int, data: str | None) -> dict[str, Any]:
    """Return what the network makes of a photograph."""
    game = image_game(size.network, size.photographs, size.n_images, image, size.tile, data)
    label = int(game.predicted[0])
    names = game.class_names or []
    odds = float(game.endpoints()[0, 1, 0])
    return {"label": names[label].split(",")[0], "probability": round(1 / (1 + np.exp(-odds)), 3)}


def _with_errors(rows: Rows) -> Rows:
    """Add the error of each trial: the squared distance from the mean of the method's own trials, as in the paper.

    The factor T/(T−1) corrects for the mean being over the same T trials. Methods that may be biased are compared with
    the mean of all others, since the spread would hide a bias.
    """
    by_series: dict[str, Rows] = {}
    for row in rows:
        by_series.setdefault(row["series"], []).append(row)
    fair = [row["estimate"] for row in rows if row["series"] not in BIASED_METHODS]
    out = []
    for series, trials in by_series.items():
        estimates = np.array([row["estimate"] for row in trials])
        is_biased = series in BIASED_METHODS
        centre = np.mean(fair, axis=0) if is_biased else estimates.mean(axis=0)
        factor = 1.0 if is_biased else len(trials) / (len(trials) - 1)
        reference = "mean of all methods" if is_biased else "mean of trials"
        for row, estimate in zip(trials, estimates, strict=True):
            mse = float(((estimate - centre) ** 2).mean() * factor)
            out.append({**row, "mse": mse, "reference": reference})
    return out


def _with_pictures(rows: Rows, photograph: Photograph, facts: dict[str, Any]) -> Rows:
    """Add to the first row the photograph and the heat map: the first trial of the method with the lowest error."""
    means = {series: np.mean([row["mse"] for row in rows if row["series"] == series]) for series in _names(rows)}
    best = min(means, key=lambda series: means[series])
    heat = next(row["estimate"] for row in rows if row["series"] == best and row["trial"] == 0)
    plain = [{**row, **facts, "image": photograph.name, "heat_map": "", "thumbnail": ""} for row in rows]
    plain[0].update(heat_map=json.dumps([float(f"{value:.4g}") for value in heat]), thumbnail=_thumbnail(photograph))
    return plain


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["series"] for row in rows))


def _thumbnail(photograph: Photograph) -> str:
    """Return a small JPEG as text, so that figures can be drawn from the table alone."""
    from PIL import Image

    pixels = photograph.pixels
    if pixels.dtype != np.uint8:
        pixels = (255 * pixels).round().astype(np.uint8)
    image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).convert("RGB")
    stream = BytesIO()
    sampling = Image.Resampling.NEAREST if image.width < THUMBNAIL else Image.Resampling.BILINEAR
    image.resize((THUMBNAIL, THUMBNAIL), sampling).save(stream, "JPEG", quality=85)
    return b64encode(stream.getvalue()).decode()


def errors_of(table: DataFrame, image: str, series: str) -> Floats:
    """Errors of all trials of a method on an image."""
    return np.asarray(table[(table["image"] == image) & (table["series"] == series)]["mse"], dtype=np.float64)


def images_of(table: DataFrame) -> list[str]:
    """Names of the images, in the order of the table."""
    return list(dict.fromkeys(table["image"]))
