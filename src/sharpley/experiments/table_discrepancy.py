"""The paper's Table 4 written to files, as docs/results has it; see ``tables.discrepancy``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sharpley._checks import check_count
from sharpley.experiments.tables.discrepancy import DIMENSIONS, SIZES, measured, write


def run(out: Path, *, trials: int = 25) -> list[Path]:
    """Measure all 45 cells, and the designs beside them, and write them to ``out`` as CSV and as Markdown."""
    trials = check_count("trials", trials, minimum=2)
    with tempfile.TemporaryDirectory() as folder:
        return write(measured(DIMENSIONS, SIZES, trials, Path(folder)), out)
