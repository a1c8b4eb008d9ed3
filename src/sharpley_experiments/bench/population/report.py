"""Tables of the benchmark of backgrounds, made from its lines (one for each game, method and budget) alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharpley._support.atomic import replace_text
from sharpley_experiments.bench.population.draw import KINDS, draw_all, draw_opening
from sharpley_experiments.bench.population.explainers import FLOOR, OURS, OURS_ON_FEW
from sharpley_experiments.bench.report import MAX_REFERENCE_SHARE, error_table, seconds_table

if TYPE_CHECKING:
    from pandas import DataFrame, Series

DPI = 175
DEFAULT_MULTIPLE = 20
"""The default budget of an explanation, as a multiple of the number of players."""
OPENING_PEERS = ("shap Permutation, 100 rows", "shap Kernel, 100 rows", "shapiq Tabular, 100 rows")
SHARED_COLUMNS = ("game", "d", "population")


def write(lines: DataFrame, out: Path, note: str) -> list[Path]:
    """Write the lines as CSV, the tables as Markdown and two figures; return the paths."""
    import pandas as pd

    out.mkdir(parents=True, exist_ok=True)
    table, page = out / "population.csv", out / "population.md"
    lines.to_csv(table, index=False, float_format="%.4g", lineterminator="\n")
    lines = pd.read_csv(table)  # rounded, so that the tables follow from the file
    replace_text(page, markdown(lines, note))
    paths = [table, page]
    for name, draw in (("population.png", draw_opening), ("population_all.png", draw_all)):
        draw(lines, "sharpley bench --population").savefig(out / name, dpi=DPI, metadata={"Software": None})
        paths.append(out / name)
    return paths


def markdown(lines: DataFrame, note: str) -> str:
    """Return all tables as Markdown."""
    parts = [f"{note}\n", "### Compared with exact values on 100 rows, and with the best peer\n", headline_table(lines)]
    parts += ["### Coverage of 95% intervals\n", coverage_table(lines)]
    floor = lines[lines["method"] == FLOOR]
    for multiple in sorted(set(lines["multiple"]) - {0}):
        of_budget = lines[lines["multiple"] == multiple]
        shown = _in_order(of_budget, floor[floor["game"].isin(of_budget["game"])])
        parts += [f"### ({multiple} d + 2) · 100 predictions\n", error_table(shown)]
    parts += ["### Seconds per row, without the time of the model\n", seconds_table(lines, (DEFAULT_MULTIPLE,))]
    parts += ["### Predictions per row\n", spent_table(lines)]
    return "\n".join(parts)


def _in_order(lines: DataFrame, floor: DataFrame) -> DataFrame:
    """Lines of a budget below those of exact values on 100 rows, which have none."""
    import pandas as pd

    return pd.concat([floor, lines])


def headline_table(lines: DataFrame) -> str:
    """Compare our error with that of exact values on 100 rows, and with the best peer, in every cell."""
    text = [
        "| model | d | background rows | budget | seeds | exact on 100 rows | best peer | its error | sharpley "
        "| 100 rows / sharpley | best peer / sharpley |",
        "|---|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    floors = lines[lines["method"] == FLOOR].set_index("game")
    for (game, d, population, multiple), group in lines.groupby([*SHARED_COLUMNS, "multiple"], sort=False):
        ours, peers = group[group["method"] == OURS], _peers(group)
        if ours.empty or peers.empty or game not in floors.index:
            continue
        mine, best, floor = ours.iloc[0], peers.loc[peers["error"].idxmin()], floors.loc[game]
        at_reference = mine["reference"] > MAX_REFERENCE_SHARE * mine["error"]
        text.append(
            f"| {game} | {d} | {population} | {multiple} d | {mine['seeds']} | {floor['error']:.1e} "
            f"| {best['method']} | {best['error']:.1e} | {mine['error']:.1e} | {_ratio(floor, mine)} "
            f"| {_ratio(best, mine)}{', at the reference’s own error' if at_reference else ''} |"
        )
    return "\n".join(text) + "\n"


def opening_table(lines: DataFrame) -> str:
    """Errors of a few ways to explain, for the README: at the default budget, or the largest below it."""
    text = [
        "| model | d | budget | " + " | ".join(OPENING_PEERS) + " | exact values for 100 rows | sharpley, all rows |",
        "|---|--:|--:|" + "--:|" * (len(OPENING_PEERS) + 2),
    ]
    cells = lines.set_index(["game", "method", "multiple"])["error"]
    ours = lines[(lines["method"] == OURS) & (lines["multiple"] <= DEFAULT_MULTIPLE)]
    for (game, d), group in ours.groupby(["game", "d"], sort=False):
        kind, _, dataset = str(game).partition("-")
        multiple = int(group["multiple"].max())
        keys = [*((game, peer, multiple) for peer in OPENING_PEERS), (game, FLOOR, 0), (game, OURS, multiple)]
        shown = [f"{cells[key]:.1e}" if key in cells.index else "–" for key in keys]
        text.append(f"| {KINDS[kind]}, {dataset} | {d} | {multiple} d | " + " | ".join(shown) + " |")
    return "\n".join(text) + "\n"


def _peers(lines: DataFrame) -> DataFrame:
    return lines[~lines["method"].isin((OURS, OURS_ON_FEW, FLOOR))]


def _ratio(above: Series, below: Series) -> str:
    """Format a ratio of errors, with the range that their intervals allow."""
    factor = above["error"] / below["error"]
    return f"**{factor:.1f}** ({above['low'] / below['high']:.1f} to {above['high'] / below['low']:.1f})"


def coverage_table(lines: DataFrame) -> str:
    """Shares of 95% intervals that contain the value for the whole population, by game and budget."""
    ours = lines[lines["method"].isin((OURS, OURS_ON_FEW))]
    multiples = sorted(set(ours["multiple"]))
    cells = ours.set_index(["method", "game", "multiple"])["coverage"]
    text = [
        "| | " + " | ".join(f"{multiple} d" for multiple in multiples) + " |",
        "|---|" + "--:|" * len(multiples),
    ]
    for method in dict.fromkeys(ours["method"]):
        for game in dict.fromkeys(ours["game"]):
            keys = [(method, game, multiple) for multiple in multiples]
            text.append(f"| {method}: {game} | " + " | ".join(_share(cells, key) for key in keys) + " |")
    return "\n".join(text) + "\n"


def _share(cells: Series, key: tuple[str, str, int]) -> str:
    return f"{cells[key]:.0%}" if key in cells.index else "–"


def spent_table(lines: DataFrame) -> str:
    """Predictions that each method made for a row, as a share of the budget, lowest and highest over all cells."""
    spent = lines[lines["predictions"].notna()]
    share = spent["predictions"] / ((spent["multiple"] * spent["d"] + 2) * 100)
    text = ["| | least | most |", "|---|--:|--:|"]
    for method in dict.fromkeys(spent["method"]):
        mine = share[spent["method"] == method]
        text.append(f"| {method} | {mine.min():.0%} | {mine.max():.0%} |")
    return "\n".join(text) + "\n"
