"""Results as HTML for notebooks: readable on a light and on a dark ground, without scripts."""

from __future__ import annotations

from html import escape

import numpy as np

from sharpley.presentation.labelled import Labelled, signed

MOST_BLOCKS = 5  # combinations of a row and an output
MOST_PLAYERS = 12
BAR_WIDTH = 160  # pixels on either side of zero
POSITIVE, NEGATIVE = "#ff0d57", "#1e88e5"  # shap's colours


def as_html(result: Labelled) -> str:
    """Return a table of the largest values for each of the first rows and outputs, with bars and intervals."""
    result = result.without_rounding_errors()
    n, _, k = result.values.shape
    blocks = [(row, output) for row in range(n) for output in range(k)]
    head = "<tr><th style='text-align:left'>feature</th><th>value ± standard error</th><th>95% interval</th></tr>"
    bodies = "".join(_body(result, row, output) for row, output in blocks[:MOST_BLOCKS])
    parts = [f"<p><strong>{escape(result.heading)}</strong></p>", f"<table><thead>{head}</thead>{bodies}</table>"]
    if len(blocks) > MOST_BLOCKS:
        parts.append(f"<p>… and {len(blocks) - MOST_BLOCKS} more; <code>to_frame()</code> has them all.</p>")
    return "<div>" + "".join(parts) + "</div>"


def _body(result: Labelled, row: int, output: int) -> str:
    """Return the lines of one row and output, below a line with its name."""
    lower, upper = result.lower[row, :, output], result.upper[row, :, output]
    shown = result.by_size(row, output, MOST_PLAYERS)
    limits = np.abs(np.concatenate([result.values[row, shown, output], lower[shown], upper[shown]]))
    largest = float(limits[np.isfinite(limits)].max(initial=0.0)) or 1.0
    title = result.block_title(row, output)
    name = f"{escape(title)}{': ' if title else ''}base value {result.base_values[row, output]:.4g}"
    lines = [f"<tr><td colspan='3' style='text-align:left'><em>{name}</em></td></tr>"]
    lines += [_line(result, (row, int(player), output), largest) for player in shown]
    left_out = result.values.shape[1] - len(shown)
    if left_out:
        lines.append(f"<tr><td style='text-align:left'>… {left_out} smaller</td><td></td><td></td></tr>")
    return f"<tbody>{''.join(lines)}</tbody>"


def _line(result: Labelled, at: tuple[int, int, int], largest: float) -> str:
    value, error = result.values[at], result.standard_errors[at]
    return (
        f"<tr><td style='text-align:left'>{escape(result.players[at[1]])}</td>"
        f"<td style='white-space:nowrap'>{signed(value)} ± {error:.2g}</td>"
        f"<td>{_bar(value, result.lower[at], result.upper[at], largest)}</td></tr>"
    )


def _bar(value: float, lower: float, upper: float, largest: float) -> str:
    """Return a picture of a value as a bar from zero, with its confidence interval as a line."""

    def position(x: float) -> float:
        return BAR_WIDTH * (1 + float(np.clip(np.nan_to_num(x), -largest, largest)) / largest)

    start, end = sorted((position(0.0), position(value)))
    colour = POSITIVE if value > 0 else NEGATIVE
    return (
        f"<svg width='{2 * BAR_WIDTH}' height='14' role='img' aria-label='{value:+.4g}'>"
        f"<rect x='{start:.1f}' y='3' width='{end - start:.1f}' height='8' fill='{colour}' fill-opacity='0.75'/>"
        f"<line x1='{position(0.0):.1f}' x2='{position(0.0):.1f}' y1='0' y2='14' stroke='currentColor' "
        "stroke-opacity='0.4'/>"
        f"<line x1='{position(lower):.1f}' x2='{position(upper):.1f}' y1='7' y2='7' stroke='currentColor' "
        "stroke-width='1.5'/></svg>"
    )
