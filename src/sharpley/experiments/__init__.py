"""The paper's experiments: each a function ``(out, *, trials) -> paths`` of the files it wrote, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sharpley.experiments import table_discrepancy

EXPERIMENTS: dict[str, Callable[..., list[Path]]] = {
    "table-discrepancy": table_discrepancy.run,
}
