"""Tables and figure of the benchmark, made from its lines (one for each game, method and budget) alone."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpley import METHODS
from sharpley._support.atomic import replace_text
from sharpley_experiments.bench.measure import OURS
from sharpley_experiments.bench.shapiq_games import SHAPIQ_GAMES
from sharpley_experiments.common.panels import draw_line, draw_panels, log_log

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

HEADLINE_METHOD = "gp"
DRAWN_METHODS = ("gp", "gp-unbiased", "regression", "antithetic")
PEER_COLOURS = (
    *("#332288", "#88CCEE", "#AA4499", "#DDCC77", "#117733", "#CC6677"),
    *("#661100", "#BBBBBB", "#EE8866", "#999933", "#882255", "#6699CC"),
)
"""Colours that none of our methods has."""
AIMED_FACTORS = {10: 2.0, 50: 4.0}
"""Aims for the error of the best peer divided by ours, by budget in multiples of d."""
LEAST_SHORTFALL = 0.1
"""The share by which a method must be better than ours to be listed; bold if the interval agrees that it is better."""
MAX_REFERENCE_SHARE = 0.25
"""Largest share of our error that the error of the reference may be; the table points out where it is larger."""


def write(lines: DataFrame, out: Path, note: str) -> list[Path]:
    """Write lines as CSV, tables as Markdown and figures; return the paths. shapiq's games have files of their own."""
    out.mkdir(parents=True, exist_ok=True)
    of_shapiq = lines["game"].isin(SHAPIQ_GAMES)
    paths = []
    for name, mine in (("bench", lines[~of_shapiq]), ("bench_shapiq", lines[of_shapiq])):
        if mine.empty:
            continue
        table, page, picture = (out / f"{name}.{ending}" for ending in ("csv", "md", "png"))
        mine.to_csv(table, index=False, float_format="%.4g", lineterminator="\n")
        replace_text(page, markdown(mine, note))
        draw(mine, "sharpley bench").savefig(picture, dpi=110)  # the Markdown page has the versions
        paths += [table, page, picture]
    return paths


def markdown(lines: DataFrame, note: str) -> str:
    """Return all tables as Markdown."""
    parts = [f"{note}\n", "### Compared with the best peer\n", headline_table(lines)]
    parts += [f"### Where another method is better than {HEADLINE_METHOD}\n", shortfall_table(lines)]
    for multiple in sorted(lines["multiple"].unique()):
        parts += [f"### {multiple} d evaluations\n", error_table(lines[lines["multiple"] == multiple])]
    parts += ["### Seconds per row, without the time of the game\n", seconds_table(lines)]
    return "\n".join(parts)


def headline_table(lines: DataFrame) -> str:
    """Compare gp with the best peer in every cell; the factor is bold where it reaches the aim."""
    text = [
        "| game | d | evaluations | best peer | its error | gp | factor |",
        "|---|--:|--:|---|--:|--:|--:|",
    ]
    for (game, d, multiple), group in lines.groupby(["game", "d", "multiple"], sort=False):
        ours = group[group["method"] == HEADLINE_METHOD]
        peers = group[~group["method"].isin(OURS)]
        if ours.empty or peers.empty:
            continue
        mine, best = ours.iloc[0], peers.loc[peers["error"].idxmin()]
        factor = best["error"] / mine["error"]
        shown = f"{factor:.1f} ({best['low'] / mine['high']:.1f} to {best['high'] / mine['low']:.1f})"
        aim = AIMED_FACTORS.get(int(multiple))
        if aim is not None:
            shown = f"**{shown}**" if factor >= aim else f"{shown}, aim {aim:.0f}"
        if mine["reference"] > MAX_REFERENCE_SHARE * mine["error"]:
            shown += ", at the reference's own error"
        text.append(
            f"| {game} | {d} | {int(multiple) * int(d) + 2} | {best['method']} | {best['error']:.1e} "
            f"| {mine['error']:.1e} | {shown} |"
        )
    return "\n".join(text) + "\n"


def shortfall_table(lines: DataFrame) -> str:
    """All methods whose error is below that of gp by more than a tenth, the best of a cell first, with intervals."""
    text = [
        f"| game | evaluations | {HEADLINE_METHOD} | method | its error divided by that of {HEADLINE_METHOD} |",
        "|---|--:|--:|---|--:|",
    ]
    for (game, d, multiple), group in lines.groupby(["game", "d", "multiple"], sort=False):
        ours = group[group["method"] == HEADLINE_METHOD]
        if ours.empty:
            continue
        mine = ours.iloc[0]
        better = group[group["error"] < (1.0 - LEAST_SHORTFALL) * mine["error"]].sort_values("error")
        for _, other in better.iterrows():
            ratio, half = other["error"] / mine["error"], np.hypot(_half_width(mine), _half_width(other))
            shown = f"{ratio:.2f} ({ratio * np.exp(-half):.2f} to {ratio * np.exp(half):.2f})"
            shown = f"**{shown}**" if ratio * np.exp(half) < 1.0 else shown
            text.append(
                f"| {game} | {int(multiple) * int(d) + 2} | {mine['error']:.1e} | {other['method']} | {shown} |"
            )
    return "\n".join(text) + "\n"


def _half_width(line: Any) -> float:
    """Half the width of a line's interval, on the logarithmic scale."""
    return float(np.log(line["high"] / line["low"]) / 2.0) if line["low"] > 0 else 0.0


def error_table(lines: DataFrame) -> str:
    """Relative errors of all methods in all games; the lowest error of each column is bold."""
    games = list(dict.fromkeys(lines["game"]))
    best = lines.groupby("game")["error"].min()
    text = ["| | " + " | ".join(games) + " |", "|---|" + "--:|" * len(games)]
    cells = lines.set_index(["method", "game"])
    for method in dict.fromkeys(lines["method"]):
        shown = []
        for game in games:
            if (method, game) not in cells.index:
                shown.append("–")
                continue
            cell = cells.loc[(method, game)]
            value = f"{cell['error']:.1e} ±{(cell['high'] - cell['low']) / 2 / max(cell['error'], 1e-300):.0%}"
            shown.append(f"**{value}**" if cell["error"] == best[game] else value)
        text.append(f"| {method} | " + " | ".join(shown) + " |")
    return "\n".join(text) + "\n"


def seconds_table(lines: DataFrame, multiples: Collection[int] = tuple(AIMED_FACTORS)) -> str:
    """Seconds of all methods, without those of the game, at some budgets."""
    chosen = lines[lines["multiple"].isin(multiples)]
    columns = list(dict.fromkeys(zip(chosen["game"], chosen["multiple"], strict=True)))
    cells = chosen.set_index(["method", "game", "multiple"])["own_seconds"]
    text = [
        "| | " + " | ".join(f"{game} {multiple} d" for game, multiple in columns) + " |",
        "|---|" + "--:|" * len(columns),
    ]
    for method in dict.fromkeys(chosen["method"]):
        shown = [f"{cells[key]:.3f}" if (key := (method, *column)) in cells.index else "–" for column in columns]
        text.append(f"| {method} | " + " | ".join(shown) + " |")
    return "\n".join(text) + "\n"


def draw(lines: DataFrame, note: str) -> Figure:
    """Draw errors against evaluations, a panel for each game: our methods as solid lines, peers dashed."""
    looks = _looks(lines)
    return draw_panels(
        "Error of Shapley values, relative to their mean square",
        note,
        list(dict.fromkeys(lines["game"])),
        lambda panel, game: _draw_game(panel, lines[lines["game"] == game], looks),
        axes=("evaluated coalitions", "relative error"),
        row_height=3.0,
        legend_columns=4,
    )


def _looks(lines: DataFrame) -> dict[str, dict[str, Any]]:
    """Colours and line styles of all methods."""
    ours = {m: {"color": METHODS[m].colour, "linewidth": 2.4 if m == HEADLINE_METHOD else 1.4} for m in DRAWN_METHODS}
    peers = [m for m in dict.fromkeys(lines["method"]) if m not in OURS]
    dashed = {
        m: {"color": PEER_COLOURS[i % len(PEER_COLOURS)], "linestyle": "--", "linewidth": 1.0}
        for i, m in enumerate(peers)
    }
    return ours | dashed


def _draw_game(panel: Axes, lines: DataFrame, looks: dict[str, dict[str, Any]]) -> str:
    for method, look in looks.items():
        mine = lines[lines["method"] == method].sort_values("multiple")
        if mine.empty:
            continue
        evaluations = mine["multiple"] * mine["d"] + 2
        draw_line(panel, evaluations, mine["error"], (mine["low"], mine["high"]), label=method, look=look, opacity=0.15)
    log_log(panel)
    return f"{lines['game'].iloc[0]} (d = {lines['d'].iloc[0]})"
