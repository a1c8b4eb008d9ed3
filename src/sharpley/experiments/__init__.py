"""The paper's experiments: every figure and table is an ``Exhibit``, listed by ``all_exhibits``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sharpley.experiments import table_discrepancy

if TYPE_CHECKING:
    from sharpley.experiments.exhibits import Exhibit

ORDER = (
    "cayley-graph-3",
    "cayley-graph-4",
    "voronoi-cells",
    "orthogonal-codes",
    "kendall-distribution",
    "kendall-bounds",
    "sobol-sphere",
    "sobol-histogram",
    "complexity",
    "datasets",
    "existing-gbdt",
    "proposed-gbdt",
    "proposed-mlp",
    "table-discrepancy",
    "lambda-gbdt",
    "lambda-mlp",
    "argmax-samples",
    "kernels",
)
"""Names as they follow each other in the paper."""

# Replaced by an exhibit of the same name; until then ``sharpley reproduce table-discrepancy`` takes it from here.
EXPERIMENTS: dict[str, Callable[..., list[Path]]] = {
    "table-discrepancy": table_discrepancy.run,
}


def all_exhibits() -> dict[str, Exhibit]:
    """Every figure and table of the paper by its name, in the paper's order."""
    from sharpley.experiments.geometry import GEOMETRY

    found = {**GEOMETRY}
    return {name: found[name] for name in sorted(found, key=ORDER.index)}
