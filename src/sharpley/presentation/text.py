"""Results as printed text: values with their errors, and bars."""

from __future__ import annotations

import numpy as np

from sharpley.presentation.labelled import Labelled, signed

MOST_BLOCKS = 3  # combinations of a row and an output
MOST_PLAYERS = 10
LONGEST_BAR = 24
LONGEST_NAME = 28


def as_text(result: Labelled) -> str:
    """Return the largest values of the first rows and outputs, one in a line, and how much was left out."""
    result = result.without_rounding_errors()
    n, _, k = result.values.shape
    blocks = [(row, output) for row in range(n) for output in range(k)]
    lines = [result.heading]
    for row, output in blocks[:MOST_BLOCKS]:
        lines += _block(result, row, output)
    if len(blocks) > MOST_BLOCKS:
        lines.append(f"… and {len(blocks) - MOST_BLOCKS} more; to_frame() has them all")
    return "\n".join(lines)


def _block(result: Labelled, row: int, output: int) -> list[str]:
    """Return the lines of one row and output."""
    values, errors = result.values[row, :, output], result.standard_errors[row, :, output]
    base, largest = float(result.base_values[row, output]), float(np.abs(values).max(initial=0.0))
    shown = result.by_size(row, output, MOST_PLAYERS)
    names = [_short(result.players[player]) for player in shown]
    numbers = [signed(values[player]) for player in shown]
    widths = max(map(len, names), default=0), max(map(len, numbers), default=0)
    title = result.block_title(row, output)
    lines = [f"{title}: base value {base:.4g}" if title else f"base value {base:.4g}"]
    for player, name, number in zip(shown, names, numbers, strict=True):
        error = f"± {errors[player]:.2g}"
        lines.append(
            f"  {name:<{widths[0]}}  {number:>{widths[1]}} {error:<9} {_bar(values[player], largest)}".rstrip()
        )
    left_out = len(values) - len(shown)
    if left_out:
        lines.append(f"  … {left_out} smaller")
    return lines


def _bar(value: float, largest: float) -> str:
    """Return a bar, solid for a positive value and shaded for a negative one."""
    length = 0 if largest == 0 else round(LONGEST_BAR * abs(value) / largest)
    return ("█" if value > 0 else "▒") * length


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
