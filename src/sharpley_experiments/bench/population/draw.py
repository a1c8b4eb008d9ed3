"""Figures of the benchmark of backgrounds: errors against predictions, a panel for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sharpley import METHODS
from sharpley_experiments.bench.population.explainers import FLOOR, OURS, OURS_ON_FEW
from sharpley_experiments.bench.report import PEER_COLOURS
from sharpley_experiments.common.panels import draw_line, draw_panels, log_log
from sharpley_experiments.common.style import DARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

OPENING_GAMES = ("xgboost-cal_housing", "xgboost-bank", "xgboost-breast_cancer")
OPENING_NETWORKS = ("mlp-cal_housing", "pipeline-bank", "mlp-breast_cancer")
OPENING_METHODS = (
    OURS,
    FLOOR,
    "shap Permutation, 100 rows",
    "shap Permutation, 1000 rows",
    "shap Kernel, 100 rows",
    "shap Kernel, k-means 100",
    "shapiq Tabular, 100 rows",
)
OPENING_WIDTH = 8.0  # inches: wide enough for three panels, narrow enough for letters that can be read at 700 pixels
HIGHEST = 3.0  # relative errors above this are outside: regressions on as many coalitions as players may be singular
KINDS = {"xgboost": "XGBoost", "mlp": "network", "forest": "random forest", "pipeline": "pipeline with categories"}
LABELS = {OURS: "sharpley, all rows", FLOOR: "exact values for 100 rows", OURS_ON_FEW: OURS_ON_FEW}


def draw_opening(lines: DataFrame, note: str) -> Figure:
    """Draw a few models, and the methods that most people use."""
    games = [game for game in (*OPENING_GAMES, *OPENING_NETWORKS) if (lines["game"] == game).any()]
    title = "Error of Shapley values for the whole background, at equal numbers of predictions"
    looks = {method: look for method, look in _looks(lines).items() if method in OPENING_METHODS}
    return _draw(lines, looks, note, games or _games(lines), title, OPENING_WIDTH)


def draw_all(lines: DataFrame, note: str) -> Figure:
    """Draw all models and all methods."""
    title = "Error of Shapley values for the whole background"
    return _draw(lines, _looks(lines), note, _games(lines), title, 10.0)


def _games(lines: DataFrame) -> list[str]:
    return list(dict.fromkeys(lines["game"]))


def _draw(
    lines: DataFrame, looks: dict[str, dict[str, Any]], note: str, games: Sequence[str], title: str, width: float
) -> Figure:
    return draw_panels(
        title,
        note,
        games,
        lambda panel, game: _draw_game(panel, lines[lines["game"] == game], looks),
        axes=("predictions for a row", "relative error"),
        row_height=2.5,
        legend_columns=3,
        width=width,
    )


def _looks(lines: DataFrame) -> dict[str, dict[str, Any]]:
    """Colours and line styles: ours thick, exact values on 100 rows a dashed line, peers thin."""
    colour = METHODS["auto"].colour
    ours = {
        OURS: {"color": colour, "linewidth": 2.6},
        OURS_ON_FEW: {"color": colour, "linewidth": 1.0, "linestyle": ":"},
    }
    peers = [method for method in dict.fromkeys(lines["method"]) if method not in (OURS, OURS_ON_FEW, FLOOR)]
    return ours | {
        method: {"color": PEER_COLOURS[i % len(PEER_COLOURS)], "linewidth": 1.2} for i, method in enumerate(peers)
    }


def _draw_game(panel: Axes, lines: DataFrame, looks: dict[str, dict[str, Any]]) -> str:
    for method, look in looks.items():
        mine = lines[lines["method"] == method].sort_values("multiple")
        if not mine.empty:
            ends = mine["low"], mine["high"]
            label = LABELS.get(method, method)
            draw_line(panel, mine["predictions"], mine["error"], ends, label=label, look=look, opacity=0.15)
    for error in lines[lines["method"] == FLOOR]["error"]:
        panel.axhline(error, color=DARK, linewidth=1.2, linestyle="--", label=LABELS[FLOOR])
    log_log(panel)
    panel.set_ylim(top=min(panel.get_ylim()[1], HIGHEST))
    kind, _, dataset = lines["game"].iloc[0].partition("-")
    return f"{KINDS[kind]}, {dataset} (d = {lines['d'].iloc[0]})"
