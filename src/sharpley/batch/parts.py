"""Parts: consecutive rows that are explained together and written to one file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sharpley.batch.recipe import Recipe, explain
from sharpley.presentation.row_table import name_of_part


@dataclass(frozen=True)
class Part:
    """Consecutive rows, from ``start`` to before ``stop``."""

    number: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def file(self) -> str:
        """Name of the file."""
        return name_of_part(self.number)


Task: TypeAlias = tuple[Part, Any]
"""A part, and its rows as a frame."""


class Explained(NamedTuple):
    """The results of a part."""

    part: Part
    columns: dict[str, Any]
    """The columns of the table."""
    facts: dict[str, Any]
    """What the columns do not tell."""
    seconds: float
    """Time that it took."""


def explain_part(recipe: Recipe, part: Part, rows: Any) -> Explained:
    """Explain the rows of a part."""
    start = time.perf_counter()
    columns, facts = explain(recipe, rows, part.start)
    return Explained(part, columns, facts, time.perf_counter() - start)
