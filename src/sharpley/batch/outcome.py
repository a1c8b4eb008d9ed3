"""What a run has done, for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """What a run has done.

    Attributes
    ----------
    folder : Path
        Where the results are; ``sharpley.load(folder)`` reads them.
    rows : int
        Number of rows of the data.
    new_rows : int
        Number of rows that were explained by this run; the others had been finished before.
    predictions : int
        Number of predictions for all rows; those for the background are not included.
    seconds : float
        Time that the run took.
    unconverged : int
        Number of rows that did not reach the tolerance.
    """

    folder: Path
    rows: int
    new_rows: int
    predictions: int
    seconds: float
    unconverged: int

    def __str__(self) -> str:
        before = self.rows - self.new_rows
        rows = f"{self.rows:,} {'row' if self.rows == 1 else 'rows'} in {self.folder}"
        speed = f", {self.new_rows / max(self.seconds, 1e-9):,.0f} rows per second" if self.new_rows else ""
        lines = [
            rows + (f", {before:,} of them from an earlier run" if before else ""),
            f"{self.predictions:,} predictions",
            f"{self.seconds:.1f} s{speed}",
        ]
        if self.unconverged:
            lines.append(f"{self.unconverged:,} rows did not reach the tolerance; see the column converged")
        return "\n".join(lines)
